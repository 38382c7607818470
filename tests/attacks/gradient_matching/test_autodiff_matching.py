import numpy as np
import pytest
import torch

from tests.attacks.worlds import SMALL, around, make_header, observe, off_m
from tests.maps.making import Mean, dense_module
from veilmap import TorchMap
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.autodiff_matching import AutodiffMatching
from veilmap.attacks.gradient_matching.batched_descent import slopes
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.gradient_matching.starts import RandomStarts
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.leak import leaked_gradient
from veilmap.federation.side_knowledge import Header

DENSE = make_header(SMALL)
BY_TORCH = Header(TorchMap(lambda: dense_module(SMALL)), DENSE.side_knowledge)


def make_updates(count=3):
    return [observe(DENSE, around([0.4, 0.5], 30, seed=seed), seed) for seed in range(count)]


@pytest.mark.parametrize("shared", [True, False], ids=["shared weights", "own weights"])
def test_it_agrees_with_layer_factors_in_value_and_slope(shared):
    seen = make_updates()
    weights = torch.from_numpy(np.stack([each.weights_before for each in seen])).double()
    weights = weights[:1] if shared else weights
    leaked = torch.from_numpy(np.stack([leaked_gradient(each) for each in seen]))
    factors = Matching.of_rows(SMALL, weights, leaked)
    formed = AutodiffMatching.of_rows(dense_module(SMALL), weights, leaked)
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 20, 2)))
    one, other = factors.at(x), formed.at(x)
    torch.testing.assert_close(one.signal, other.signal, atol=1e-12, rtol=0)
    torch.testing.assert_close(one.cosine, other.cosine, atol=1e-12, rtol=0)
    label = factors.tensor(0.1)
    torch.testing.assert_close(
        slopes(factors, x, label)[1], slopes(formed, x, label)[1], atol=1e-12, rtol=0
    )
    kept = torch.tensor([2, 0])
    torch.testing.assert_close(
        formed.keep(kept).at(x[kept]).cosine, formed.at(x).cosine[kept], atol=1e-12, rtol=0
    )


@pytest.mark.parametrize(
    "attack",
    [Search(), Search(inside=True), Dlg(start=RandomStarts(2, 0), max_iterations=150)],
    ids=["search", "inside", "dlg"],
)
def test_attacks_on_gradients_find_the_same_in_a_module_as_in_the_network(attack):
    seen = make_updates(2)
    pairs = zip(
        attack.attack(AttackInput(DENSE, seen)),
        attack.attack(AttackInput(BY_TORCH, seen)),
        strict=True,
    )
    for dense, module in pairs:
        assert module.cosine == pytest.approx(dense.cosine, abs=1e-6)
        assert off_m(module.xy_m, dense.xy_m) < 1.0


def test_attacks_say_which_maps_they_read():
    sums = Header(Mean(), DENSE.side_knowledge)
    for header, read in ((DENSE, {"dlg", "search", "first_layer", "heatmap"}),
                         (BY_TORCH, {"dlg", "search"}), (sums, set())):  # fmt: skip
        attacks = (Dlg(), Search(), FirstLayer(), Heatmap())
        assert {each.name for each in attacks if each.reads(header)} == read
