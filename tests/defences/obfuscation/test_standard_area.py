import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from veilmap.area import Area
from veilmap.defences.obfuscation.standard_area import LABEL_REACH, StandardArea
from veilmap.local_data import Scaler

GROUND = StandardArea(torch.tensor([-1.0, -2.0]), torch.tensor([1.0, 2.0]))


def moved(record, pull, ground=GROUND):
    return ground.moved(torch.tensor([record]), torch.tensor([pull]))[0].tolist()


def test_without_a_pull_records_stay():
    record = [0.25, -1.5, 0.5]
    assert moved(record, [0.0, 0.0, 0.0]) == record


def test_a_pull_of_1_goes_half_a_side_and_half_the_reach():
    found = moved([0.0, 0.0, 1.0], [0.5, -1.0, -1.0])
    assert found == pytest.approx([0.5, -2.0, 1.0 - LABEL_REACH / 2])


def test_what_crosses_the_border_is_reflected_as_often_as_it_takes():
    """0.5 + 1 is 0.5 behind the border at 1. −1 − 2·4 is 7 behind −2: 4 back to 2, and 3 again."""
    assert moved([0.5, -1.0, 0.0], [1.0, -4.0, 0.0])[:2] == pytest.approx([0.5, -1.0])


def test_labels_keep_within_their_reach():
    assert abs(moved([0.0, 0.0, 1.0], [0.0, 0.0, 1e6])[2] - 1) <= LABEL_REACH


def test_a_position_outside_is_brought_to_the_border():
    assert moved([7.0, -7.0, 0.0], [0.0, 0.0, 0.0])[:2] == [1.0, -2.0]


@given(*[st.tuples(*[st.floats(-50, 50, width=32)] * 3)] * 2)
def test_all_stay_inside(record, pull):
    x, y, _ = moved(list(record), list(pull))
    assert abs(x) <= 1 + 1e-6
    assert abs(y) <= 2 + 1e-6


def test_a_pull_across_the_border_still_has_a_gradient():
    pull = torch.tensor([[1.0, 1.0, 0.0]], requires_grad=True)
    GROUND.moved(torch.tensor([[0.9, 1.9, 0.0]]), pull)[:, :2].sum().backward()
    assert (pull.grad[0, :2] < 0).all()


def test_an_area_is_standardised_and_may_have_no_width():
    area = Area(100, 0, 100, 600)
    ground = StandardArea.of_area(area, Scaler((100.0, 300.0), (1.0, 100.0)))
    assert (ground.low.tolist(), ground.high.tolist()) == ([0, -3], [0, 3])
    assert moved([5.0, 1.0, 0.0], [3.0, 0.0, 0.0], ground) == [0.0, 1.0, 0.0]


def test_uniform_positions_fill_the_area():
    xy = GROUND.uniform(2000, np.random.default_rng(0))
    np.testing.assert_allclose(xy.min(0)[0], [-1, -2], atol=0.02)
    np.testing.assert_allclose(xy.max(0)[0], [1, 2], atol=0.02)
    assert abs(np.corrcoef(xy.T)[0, 1]) < 0.09  # four standard errors
