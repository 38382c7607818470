"""``veilmap sweep``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev

from veilmap.cli.console import say, stdout, table
from veilmap.cli.file_options import FileOptions
from veilmap.cli.running import RunOptions, Runs, run_with
from veilmap.metrics.figure_names import MAIN, OF_NO_ATTACK, figure_name
from veilmap.sweeping.files import Summary, guess_summary, summary
from veilmap.sweeping.selection import SweepRow, numbers
from veilmap.sweeping.sweep_result import SweepResult, sweep


def sweep_(
    file: Path,
    *,
    out: Path = Path("sweep"),
    seeds: int = 3,
    runs: Runs = RunOptions(),
    source: FileOptions = FileOptions(),
) -> None:
    """Run every combination of a grid of settings with every seed, and compare.

    The file (TOML) names the data, the settings, the grid, and optionally claims to decide and
    pictures to draw; docs/sweeps.md shows one. Ctrl-C keeps what is finished; rerun the
    command to resume. After a change of the file only new runs are computed.

    Args:
        file: the grid, a TOML file.
        out: folder for runs, rows (Parquet and JSON) and pictures.
        seeds: number of seeds.
    """
    with run_with(runs, source, out) as keywords:
        result = sweep(file, seeds=seeds, **keywords)
    _show(result)
    say(f"\nwrote {out}: {', '.join(('results.json', 'rows.parquet', *result.pictures))}")


def _show(result: SweepResult) -> None:
    spec, figures = result.spec, result.figures
    found = summary(figures)
    keys = list(dict.fromkeys(key for each, _, _ in found for key in each))
    shown = [name for name in MAIN if any(numbers(rows, name) for _, _, rows in found)]
    heads = [*keys, "attack", *(figure_name(name).head for name in shown)]
    lines = table(spec.title, *heads, left=len(keys) + 1)
    for each, attack, rows in found:
        names = [str(each.get(key, "")) for key in keys]
        lines.add_row(*names, attack, *(_spread(rows, name) for name in shown))
    for line in _guess_lines(guess_summary(figures), keys, shown):
        lines.add_row(*line)
    stdout.print(lines)
    for keys_of, why in figures.failed:
        say(f"no figures: {', '.join(map(str, keys_of.values()))}: {why}")
    for configuration, attacks in figures.unread.items():
        say(f"{' and '.join(attacks)} cannot read the map of {configuration} and did not attack it")
    for under in result.verdicts:
        for decided in under:
            whose = "" if decided.attack is None else f" under {decided.attack}"
            say(f"{decided.outcome.words}{whose}: {decided.claim.says}")


def _guess_lines(
    found: Sequence[Summary], keys: Sequence[str], shown: Sequence[str]
) -> Iterator[Sequence[str]]:
    """One for all combinations under which a guess has the same figures, with the keys they share.

    A guess has no part in the map.
    """
    owners: dict[tuple[str, ...], list[list[str]]] = {}
    for each, guess, rows in found:
        texts = ("" if name in OF_NO_ATTACK else _spread(rows, name) for name in shown)
        owners.setdefault((guess, *texts), []).append([str(each.get(key, "")) for key in keys])
    for line, names in owners.items():
        shared = (own[0] if len(set(own)) == 1 else "" for own in zip(*names, strict=True))
        yield *shared, *line


def _spread(rows: list[SweepRow], figure: str) -> str:
    """The mean over the seeds ± their standard deviation."""
    values, name = numbers(rows, figure), figure_name(figure)
    if not values:
        return "-"
    mean = name.text(fmean(values))
    return mean if len(values) == 1 else f"{mean} ± {name.text(stdev(values))}"
