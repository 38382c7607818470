import numpy as np
import pytest

from tests.attacks.worlds import (
    around,
    inside,
    make_data,
    make_header,
    observe,
    off_m,
    paper_network,
    silent,
)
from veilmap.area import Area
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.reconstruction import Outcome
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import Scaler
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.model.training import bias_gradients

TWO_UNITS = Network((2,), ("relu",), (0.0,))


def told(matrix, bias) -> Observation:
    """An update whose first layer moved by −ΔW1 and −Δb1, and its last by something."""
    before = np.zeros(TWO_UNITS.size, np.float32)
    change = np.concatenate([np.ravel(matrix), bias, [5.0, 6.0, 7.0]])
    return Observation.of_weights(1, "u", before, (before - change).astype(np.float32), 3, 0.0)


def attack(observation, area=None):
    header = make_header(TWO_UNITS, area=area or Area(-100, -100, 100, 100))
    scaler = Scaler((10.0, 20.0), (10.0, 10.0))
    known = header.side_knowledge
    known = SideKnowledge(scaler, known.area, known.epsg, 0.0, known.training, 1.0)
    given = AttackInput(Header(NetworkMap.of(TWO_UNITS), known), [observation])
    (found,) = FirstLayer().attack(given)
    return found


def test_two_units_give_the_mean_of_their_ratios_by_bias():
    """Ratios (1, 0) and (−1, 2) are (20, 20) and (0, 40) m; weights 3 : 1 give (15, 25) m."""
    found = attack(told([[3.0, 0.0], [1.0, -2.0]], [3.0, -1.0]))
    assert found.cloud.xy_m.tolist() == [[20.0, 20.0], [0.0, 40.0]]
    assert found.cloud.weights.tolist() == [0.75, 0.25]
    assert found.xy_m.tolist() == [15.0, 25.0]
    assert found.outcome == Outcome.SOLVED


@pytest.mark.parametrize(
    ("matrix", "bias"),
    [([[3.0, 0.0], [0.0, 0.0]], [3.0, 0.0]), ([[3.0, 0.0], [99.0, 0.0]], [3.0, 1.0])],
    ids=["learned nothing", "ratio outside"],
)
def test_a_unit_without_a_ratio_inside_is_left_out(matrix, bias):
    found = attack(told(matrix, bias))
    assert found.cloud.xy_m.tolist() == [[20.0, 20.0]]
    assert found.xy_m.tolist() == [20.0, 20.0]
    assert found.cosine <= 1 + 1e-12


def test_the_cosine_of_one_place_is_1():
    assert attack(told([[3.0, 0.0], [-1.0, 0.0]], [3.0, -1.0])).cosine == pytest.approx(1)


def test_without_a_ratio_inside_the_sums_are_divided():
    """ΔW1 signed by Δb1 sums to (90, 60), |Δb1| to 3: (30, 20), which is (310, 220) m."""
    found = attack(told([[60.0, 60.0], [-30.0, 0.0]], [1.0, -2.0]), Area(0, 0, 1, 1))
    assert found.xy_m.tolist() == [310.0, 220.0]
    assert found.cloud.xy_m.tolist() == [[310.0, 220.0]]
    assert found.cloud.weights.tolist() == [1.0]


def test_a_zero_update_says_nothing():
    header = make_header()
    (found,) = FirstLayer().attack(AttackInput(header, [silent(header)]))
    assert found.outcome == Outcome.NO_SIGNAL
    assert np.isnan(found.xy_m).all()


def test_each_ratio_is_lemma_1s_weighted_mean_of_the_points():
    header = make_header(Network((6,), ("sigmoid",), (0.0,)))
    scaler, data = header.side_knowledge.scaler, around([0.4, 0.5], 15)
    seen = observe(header, data)
    batch = scaler.standardise(data.xy_m), data.rsrp_dbm.astype(np.float32)
    g = bias_gradients(header.network, seen.weights_before, batch).astype(float)
    expected = (g.T @ data.xy_m) / g.sum(axis=0)[:, None]
    (found,) = FirstLayer().attack(AttackInput(header, [seen]))
    np.testing.assert_allclose(found.cloud.xy_m, expected, rtol=0, atol=0.5)


@pytest.mark.parametrize("initialisation", ["glorot", "pytorch"])
@pytest.mark.parametrize("n", [1, 7])
def test_a_batch_at_one_place_is_found(initialisation, n):
    header, place_m = make_header(paper_network(initialisation)), inside([0.8, 0.2])
    (found,) = FirstLayer().attack(
        AttackInput(header, [observe(header, make_data(np.tile(place_m, (n, 1))))])
    )
    assert off_m(found.xy_m, place_m) < 1
