"""From the results of all runs to a finished audit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from veilmap.auditing.advice import advice, choose
from veilmap.auditing.content import configurations, ground
from veilmap.auditing.finished import Audit
from veilmap.auditing.ranking import Ranking, rank
from veilmap.auditing.redaction import (
    command_without_places,
    read_without_places,
    renamed,
    run_without_places,
    without_places,
)
from veilmap.auditing.remarks import remarks
from veilmap.auditing.unit import Result, Row
from veilmap.auditing.words import headline, knows, oracle, scarcity, sentences
from veilmap.auditing.work import Work
from veilmap.errors import UserError
from veilmap.report.page.content import Advice, Content, Made, Verdict
from veilmap.settings import plain, toml
from veilmap.study.attack_notation import method_name
from veilmap.study.prepare import Prepared
from veilmap.study.results import versions


def conclude(work: Work, results: Sequence[Result], command: str) -> Audit:
    """Compare the configurations and say what comes out.

    Raises:
        UserError: the configuration as it is has no figures.
    """
    if work.redact:
        names = dict(zip(work.targets, work.names, strict=True))
        results = [renamed(each, names) for each in results]
    ranking = rank(results)
    as_it_is = next(iter(work.runs))
    if as_it_is in ranking.failed:
        raise UserError(f"{as_it_is}, the configuration as it is: {ranking.failed[as_it_is]}")
    made = _made(work, command, sum(each.seconds for each in results))
    return Audit(
        settings=work.settings,
        ranking=ranking,
        content=_content(work, ranking, results, made),
        results=tuple(results),
        record=_record(work, made),
    )


def _content(work: Work, ranking: Ranking, results: Sequence[Result], made: Made) -> Content:
    verdict = _verdict(work, ranking, results)
    advised = verdict.advice
    recommended = advised.configuration if advised and advised.is_met else None
    data, tower = work.prepared.data, work.settings.audit.tower
    return Content(
        title=f"Privacy audit of {data.source}, cell {work.prepared.cell}",
        verdict=verdict,
        targets=work.names,
        attacks=tuple(map(method_name, work.settings.audit.method)),
        configurations=configurations(ranking, results, recommended),
        rows=[row for each in results for row in each.rows],
        history=[_single(line) for each in results for line in each.history],
        rmse_constant_db=ranking.as_it_is.rmse_constant_db,
        made=made,
        ground=ground(results, data.timezone, tower),
    )


def _single(line: Row) -> Row:
    """Without the lists in it, which are no column of a table."""
    return {name: value for name, value in line.items() if not isinstance(value, list | tuple)}


def _verdict(work: Work, ranking: Ranking, results: Sequence[Result]) -> Verdict:
    used = dict.fromkeys(name for each in results for name in each.oracle)
    return Verdict(
        headline=headline(ranking, work.names),
        sentences=(
            *scarcity(work.prepared),
            *sentences(ranking),
            *remarks(work.prepared, results),
        ),
        knows=knows(work.settings),
        oracle=oracle(list(used)),
        advice=_advice(work, ranking),
    )


def _advice(work: Work, ranking: Ranking) -> Advice | None:
    choice = choose(ranking, work.settings.audit)
    if choice is None:
        return None
    run, read_with = work.runs[choice.ranked.name], work.prepared.data.read_with
    if not work.redact:
        return advice(choice, run, read_with)
    if run.task.area is not None:
        note = "The area is left out below; add yours: --area WEST SOUTH EAST NORTH."
        choice = replace(choice, words=f"{choice.words} {note}")
    return advice(choice, run_without_places(run), read_without_places(read_with))


def _made(work: Work, command: str, seconds: float) -> Made:
    return Made(
        command=command_without_places(command) if work.redact else command,
        settings_toml=toml(_resolved(work)),
        seeds=work.settings.seeds,
        versions=versions(),
        data=_about_data(work.prepared),
        seconds=seconds,
    )


def _resolved(work: Work) -> dict[str, Any]:
    """A settings file that makes the same audit: cell and targets by name, columns as read."""
    settings, read_with = work.settings, work.prepared.data.read_with
    audit = replace(settings.audit, target=work.targets, targets=1)
    settings = replace(settings, task=replace(settings.task, cell=work.prepared.cell), audit=audit)
    if work.redact:
        settings, read_with = without_places(settings), read_without_places(read_with)
    reading = {name: dict(read_with.get(name, {})) for name in ("columns", "reading")}
    return {**plain(settings), **{name: table for name, table in reading.items() if table}}


def _record(work: Work, made: Made) -> dict[str, Any]:
    settings = without_places(work.settings) if work.redact else work.settings
    return {
        **plain(settings),
        "resolved": {
            "command": made.command,
            "targets": list(work.names),
            "configurations": list(work.runs),
            "seeds": list(made.seeds),
            "redacted": work.redact,
        },
        "data": made.data,
        "versions": made.versions,
    }


def _about_data(prepared: Prepared) -> dict[str, Any]:
    data = prepared.data
    return {
        "source": data.source,
        "cell": prepared.cell,
        "rows_of_cell": len(data),
        "users": len(prepared.users),
        "rounds": len(prepared.rounds),
        "dropped": {fault.kind: fault.rows for fault in data.dropped},
        "files_left_out": len(data.left_out),
        "timezone": data.timezone,
        "fingerprint": data.fingerprint,
    }
