"""The study behind ``veilmap reproduce``: the paper's tables and figures, run and judged."""

import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from veilmap.attacks.methods import METHODS
from veilmap.errors import UserError, shown
from veilmap.experiments.pool import all_jobs
from veilmap.experiments.schedule import Progress
from veilmap.files import PRIVATE, parse_json, remove_parts, write_json, write_whole
from veilmap.measurements import Measurements
from veilmap.output import held, held_file
from veilmap.reproduction.board import THE_PAPERS, Board, Finding, board_entry
from veilmap.reproduction.labels import EVERYTHING, paper_specs
from veilmap.reproduction.markdown import board_markdown
from veilmap.reproduction.page import board_page
from veilmap.strategy import as_text
from veilmap.study.attack_notation import Methods, methods_of
from veilmap.study.results import results, versions
from veilmap.sweeping.cohort import Given
from veilmap.sweeping.files import (
    RESULTS,
    RUNS,
    LabelledRow,
    draw_pictures,
    guesses_of,
    rows_of,
    write_rows,
)
from veilmap.sweeping.spec import Runs, Spec
from veilmap.sweeping.spec_result import SpecResult
from veilmap.sweeping.sweep import Sweep, seeds_of

SEEDS = 5


@dataclass(frozen=True)
class Reproduction:
    """What came out: the board, and the figures behind it by label."""

    board: Board
    figures: Mapping[str, SpecResult]


def reproduce(
    labels: Sequence[str] = (EVERYTHING,),
    *,
    out: str | Path | None = None,
    data: Measurements | None = None,
    cell: str | None = None,
    target: str | None = None,
    seeds: int = SEEDS,
    also_under: Methods = (),
    quick: bool = False,
    beside: str | Path | None = None,
    page: str | Path | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: Progress = Progress(),
) -> Reproduction:
    """Run tables and figures of the paper, and decide every claim that they carry.

    Args:
        labels: as in the paper, such as ``tab:radiocells``; or ``all``.
        out: a folder for runs, figures, pictures and board. The same call later reuses what
            is cached there.
        data: measurements in place of the simulated campus and London.
        cell: the cell in them; the densest by default.
        target: the user to attack; the densest by default.
        seeds: how often everything is run.
        also_under: attacks to judge the claims under besides the usual ones, such as
            ``learned:people=60``; where a table or figure is about DLG alone, nothing is added.
        quick: little data, few steps, one seed: shows that it runs, the numbers mean nothing.
        beside: the folder of a reproduction on other data, whose findings stand beside these.
        page: also write the board as this Markdown file, its pictures in a folder beside it.
        jobs: how many runs at once; by default one per core. A backend of joblib that the caller
            has set, such as Dask's, is used instead.
        fresh: compute again what is cached in ``out``.
        progress: callbacks.

    Raises:
        UserError: a label is unknown, or the data do not allow it.
    """
    given, wanted = Given(data, cell, target), seeds_of(seeds, quick)
    if page is not None and out is None:
        raise UserError("page needs the pictures in out; give that too")
    also_under = methods_of(also_under) if also_under else ()
    specs = [_attacked_also(spec, also_under) for spec in paper_specs(labels)]
    data_beside, others = (None, {}) if beside is None else findings_of(Path(beside))
    folder = None if out is None else Path(out)
    with held(folder, RUNS):
        sweep = Sweep(specs, wanted, given, quick)
        runs = folder and folder / RUNS
        figures = sweep.run(runs, jobs or all_jobs(), progress, fresh=fresh)
        options = _options(given, seeds, also_under, quick)
        entries = []
        for spec in sweep.specs:
            found = figures[spec.label]
            pictures = tuple(draw_pictures(sweep, spec, found, THE_PAPERS, folder))
            entries.append(board_entry(spec, found, others, pictures, options))
        board = Board(
            tuple(entries),
            "the simulation" if data is None else data.source,
            data_beside,
            len(wanted),
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            sweep.seconds(figures),
        )
        if folder is not None and page is not None:
            _write_page(Path(page), board, folder)
        if folder is not None:
            pairs = [(spec, figures[spec.label]) for spec in sweep.specs]
            rows = [row for pair in pairs for row in rows_of(*pair)]
            guesses = [row for pair in pairs for row in guesses_of(*pair)]
            _write(folder, board, rows, guesses)
    return Reproduction(board, figures)


