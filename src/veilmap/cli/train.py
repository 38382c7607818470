"""``veilmap train``."""

import shlex
from collections.abc import Iterator
from datetime import datetime
from math import inf
from pathlib import Path
from zoneinfo import ZoneInfo

from rich.table import Table

from veilmap.cli.console import print_table, progress, say, stdout, table
from veilmap.cli.data import read_and_say
from veilmap.cli.file_options import FileOptions
from veilmap.cli.options import RunSettingsOptions
from veilmap.cli.warnings import warning_lines
from veilmap.defences.step import Figures
from veilmap.errors import refuse
from veilmap.federation.aggregation import AggregationName
from veilmap.federation.plan import Plan
from veilmap.maps.kriging_map import FEWEST_TO_FIT, KrigingMap
from veilmap.measurements import clock_text
from veilmap.metrics.baselines import is_no_better
from veilmap.metrics.map_errors import SquaredErrors
from veilmap.metrics.rows import RoundRecord
from veilmap.model.device import DeviceName, torch_for
from veilmap.rounds import SPLITS
from veilmap.shell import option_name
from veilmap.strategy import as_text
from veilmap.study.degenerate import degenerate
from veilmap.study.phones import StepSummary
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.protection import Protection
from veilmap.study.run_folder import RunFolder
from veilmap.study.settings import unused_settings
from veilmap.study.train import Run, train
from veilmap.wording import counted, plural

# Rounding must not make a budget that is met exactly seem overspent.
_WITH_A_HAIR = 1 + 1e-6
# A batch spread over fewer clusters is one place.
_FEW_PLACES = 1.5
_RULES: dict[AggregationName, str] = {
    "mean": "",
    "median": ", median of the updates",
    "trimmed": ", trimmed mean of the updates",
}


def train_(
    data: str = "campus",
    *,
    out: Path | None = None,
    overwrite: bool = False,
    past: bool = False,
    device: DeviceName = "cpu",
    config: Path | None = None,
    model: Path | None = None,
    settings: RunSettingsOptions = RunSettingsOptions(),
    source: FileOptions = FileOptions(),
) -> None:
    """Train the signal map of one cell by online federated learning (Algorithm 1).

    The paper's settings are: --scaler fitted --label-offset none --split random, with
    --batch-size inf --epochs 1 --learning-rate 1e-3 for FedSGD and
    --batch-size 20 --epochs 5 --learning-rate 1e-5 for FedAvg.

    Args:
        data: a measurement file, a folder or archive of them, or a simulated world:
            campus or london.
        out: folder for the model, the transcript, the settings and the results.
        overwrite: replace a finished run in that folder.
        past: also print the RMSE on the data of earlier rounds.
        device: train phones on all cores of the processor, or many at once on a GPU.
        config: settings file (TOML); options on the command line override it.
        model: settings file that "veilmap tune" wrote.
    """
    # Before the data are read, which may take long.
    refuse(unused_settings(settings))
    torch_for(settings.map, device)
    if out is not None and not overwrite:
        RunFolder(out).refuse_finished()
    measurements = read_and_say(data, source.columns, source.reading)
    prepared = prepare(measurements, settings)
    print_table(_facts(prepared), "", "", left=2)
    stdout.print()
    with progress() as bar:
        job = bar.add_task("training", total=len(prepared.rounds))

        counted_as = "square" if isinstance(prepared.plan.map, KrigingMap) else "point"

        def on_round(record: RoundRecord) -> None:
            say(_line(record, measurements.timezone, counted_as))
            bar.advance(job)

        run = train(
            prepared, out=out, overwrite=overwrite, on_round=on_round, past=past, device=device
        )
    _conclude(run, out)


