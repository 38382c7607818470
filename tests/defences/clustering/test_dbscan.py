import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import DBSCAN

from tests.defences.making import UTM_M
from veilmap.defences.clustering.dbscan import dbscan
from veilmap.errors import UserError

LATTICE = arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.just(2)),
    elements=st.integers(0, 8).map(float),
)
ANYWHERE = arrays(
    np.float64,
    st.tuples(st.integers(1, 40), st.just(2)),
    elements=st.floats(-20, 20, allow_nan=False, width=32),
)


def by_scikit_learn(xy_m, eps_m, min_points):
    # Its other way for few points, by matrix products, loses digits of UTM coordinates.
    return DBSCAN(eps=eps_m, min_samples=min_points, algorithm="kd_tree").fit(xy_m).labels_


def world(kind, n, seed=0):
    """As many points on 3 km² at the place of the campus."""
    draw = np.random.default_rng(seed)
    places = draw.uniform(0, 1700, (300, 2))
    near = places[draw.integers(0, 300, n)]
    return (
        UTM_M
        + {
            "uniform": lambda: draw.uniform(0, 1700, (n, 2)),
            "clustered": lambda: near + draw.standard_t(3, (n, 2)) * 8,
            "repeated": lambda: draw.uniform(0, 1700, (n // 50, 2))[draw.integers(0, n // 50, n)],
        }[kind]()
    )


def test_a_chain_a_pair_and_a_loner_by_hand():
    """Steps of 1 m chain up; at 3 neighbours the ends are borders, the pair and the loner noise."""
    xy_m = np.array([[9, 0], [0, 0], [1, 0], [2, 0], [5, 5], [5, 6]], float)
    assert dbscan(xy_m, 1.0, 1).tolist() == [0, 1, 1, 1, 2, 2]
    assert dbscan(xy_m, 1.0, 3).tolist() == [-1, 0, 0, 0, -1, -1]


def test_a_border_point_between_two_clusters_gets_the_lower_number():
    """The middle point touches a core point on both sides but has only 3 of 4 neighbours."""
    west, east = [(-1, 0), (-1, 1), (-1, -1), (-2, 0)], [(1, 0), (1, 1), (1, -1), (2, 0)]
    labels = dbscan(np.array([(0, 0), *east, *west], float), 1.0, 4)
    assert labels.tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]


@given(LATTICE, st.sampled_from([1, 2**0.5, 2, 5**0.5, 8**0.5, 3, 5]), st.integers(1, 6))
@example(np.array([[0, 0], [3, 4]], float), 5, 1)
def test_labels_are_those_of_scikit_learn_where_distances_tie_with_eps(xy_m, eps_m, min_points):
    expected = by_scikit_learn(xy_m, eps_m, min_points)
    assert dbscan(xy_m, float(eps_m), min_points).tolist() == expected.tolist()


@given(ANYWHERE, st.floats(0.01, 30), st.integers(1, 6), st.sampled_from([(0.0, 0.0), UTM_M]))
def test_labels_are_those_of_scikit_learn_anywhere(xy_m, eps_m, min_points, shift_m):
    xy_m = xy_m + shift_m
    expected = by_scikit_learn(xy_m, eps_m, min_points)
    assert dbscan(xy_m, eps_m, min_points).tolist() == expected.tolist()


@pytest.mark.parametrize("min_points", [1, 5, 40])
@pytest.mark.parametrize("eps_m", [0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("kind", ["uniform", "clustered", "repeated"])
def test_labels_of_thousands_of_points_are_those_of_scikit_learn(kind, eps_m, min_points):
    xy_m = world(kind, 6000)
    expected = by_scikit_learn(xy_m, eps_m, min_points)
    assert (dbscan(xy_m, eps_m, min_points) == expected).all()


@given(LATTICE, st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 4), st.randoms())
def test_the_order_of_the_input_changes_only_the_numbers_of_core_clusters(
    xy_m, eps_m, min_points, random
):
    order = random.sample(range(len(xy_m)), len(xy_m))
    labels, again = dbscan(xy_m, eps_m, min_points), dbscan(xy_m[order], eps_m, min_points)
    assert ((labels[order] == -1) == (again == -1)).all()
    assert labels.max() == again.max()


def test_two_dense_curves_a_hair_farther_apart_than_eps_stay_two():
    """No box test decides it; at a hair more than the gap they are one."""
    angle = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    xy_m = np.concatenate([1000 * ring, 1200 * ring]) + UTM_M
    assert dbscan(xy_m, 199.9999, 1).max() + 1 == 2
    assert dbscan(xy_m, 200.0001, 1).max() + 1 == 1


@pytest.mark.parametrize("eps_m", [5e-324, 1e-200, 1e-9])
def test_with_a_tiny_eps_only_equal_positions_are_together(eps_m):
    xy_m = np.array([UTM_M, (0, 0), UTM_M, (0, 1e-3), (1e7, 1e7)])
    assert dbscan(xy_m, eps_m, 1).tolist() == [0, 1, 0, 2, 3]
    assert dbscan(xy_m, eps_m, 2).tolist() == [0, -1, 0, -1, -1]


@pytest.mark.parametrize("eps_m", [1e9, 1e300])
def test_with_a_huge_eps_all_are_together(eps_m):
    assert dbscan(world("uniform", 100), eps_m, 100).tolist() == [0] * 100
    assert dbscan(world("uniform", 100), eps_m, 101).tolist() == [-1] * 100


def test_of_no_points_come_no_labels():
    labels = dbscan(np.empty((0, 2)), 50.0, 1)
    assert labels.shape == (0,)
    assert labels.dtype == np.int64


def test_one_point_is_a_cluster_or_noise():
    one = np.array([UTM_M])
    assert dbscan(one, 50.0, 1).tolist() == [0]
    assert dbscan(one, 50.0, 2).tolist() == [-1]


@pytest.mark.parametrize("eps_m", [0.0, -1.0, np.nan, np.inf])
def test_an_eps_that_is_no_distance_is_refused(eps_m):
    with pytest.raises(UserError, match="eps_m must be a finite number of metres above 0, got"):
        dbscan(np.zeros((3, 2)), eps_m, 1)


@pytest.mark.parametrize("min_points", [0, -1, 1.5])
def test_a_min_points_that_is_no_count_is_refused(min_points):
    with pytest.raises(UserError, match=f"min_points .* at least 1, got {min_points}"):
        dbscan(np.zeros((3, 2)), 1.0, min_points)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_positions_that_are_not_finite_are_refused_with_their_number(value):
    xy_m = np.array([[0, 0], [value, 0], [value, 0], [value, value]])
    with pytest.raises(UserError, match="finite, got 3 of 4"):
        dbscan(xy_m, 1.0, 1)


SCALE = """
import resource
import numpy as np
from veilmap.defences.clustering import dbscan as module
count_pairs, questions = module.count_pairs, []

def counted(left, right, a, b, *given, **more):
    questions.append(len(a))
    return count_pairs(left, right, a, b, *given, **more)

module.count_pairs = counted
xy_m = np.random.default_rng(0).uniform(0, 1700, (40_000, 2))
module.dbscan(xy_m[:100], 200.0, 5)
questions.clear()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert module.dbscan(xy_m, 200.0, 5).max() == 0
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(sum(questions), (after - before) / 1e3)
"""


def test_40_000_points_that_are_all_neighbours_compare_squares_and_take_megabytes():
    """169 squares with 12 neighbours each at most; lists of neighbours would take 9,400 MB."""
    done = subprocess.run([sys.executable, "-c", SCALE], check=True, capture_output=True, text=True)
    questions, megabytes = map(float, done.stdout.split())
    assert questions <= 12 * 169
    assert megabytes < 200
