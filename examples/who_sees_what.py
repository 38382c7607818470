"""One table of several sweeps: what every attack finds, by map, defence and data.

    python examples/who_sees_what.py campus chania                     # median home errors, m
    python examples/who_sees_what.py campus chania --figure cloud_emd_m

Each argument is the folder of a sweep of examples/who_sees_what.toml. A cell has the median over
the seeds for each of them, in their order; a dash where nothing was found in the area. Prints
Markdown, one table for each kind of map, since attacks on one cannot read another.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from veilmap.files import parse_json
from veilmap.metrics.scores import UNDEFINED

# Of the sweep's runs, what tells them apart.
KEYS = ("training", "labels", "defence")
GUESSES = ("blind", "prior")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sweeps", nargs="+", type=Path, help="folders of sweeps")
    parser.add_argument("--figure", default="home_error_m", help="which figure to show")
    given = parser.parse_args()
    sweeps = [medians(folder, given.figure) for folder in given.sweeps]
    for family in ("network", "kriging"):
        print("\n".join(table([only(each, family) for each in sweeps], family)), end="\n\n")


def medians(folder: Path, figure: str) -> pl.DataFrame:
    """The median of the figure over the seeds by family, run and attack."""
    content = parse_json((folder / "results.json").read_bytes())
    records = [
        {
            "family": row["key_name"].partition(",")[0],
            "run": called(row),
            "attack": row["attack"].partition(":")[0],
            "value": row[figure],
        }
        for row in (*content["rows"], *content["guesses"])
    ]
    rows = pl.DataFrame(records, infer_schema_length=None)
    return rows.group_by("family", "run", "attack", maintain_order=True).agg(
        pl.col("value").median()
    )


def called(row: dict[str, object]) -> str:
    """``fedavg:learning_rate=1e-3, raw``; a defended run by its defence alone."""
    parts = [str(row[f"key_{key}"]) for key in KEYS if row.get(f"key_{key}") is not None]
    return ", ".join(parts) or "no defence"


def only(rows: pl.DataFrame, family: str) -> pl.DataFrame:
    return rows.filter(pl.col("family") == family)


def table(sweeps: Sequence[pl.DataFrame], family: str) -> Iterator[str]:
    """Lines of Markdown: a run per line, an attack per column."""
    attacks = names(sweeps, "attack")
    attacks = [each for each in attacks if each not in GUESSES] + list(GUESSES)
    yield f"| {family} | {' | '.join(attacks)} |"
    yield "| --- " * (len(attacks) + 1) + "|"
    for run in names(sweeps, "run"):
        cells = [" / ".join(value(each, run, attack) for each in sweeps) for attack in attacks]
        yield f"| {run} | {' | '.join(cells)} |"


def names(sweeps: Sequence[pl.DataFrame], column: str) -> list[str]:
    """In the order in which they come."""
    return list(dict.fromkeys(name for each in sweeps for name in each[column]))


def value(rows: pl.DataFrame, run: str, attack: str) -> str:
    found = rows.filter((pl.col("run") == run) & (pl.col("attack") == attack))["value"]
    return UNDEFINED if found.is_empty() or found[0] is None else f"{found[0]:,.0f}"


if __name__ == "__main__":
    main()
