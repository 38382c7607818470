"""``veilmap reproduce``."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from veilmap.cli.console import print_table, say
from veilmap.cli.file_options import FileOptions
from veilmap.cli.running import RunOptions, Runs, run_with
from veilmap.errors import UserError
from veilmap.reproduction.board import Board, counted_claims
from veilmap.reproduction.labels import paper_specs
from veilmap.reproduction.reproduce import SEEDS, reproduce
from veilmap.study.attack_notation import methods_of


def reproduce_(
    labels: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    *,
    list: bool = False,
    out: Path = Path("reproduction"),
    seeds: int = SEEDS,
    also_under: str = "",
    beside: Path | None = None,
    page: Path | None = None,
    runs: Runs = RunOptions(),
    source: FileOptions = FileOptions(),
) -> None:
    """Run tables and figures of the paper, and decide every claim that they make.

    On the simulated campus and London, or on any measurements. Ctrl-C keeps what is finished; rerun
    the command to resume.

    Args:
        labels: labels of the paper, such as tab:radiocells; "all" for everything.
        list: list all labels and exit.
        out: folder for runs, rows (Parquet and JSON), pictures and the board (Markdown and HTML).
        seeds: number of seeds.
        also_under: more attacks to judge the claims under, such as learned:people=60, which takes
            about a minute per run.
        beside: the --out of a reproduction on other data, to show its results beside these.
        page: also write the board as this Markdown file, with its pictures in a folder beside it.
    """
    if list:
        labelled = [(spec.label, spec.title, str(len(spec.claims))) for spec in paper_specs()]
        print_table(labelled, "label", "what", "claims", left=2)
        return
    if not labels:
        raise UserError("no label given; name some or all, or list them with --list")
    attacks = methods_of(also_under) if also_under else ()
    paper_specs(labels)  # refuses unknown ones before the data are read
    with run_with(runs, source, out) as keywords:
        done = reproduce(
            labels, seeds=seeds, also_under=attacks, beside=beside, page=page, **keywords
        )
    _show(done.board)
    say(f"\nwrote {out / 'board.md'} and {out / 'board.html'}")


def _show(board: Board) -> None:
    for entry in board.entries:
        if not entry.lines:
            say(f"\n{entry.label}: {entry.title}: {', '.join(entry.pictures)}")
            continue
        rows = [
            (line.says, line.paper, line.here.values, line.here.outcome.words)
            for line in entry.lines
        ]
        title = f"\n{entry.label}: {entry.title}"
        print_table(rows, "claim", "the paper", "here", "", title=title, left=4)
        for why in entry.failed:
            say(f"no figures: {why}")
    say(f"\n{counted_claims(board.counts)}")
