"""The audit behind ``veilmap audit``: a panel of configurations, trained, attacked, compared."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from veilmap.auditing.audit_result import Audit
from veilmap.auditing.conclusion import conclude
from veilmap.auditing.folder import AuditFolder
from veilmap.auditing.narrative import about_configuration, about_data, about_trials
from veilmap.auditing.panel import panel
from veilmap.auditing.plan import AuditPlan
from veilmap.auditing.reachable import refuse_unreachable
from veilmap.auditing.redaction import errors_without_names, without_people
from veilmap.auditing.settings import AuditSettings
from veilmap.errors import refuse, refuse_several, too_low
from veilmap.experiments.pool import all_jobs
from veilmap.experiments.result import TrialResult
from veilmap.experiments.schedule import Progress, run_trials
from veilmap.experiments.store import TrialStore
from veilmap.experiments.trial import Trial
from veilmap.files import json_bytes, written
from veilmap.measurements import Measurements
from veilmap.report.frame.policy import tile_origin
from veilmap.report.page.page import page_html, page_mode
from veilmap.sources.reader import read
from veilmap.wording import counted


def audit(
    data: Measurements | str | Path | Callable[[], Measurements] = "campus",
    settings: AuditSettings | None = None,
    *,
    out: str | Path | None = None,
    redact: bool = False,
    figures: bool = False,
    tiles: str | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    command: str = "veilmap.audit",
    progress: Progress = Progress(),
    **keywords: Any,
) -> Audit:
    """How near the server comes to users' homes, and what prevents it at which cost.

    Args:
        data: the measurements, or a file of them, or a simulated world, or a function that reads
            them, which is called once the settings are known to be right.
        settings: everything that decides the audit; or give ``keywords`` instead, such as
            ``cell="x204", seeds=5, targets=3, max_rmse_loss_db=0.3``.
        out: a folder for the report and the results of its trials. The same call later reuses what
            is cached there.
        redact: keep figures only, and no position.
        figures: also write figures for print, as PDF and PNG.
        tiles: the address of a server of map tiles for the report.
        jobs: how many trials at once; by default one per core. Within ``joblib.parallel_config``
            they go to the backend set there, for example to the machines of a Dask cluster.
        fresh: compute again what is cached in ``out``.
        command: how the audit was called, for the report.
        progress: callbacks.
        **keywords: single settings by name, instead of ``settings``.

    Raises:
        UserError: a setting or the data do not allow it, or the baseline fails.
    """
    refuse_several("audit", settings=settings, keywords=keywords)
    if jobs is not None:
        refuse(too_low(1, jobs=jobs))
    if tiles is not None:
        tile_origin(tiles)  # refuses now what the report would refuse after all trials
    settings = settings or AuditSettings.of(**keywords)
    runs = panel(settings)
    folder = None if out is None else AuditFolder(out)
    with nullcontext() if folder is None else folder.held():
        measurements = _read(data)
        with errors_without_names(measurements.users) if redact else nullcontext():
            plan = AuditPlan.of(measurements, settings, runs, redact)
            refuse_unreachable(plan)
            results = _run(plan, folder, jobs or all_jobs(), fresh, progress)
            audited = conclude(plan, results, command)
            if folder is not None:
                _write(audited, folder, figures, tiles)
    return audited


def _read(data: Measurements | str | Path | Callable[[], Measurements]) -> Measurements:
    if isinstance(data, Measurements):
        return data
    return read(data) if isinstance(data, str | Path) else data()


def _run(
    plan: AuditPlan, folder: AuditFolder | None, jobs: int, fresh: bool, progress: Progress
) -> list[TrialResult]:
    """One result per configuration and seed, in the order of the panel."""
    if folder is not None and plan.redact:
        removed = folder.drop_positions()
        if removed:
            files = counted(removed, "file")
            progress.on_message(
                f"removed {files} with positions of an earlier audit from {folder.path}"
            )

    def begin(trials: int, cached: int) -> None:
        progress.on_message(about_data(plan))
        progress.on_message(about_trials(plan, trials, cached))
        progress.on_begin(trials, cached)

    def redacted(result: TrialResult) -> TrialResult:
        return without_people(result, plan.data.users) if plan.redact else result

    finished: dict[str, list[TrialResult]] = {}

    def report(trial: Trial, result: TrialResult) -> None:
        own = finished.setdefault(trial.configuration, [])
        own.append(result)
        if len(own) == len(plan.settings.seeds):
            progress.on_message(about_configuration(trial.configuration, own))

    return run_trials(
        plan.trials(),
        {"": plan.data},
        None if folder is None else TrialStore(folder.trials),
        jobs,
        replace(progress, on_begin=begin),
        fresh=fresh,
        revise=redacted,
        on_result=report,
    )


def _write(audited: Audit, folder: AuditFolder, figures: bool, tiles: str | None) -> None:
    if figures:
        # Matplotlib is slow to load and needed only here.
        from veilmap.auditing.figures import write_figures

        write_figures(audited, folder.figures)
    mode = page_mode(audited.content)
    page = page_html(audited.content, tiles).encode()
    results = {folder.results: json_bytes(audited.as_json())}
    with written(results, mode), written({folder.report: page}, mode):
        pass  # the results get their name last
