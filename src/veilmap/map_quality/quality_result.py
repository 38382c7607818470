"""A finished comparison of maps: figures, means over seeds, words, and a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

import polars as pl

from veilmap.map_quality.compared_seed import ComparedSeed
from veilmap.map_quality.narrative import narrative
from veilmap.map_quality.noise_floor import NoiseFloor
from veilmap.map_quality.rows import CurvePoint, QualityRow
from veilmap.map_quality.settings import QualitySettings
from veilmap.map_quality.summary import Summary, summarise
from veilmap.settings import plain
from veilmap.study.prepare import Prepared
from veilmap.study.results import VERSIONED, results, settings_record, versions
from veilmap.wording import counted


@dataclass(frozen=True)
class QualityResult:
    """What ``veilmap.quality`` gives.

    Attributes:
        settings: that decided it.
        rows: one per seed and predictor.
        curve: one per seed, federated map and round.
        noise_floor: None if no place was visited by several sessions.
        record: the settings as given and resolved, the data, the versions; ready for JSON.
        first: the first seed's predictors, of which the picture is.
    """

    settings: QualitySettings
    rows: tuple[QualityRow, ...] = field(repr=False)
    curve: tuple[CurvePoint, ...] = field(repr=False)
    noise_floor: NoiseFloor | None
    record: Mapping[str, Any] = field(repr=False)
    first: ComparedSeed = field(repr=False)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """One per predictor, over the seeds."""
        return summarise(self.rows)

    @property
    def floor_skill_by_place(self) -> float | None:
        """Of a map whose error by place is the noise floor, mean over seeds."""
        constants = [row.rmse_by_place_db for row in self.rows if row.kind == "baseline"]
        if self.noise_floor is None or min(constants) == 0:
            return None
        return fmean(1 - (self.noise_floor.rmse_by_place_db / each) ** 2 for each in constants)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the figures mean."""
        return tuple(narrative(self.summaries, self.noise_floor))

    def figures(self) -> pl.DataFrame:
        """The rows as a table."""
        return pl.DataFrame([row.as_dict() for row in self.rows], infer_schema_length=None)

    def as_json(self) -> dict[str, Any]:
        """What ``results.json`` holds (docs/results.md)."""
        rows, curve = _plain(self.rows), _plain(self.curve)
        floor = None if self.noise_floor is None else asdict(self.noise_floor)
        return {**results(dict(self.record), rows, curve), "noise_floor": floor}

    def picture(self) -> bytes:
        """The PNG: measured, predicted, error and uncertainty, and the learning curve."""
        # Matplotlib is slow to load and needed only here.
        from veilmap.canvas import png
        from veilmap.map_quality.drawing import draw_sheet
        from veilmap.map_quality.sheet import sheet_of

        return png(draw_sheet(sheet_of(self.first), self.rows, self.curve, self._title))

    @property
    def _title(self) -> str:
        prepared = self.first.prepared
        rows, users = counted(len(prepared.data), "row"), counted(len(prepared.users), "user")
        split = f"{prepared.settings.test.split} split, seed {prepared.plan.seed}"
        return f"cell {prepared.cell}: {rows}, {users}, {split}"


def record_of(prepared: Prepared, settings: QualitySettings) -> dict[str, Any]:
    """The settings of all maps; what is resolved is of the first seed."""
    record = settings_record(prepared)
    del record["resolved"]["configuration"]
    return {
        **record,
        **plain(settings),
        "versions": versions((*VERSIONED, "scipy", "scikit-learn")),
    }


def _plain(rows: Sequence[QualityRow | CurvePoint]) -> list[dict[str, Any]]:
    return [row.as_dict() for row in rows]