def _facts(prepared: Prepared) -> Iterator[tuple[str, str]]:
    """What is trained, and on what."""
    settings, plan, training = prepared.settings, prepared.plan, prepared.plan.training
    rows, users = counted(len(prepared.data), "row"), counted(len(prepared.users), "user")
    yield "data", f"{prepared.data.source}, cell {prepared.cell}, {rows}, {users}"
    yield "area", f"{plan.area.width_m / 1000:.2f} km x {plan.area.height_m / 1000:.2f} km"
    rounds = f"{len(prepared.rounds)} of T = {settings.task.interval}"
    yield "rounds", f"{rounds}, {clock_text(prepared.data.timezone, prepared.data.timezone_by)}"
    if isinstance(plan.map, KrigingMap):
        yield from _kriging(plan.map, plan)
    else:
        yield "map", as_text(plan.map)
        knobs = f"B = {training.batch_size}, E = {training.epochs}, η = {training.learning_rate:g}"
        rule = _RULES[training.aggregation]
        yield "training", f"{training.name}, {knobs}, seed {plan.seed}{rule}"
    yield "defence", _defence(settings.protection)
    if plan.broken:
        yield "broken phones", f"simulated: {', '.join(settings.robustness.broken)}"
    split = f"{settings.test.split} split ({SPLITS[settings.test.split]})"
    yield "test data", f"{counted(len(prepared.test), 'row')}, {split}"
    yield "scaler", f"{settings.task.scaler}; label offset {plan.label_offset_dbm:g} dBm"
    oracle = ", ".join(map(option_name, settings.oracle)) or "nothing"
    yield "oracle", f"taken from the data, where a deployment sets it: {oracle}"


def _kriging(family: KrigingMap, plan: Plan) -> Iterator[tuple[str, str]]:
    grid = family.grid(plan.area)
    size = f"{grid.columns} x {grid.rows} squares of {grid.side_m:g} m"
    yield "map", f"kriging over {size}, {family.kernel} kernel"
    most = family.most_squares
    named = "all squares" if most is None else f"at most {counted(most, 'square')}"
    each = family.square_bytes
    sent = (
        f"{each * len(grid) / 1024:,.1f} KiB" if family.layout == "dense" else f"{each} bytes each"
    )
    yield "messages", f"{named} visited in the round, {family.layout}, {sent}"


def _conclude(run: Run, out: Path | None) -> None:
    stdout.print()
    stdout.print(_quality(run))
    if run.defences:
        _phones(run)
    for number, line in enumerate(warning_lines(run)):
        say(line if number else f"\n{line}")
    remarks = list(degenerate(run.prepared))
    for line in remarks:
        say(f"\n{line}")
    if not any(record.n for record in run.history):
        say(f"\n{_why_nothing(run)}")
    elif not remarks:
        say(f"\n{_worth(run)}")
    if out is None:
        say("\nnothing was saved; add --out RUN to keep the map and what the server saw")
    else:
        folder = shlex.quote(str(out))
        say(f"\nwritten to {out}; the map as a file: veilmap map {folder} --format geotiff")


def _quality(run: Run) -> Table:
    """The map beside its zero and its one."""
    yardstick, last = run.prepared.yardstick, run.history[-1]
    rows = {
        "the map": SquaredErrors(last.rmse_db**2, last.rmse_by_place_db**2),
        "the constant (mean) baseline": yardstick.constant,
        "kriging of all measurements": yardstick.central,
    }
    shown = table(None, "on the test data", "RMSE per row, dB", "by place, dB", "skill by place")
    for name, errors in rows.items():
        skill = yardstick.skill(errors).by_place
        text = "-" if skill is None else f"{skill:.2f}"
        shown.add_row(name, f"{errors.rmse_db:.2f}", f"{errors.rmse_by_place_db:.2f}", text)
    return shown


