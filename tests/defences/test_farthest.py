import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.defences.making import EMPTY, UTM_M, kept, make_batch, make_turn, on_a_line
from veilmap.defences.clustering.dbscan import dbscan
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.farthest import FarthestBatch
from veilmap.defences.step import PointStep
from veilmap.errors import UserError
from veilmap.strategy import as_text

ROUNDS = arrays(
    np.float64,
    st.tuples(st.integers(1, 30), st.just(2)),
    elements=st.integers(0, 12).map(float),
).map(lambda xy_m: make_batch(xy_m, UTM_M))
EPS = st.sampled_from([0.5, 1.0, 2.0, 3.0])


def from_the_rounds_m(points, batch):
    """How far the centroid moved."""
    return float(np.hypot(*(points.centroid_m - batch.centroid_m)))


@pytest.mark.parametrize(
    ("num", "rows", "clusters"),
    [
        (1, [4], 1),
        (2, [4, 6], 1),
        (3, [1, 4, 6], 2),
        (5, [0, 1, 2, 4, 6], 3),
        (7, list(range(7)), 3),
        (99, list(range(7)), 3),
    ],
)
def test_points_come_from_the_farthest_cluster_inwards_and_the_earliest_first(num, rows, clusters):
    """Centroid of all: 300 / 7 = 43 m.

    {4, 6} at 120.5 m is 78 m off, {1} at 0 m is 43 m off, {0, 2, 3, 5} around 15 m 28 m off.
    """
    batch = on_a_line(14, 0, 14, 15, 120, 16, 121)
    step = FarthestBatch(eps_m=5.0, num=num)
    assert kept(step, batch) == rows
    reported = step.on_points(batch, make_turn())[1]
    assert reported == {"clusters": 3, "noise_points": 0, "asked": num, "clusters_kept": clusters}


def test_distance_is_between_centroids_not_to_the_farthest_point():
    """Round's centroid 20 m; {0 … 40} has its centroid there although its ends are 20 m off."""
    batch = on_a_line(0, 10, 20, 30, 40, 5, 35)
    far = make_batch([*(batch.xy_m - UTM_M), (35, 15), (5, -15)], UTM_M)
    assert kept(FarthestBatch(eps_m=11.0, num=2), far) == [7, 8]


@pytest.mark.parametrize("apart_m", [50.0, 50.4])
def test_of_two_clusters_equally_far_the_earlier_is_taken_whole_first(apart_m):
    """With 50.4 m the later one is a hair farther in binary."""
    batch = on_a_line(0, apart_m, 0, apart_m, 0, apart_m)
    assert kept(FarthestBatch(eps_m=5.0, num=3), batch) == [0, 2, 4]
    assert kept(FarthestBatch(eps_m=5.0, num=4), batch) == [0, 1, 2, 4]


