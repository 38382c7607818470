import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veilmap.defences.clustering import box_trees
from veilmap.defences.clustering.box_trees import BoxTrees, count_pairs

POINTS = arrays(
    np.float64,
    st.tuples(st.integers(1, 20), st.just(2)),
    elements=st.integers(0, 6).map(float),
)
ALL = 10**9


def brute_force(left, right, reach_m):
    steps = left[:, None] - right[None]
    return int(np.count_nonzero((steps**2).sum(axis=2) <= reach_m * reach_m))


def one_tree(xy_m):
    return BoxTrees.of(xy_m, np.zeros(len(xy_m), int))


@given(POINTS, POINTS, st.sampled_from([0.5, 1.0, 2**0.5, 2.0, 5.0, 9.0]))
def test_pairs_are_counted_as_by_looking_at_each(left, right, reach_m):
    zero = np.zeros(1, int)
    found = count_pairs(one_tree(left), one_tree(right), zero, zero, reach_m, ALL)
    assert found.tolist() == [brute_force(left, right, reach_m)]


def test_each_question_is_about_its_own_two_groups(monkeypatch):
    """In blocks of three pairs of boxes, so that the answers come in many pieces."""
    monkeypatch.setattr(box_trees, "BLOCK", 3)
    draw = np.random.default_rng(0)
    xy_m, group = draw.integers(0, 9, (60, 2)).astype(float), np.arange(60) % 5
    trees = BoxTrees.of(xy_m, group)
    a, b = (each.ravel() for each in np.meshgrid(np.arange(5), np.arange(5)))
    expected = [
        brute_force(xy_m[group == i], xy_m[group == j], 3.0) for i, j in zip(a, b, strict=True)
    ]
    assert count_pairs(trees, trees, a, b, 3.0, ALL).tolist() == expected


@pytest.mark.parametrize("enough", [1, 5, 50])
def test_a_count_that_stops_early_is_at_least_enough(enough):
    draw = np.random.default_rng(0)
    left, right = draw.uniform(0, 5, (50, 2)), draw.uniform(3, 8, (50, 2))
    zero = np.zeros(1, int)
    found = count_pairs(one_tree(left), one_tree(right), zero, zero, 2.0, enough)[0]
    assert enough <= found <= brute_force(left, right, 2.0)


def test_a_tree_of_equal_points_is_one_box():
    tree = one_tree(np.full((7, 2), 3.0))
    assert tree.count.tolist() == [7]
    assert tree.child.tolist() == [-1]


@pytest.mark.parametrize("axes", [[0, 1], [1, 0]])
def test_a_box_is_parted_at_the_median_of_its_longer_side(axes):
    """Nine metres one way and three the other: of 0, 1, 5, 7 and 9 the first two are one half."""
    xy_m = np.array([[9, 53], [0, 52], [7, 50], [1, 51], [5, 52]], float)
    tree = one_tree(xy_m[:, axes])
    assert tree.count[:3].tolist() == [5, 2, 3]
    assert tree.low[:3][:, axes].tolist() == [[0, 50], [0, 51], [5, 50]]
    assert tree.high[:3][:, axes].tolist() == [[9, 53], [1, 52], [9, 53]]


@given(POINTS)
def test_two_halves_hold_the_points_of_their_whole(xy_m):
    tree = one_tree(xy_m)
    for row in np.flatnonzero(tree.child >= 0):
        halves = slice(tree.child[row], tree.child[row] + 2)
        assert tree.count[halves].sum() == tree.count[row]
        assert (tree.low[halves].min(axis=0) == tree.low[row]).all()
        assert (tree.high[halves].max(axis=0) == tree.high[row]).all()
