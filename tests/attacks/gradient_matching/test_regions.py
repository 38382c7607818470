import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.worlds import paper_network
from veilmap.attacks.gradient_matching import compiled_regions, regions
from veilmap.attacks.gradient_matching.batched_descent import slopes
from veilmap.attacks.gradient_matching.compiled_regions import Moving, reset_if_worn, slope_at
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.regions import Pieces, Region
from veilmap.model.network import ACTIVATION_NAMES, Network


class Compiled:
    """Asked for one slope after the other, as ``Region`` is."""

    def __init__(self, pieces):
        self._region = pieces, Moving.begin(pieces)

    def slope(self, x, y, label):
        reset_if_worn.py_func(*self._region)  # compiled, it keeps its MOST_SWITCHES
        return slope_at(*self._region, (x, y), label)


REGIONS = pytest.mark.parametrize("kind", [Region, Compiled], ids=["numpy", "compiled"])


@st.composite
def cases(draw):
    """A network of pieces, two updates of it, places to go to one after the other, and a label."""
    hidden = tuple(draw(st.lists(st.integers(1, 12), min_size=2, max_size=2)))
    second = draw(st.sampled_from(ACTIVATION_NAMES))
    network = Network(hidden, ("relu", second), (0.0, 0.0))
    normal = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).normal
    weights, vector = normal(size=(2, 2, network.size))
    xy_std = normal(size=(30, 2)) * draw(st.sampled_from([0.1, 1.0, 10.0]))
    return Matching.of(network, weights, vector), xy_std, float(normal())


def by_autograd(matching, update, xy_std, label):
    """Rows of cosine, slope in x and slope in y."""
    one = matching.keep(torch.tensor([update]))
    y = torch.tensor(label, dtype=torch.float64)
    cosine, rise = slopes(one, torch.from_numpy(np.asarray(xy_std))[None], y)
    return np.column_stack([cosine[0].numpy(), rise[0].numpy()])


def by_regions(kind, matching, update, xy_std, label, dtype):
    region = kind(Pieces.of(matching.to(dtype), update))
    return np.array([region.slope(float(x), float(y), label) for x, y in xy_std])


@REGIONS
@settings(max_examples=60)
@given(case=cases(), update=st.integers(0, 1))
def test_cosine_and_slope_are_those_of_automatic_differentiation(kind, case, update):
    matching, xy_std, label = case
    expected = by_autograd(matching, update, xy_std, label)
    found = by_regions(kind, matching, update, xy_std, label, torch.float64)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@REGIONS
@pytest.mark.parametrize("second", ACTIVATION_NAMES)
@pytest.mark.parametrize(
    ("dtype", "close"), [(torch.float64, 1e-9), (torch.float32, 1e-4)], ids=["double", "single"]
)
@pytest.mark.parametrize("most", [50, 10**9], ids=["afresh at times", "never afresh"])
def test_they_still_are_after_thousands_of_units_have_switched(
    kind, second, dtype, close, most, monkeypatch
):
    """A hundred jumps over the area, about 70 of 224 units each, under the paper's widths."""
    for module in (regions, compiled_regions):
        monkeypatch.setattr(module, "MOST_SWITCHES", most)
    network = Network(activations=("relu", second), initialisation="pytorch")
    draw = np.random.default_rng(0)
    matching = Matching.of(network, [network.initialise(0)], [draw.normal(size=network.size)])
    xy_std = draw.normal(size=(100, 2))
    expected = by_autograd(matching, 0, xy_std, -95.0)
    found = by_regions(kind, matching, 0, xy_std, -95.0, dtype)
    np.testing.assert_allclose(found, expected, rtol=0, atol=close * np.abs(expected).max())


@REGIONS
def test_to_and_fro_over_a_crease_each_side_keeps_its_slope(kind):
    network = paper_network()
    draw = np.random.default_rng(0)
    matching = Matching.of(network, [network.initialise(0)], [draw.normal(size=network.size)])
    (w, b), *_ = network.layers(network.initialise(0))
    crease = (-b[7] * w[7] / (w[7] @ w[7])).astype(np.float64)
    aside = 1e-4 * w[7] / np.linalg.norm(w[7])
    sides = np.stack([crease + aside, crease - aside])
    found = by_regions(kind, matching, 0, np.tile(sides, (1500, 1)), -95.0, torch.float64)
    expected = by_autograd(matching, 0, sides, -95.0)
    assert np.abs(expected[0] - expected[1]).max() > 1e-5
    np.testing.assert_allclose(found, np.tile(expected, (1500, 1)), rtol=1e-9)


@REGIONS
def test_the_label_gives_the_sign_and_zero_where_it_is_the_signal(kind):
    network = Network((3, 2), ("relu", "relu"), (0.0, 0.0))
    weights = np.ones(network.size)
    region = kind(Pieces.of(Matching.of(network, [weights], [weights]), 0))
    signal = 2 * (3 * 4.0 + 1) + 1  # three units of 1 + 2 + 1, two of their sum and 1, and 1
    below, at, above = (np.array(region.slope(1.0, 2.0, signal + d)) for d in (-1, 0, 1))
    assert below[0] > 0
    np.testing.assert_array_equal(below, -above)
    assert not at.any()


def test_only_networks_of_two_hidden_layers_with_relu_first_have_pieces():
    assert Network().is_piecewise
    for activations in (("relu",), ("relu",) * 3, ("sigmoid", "relu")):
        width = len(activations)
        assert not Network((4,) * width, activations, (0.0,) * width).is_piecewise
