import numpy as np
import pytest
import torch

from tests.attacks.worlds import SMALL, around, make_header, observe, off_m
from tests.maps.making import (
    Mean,
    Squares,
    Waves,
    begun_frozen,
    by_value,
    dense_module,
    into_its_input,
    into_its_output,
    of_lazy_layers,
    of_plain_constants,
    recurrent,
    with_attention,
)
from veilmap import TorchMap
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.autodiff_matching import AutodiffMatching
from veilmap.attacks.gradient_matching.batched_descent import slopes
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.objective import objective
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.gradient_matching.starts import NearCentroid, RandomStarts
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.leak import leaked_gradient
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Plan
from veilmap.federation.side_knowledge import Header
from veilmap.maps.torch_modules import shared_module

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


def one_point(make):
    """The header, the place, and the update of a phone that measured once."""
    known, data = DENSE.side_knowledge, around([0.4, 0.5], 1)
    family = TorchMap(make)
    plan = Plan(family, known.scaler, known.area, known.training, known.label_offset_dbm)
    state = family.start(plan)
    message = family.answer(plan, state, data, "u", 1)
    seen = Observation(1, "u", state, message, len(data), 0.0)
    return Header(family, known), data.centroid_m, seen


ANY_MODULE = [begun_frozen, Waves, of_plain_constants, of_lazy_layers, by_value, into_its_input,
    into_its_output, recurrent, with_attention]  # fmt: skip


@pytest.mark.parametrize("make", ANY_MODULE, ids=lambda make: make.__name__)
def test_a_single_point_is_found_in_any_module(make):
    header, place_m, seen = one_point(make)
    # As in another process, which has made no module yet.
    shared_module.cache_clear()
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    (found,) = Search().attack(AttackInput(header, [seen]))
    assert found.cosine == pytest.approx(1, abs=1e-5)
    assert off_m(found.xy_m, place_m) < 1.0
    (near,) = Dlg(start=NearCentroid({1: place_m}, std_m=5.0), max_iterations=300).attack(
        AttackInput(header, [seen])
    )
    assert abs(near.cosine) > 0.999
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_frozen_parameter_has_no_part_in_the_objective():
    """The layer that is trained, alone: J is (h, 1) with h the hidden units."""
    header, place_m, seen = one_point(begun_frozen)
    weights = torch.from_numpy(seen.weights_before)[None].double()
    formed = AutodiffMatching.of_rows(
        begun_frozen(), weights, torch.from_numpy(leaked_gradient(seen))[None]
    )
    x = torch.from_numpy(header.side_knowledge.scaler.finely(place_m)).reshape(1, 1, 2)
    (first, bias) = weights[0, :32].view(16, 2), weights[0, 32:48]
    hidden = torch.cat([torch.tanh(first @ x[0, 0] + bias), torch.ones(1)])
    leaked = torch.from_numpy(leaked_gradient(seen))[48:]
    expected = hidden @ leaked / (hidden.norm() * leaked.norm())
    assert formed.at(x).cosine.item() == pytest.approx(expected.item(), abs=1e-12)


@pytest.mark.parametrize(("make", "single"), [(Waves, False), (of_plain_constants, True)])
def test_only_beside_constants_that_are_no_buffers_single_precision_is_used(make, single):
    header, _, seen = one_point(make)
    weights = torch.from_numpy(seen.weights_before)[None].double()
    assert objective(header, weights, weights).always_single == single


def test_a_map_of_flat_pieces_has_no_slope():
    header, place_m, seen = one_point(Squares)
    (found,) = Search(inside=True).attack(AttackInput(header, [seen]))
    assert found.cosine == pytest.approx(1)
    assert off_m(found.xy_m, place_m) < 100  # a square is 96 m long
    start_m = place_m + 200.0
    (still,) = Dlg(start=NearCentroid({1: start_m}, std_m=1e-6), max_iterations=50).attack(
        AttackInput(header, [seen])
    )
    assert off_m(still.xy_m, start_m) < 0.1


def test_a_module_that_knows_no_place_outside_the_area_is_searched_inside():
    header, _, seen = one_point(Squares)
    with pytest.raises(UserError, match=r"failed at a position .*IndexError.*search with --inside"):
        Search().attack(AttackInput(header, [seen]))


def test_dlg_says_where_torch_has_no_second_derivative():
    def bells():
        return torch.nn.Sequential(Bells(), torch.nn.Linear(6, 1))

    header, place_m, seen = one_point(bells)
    (found,) = Search().attack(AttackInput(header, [seen]))
    assert off_m(found.xy_m, place_m) < 1.0
    with pytest.raises(
        UserError, match=r"dlg needs second derivatives, .* attack the map with sea"
    ):
        Dlg().attack(AttackInput(header, [seen]))


class Bells(torch.nn.Module):
    """Around centres that are trained."""

    def __init__(self) -> None:
        super().__init__()
        self.centres = torch.nn.Parameter(torch.randn(6, 2))

    def forward(self, x):
        return (-(torch.cdist(x, self.centres) ** 2)).exp()
