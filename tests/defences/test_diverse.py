import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.defences.making import EMPTY, UTM_M, kept, make_batch, make_turn, on_a_line
from veilmap.defences.clustering.dbscan import dbscan
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.step import PointStep
from veilmap.errors import UserError
from veilmap.strategy import as_text

ROUNDS = arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.just(2)),
    elements=st.integers(0, 12).map(float),
).map(lambda xy_m: make_batch(xy_m, UTM_M))


def figures(step, batch):
    return dict(step.on_points(batch, make_turn())[1])


def test_of_each_cluster_the_point_nearest_to_its_mean_is_kept():
    """0, 1, 2, 9 has mean 3: row 2 (at 2 m); 100 and 104: equally near, so the earlier, row 4."""
    batch = on_a_line(0, 1, 2, 9, 100, 104)
    step = DiverseBatch(eps_m=7.0)
    assert kept(step, batch) == [2, 4]
    assert figures(step, batch) == {"clusters": 2, "noise_points": 0}


def test_rounding_does_not_choose_between_points_equally_near():
    """Rows 1 and 2 lie opposite each other around the mean; in binary row 2 is a hair nearer."""
    mean, near, far = np.array([0.1, 0.2]), np.array([2.7, 1.1]), np.array([7.6, 4.9])
    batch = make_batch([mean + far, mean + near, mean - near, mean - far], UTM_M)
    assert kept(DiverseBatch(), batch) == [1]


def test_the_mean_counts_a_place_as_often_as_it_was_measured():
    """0, 3, 3, 3, 6, 9, 9, 9, 9, 9: mean 6; without repetitions it would be 4.5."""
    assert kept(DiverseBatch(eps_m=3.0), on_a_line(0, 3, 3, 3, 6, 9, 9, 9, 9, 9)) == [4]


def test_a_mean_as_centre_averages_position_signal_and_time():
    """Rows 0 and 3 are one cluster, 1 and 2 another; both have the mean time 1.5 s."""
    batch = on_a_line(0, 100, 102, 4)
    points, _ = DiverseBatch(eps_m=5.0, centre="mean").on_points(batch, make_turn())
    assert (points.xy_m - UTM_M).tolist() == [[2, 0], [101, 0]]
    assert points.rsrp_dbm.tolist() == [-91.5, -91.5]
    assert points.time_s.tolist() == [1.5, 1.5]


def test_means_come_in_the_order_of_their_times():
    """Rows 0 and 5 have mean time 2.5 s, rows 1 and 2 have 1.5 s."""
    batch = on_a_line(0, 100, 100, 200, 200, 0)
    points, _ = DiverseBatch(eps_m=5.0, centre="mean").on_points(batch, make_turn())
    assert points.time_s.tolist() == [1.5, 2.5, 3.5]
    assert (points.xy_m - UTM_M)[:, 0].tolist() == [100, 0, 200]


@pytest.mark.parametrize(
    ("size", "rows"),
    [
        (1, [3]),
        (2, [0, 3]),
        (3, [0, 1, 3]),
        (4, [0, 1, 2, 3]),
        (5, [0, 1, 2, 3, 4]),
        (9, [0, 1, 2, 3, 4]),
    ],
)
def test_passes_continue_until_there_are_enough_points(size, rows):
    """Clusters {0, 1} and {2, 3, 4}: centres 0 and 3, the larger's first; then {1}, {2} and {4}."""
    assert kept(DiverseBatch(eps_m=1.5, size=size), on_a_line(50, 51, 0, 1, 2)) == rows


def test_of_many_clusters_of_one_size_the_first_are_taken():
    """Of fifty places every second is visited twice."""
    batch = on_a_line(*range(0, 500, 10), *range(10, 500, 20))
    assert kept(DiverseBatch(eps_m=1.0, size=5), batch) == [1, 3, 5, 7, 9]
    assert figures(DiverseBatch(eps_m=1.0, size=5), batch)["asked"] == 5


def test_many_means_of_one_time_keep_the_order_of_their_clusters():
    """Fifty places, and back by every second one; then back by the others.

    The first have the mean time 49.5 s, the others 74.5 s; where neither was comes last.
    """
    x_m, elsewhere = np.arange(0, 500, 10), -100
    back = x_m[::-1]
    even = back % 20 == 0
    batch = on_a_line(*x_m, *np.where(even, back, elsewhere), *np.where(even, elsewhere, back))
    points, _ = DiverseBatch(eps_m=1.0, centre="mean").on_points(batch, make_turn())
    assert (points.xy_m - UTM_M)[:, 0].tolist() == [*x_m[::2], *x_m[1::2], elsewhere]


def test_a_second_pass_clusters_what_is_left_again():
    """Without row 1 the ends are 2 m apart and no longer together."""
    batch = on_a_line(0, 1, 2)
    assert kept(DiverseBatch(eps_m=1.5, size=2), batch) == [0, 1]
    assert kept(DiverseBatch(eps_m=2.5, size=2), batch) == [0, 1]
    assert kept(DiverseBatch(eps_m=1.5, size=3), batch) == [0, 1, 2]


