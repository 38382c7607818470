"""The comparison behind ``veilmap quality``: how good can a map be, and how good is ours?"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from veilmap.errors import UserError, refuse, refuse_several, shown
from veilmap.map_quality.compared_seed import OnDone, compare_seed
from veilmap.map_quality.folder import QualityFolder
from veilmap.map_quality.noise_floor import noise_floor
from veilmap.map_quality.quality_result import QualityResult, record_of
from veilmap.map_quality.settings import LEAST_ROWS, QualitySettings
from veilmap.measurements import Measurements
from veilmap.metrics.map_errors import PLACE_M, places
from veilmap.model.device import torch_for
from veilmap.output import held
from veilmap.sources.reader import read
from veilmap.wording import counted


def quality(
    data: Measurements | str | Path | Callable[[], Measurements] = "campus",
    settings: QualitySettings | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    on_done: OnDone = lambda predictor, seed: None,
    **keywords: Any,
) -> QualityResult:
    """How good a map of these data can be, and how good the federated ones are.

    Args:
        data: the measurements, or a file of them, or a simulated world, or a function that reads
            them, which is called once the settings are known to be right.
        settings: everything that decides the comparison; or give ``keywords`` instead, such as
            ``cell="x204", split="block", block_m=200, seeds=5, maps=("network",)``.
        out: a folder for the figures and the picture.
        overwrite: replace a finished comparison in that folder.
        on_done: called with a predictor's name and the seed when it is judged.
        **keywords: single settings by name, instead of ``settings``.

    Raises:
        UserError: a setting or the data do not allow it, or training diverged.
    """
    refuse_several("quality", settings=settings, keywords=keywords)
    settings = settings or QualitySettings.of(**keywords)
    for run in settings.runs.values():
        torch_for(run.map)  # not only after the other predictors
    folder = None if out is None else QualityFolder(out)
    with held(None if folder is None else folder.path):
        if folder is not None:
            folder.refuse_taken(overwrite)
        compared = _compare(_read(data), settings, on_done)
        if folder is not None:
            folder.write(compared)
    return compared


def _read(data: Measurements | str | Path | Callable[[], Measurements]) -> Measurements:
    if isinstance(data, Measurements):
        return data
    return read(data) if isinstance(data, str | Path) else data()


def _compare(data: Measurements, settings: QualitySettings, on_done: OnDone) -> QualityResult:
    of_cell = data.of_cell(settings.task.cell)
    refuse(_faults(of_cell))
    seeds = [compare_seed(of_cell, settings, seed, on_done) for seed in settings.seeds]
    first = seeds[0]
    return QualityResult(
        settings=settings,
        rows=tuple(row for seed in seeds for row in seed.rows),
        curve=tuple(point for seed in seeds for point in seed.curve),
        noise_floor=noise_floor(of_cell),
        record=record_of(first.prepared, settings),
        first=first,
    )


def _faults(data: Measurements) -> Iterator[UserError]:
    """Why there is no map to compare with another."""
    rows, cell = counted(len(data), "row"), shown(data.cells[0])
    if len(data) < LEAST_ROWS:
        yield UserError(
            f"comparing maps needs a cell with at least {LEAST_ROWS} rows, got {rows} of cell "
            f"{cell}; choose another --cell"
        )
    elif len(np.unique(places(data.xy_m))) == 1:
        yield UserError(
            f"comparing maps needs measurements at several places, got {rows} of cell {cell} in "
            f"one square of {PLACE_M:g} m; choose another --cell"
        )
    elif data.table["rsrp_dbm"].n_unique() == 1:
        yield UserError(
            f"comparing maps needs a signal that varies, got {data.table['rsrp_dbm'][0]:g} dBm in "
            f"all {rows} of cell {cell}; choose another --cell or another column with --signal"
        )
