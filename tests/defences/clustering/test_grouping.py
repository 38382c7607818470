import numpy as np
import pytest

from tests.defences.making import EMPTY, on_a_line
from veilmap.defences.clustering.grouping import grouped

# Two pairs 1 m apart, and two loners.
LINE = on_a_line(100, 0, 1, 50, 51, 200)


@pytest.mark.parametrize(
    ("noise", "rows", "group"),
    [
        ("keep", [0, 1, 2, 3, 4, 5], [2, 0, 0, 1, 1, 3]),
        ("drop", [1, 2, 3, 4], [0, 0, 1, 1]),
        ("group", [0, 1, 2, 3, 4, 5], [2, 0, 0, 1, 1, 2]),
    ],
)
def test_noise_is_kept_apart_or_dropped_or_one_group(noise, rows, group):
    groups = grouped(LINE.xy_m, 1.0, 2, noise)
    assert groups.rows.tolist() == rows
    assert groups.group.tolist() == group
    assert groups.noise_points == 2
    assert groups.count == max(group) + 1


@pytest.mark.parametrize("noise", ["keep", "drop", "group"])
def test_without_noise_its_setting_changes_nothing(noise):
    groups = grouped(LINE.xy_m, 1.0, 1, noise)
    assert groups.group.tolist() == [0, 1, 1, 2, 2, 3]
    assert groups.noise_points == 0


@pytest.mark.parametrize(("noise", "count"), [("keep", 6), ("drop", 0), ("group", 1)])
def test_a_round_that_is_all_noise(noise, count):
    groups = grouped(LINE.xy_m, 0.5, 2, noise)
    assert (groups.count, groups.noise_points) == (count, 6)
    assert groups.sizes.sum() == len(groups.rows) == (6 if count else 0)


@pytest.mark.parametrize("noise", ["keep", "drop", "group"])
def test_an_empty_round_has_no_groups(noise):
    groups = grouped(EMPTY.xy_m, 1.0, 2, noise)
    assert (groups.count, len(groups.rows), groups.noise_points) == (0, 0, 0)
    assert groups.means(EMPTY.xy_m).shape[0] == 0


def test_means_are_those_of_the_groups_to_a_nanometre():
    draw = np.random.default_rng(0)
    xy_m = np.repeat(draw.uniform(0, 9000, (20, 2)), 50, axis=0) + draw.uniform(0, 0.1, (1000, 2))
    groups = grouped(xy_m, 1.0, 1, "keep")
    expected = [xy_m[groups.group == each].mean(axis=0) for each in range(groups.count)]
    assert groups.means(xy_m) == pytest.approx(np.array(expected), abs=1e-9)


def test_the_mean_of_equal_points_is_the_point():
    """However far from the first group the second lies."""
    here, there = np.array([590_000.7, 4_270_000.1]), np.array([1 / 3, -2 / 7])
    xy_m = np.array([here] * 3 + [there] * 3)
    assert (grouped(xy_m, 1.0, 1, "keep").means(xy_m) == [here, there]).all()