def test_passes_end_when_only_dropped_noise_is_left():
    """The pair gives one point; its other half has no neighbour then."""
    step = DiverseBatch(eps_m=1.5, size=4, min_points=2, noise="drop")
    assert kept(step, on_a_line(0, 1, 50)) == [0]


@pytest.mark.parametrize(
    ("noise", "rows"), [("keep", [0, 1, 3, 4]), ("drop", [1, 3]), ("group", [0, 1, 3])]
)
def test_noise_is_kept_or_dropped_or_grouped(noise, rows):
    """Pairs {1, 2} and {3, 5}; noise 0 at 100 m and 4 at 200 m, equally near to 150 m."""
    batch = on_a_line(100, 0, 1, 50, 200, 50)
    step = DiverseBatch(eps_m=1.0, min_points=2, noise=noise)
    assert kept(step, batch) == rows
    assert figures(step, batch)["noise_points"] == 2


@given(ROUNDS, st.sampled_from([0.5, 1.0, 2.0, 3.0]))
def test_kept_points_are_farther_apart_than_eps(batch, eps_m):
    xy_m = batch.xy_m[kept(DiverseBatch(eps_m), batch)]
    between_m = np.hypot(*(xy_m[:, None] - xy_m[None]).T)
    assert (between_m[~np.eye(len(xy_m), dtype=bool)] > eps_m).all()


@given(ROUNDS, st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 4), st.integers(1, 40))
def test_every_cluster_is_there_once_and_sizes_are_met(batch, eps_m, min_points, size):
    labels = dbscan(batch.xy_m, eps_m, min_points)
    once = kept(DiverseBatch(eps_m, min_points=min_points, noise="drop"), batch)
    assert sorted(labels[once]) == list(range(labels.max() + 1))
    assert len(kept(DiverseBatch(eps_m, size=size), batch)) == min(size, len(batch))


@given(ROUNDS)
def test_a_larger_eps_never_keeps_more(batch):
    counts = [len(kept(DiverseBatch(eps_m), batch)) for eps_m in (0.1, 1.0, 2.0, 4.0, 1e6)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == len(np.unique(batch.xy_m, axis=0))
    assert counts[-1] == 1


@pytest.mark.parametrize("centre", ["nearest", "mean"])
def test_of_no_points_come_no_points(centre):
    points, reported = DiverseBatch(centre=centre).on_points(EMPTY, make_turn())
    assert len(points) == 0
    assert points.xy_m.shape == (0, 2)
    assert reported == {"clusters": 0, "noise_points": 0}
    assert len(DiverseBatch(size=5).on_points(EMPTY, make_turn())[0]) == 0


@pytest.mark.parametrize("centre", ["nearest", "mean"])
def test_of_noise_that_is_dropped_come_no_points(centre):
    step = DiverseBatch(eps_m=1.0, centre=centre, min_points=3, noise="drop")
    points, reported = step.on_points(on_a_line(0, 10, 20), make_turn())
    assert points.xy_m.shape == (0, 2)
    assert reported == {"clusters": 0, "noise_points": 3}


@pytest.mark.parametrize("centre", ["nearest", "mean"])
def test_one_point_stays(centre):
    batch = on_a_line(7)
    points, _ = DiverseBatch(centre=centre).on_points(batch, make_turn())
    assert (points.xy_m == batch.xy_m).all()


def test_of_equal_points_the_earliest_stays():
    assert kept(DiverseBatch(), on_a_line(5, 5, 5, 5)) == [0]


def test_the_batch_that_was_given_stays_as_it_was():
    batch = on_a_line(50, 51, 0, 1, 2)
    before = batch.xy_m.copy()
    DiverseBatch(eps_m=1.5, size=4).on_points(batch, make_turn())
    assert (batch.xy_m == before).all()


def test_it_is_a_point_step_with_a_name_and_prints_what_differs():
    assert isinstance(DiverseBatch(), PointStep)
    given = DiverseBatch(eps_m=50.0, size=None, centre="nearest", min_points=1, noise="keep")
    assert DiverseBatch() == given
    assert as_text(DiverseBatch()) == "diverse:eps_m=50"
    assert as_text(DiverseBatch(eps_m=5.0, size=3)) == "diverse:eps_m=5,size=3"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"eps_m": 0.0}, "eps_m must be .* above 0, got 0.0"),
        ({"size": 0}, "size must be a whole number of at least 1, or None, got 0"),
        ({"centre": "middle"}, "unknown centre 'middle'; choose one of: nearest, mean"),
        ({"min_points": 0}, "min_points must be .* at least 1, got 0"),
        ({"noise": "lose"}, "unknown noise 'lose'; choose one of: keep, drop, group"),
        ({"centre": "mean", "size": 3}, "size must be None with centre 'mean', got 3"),
        ({"eps_m": -1.0, "size": -2}, "eps_m .*; size "),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises(UserError, match=message):
        DiverseBatch(**wrong)
