"""``veilmap audit``."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

from rich.progress import Progress, TaskID

from veilmap.attacks.gradient_matching.search import Search
from veilmap.auditing.audit import audit
from veilmap.auditing.base import AuditDlg, AuditHeatmap, AuditSplit, AuditTask, AuditTraining
from veilmap.auditing.finished import Audit
from veilmap.auditing.panel import panel
from veilmap.auditing.ranking import Ranked
from veilmap.auditing.settings import AuditSettings, Question
from veilmap.auditing.store import Store
from veilmap.auditing.unit import Result, Unit
from veilmap.auditing.words import decibels, hidden
from veilmap.auditing.work import Hooks
from veilmap.cli.console import progress, say, stdout, table, tell
from veilmap.cli.data import read_and_say
from veilmap.cli.interrupts import say_what_is_kept
from veilmap.cli.options import (
    ColumnOptions,
    NetworkOptions,
    ProtectionOptions,
    ReadingOptions,
    RobustnessOptions,
    grouped,
)
from veilmap.cli.timing import Pace
from veilmap.model.network import Network
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.study.prepare import Prepared
from veilmap.study.protection import Protection
from veilmap.study.robustness import Robustness
from veilmap.wording import counted

QuestionOptions = Annotated[Question, grouped("What is asked", 0)]
TaskOptions = Annotated[AuditTask, grouped("What is learned", 1)]
TrainingOptions = Annotated[AuditTraining, grouped("Federated training", 2)]
TestOptions = Annotated[AuditSplit, grouped("Test data", 4)]
DlgOptions = Annotated[AuditDlg, grouped("dlg", 8)]
SearchOptions = Annotated[Search, grouped("search", 9)]
HeatmapOptions = Annotated[AuditHeatmap, grouped("heatmap", 10)]


def audit_(
    data: str = "campus",
    *,
    out: Path = Path("audit"),
    redact: bool = False,
    figures: bool = False,
    tiles: str | None = None,
    jobs: int | None = None,
    config: Path | None = None,
    model: Path | None = None,
    question: QuestionOptions = Question(),
    task: TaskOptions = AuditTask(),
    training: TrainingOptions = AuditTraining(),
    protection: ProtectionOptions = Protection(),
    robustness: RobustnessOptions = Robustness(),
    test: TestOptions = AuditSplit(),
    network: NetworkOptions = Network(),
    columns: ColumnOptions = Columns(),
    reading: ReadingOptions = Reading(),
    dlg: DlgOptions = AuditDlg(),
    search: SearchOptions = Search(),
    heatmap: HeatmapOptions = AuditHeatmap(),
) -> None:
    """Find out how near the server comes to users' homes, and what keeps it away at which price.

    A panel of configurations is trained and attacked, several seeds each, and compared in a report
    for the browser. Ctrl-C keeps what is finished, and the same command goes on from there.

    Args:
        data: a measurement file, a folder or archive of them, or a simulated world:
            campus or london.
        out: folder for the report and what it is made of.
        redact: keep figures only, and no position; also removes those of an earlier audit there.
        figures: also write figures for print, as PDF and PNG.
        tiles: address of a server of map tiles for the report, such as
            https://tile.example.org/{z}/{x}/{y}.png; by default the page asks nobody.
        jobs: how many runs at once; by default one per core.
        config: settings file (TOML) under the options given here.
        model: settings file that "veilmap tune" wrote.
    """
    settings = AuditSettings(
        task=task,
        test=test,
        model=network,
        training=training,
        protection=protection,
        robustness=robustness,
        audit=question,
        dlg=dlg,
        search=search,
        heatmap=heatmap,
    )
    # Before the data are read, which may take long.
    panel(settings)
    Store(out).refuse_taken()
    measurements = read_and_say(data, columns, reading)
    with progress() as bar:
        teller = _Teller(bar, out)
        with say_what_is_kept(bar, teller.stopped):
            finished = audit(
                measurements,
                settings,
                out=out,
                redact=redact,
                figures=figures,
                tiles=tiles,
                jobs=jobs,
                command=shlex.join(["veilmap", *sys.argv[1:]]),
                hooks=teller.hooks,
            )
    _show(finished, out, redact, figures)
    say(teller.pace.words())


class _Teller:
    """Says how an audit gets on."""

    def __init__(self, bar: Progress, out: Path) -> None:
        self._bar, self._out = bar, out
        self._job: TaskID | None = None
        self._done, self._all, self.pace = 0, 0, Pace()
        self.hooks = Hooks(
            self._begin, self._unit, self._configuration, self._failed, self._redacted
        )

    def stopped(self) -> str:
        kept = f"{self._done} of {self._all} runs are kept in {self._out}"
        return f"stopped; {kept}; the same command goes on from there"

    def _begin(self, prepared: Prepared, targets: tuple[str, ...], units: int, kept: int) -> None:
        self._done, self._all = kept, units
        data, area = prepared.data, prepared.plan.area
        rounds = f"{counted(len(prepared.rounds), 'round')} of {prepared.settings.task.interval}"
        size = f"{area.width_m / 1000:.2f} km x {area.height_m / 1000:.2f} km"
        say(
            f"{data.source}, cell {prepared.cell}: {counted(len(data), 'row')} of "
            f"{counted(len(prepared.users), 'user')}, {rounds}, {size}"
        )
        who = "user" if len(targets) == 1 else "users"
        before = f", {kept} of them from before" if kept else ""
        say(f"attacking {who} {', '.join(targets)} in {counted(units, 'run')}{before}\n")
        self._job = self._bar.add_task("auditing", total=units, completed=kept)

    def _unit(self, _: Unit, result: Result) -> None:
        self._done += 1
        self.pace.add(result.seconds)
        if self._job is not None:
            self._bar.advance(self._job)

    def _configuration(self, ranked: Ranked) -> None:
        say(f"{ranked.name}: RMSE {decibels(ranked.rmse_db)}, {hidden(ranked, 'home_error_m')}")

    def _failed(self, name: str, why: str) -> None:
        say(f"{name}: no figures: {why}")

    def _redacted(self, files: int) -> None:
        if files:
            say(f"removed {files} files with positions of an earlier audit from {self._out}")


def _show(finished: Audit, out: Path, redact: bool, figures: bool) -> None:
    verdict, store = finished.verdict, Store(out)
    for sentence in (verdict.headline, *verdict.sentences):
        tell(f"\n{sentence}")
    stdout.print()
    heads, *lines = finished.lines()
    panel_table = table(None, *heads)
    for line in lines:
        panel_table.add_row(*line)
    stdout.print(panel_table)
    say("\nthe attacker knew:")
    for fact in verdict.knows:
        say(f"  {fact}")
    say("oracle, known to no real server:")
    for fact in verdict.oracle or ("nothing",):
        say(f"  {fact}")
    stdout.print()
    if verdict.advice is not None:
        tell(f"\n{verdict.advice.words}\n")
        say(f"{verdict.advice.command}\n\n{verdict.advice.toml}")
    say(f"wrote {store.report}")
    if figures:
        say(f"wrote {store.figures}")
    if not redact:
        say("it shows where people were; keep it as you keep the data, or add --redact")