def _attacked_also(spec: Spec, also_under: Methods) -> Spec:
    """The same runs with more attacks, where they have the usual ones."""
    if not also_under:
        return spec
    method = (*METHODS, *also_under)

    def attacked(runs: Runs) -> Runs:
        is_usual = runs.measures == "attack" and "method" not in runs.attacks
        return replace(runs, attacks={**runs.attacks, "method": method}) if is_usual else runs

    return replace(spec, runs=tuple(map(attacked, spec.runs)))


def _write(
    folder: Path, board: Board, rows: Sequence[LabelledRow], guesses: Sequence[LabelledRow]
) -> None:
    """Rows, page and board; results.json last: its presence marks the others as complete."""
    write_rows(folder, rows)
    write_whole(folder / "board.md", board_markdown(board).encode())
    page = board_page(board, _pictures(board, folder)).encode()
    write_whole(folder / "board.html", page, PRIVATE)
    write_json(folder / RESULTS, _content(board, rows, guesses))


def _options(given: Given, seeds: int, also_under: Methods, quick: bool) -> str:
    """What a command must have to do the same."""
    source = None if given.data is None else given.data.source
    values = {"--data": source, "--cell": given.cell, "--target": given.target}
    if seeds != SEEDS and not quick:
        values["--seeds"] = str(seeds)
    if also_under:
        values["--also-under"] = ",".join(
            each if isinstance(each, str) else as_text(each) for each in also_under
        )
    options = [
        f" {name} {shlex.quote(value)}" for name, value in values.items() if value is not None
    ]
    return "".join(options) + " --quick" * quick


def _pictures(board: Board, folder: Path) -> dict[str, bytes]:
    names = (name for entry in board.entries for name in entry.pictures)
    return {name: (folder / name).read_bytes() for name in names}


def _write_page(page: Path, board: Board, folder: Path) -> None:
    """For the documentation: the board, and the pictures in a folder of the same name."""
    pictures = page.with_suffix("")
    with held_file(page):
        remove_parts(pictures)
        for name, content in _pictures(board, folder).items():
            write_whole(pictures / name, content)
        write_whole(page, board_markdown(board, f"{pictures.name}/").encode())


def _content(
    board: Board, rows: Sequence[LabelledRow], guesses: Sequence[LabelledRow]
) -> dict[str, Any]:
    """The content of ``results.json``: rows as everywhere, and the findings."""
    about = {
        "data": board.data,
        "seeds": board.seeds,
        "machine": board.machine,
        "versions": versions(),
    }
    claims = [
        {"label": entry.label, "says": line.says, "paper": line.paper, **line.here.as_dict()}
        for entry in board.entries
        for line in entry.lines
    ]
    lines, guessed = ([row.as_dict() for row in each] for each in (rows, guesses))
    return {**results(about, lines, [], guessed), "claims": claims}


def findings_of(folder: Path) -> tuple[str, dict[tuple[str, str], Finding]]:
    """The data of a finished reproduction, and what it found, by label and claim.

    Raises:
        UserError: there is none in the folder, or its file is damaged.
    """
    try:
        content = parse_json((folder / RESULTS).read_bytes())
        claims, data = content["claims"], str(content["settings"]["data"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise UserError(
            f"{folder} holds no finished reproduction in {RESULTS}; give the --out of one to "
            "--beside"
        ) from None
    try:
        return data, {(each["label"], each["says"]): Finding.read(each) for each in claims}
    except (LookupError, TypeError, AttributeError) as error:
        raise UserError(
            f"{folder / RESULTS} has claims that cannot be read ({shown(error)}); run it again, "
            "or give another folder to --beside"
        ) from None