def test_of_many_clusters_equally_far_the_earliest_are_taken():
    """Two rings around one centre, a point of the outer one and one of the inner one in turn."""
    angle = 2 * np.pi * (np.arange(50) // 2) / 25
    radius_m = np.tile([1000, 900], 25)
    rings = make_batch(np.column_stack([radius_m * np.cos(angle), radius_m * np.sin(angle)]))
    assert kept(FarthestBatch(eps_m=1.0, num=5), rings) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(("noise", "rows"), [("keep", [1, 3]), ("drop", [1, 2]), ("group", [0, 3])])
def test_noise_is_kept_or_dropped_or_grouped(noise, rows):
    """The round's centroid is at 53.5 m.

    Noise 3 is 66.5 m off, the pair {1, 2} 53, noise 0 46.5, the pair {4, 5} 3.5; noise as one
    group, at 110 m, is 56.5 m off.
    """
    step = FarthestBatch(eps_m=2.0, num=2, min_points=2, noise=noise)
    assert kept(step, on_a_line(100, 0, 1, 120, 50, 50)) == rows


def test_noise_in_one_group_has_one_centroid_in_its_midst():
    """The round's is at 16.8 m: noise at -100 m and 140 m is far off, their middle at 20 m near."""
    batch = on_a_line(-100, 0, 1, 140, 30, 30)
    apart = FarthestBatch(eps_m=2.0, num=1, min_points=2, noise="keep")
    together = FarthestBatch(eps_m=2.0, num=1, min_points=2, noise="group")
    assert kept(apart, batch) == [3]
    assert kept(together, batch) == [1]


@given(ROUNDS, EPS, st.integers(1, 35))
def test_clusters_left_out_are_no_farther_than_any_that_is_touched(batch, eps_m, num):
    labels = dbscan(batch.xy_m, eps_m, 1)
    chosen = kept(FarthestBatch(eps_m, num), batch)
    assert len(chosen) == min(num, len(batch))
    clusters = [np.flatnonzero(labels == each) for each in range(labels.max() + 1)]
    taken = [len(np.intersect1d(rows, chosen)) for rows in clusters]
    off_m = [from_the_rounds_m(batch.take(rows), batch) for rows in clusters]
    whole = [off for off, n, rows in zip(off_m, taken, clusters, strict=True) if n == len(rows)]
    cut = [off for off, n, rows in zip(off_m, taken, clusters, strict=True) if 0 < n < len(rows)]
    out = [off for off, n in zip(off_m, taken, strict=True) if n == 0]
    assert len(cut) <= 1
    assert min(whole + cut) >= max(out, default=0) - 1e-5
    assert min(whole, default=np.inf) >= max(cut + out, default=0) - 1e-5


@given(ROUNDS, EPS)
def test_the_whole_farthest_cluster_moves_the_centroid_more_than_the_clusters_means(batch, eps_m):
    """The centroid of means is among them, so no farther than the farthest of them.

    Only so much holds: of points on both sides, or of part of a cluster, the centroid may lie
    anywhere between them.
    """
    labels = dbscan(batch.xy_m, eps_m, 1)
    first = labels[kept(FarthestBatch(eps_m, num=1), batch)[0]]
    whole = FarthestBatch(eps_m, num=int((labels == first).sum()))
    diverse = DiverseBatch(eps_m, centre="mean")
    farthest_m, diverse_m = (
        from_the_rounds_m(step.on_points(batch, make_turn())[0], batch) for step in (whole, diverse)
    )
    assert farthest_m >= diverse_m - 1e-5


@given(ROUNDS, EPS)
def test_a_number_beyond_the_round_keeps_it_whole(batch, eps_m):
    assert kept(FarthestBatch(eps_m, num=len(batch) + 1), batch) == list(range(len(batch)))


def test_of_no_points_come_no_points():
    points, reported = FarthestBatch().on_points(EMPTY, make_turn())
    assert points.xy_m.shape == (0, 2)
    assert reported == {"clusters": 0, "noise_points": 0, "asked": 20}


def test_of_noise_that_is_dropped_come_no_points():
    step = FarthestBatch(eps_m=1.0, min_points=3, noise="drop")
    assert kept(step, on_a_line(0, 10, 20)) == []


def test_one_point_stays_and_of_equal_points_the_earliest():
    assert kept(FarthestBatch(), on_a_line(7)) == [0]
    assert kept(FarthestBatch(num=2), on_a_line(5, 5, 5)) == [0, 1]


@pytest.mark.parametrize(("eps_m", "rows"), [(1e-6, [3]), (1e6, [0])])
def test_with_a_tiny_eps_the_farthest_point_and_with_a_huge_one_the_earliest(eps_m, rows):
    assert kept(FarthestBatch(eps_m, num=1), on_a_line(0, 1, 2, 90)) == rows


def test_it_is_a_point_step_with_a_name_and_prints_what_differs():
    assert isinstance(FarthestBatch(), PointStep)
    assert FarthestBatch() == FarthestBatch(eps_m=50.0, num=20, min_points=1, noise="keep")
    assert as_text(FarthestBatch()) == "farthest:eps_m=50,num=20"
    assert as_text(FarthestBatch(eps_m=5.0, num=1)) == "farthest:eps_m=5,num=1"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"eps_m": float("nan")}, "eps_m must be .* above 0, got nan"),
        ({"num": 0}, "num must be a whole number of at least 1, got 0"),
        ({"num": 2.5}, "num must be a whole number of at least 1, got 2.5"),
        ({"min_points": -1}, "min_points must be .* at least 1, got -1"),
        ({"noise": "none"}, "unknown noise 'none'; choose one of: keep, drop, group"),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises(UserError, match=message):
        FarthestBatch(**wrong)
