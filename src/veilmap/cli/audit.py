"""``veilmap audit``."""

import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from veilmap.attacks.gradient_matching.search import Search
from veilmap.auditing.audit import audit
from veilmap.auditing.audit_result import Audit
from veilmap.auditing.base import AuditDlg, AuditHeatmap, AuditSplit, AuditTask, AuditTraining
from veilmap.auditing.folder import AuditFolder
from veilmap.auditing.settings import AuditSettings, Question
from veilmap.cli.console import print_table, say, say_wrapped, stdout
from veilmap.cli.data import read_and_say
from veilmap.cli.file_options import FileOptions, grouped
from veilmap.cli.options import RunSettingsOptions
from veilmap.cli.running import trials_shown
from veilmap.cli.timing import RunTimer


@Parameter(name="*")
@dataclass(frozen=True)
class AuditSettingsOptions(RunSettingsOptions, AuditSettings):
    """The settings of an audit as options, a group for each part that is not as in a run."""

    audit: Annotated[Question, grouped("Audit", 0)] = field(default_factory=Question)
    task: Annotated[AuditTask, grouped("Task", 1)] = field(default_factory=AuditTask)
    training: Annotated[AuditTraining, grouped("Federated training", 2)] = field(
        default_factory=AuditTraining
    )
    test: Annotated[AuditSplit, grouped("Test data", 4)] = field(default_factory=AuditSplit)
    dlg: Annotated[AuditDlg, grouped("dlg", 8)] = field(default_factory=AuditDlg)
    search: Annotated[Search, grouped("search", 9)] = field(default_factory=Search)
    heatmap: Annotated[AuditHeatmap, grouped("heatmap", 10)] = field(default_factory=AuditHeatmap)


def audit_(
    data: str = "campus",
    *,
    out: Path = Path("audit"),
    redact: bool = False,
    figures: bool = False,
    tiles: str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    config: Path | None = None,
    model: Path | None = None,
    settings: AuditSettingsOptions = AuditSettingsOptions(),
    source: FileOptions = FileOptions(),
) -> None:
    """Measure how near the server comes to users' homes, which defence prevents it, and its cost.

    A panel of configurations is trained and attacked, several seeds each, and compared in a report
    for the browser. Ctrl-C keeps what is finished; rerun the command to resume.

    Args:
        data: a measurement file, a folder or archive of them, or a simulated world:
            campus or london.
        out: folder for the report and its data.
        redact: keep figures and no positions, and name no user, in the terminal neither; also
            remove the positions of an earlier audit there.
        figures: also write figures for print, as PDF and PNG.
        tiles: URL of a map tile server for the report, such as
            https://tile.example.org/{z}/{x}/{y}.png; by default the page makes no requests.
        jobs: number of parallel runs; by default one per core.
        fresh: recompute cached results.
        config: settings file (TOML); options on the command line override it.
        model: settings file that "veilmap tune" wrote.
    """
    timer = RunTimer()
    with trials_shown(out, timer) as shown:
        finished = audit(
            lambda: read_and_say(data, source.columns, source.reading, redact=redact),
            settings,
            out=out,
            redact=redact,
            figures=figures,
            tiles=tiles,
            jobs=jobs,
            fresh=fresh,
            command=shlex.join(["veilmap", *sys.argv[1:]]),
            progress=shown,
        )
    _show(finished, out, redact, figures)
    if words := timer.words():
        say(words)


def _show(finished: Audit, out: Path, redact: bool, figures: bool) -> None:
    verdict, folder = finished.verdict, AuditFolder(out)
    for sentence in (verdict.headline, *verdict.sentences):
        say_wrapped(f"\n{sentence}")
    stdout.print()
    heads, *lines = finished.lines()
    print_table(lines, *heads)
    if people := finished.people_lines():
        stdout.print()
        print_table(people[1:], *people[0])
    say("\nthe attacker knew:")
    for fact in verdict.knows:
        say(f"  {fact}")
    say("oracle, known to no real server:")
    for fact in verdict.oracle or ("nothing",):
        say(f"  {fact}")
    stdout.print()
    if verdict.advice is not None:
        say_wrapped(f"\n{verdict.advice.words}\n")
        say(f"{verdict.advice.command}\n\n{verdict.advice.toml}")
    say(f"wrote {folder.report}")
    if figures:
        say(f"wrote {folder.figures}")
    if not redact:
        say("it shows where people were; protect it like the data, or add --redact")