def _worth(run: Run) -> str:
    """What the map is worth, and what would help if that is nothing."""
    found, yardstick = run.map_figures, run.prepared.yardstick
    constant_db, family = yardstick.constant.rmse_by_place_db, run.prepared.plan.map
    if not is_no_better(found["rmse_by_place_db"], constant_db):
        share = found["share_of_central"]
        if share is None:
            return "the map is better than the constant, and than kriging of all measurements"
        return f"the map has {share:.0%} of the skill of kriging all measurements centrally"
    cost = "; a run without --defence shows its cost" if run.defences else ""
    if not isinstance(family, KrigingMap):
        return f"the map is no better than a constant; train with --map {KrigingMap.name}{cost}"
    if is_no_better(yardstick.central.rmse_by_place_db, constant_db):
        return (
            "the map is no better than a constant, nor is kriging of all measurements: position "
            "explains too little of the signal here; measure in more places"
        )
    if len(family.grid(run.prepared.plan.area)) < FEWEST_TO_FIT:
        return "the map is no better than a constant; take smaller squares with --square"
    return f"the map is no better than a constant; it needs more places or more rounds{cost}"


def _why_nothing(run: Run) -> str:
    if any(record.refused for record in run.history):
        return "no update was accepted, and the map is untrained"
    return "no phone sent anything: the defence left no points to train on"


def _defence(protection: Protection) -> str:
    if not protection.defence:
        return "none; choose steps with --defence"
    who = f" on the phones of {', '.join(protection.defended)}" if protection.defended else ""
    return ", then ".join(protection.texts) + who


def _phones(run: Run) -> None:
    """The effect and the cost of each step."""
    names = ("turns", "points left", "given", "centroid moved, median m", "ms", "MB at most")
    did = table(None, "on the phone, mean of a turn", *names)
    for step in run.defences:
        name = step.step.partition(":")[0]
        moved = "-" if step.centroid_moved_m is None else f"{step.centroid_moved_m:,.0f}"
        sizes = f"{step.points:,.1f}", f"{step.points_before:,.1f}"
        cost = f"{1000 * step.seconds:,.1f}", f"{step.peak_mb:,.1f}"
        did.add_row(name, f"{step.turns:,}", *sizes, moved, *cost)
    stdout.print()
    stdout.print(did)
    for step in run.defences:
        say(f"{step.step}\n  {_figures_text(step.figures)}")
        for line in _remarks(step):
            say(f"  {line}")


def _remarks(step: StepSummary) -> Iterator[str]:
    """Warnings about a step for the phone's owner."""
    if step.learned:
        yield f"learned {counted(step.learned, 'time')}, {step.learning_seconds:,.1f} s in all"
    if step.spent:
        yield f"privacy spent, largest over users: {_figures_text(step.spent)}"
    if step.kept_whole:
        turns = counted(step.kept_whole, "turn")
        yield f"{turns} had too few points and kept all of them, so nothing is hidden"
    if step.figures.get("clusters_kept", inf) < _FEW_PLACES:
        yield "the kept points mostly lie in one place, which the server can read off"
    wanted, spent = step.spent.get("epsilon_wanted", inf), step.spent.get("epsilon_all_rounds", 0)
    if spent > _WITH_A_HAIR * wanted:
        rounds = int(step.spent["rounds"])
        times = counted(rounds, "time")
        yield (
            f"spent {spent:.3g} and not {wanted:g}: a user took part {times}; give rounds={rounds}"
        )


def _figures_text(figures: Figures) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {_number(value)}" for name, value in figures.items()
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _line(record: RoundRecord, timezone: str, counted_as: str) -> str:
    start = datetime.fromtimestamp(record.start_s, ZoneInfo(timezone))
    refused = f"   {len(record.refused)} refused" if record.refused else ""
    past = "" if record.rmse_past_db is None else f"   earlier rounds {record.rmse_past_db:6.2f} dB"
    users = f"{record.users:3d} {plural(record.users, 'user'):5}"
    points = f"{record.n:7,d} {plural(record.n, counted_as):{len(counted_as) + 1}}"
    skill = "" if record.skill_by_place is None else f"   skill {record.skill_by_place:5.2f}"
    return (
        f"round {record.round:4d}   from {start:%Y-%m-%d %H:%M}   {users}   {points}"
        f"   RMSE {record.rmse_db:6.2f} dB{skill}{past}{refused}"
    )
