from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from tests.federation.test_federation import NO_DROPOUT, USERS, make_plan, make_rounds
from tests.maps.making import (
    Waves,
    begun_frozen,
    by_chance,
    dense_module,
    drawn_by_numpy,
    into_its_input,
    into_what_it_needs,
    of_doubles,
    of_lazy_layers,
    of_one_batch,
    of_other_rows,
    of_plain_constants,
    of_two_numbers,
    with_batch_norm,
)
from veilmap import TorchMap
from veilmap.errors import UserError
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.plan import Plan
from veilmap.federation.server import federate
from veilmap.federation.trainer import OnThreads
from veilmap.maps.families import map_record
from veilmap.maps.network_map import NetworkMap
from veilmap.maps.torch_modules import shared_module
from veilmap.strategy import as_text
from veilmap.study.settings import RunSettings

BY_TORCH = TorchMap(lambda: dense_module(NO_DROPOUT))


def by(family, **knobs) -> Plan:
    return Plan(**{**vars(make_plan(NO_DROPOUT, **knobs)), "map": family})


class FromTheSameWeights(NetworkMap):
    """The dense network, begun where the module begins."""

    def start(self, plan):
        return BY_TORCH.start(plan)


@pytest.mark.parametrize("aggregation", ["mean", "median"])
def test_a_module_like_the_network_is_trained_as_the_network_is(aggregation):
    knobs = {"epochs": 2, "batch_size": 7, "learning_rate": 0.01, "aggregation": aggregation}
    dense = FromTheSameWeights.of(NO_DROPOUT)
    pairs = zip(
        federate(by(BY_TORCH, **knobs), make_rounds(), USERS),
        federate(by(dense, **knobs), make_rounds(), USERS),
        strict=True,
    )
    for one, other in pairs:
        np.testing.assert_allclose(one.weights, other.weights, atol=2e-6)
        xy_m = np.random.default_rng(0).normal(size=(50, 2))
        footing = make_plan()
        np.testing.assert_allclose(
            BY_TORCH.predict(footing, one.state, xy_m).rsrp_dbm,
            dense.predict(footing, other.state, xy_m).rsrp_dbm,
            atol=1e-4,
        )


def test_draws_come_from_named_streams_and_leave_torchs_generator_alone():
    dropping = TorchMap(lambda: nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 1)))
    runs = []
    for root in (1, 2):
        torch.manual_seed(root)
        before = torch.random.get_rng_state()
        runs.append([r.weights for r in federate(by(dropping), make_rounds(), USERS)])
        assert torch.equal(before, torch.random.get_rng_state())
    assert all((a == b).all() for a, b in zip(*runs, strict=True))
    other = [r.weights for r in federate(by(dropping, seed=5), make_rounds(), USERS)]
    assert not (runs[0][-1] == other[-1]).any()


def test_bits_do_not_depend_on_the_number_of_threads():
    plan = by(BY_TORCH)
    (*_, one), (*_, many) = (
        federate(plan, make_rounds(), USERS, trainer=OnThreads(threads)) for threads in (1, 4)
    )
    assert (one.weights == many.weights).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            with_batch_norm,
            "changes 1.running_mean, .* while it trains, .* such as LayerNorm instead of BatchNorm",
        ),
        (of_one_batch, "must take a single position, and failed on it .* such as LayerNorm"),
        (of_other_rows, "must depend on it alone, .* on the other positions or on chance; treat"),
        (by_chance, "must depend on it alone, .* drop units with torch.nn.Dropout"),
        (into_what_it_needs, r"cannot be differentiated \(RuntimeError: .*write into new tensors"),
        (lambda: nn.Linear(2, 1).requires_grad_(False), "depends on none; leave requires_grad on"),
        (lambda width: nn.Linear(2, width), r"cannot be made \(TypeError: .* takes? no arguments"),
        (lambda: nn.Linear(2, 1 // 0), r"cannot be made \(ZeroDivisionError: integer division"),
        (drawn_by_numpy, "two that differ under one seed of torch; draw with torch, or with a"),
        (lambda module=nn.Linear(2, 1): module, "must return a new module each time, got one with"),
        (of_two_numbers, r"one number for each position, got shape \(3, 2\) for 3 of them; end it"),
        (of_doubles, r"float32 parameters, got torch.float64; use module.float\(\)"),
        (nn.Identity, "float32 parameters, got no parameters"),
        (dict, r"make_module must return a torch.nn.Module, got \{\}"),
        (
            lambda: nn.Linear(3, 1),
            r"take positions of shape \(n, 2\), and failed on 3 .*3x2 and 3x1",
        ),
        (
            nn.Linear(2, 1),
            r"function that returns a new module, got Linear\(.*; put lambda: before",
        ),
        (5, "make_module must be a function that returns a new module, got 5; put lambda: before"),
    ],
)
def test_a_module_that_phones_cannot_train_is_refused(make, message):
    with pytest.raises(UserError, match=message):
        TorchMap(make).start(make_plan())


