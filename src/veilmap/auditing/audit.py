"""The audit behind ``veilmap audit``: a panel of configurations, trained, attacked, compared."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from veilmap.auditing.conclusion import conclude
from veilmap.auditing.finished import Audit
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings
from veilmap.auditing.store import Store
from veilmap.auditing.work import Hooks, Work
from veilmap.errors import UserError
from veilmap.files import json_bytes, written
from veilmap.measurements import Measurements
from veilmap.report.frame.policy import tile_origin
from veilmap.report.page.page import page_html, page_mode
from veilmap.sources.reader import read
from veilmap.study.pool import all_jobs


def audit(
    data: Measurements | str | Path = "campus",
    settings: AuditSettings | None = None,
    *,
    out: str | Path | None = None,
    redact: bool = False,
    figures: bool = False,
    tiles: str | None = None,
    jobs: int | None = None,
    command: str = "veilmap.audit",
    hooks: Hooks = Hooks(),
    **keywords: Any,
) -> Audit:
    """How near the server comes to users' homes, and what keeps it away at which price.

    Args:
        data: the measurements, or a file of them, or a simulated world.
        settings: everything that decides the audit; or give ``keywords`` instead, such as
            ``cell="x204", seeds=5, targets=3, max_rmse_loss_db=0.3``.
        out: a folder for the report and what it is made of. The same call later goes on from what
            is finished there.
        redact: keep figures only, and no position.
        figures: also write figures for print, as PDF and PNG.
        tiles: the address of a server of map tiles for the report.
        jobs: how many runs at once; by default one per core. Within ``joblib.parallel_config`` they
            go to the backend set there, for example to the machines of a Dask cluster.
        command: how the audit was called, for the report.
        hooks: who is told how it gets on.
        **keywords: single settings by name, instead of ``settings``.

    Raises:
        UserError: a setting or the data do not allow it, or the configuration as it is fails.
    """
    if settings is not None and keywords:
        raise UserError("audit takes settings or keywords, not both")
    if jobs is not None and jobs < 1:
        raise UserError(f"jobs must be at least 1, got {jobs}")
    if tiles is not None:
        tile_origin(tiles)  # refuses now what the report would refuse after all runs
    settings = settings or AuditSettings.of(**keywords)
    store = None if out is None else Store(out)
    with nullcontext() if store is None else store.held():
        if store is not None:
            store.refuse_taken()
        runs = panel(settings)
        measured = data if isinstance(data, Measurements) else read(data)
        work = Work(measured, settings, runs, redact)
        if store is not None and redact:
            hooks.on_redacted(store.drop_positions())
        results = work.run(store, jobs or all_jobs(), hooks)
        finished = conclude(work, results, command)
        if store is not None:
            _write(finished, store, figures, tiles)
    return finished


def _write(finished: Audit, store: Store, figures: bool, tiles: str | None) -> None:
    if figures:
        # Matplotlib is slow to load and needed only here.
        from veilmap.auditing.figures import write_figures

        write_figures(finished, store.figures)
    mode = page_mode(finished.content)
    page = page_html(finished.content, tiles).encode()
    results = {store.results: json_bytes(finished.as_json())}
    with written(results, mode), written({store.report: page}, mode):
        pass  # the results get their name last
