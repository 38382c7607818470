import numpy as np
import pytest

from tests.conftest import make_local_data
from veilmap.area import Area
from veilmap.local_data import LocalData
from veilmap.metrics import distances
from veilmap.metrics.distances import (
    centroid_distances_m,
    emds_or_none_m,
    mean_or_none,
    median_or_none,
    nearest_distances_m,
    random_emd_m,
    random_nearest_m,
    root_or_none,
    round_emd_m,
)
from veilmap.metrics.transport import emd_m

AREA = Area(-500, -200, 500, 200)
NOTHING = (np.zeros((0, 2)), np.zeros(0))


def at(*xy_m):
    return LocalData(np.array(xy_m, float), np.zeros(len(xy_m)), np.zeros(len(xy_m)))


def heap(*xy_m):
    return np.array(xy_m, float), np.ones(len(xy_m))


def test_distances_are_from_the_centroid_of_the_round():
    """Centroids (1, 0) and (0, 0); found at (4, 4), 5 m away, and nowhere."""
    away_m = centroid_distances_m([at((0, 0), (2, 0)), at((0, 0))], [[4, 4], [np.nan, 0]])
    assert away_m.tolist() == [5, np.inf]


def test_the_emd_of_nothing_is_none():
    true_m = make_local_data(20).xy_m
    nothing, found_m, weights = np.zeros((0, 2)), true_m[:2], np.array([3.0, 1.0])
    assert emds_or_none_m(true_m, [nothing], [None]) == [None]
    none, weighted, equal = emds_or_none_m(
        true_m, [nothing, found_m, found_m], [None, weights, None]
    )
    assert none is None
    assert weighted == pytest.approx(emd_m(true_m, found_m, b_weights=weights), rel=1e-12)
    assert equal == pytest.approx(emd_m(true_m, found_m), rel=1e-12)
    assert equal != weighted


def test_the_reference_guesses_uniformly_in_the_area():
    """Many guesses are near the EMD from the whole rectangle; the tolerance is 3 %."""
    true_m = make_local_data(50).xy_m
    x_m, y_m = np.meshgrid(np.arange(-495, 500, 10.0), np.arange(-195, 200, 10.0))
    everywhere = emd_m(true_m, np.column_stack([x_m.ravel(), y_m.ravel()]), projections=100)
    draws = random_emd_m(true_m, AREA, 5_000, seed=0)
    assert len(draws) == 5
    assert len(set(draws)) == 5
    assert draws == pytest.approx([everywhere] * 5, rel=0.03)


def test_the_reference_obeys_its_seed():
    true_m = make_local_data(50).xy_m
    assert random_emd_m(true_m, AREA, 7, seed=1) == random_emd_m(true_m, AREA, 7, seed=1)
    assert random_emd_m(true_m, AREA, 7, seed=1) != random_emd_m(true_m, AREA, 7, seed=2)
    assert random_emd_m(true_m, AREA, 0, seed=1) == ()


def test_the_emd_of_rounds_is_their_median():
    """Shifts by 10, 20 and 90 m: the median is 20·2/π."""
    truth = [at((0, 0), (5, 0))] * 3
    clouds = [heap((0, 10), (5, 10)), heap((20, 0), (25, 0)), heap((90, 0), (95, 0))]
    assert round_emd_m(truth, clouds) == pytest.approx(20 * 2 / np.pi, rel=1e-3)


def test_a_round_without_a_cloud_is_infinitely_far():
    truth, near = [at((0, 0))] * 3, heap((10, 0))
    assert round_emd_m(truth, [near, NOTHING, near]) == pytest.approx(10 * 2 / np.pi, rel=1e-3)
    assert round_emd_m(truth, [near, NOTHING, NOTHING]) is None


def test_the_emd_of_a_round_goes_by_the_weights_of_its_cloud():
    """A quarter of the weight must come back from 40 m: 10·2/π."""
    cloud = np.array([[0.0, 0.0], [40.0, 0.0]]), np.array([3.0, 1.0])
    assert round_emd_m([at((0, 0))], [cloud]) == pytest.approx(10 * 2 / np.pi, rel=1e-3)


def test_what_is_computed_many_times_looks_in_fewer_directions(monkeypatch):
    """To the east alone, a way to the north costs nothing."""
    monkeypatch.setattr(distances, "FEWER_PROJECTIONS", 1)
    assert round_emd_m([at((0, 0))], [heap((0, 10))]) == 0
    north = Area(0, 100, 0, 200)
    assert random_emd_m(np.zeros((1, 2)), north, 3, seed=0) == (0,) * 5


def test_what_is_not_defined_is_none():
    assert mean_or_none([]) is None
    assert mean_or_none([1, 2]) == 1.5
    assert median_or_none([]) is None
    assert median_or_none([1, np.inf, 3]) == 3
    assert median_or_none([1, np.inf]) is None
    assert median_or_none([np.inf, np.inf]) is None
    assert root_or_none(None) is None
    assert root_or_none(9.0) == 3


def test_the_nearest_true_point_is_looked_for_in_its_own_round():
    """(3, 4) is 5 m from round 1's (0, 0); round 2's point at (3, 4) does not count for it."""
    truth = [at((0, 0), (100, 0)), at((3, 4))]
    away_m = nearest_distances_m(truth, np.array([[3.0, 4.0], [np.nan, np.nan]]))
    assert away_m.tolist() == [5.0, np.inf]


def test_every_round_has_its_own_cloud_and_location():
    with pytest.raises(ValueError, match="shorter"):
        round_emd_m([at((0, 0))] * 2, [NOTHING])
    with pytest.raises(ValueError, match="shorter"):
        nearest_distances_m([at((0, 0))] * 2, np.zeros((1, 2)))


def test_guesses_lie_far_from_a_user_that_never_moves():
    """Uniform in a square of 2,000 m around the only point: the median is sqrt(2/pi) km."""
    truth = [at((0, 0))] * 200
    guessed_m = random_nearest_m(truth, Area(-1000, -1000, 1000, 1000), seed=0)
    assert guessed_m == pytest.approx(1000 * np.sqrt(2 / np.pi), rel=0.05)
