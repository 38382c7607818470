"""``veilmap quality``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from veilmap.cli.console import print_table, progress, say, say_wrapped, stdout
from veilmap.cli.data import read_and_say
from veilmap.cli.file_options import FileOptions, grouped
from veilmap.cli.options import RunSettingsOptions
from veilmap.map_quality.folder import QualityFolder
from veilmap.map_quality.narrative import called
from veilmap.map_quality.noise_floor import SIDE_M, NoiseFloor
from veilmap.map_quality.quality import quality
from veilmap.map_quality.quality_result import QualityResult
from veilmap.map_quality.settings import QualitySettings, QualitySplit, Question
from veilmap.map_quality.summary import Summary
from veilmap.metrics.map_errors import PLACE_M
from veilmap.wording import counted

# Head → the figure, its format, and whether the range over the seeds is shown.
_Columns = dict[str, tuple[str, str, bool]]
_ERRORS: _Columns = {
    "RMSE, dB": ("rmse_db", ".1f", False),
    "by place, dB": ("rmse_by_place_db", ".1f", True),
    "skill by place": ("skill_by_place", ".2f", True),
    "of the best": ("share_of_best", ".0%", False),
}
_LOW: _Columns = {
    "recall": ("coverage_recall", ".2f", False),
    "precision": ("coverage_precision", ".2f", False),
    "F1": ("coverage_f1", ".2f", True),
    "low signal, dB": ("low_signal_rmse_db", ".1f", True),
}


_INTERVALS: _Columns = {
    "68 % intervals": ("interval_coverage_68", ".0%", True),
    "95 % intervals": ("interval_coverage_95", ".0%", True),
}


@Parameter(name="*")
@dataclass(frozen=True)
class QualitySettingsOptions(RunSettingsOptions, QualitySettings):
    """The settings of a comparison as options, a group for each part."""

    quality: Annotated[Question, grouped("Comparison", 0)] = field(default_factory=Question)
    test: Annotated[QualitySplit, grouped("Test data", 4)] = field(default_factory=QualitySplit)


def quality_(
    data: str = "campus",
    *,
    out: Path | None = None,
    overwrite: bool = False,
    config: Path | None = None,
    model: Path | None = None,
    settings: QualitySettingsOptions = QualitySettingsOptions(),
    source: FileOptions = FileOptions(),
) -> None:
    """Measure how good a map of one cell can be, and how good the federated ones are.

    A constant, linear regression, k-NN, random forest, gradient boosting and kriging, which hold
    all training data at once, and the federated maps are judged on the same test data: per row,
    and by place, where every square of 50 m counts the same. The skill is the share of the
    constant's mean squared error that a map removes.

    Args:
        data: a measurement file, a folder or archive of them, or a simulated world:
            campus or london.
        out: folder for the figures and a picture: measured, predicted, error, uncertainty.
        overwrite: replace a finished comparison in that folder.
        config: settings file (TOML); options on the command line override it.
        model: settings file that "veilmap tune" wrote.
    """
    if out is not None:
        QualityFolder(out).refuse_taken(overwrite)
    with progress() as bar:
        total = len(settings.predictors) * len(settings.seeds)
        job = bar.add_task("comparing", total=total)
        found = quality(
            lambda: read_and_say(data, source.columns, source.reading),
            settings,
            out=out,
            overwrite=overwrite,
            on_done=lambda predictor, seed: bar.advance(job),
        )
    _show(found)
    if out is None:
        say("\nnothing was saved; add --out DIR to keep the figures and a picture")
    else:
        folder = QualityFolder(out)
        say(f"\nwrote {folder.results}\nwrote {folder.picture}")
        say("the picture shows where people were; protect it like the data")


def _show(found: QualityResult) -> None:
    prepared, seeds = found.first.prepared, counted(len(found.settings.seeds), "seed")
    rows, users = counted(len(prepared.data), "row"), counted(len(prepared.users), "user")
    split = f"{prepared.settings.test.split} split, {seeds}"
    say(f"{prepared.data.source}, cell {prepared.cell}: {rows}, {users}, {split}\n")
    lines = [*_lines(found.summaries, _ERRORS), *_floor(found)]
    means = "means" if len(found.settings.seeds) == 1 else "means over the seeds (least…most)"
    say_wrapped(f"errors on the test data, {means}; a place is a square of {PLACE_M:g} m")
    print_table(lines, "", *_ERRORS)
    threshold = f"{found.settings.quality.threshold_dbm:g} dBm"
    say_wrapped(
        f"\nfinding the places below {threshold}, and the error in the quarter of the places "
        "where the signal is lowest"
    )
    print_table(_lines(found.summaries, _LOW), "", *_LOW)
    if intervals := list(_lines(filter(_has_intervals, found.summaries), _INTERVALS)):
        say_wrapped("\nthe share of the test data inside intervals; every place counts the same")
        print_table(intervals, "", *_INTERVALS)
    stdout.print()
    say_wrapped(_about_floor(found.noise_floor))
    for sentence in found.sentences:
        say_wrapped(sentence)


def _lines(summaries: Iterable[Summary], columns: _Columns) -> Iterator[Sequence[str]]:
    for each in summaries:
        yield called(each), *(_cell(each, *column) for column in columns.values())


def _cell(summary: Summary, figure: str, form: str, has_range: bool) -> str:
    found = summary.range(figure)
    if found is None:
        return "-"
    mean, least, most = (format(each, form) for each in (found.mean, found.least, found.most))
    if figure == "share_of_best" and found.mean < 0:
        return "-"  # the skill says how bad it is
    return f"{mean} ({least}…{most})" if has_range and least != most else mean


def _has_intervals(summary: Summary) -> bool:
    return summary.mean("interval_coverage_68") is not None


def _about_floor(floor: NoiseFloor | None) -> str:
    if floor is None:
        return f"The noise floor is unknown: no place of {SIDE_M:g} m has several sessions."
    repeated = counted(floor.places, "place")
    return (
        f"The noise floor is estimated from {repeated} of {SIDE_M:g} m with several sessions, "
        f"which hold {floor.rows_share:.0%} of the rows."
    )


def _floor(found: QualityResult) -> Iterator[Sequence[str]]:
    floor = found.noise_floor
    if floor is not None:
        skill = found.floor_skill_by_place
        of_floor = "" if skill is None else f"{skill:.2f}"
        yield "noise floor", f"{floor.rmse_db:.1f}", f"{floor.rmse_by_place_db:.1f}", of_floor, ""