class Factory:
    def __call__(self):
        return nn.Linear(2, 1)


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (TorchMap(of_doubles), "torch:label=of_doubles"),
        (TorchMap(lambda: nn.Linear(2, 1)), "torch:label=lambda"),
        (TorchMap(partial(partial(dense_module, NO_DROPOUT))), "torch:label=dense_module"),
        (TorchMap(Factory()), "torch:label=Factory"),
        (TorchMap(Factory(), label="16 units"), "torch:label=16 units"),
    ],
    ids=str,
)
def test_results_call_it_by_its_label_or_its_function(family, text):
    assert as_text(family) == text
    assert map_record(family) == {"name": "torch", "label": text.removeprefix("torch:label=")}
    assert RunSettings.of(map=family).configuration == f"{text} + centre"


@pytest.mark.parametrize("label", ["a,b", "a + b", "a=b", "a:b", " a", "a/b"])
def test_a_label_that_no_text_can_hold_is_refused(label):
    with pytest.raises(UserError, match="label must be letters, digits, spaces, dots"):
        TorchMap(of_doubles, label=label)


def test_maps_of_a_function_that_reads_a_variable_share_no_module():
    widths = [4]

    def make():
        return nn.Sequential(nn.Linear(2, widths[-1]), nn.Linear(widths[-1], 1))

    for width in (4, 8):
        widths.append(width)
        (*_, last) = federate(by(TorchMap(make)), make_rounds(), USERS)
        assert len(last.weights) == 4 * width + 1


def test_a_frozen_parameter_stays():
    plan = by(TorchMap(begun_frozen))
    (*_, last) = federate(plan, make_rounds(), USERS)
    first = plan.map.start(plan)[WEIGHTS]
    np.testing.assert_allclose(last.weights[:48], first[:48], atol=1e-7)
    assert (last.weights[48:] != first[48:]).all()


@pytest.mark.parametrize("make", [Waves, of_plain_constants], ids=["buffer", "plain tensor"])
def test_constants_are_the_same_in_every_process(make):
    """A process makes one module and keeps it; torch's own generator is anywhere."""
    xy_m, found = np.random.default_rng(0).normal(size=(50, 2)), []
    for root in (1, 2):
        shared_module.cache_clear()
        torch.manual_seed(root)
        plan = by(TorchMap(make))
        (*_, last) = federate(plan, make_rounds(), USERS)
        found.append(plan.map.predict(plan, last.state, xy_m).rsrp_dbm)
    assert (found[0] == found[1]).all()


def test_lazy_layers_begin_like_others():
    usual = TorchMap(lambda: nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)))
    lazy, plan = TorchMap(of_lazy_layers), make_plan()
    assert len(lazy.start(plan)[WEIGHTS]) == len(usual.start(plan)[WEIGHTS])
    (*_, last) = federate(by(lazy), make_rounds(), USERS)
    assert (last.weights != lazy.start(plan)[WEIGHTS]).all()


def test_a_module_may_write_into_its_input():
    """The next epoch finds the positions as they were."""
    doubled = TorchMap(lambda: Doubled(2.0))
    plans = [
        by(family, epochs=3, batch_size="inf") for family in (TorchMap(into_its_input), doubled)
    ]
    one, other = ([r.weights for r in federate(plan, make_rounds(), USERS)] for plan in plans)
    np.testing.assert_allclose(one[-1], other[-1], atol=1e-6)


class Doubled(nn.Module):
    """What ``into_its_input`` computes, without writing anywhere."""

    def __init__(self, factor) -> None:
        super().__init__()
        self.layer, self.last = nn.Linear(2, 8), nn.Linear(8, 1)
        self.factor = torch.tensor([factor, 1.0])

    def forward(self, x):
        return self.last(torch.tanh(self.layer(x * self.factor)))
