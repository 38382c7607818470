"""From the results of all trials to a finished audit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from veilmap.auditing.advice import advice, choose, why_none
from veilmap.auditing.audit_result import Audit
from veilmap.auditing.content import configurations, ground
from veilmap.auditing.headline import headline
from veilmap.auditing.narrative import (
    clock,
    homeless,
    knows,
    oracle,
    remarks,
    scarcity,
    sentences,
)
from veilmap.auditing.needed_classes import as_comments, needed_classes
from veilmap.auditing.over_people import about_people, over_people
from veilmap.auditing.plan import AuditPlan
from veilmap.auditing.ranking import Ranking, rank
from veilmap.auditing.redaction import (
    command_without_places,
    renamed,
    run_without_places,
    without_places,
)
from veilmap.errors import UserError
from veilmap.experiments.result import TrialResult
from veilmap.metrics.people import HomeErrors
from veilmap.metrics.verdict import Advice, Verdict
from veilmap.report.page.content import Content, Made
from veilmap.settings import plain, toml
from veilmap.study.attack_notation import method_name
from veilmap.study.prepare import Prepared
from veilmap.study.results import versions


def conclude(plan: AuditPlan, results: Sequence[TrialResult], command: str) -> Audit:
    """Compare the configurations and say what comes out.

    Raises:
        UserError: the baseline configuration has no figures.
    """
    if plan.redact:
        results = [renamed(each, plan.pseudonyms) for each in results]
        command = command_without_places(command)
    ranking = rank(results)
    baseline = next(iter(plan.runs))
    if baseline in ranking.failed:
        why = ranking.failed[baseline]
        raise UserError(f"the baseline configuration {baseline} has no figures: {why}")
    needed = needed_classes(list(plan.runs.values()), plan.settings.audit.method)
    made = Made(
        command=command,
        settings_toml=as_comments(needed, toml(_resolved(plan))),
        seeds=plan.settings.seeds,
        versions=versions(),
        data=_about_data(plan.prepared),
        seconds=sum(each.seconds for each in results),
    )
    people = over_people(ranking, results)
    verdict = _verdict(plan, ranking, results, people)
    return Audit(
        settings=plan.settings,
        ranking=ranking,
        verdict=verdict,
        content=replace(_content(plan, ranking, verdict, results, made), people=people),
        results=tuple(results),
        record=_record(plan, made),
    )


def _content(
    plan: AuditPlan, ranking: Ranking, verdict: Verdict, results: Sequence[TrialResult], made: Made
) -> Content:
    advised = verdict.advice
    recommended = advised.configuration if advised and advised.is_met else None
    data, tower = plan.data, plan.settings.audit.tower
    return Content(
        title=f"Privacy audit of {data.source}, cell {plan.prepared.cell}",
        verdict=verdict,
        targets=plan.names,
        attacks=tuple(map(method_name, plan.settings.audit.method)),
        configurations=configurations(ranking, results, recommended),
        rows=[row for each in results for row in each.rows],
        guesses=[row for each in results for row in each.guesses],
        history=[line for each in results for line in each.history],
        rmse_constant_db=ranking.baseline.rmse_constant_db,
        made=made,
        ground=ground(results, data.timezone, tower),
    )


def _verdict(
    plan: AuditPlan,
    ranking: Ranking,
    results: Sequence[TrialResult],
    people: Sequence[HomeErrors],
) -> Verdict:
    used = dict.fromkeys(name for each in results for name in each.oracle)
    prepared = plan.prepared
    return Verdict(
        headline=headline(ranking, plan.names),
        sentences=(
            *scarcity(prepared),
            *plan.chosen.remarks(),
            *homeless(ranking),
            *clock(plan.data),
            *about_people(people, ranking.baseline.place),
            *why_none(ranking, plan.settings.audit),
            *sentences(ranking),
            *remarks(prepared, results),
        ),
        knows=knows(plan.settings),
        oracle=oracle(list(used)),
        advice=_advice(plan, ranking),
    )


def _advice(plan: AuditPlan, ranking: Ranking) -> Advice | None:
    choice = choose(ranking, plan.settings.audit)
    if choice is None:
        return None
    run = plan.runs[choice.ranked.name]
    if plan.redact and run.task.area is not None:
        note = "The area is left out below; add yours: --area WEST SOUTH EAST NORTH."
        choice = replace(choice, words=f"{choice.words} {note}")
        run = run_without_places(run)
    return advice(choice, run, plan.data.read_with)


def _resolved(plan: AuditPlan) -> dict[str, Any]:
    """A settings file that makes the same audit: cell and targets by name, columns as read."""
    task = replace(plan.settings.task, cell=plan.prepared.cell)
    audit = replace(plan.settings.audit, target=plan.targets, targets=None)
    settings = replace(plan.settings, task=task, audit=audit)
    if plan.redact:
        settings = without_places(settings)
    given = ((name, plan.data.read_with.get(name)) for name in ("columns", "reading"))
    return {**plain(settings), **{name: dict(table) for name, table in given if table}}


def _record(plan: AuditPlan, made: Made) -> dict[str, Any]:
    settings = without_places(plan.settings) if plan.redact else plan.settings
    return {
        **plain(settings),
        "resolved": {
            "command": made.command,
            "targets": list(plan.names),
            "configurations": list(plan.runs),
            "seeds": list(made.seeds),
            "redacted": plan.redact,
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
        "timezone_by": data.timezone_by,
        "fingerprint": data.fingerprint,
    }
