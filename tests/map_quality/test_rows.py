import numpy as np
import pytest

from tests.conftest import make_local_data
from tests.map_quality.making import row
from veilmap.federation.map_family import Prediction
from veilmap.map_quality.rows import Judge, best_central, with_shares
from veilmap.map_quality.summary import summarise

COLUMNS = (
    "predictor", "kind", "seed", "rmse_db", "rmse_by_place_db", "skill", "skill_by_place",
    "share_of_best", "coverage_recall", "coverage_precision", "coverage_f1", "low_signal_rmse_db",
    "interval_coverage_68", "interval_coverage_95", "seconds",
)  # fmt: skip


def test_the_share_is_that_of_the_best_central_predictors_skill():
    """The best has 0.8; a federated map with 0.9 is no central one, and has 1.125 of it."""
    rows = with_shares(
        [
            row("constant", "baseline", skill_by_place=0.0),
            row("linear", "central", skill_by_place=-0.4),
            row("forest", "central", skill_by_place=0.8),
            row("network", "federated", skill_by_place=0.9),
        ]
    )
    assert [each.share_of_best for each in rows] == pytest.approx([0, -0.5, 1, 1.125])


@pytest.mark.parametrize("skills", [(-0.1, 0.0), (None, None)])
def test_there_is_no_share_if_no_central_predictor_has_skill(skills):
    rows = [row(str(k), "central", skill_by_place=each) for k, each in enumerate(skills)]
    assert best_central(rows) is None
    assert [each.share_of_best for each in with_shares(rows)] == [None, None]


def test_the_constant_is_judged_by_the_best_of_each_measure():
    training, test = make_local_data(200, 0), make_local_data(80, 1)
    judge = Judge.of(test, training, -96, seed=4)
    found = judge.row(
        "constant", "baseline", lambda xy_m: Prediction(np.full(len(xy_m), -96.0)), 0.5
    )
    assert (found.skill, found.skill_by_place) == (0, 0)
    assert found.rmse_db == judge.constant.rmse_db
    assert (found.seed, found.seconds) == (4, 0.5)


def test_a_row_is_flat_and_keeps_what_is_not_defined():
    flat = row(skill=None).as_dict()
    assert tuple(flat) == COLUMNS
    assert flat["skill"] is None


def test_means_are_over_the_seeds_where_a_figure_is_defined():
    rows = [
        row("a", "central", seed, skill_by_place=skill, share_of_best=share)
        for seed, (skill, share) in enumerate([(0.2, None), (0.5, 0.9), (0.8, 0.7)])
    ]
    (found,) = summarise(rows)
    assert found.mean("skill_by_place") == pytest.approx(0.5)
    assert (found.range("skill_by_place").least, found.range("skill_by_place").most) == (0.2, 0.8)
    assert found.mean("share_of_best") == pytest.approx(0.8)
    assert found.mean("coverage_f1") is None
