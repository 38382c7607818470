"""The figures of one predictor on one seed's test data, as typed rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from veilmap.local_data import LocalData
from veilmap.map_quality.intervals import interval_coverage
from veilmap.map_quality.predictors import Kind, Predict
from veilmap.metrics.map_errors import Skill, SquaredErrors, TestSet
from veilmap.metrics.rows import FigureRow, RoundRecord


@dataclass(frozen=True)
class QualityRow(FigureRow):
    """One predictor and seed (docs/results.md, the rows of a comparison of maps).

    Attributes:
        predictor: by name.
        kind: the constant baseline, central, or federated.
        seed: of the split and of all draws.
        rmse_db: over the test rows.
        rmse_by_place_db: over the test data's places of 50 m.
        skill: 1 − MSE / MSE of the best constant, over rows.
        skill_by_place: the same over places.
        share_of_best: the skill by place, as a share of the best central predictor's on this seed;
            None if none has any.
        coverage_recall: the share of the places without coverage that are found.
        coverage_precision: the share of the places named that are without coverage.
        coverage_f1: of both.
        low_signal_rmse_db: over the quarter of the places where the signal is lowest.
        interval_coverage_68: the share of the test data inside the intervals that promise 68 %;
            None of a map that states no intervals.
        interval_coverage_95: of those that promise 95 %.
        seconds: to fit or train, and to predict.
    """

    predictor: str
    kind: Kind
    seed: int
    rmse_db: float
    rmse_by_place_db: float
    skill: float | None
    skill_by_place: float | None
    share_of_best: float | None
    coverage_recall: float | None
    coverage_precision: float | None
    coverage_f1: float | None
    low_signal_rmse_db: float
    interval_coverage_68: float | None
    interval_coverage_95: float | None
    seconds: float


@dataclass(frozen=True)
class CurvePoint(FigureRow):
    """A federated map after one round."""

    predictor: str
    seed: int
    trained: RoundRecord


@dataclass(frozen=True)
class Judge:
    """The test data, and the best constant on them."""

    test: TestSet
    constant: SquaredErrors
    threshold_dbm: float
    seed: int

    @classmethod
    def of(cls, test: LocalData, training: LocalData, threshold_dbm: float, seed: int) -> "Judge":
        """The constant is the best of the training data."""
        test_set = TestSet(test)
        return cls(test_set, test_set.constant_errors(training), threshold_dbm, seed)

    def row(self, predictor: str, kind: Kind, predict: Predict, seconds: float) -> QualityRow:
        """The share of the best is not known yet."""
        predicted_dbm = predict(self.test.xy_m).rsrp_dbm
        inside = interval_coverage(self.test.data, predict)
        # Each measure has a best constant of its own.
        errors = self.constant if kind == "baseline" else self.test.errors(predicted_dbm)
        skill = Skill.of(errors, self.constant)
        coverage = self.test.coverage(predicted_dbm, self.threshold_dbm)
        return QualityRow(
            predictor=predictor,
            kind=kind,
            seed=self.seed,
            rmse_db=errors.rmse_db,
            rmse_by_place_db=errors.rmse_by_place_db,
            skill=skill.per_row,
            skill_by_place=skill.by_place,
            share_of_best=None,
            coverage_recall=coverage.recall,
            coverage_precision=coverage.precision,
            coverage_f1=coverage.f1,
            low_signal_rmse_db=self.test.low_signal_rmse_db(predicted_dbm),
            interval_coverage_68=inside.of_68,
            interval_coverage_95=inside.of_95,
            seconds=seconds,
        )


def best_central(rows: Sequence[QualityRow]) -> QualityRow | None:
    """The central predictor with the highest skill by place; None if none has any."""
    central = [row for row in rows if row.kind == "central" and (row.skill_by_place or 0) > 0]
    return max(central, key=lambda row: row.skill_by_place or 0, default=None)


def with_shares(rows: Sequence[QualityRow]) -> tuple[QualityRow, ...]:
    """The rows of one seed with their shares of the best central skill."""
    best = best_central(rows)
    if best is None or not best.skill_by_place:
        return tuple(rows)
    return tuple(
        replace(row, share_of_best=row.skill_by_place / best.skill_by_place)
        if row.skill_by_place is not None
        else row
        for row in rows
    )
