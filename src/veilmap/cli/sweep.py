"""``veilmap sweep``."""

from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from veilmap.cli.console import say, stdout, table
from veilmap.cli.file_options import ColumnOptions, ReadingOptions
from veilmap.cli.sweeping import other_data, swept_with
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.sweeping.figure_names import figure_name
from veilmap.sweeping.files import summary
from veilmap.sweeping.selection import numbers
from veilmap.sweeping.swept import Swept, sweep

# A figure and the head of its column, short for a terminal.
_FIGURES = {
    "rmse_db": "RMSE, dB",
    "emd_paper": "EMD, √m",
    "diverged_share": "diverged, %",
    "distance_m": "off, m",
    "home_error_m": "home, m",
}


def sweep_(
    file: Path,
    *,
    out: Path = Path("sweep"),
    data: str | None = None,
    cell: str | None = None,
    target: str | None = None,
    seeds: int = 3,
    quick: bool = False,
    jobs: int | None = None,
    columns: ColumnOptions = Columns(),
    reading: ReadingOptions = Reading(),
) -> None:
    """Run every combination of a grid of settings with every seed, and compare.

    The file (TOML) names the data, the settings, what the grid goes over, and if you like claims to
    decide and pictures to draw; docs/sweeps.md shows one. Ctrl-C keeps what is finished, and the
    same command goes on from there; a file that has grown adds only what is new.

    Args:
        file: the grid, a TOML file.
        out: folder for runs, rows (Parquet and JSON) and pictures.
        data: measurements in place of those that the file names.
        cell: the cell in them; the densest by default.
        target: the user to attack, or how the name begins; the densest by default.
        seeds: how often everything is run.
        quick: little data, few steps, one seed: shows that it runs, the numbers mean nothing.
        jobs: how many runs at once; by default one per core.
    """
    given = other_data(data, columns, reading)
    with swept_with(out) as hooks:
        swept = sweep(
            file,
            out=out,
            data=given,
            cell=cell,
            target=target,
            seeds=seeds,
            quick=quick,
            jobs=jobs,
            hooks=hooks,
        )
    _show(swept)
    say(f"\nwrote {out}: {', '.join(('results.json', 'rows.parquet', *swept.pictures))}")


def _show(swept: Swept) -> None:
    spec, figures = swept.spec, swept.figures
    found = summary(figures)
    keys = list(dict.fromkeys(key for each, _, _ in found for key in each))
    shown = [name for name in _FIGURES if any(numbers(rows, name) for _, _, rows in found)]
    heads = [*keys, "attack", *(_FIGURES[name] for name in shown)]
    lines = table(spec.title, *heads, left=len(keys) + 1)
    for each, attack, rows in found:
        names = [str(each.get(key, "")) for key in keys]
        lines.add_row(*names, attack, *(_spread(rows, name) for name in shown))
    stdout.print(lines)
    for keys_of, why in figures.failed:
        say(f"no figures: {', '.join(map(str, keys_of.values()))}: {why}")
    for under in swept.verdicts:
        for verdict in under:
            whose = "" if verdict.attack is None else f" under {verdict.attack}"
            say(f"{verdict.outcome.words}{whose}: {verdict.claim.says}")


def _spread(rows: list[Any], figure: str) -> str:
    """The mean over the seeds ± their standard deviation."""
    values, name = numbers(rows, figure), figure_name(figure)
    if not values:
        return "-"
    mean = name.text(fmean(values))
    return mean if len(values) == 1 else f"{mean} ± {name.text(stdev(values))}"
