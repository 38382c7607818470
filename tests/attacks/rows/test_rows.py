"""The attack on the rows of the second layer, from updates to places."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.attacks.worlds import (
    AREA,
    FEDAVG,
    FEDSGD,
    around,
    inside,
    make_data,
    make_header,
    observe,
    off_m,
    silent,
)
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.squares import Squares
from veilmap.attacks.reconstruction import Outcome
from veilmap.attacks.rows import batches, places
from veilmap.attacks.rows.places import explained
from veilmap.attacks.rows.rows import Rows
from veilmap.attacks.rows.silence import possible
from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.errors import UserError
from veilmap.metrics.transport import emd_m
from veilmap.model.network import ACTIVATION_NAMES, Network

NETWORK = Network((96, 320), ("relu", "sigmoid"), (0.05, 0.05), "pytorch")
HOME_M = inside([0.3, 0.6])


def resting(count=500, spread_m=10.0, seed=0):
    draw = np.random.default_rng(seed)
    xy_m = HOME_M + draw.normal(0, spread_m, (count, 2))
    return make_data(xy_m, draw.normal(-96, 5, count).round())


@pytest.mark.parametrize("initialisation", ["pytorch", "glorot"])
@pytest.mark.parametrize("offset_dbm", [0.0, -95.0], ids=["raw labels", "centred labels"])
def test_a_phone_at_rest_is_found_where_hundreds_of_steps_blind_the_search(
    initialisation, offset_dbm
):
    header = make_header(
        replace(NETWORK, initialisation=initialisation), FEDAVG, offset_dbm=offset_dbm
    )
    seen = observe(header, resting())
    (found,) = Rows().attack(AttackInput(header, [seen]))
    (searched,) = Search().attack(AttackInput(header, [seen]))
    assert off_m(found.xy_m, HOME_M) < 60
    assert off_m(searched.xy_m, HOME_M) > 2 * off_m(found.xy_m, HOME_M)
    assert found.cloud.weights.sum() == pytest.approx(1)
    assert found.outcome is Outcome.SOLVED
    assert 0.9 < found.cosine <= 1


def test_two_places_are_recovered_with_their_weights():
    header = make_header(NETWORK, FEDAVG, offset_dbm=-95.0)
    places_m = inside([[0.25, 0.3], [0.75, 0.7]])
    draw = np.random.default_rng(1)
    xy_m = np.repeat(places_m, [420, 180], axis=0) + draw.normal(0, 15, (600, 2))
    order = draw.permutation(600)
    data = make_data(xy_m[order], draw.normal(-95, 5, 600))
    (found,) = Rows().attack(AttackInput(header, [observe(header, data)]))
    random_m = np.random.default_rng(0).uniform(*AREA.corners_m, (600, 2))
    own = emd_m(xy_m, found.cloud.xy_m, b_weights=found.cloud.weights)
    assert own < 0.25 * emd_m(xy_m, random_m)


@pytest.mark.parametrize("first", ACTIVATION_NAMES)
@pytest.mark.parametrize("second", ACTIVATION_NAMES)
def test_every_activation_is_read(first, second):
    header = make_header(replace(NETWORK, activations=(first, second)), FEDSGD)
    (found,) = Rows(grid_cells=60).attack(AttackInput(header, [observe(header, resting(200))]))
    assert off_m(found.xy_m, HOME_M) < 250


def test_deeper_networks_are_read_and_single_layers_are_not():
    deep = make_header(Network((64, 200, 16), ("relu", "sigmoid", "tanh"), (0.05,) * 3, "pytorch"))
    (found,) = Rows(grid_cells=60).attack(AttackInput(deep, [observe(deep, resting(200))]))
    assert off_m(found.xy_m, HOME_M) < 250
    assert Rows().reads(deep)
    assert not Rows().reads(make_header(Network((64,), ("relu",), (0.05,))))


def test_several_updates_at_once_are_those_of_each():
    """As on a GPU; on a CPU one after the other."""
    header = make_header(NETWORK, FEDAVG)
    seen = [observe(header, resting(seed=2), t=1), observe(header, around([0.7, 0.3], 300), t=2)]
    layers = UpdatedLayers.of(header, seen, torch.device("cpu"))
    with torch.inference_mode():
        together = explained(Rows(), header, layers, torch.arange(2))
    for found, one in zip(together, Rows().attack(AttackInput(header, seen)), strict=True):
        np.testing.assert_allclose(found.cloud.mean_m, one.cloud.mean_m, atol=2.0)
        assert found.cosine == pytest.approx(one.cosine, abs=1e-3)


def test_updates_that_do_not_fit_the_memory_together_are_halved(monkeypatch):
    header = make_header(NETWORK)
    seen = [observe(header, resting(60, seed=t), t=t) for t in range(3)]
    at_one_go, sizes = places._at_one_go, []

    def crowded(rows, header, observations, device):
        sizes.append(len(observations))
        if len(observations) > 1:
            raise torch.OutOfMemoryError("no memory")
        return at_one_go(rows, header, observations, device)

    monkeypatch.setattr(batches, "at_once", lambda header, device: 3)
    monkeypatch.setattr(places, "_at_one_go", crowded)
    found = Rows(grid_cells=60).attack(AttackInput(header, seen))
    assert [each.round for each in found] == [0, 1, 2]
    assert sizes == [3, 1, 2, 1, 1]


def test_squares_with_points_are_never_ruled_out_by_silent_units():
    for seed in range(6):
        header = make_header(NETWORK)
        data = around([0.2 + 0.1 * seed, 0.5], 40, spread_m=60.0, seed=seed)
        layers = UpdatedLayers.of(header, [observe(header, data, seed)], torch.device("cpu"))
        squares = Squares.cover(AREA, 400)
        left = possible(header, layers, squares)[0].numpy()
        low = squares.index[0].numpy() * squares.side_m + AREA.corners_m[0]
        within = ((data.xy_m[:, None] >= low) & (data.xy_m[:, None] < low + squares.side_m)).all(-1)
        assert left[within.any(0)].all()
        assert left.mean() < 0.7


def test_an_update_of_zeros_says_nothing():
    header = make_header(NETWORK)
    seen = [silent(header), observe(header, resting(60))]
    nothing, something = Rows(grid_cells=60).attack(AttackInput(header, seen))
    assert nothing.outcome is Outcome.NO_SIGNAL
    assert something.outcome is Outcome.SOLVED


@pytest.mark.parametrize("count", [1, 2])
def test_a_handful_of_points_is_no_error(count):
    header = make_header(NETWORK, FEDAVG)
    (found,) = Rows().attack(AttackInput(header, [observe(header, resting(count))]))
    assert np.isfinite(found.xy_m).all()


def test_the_same_update_gives_the_same_bits():
    header = make_header(NETWORK, FEDAVG)
    given = AttackInput(header, [observe(header, resting())])
    one, other = (Rows().attack(given)[0] for _ in range(2))
    np.testing.assert_array_equal(one.cloud.xy_m, other.cloud.xy_m)
    np.testing.assert_array_equal(one.cloud.weights, other.cloud.weights)


@pytest.mark.parametrize(
    ("setting", "match"),
    [
        ({"grid_cells": 3}, "grid_cells"),
        ({"finest_m": 0.0}, "finest_m"),
        ({"scatter_db": float("nan")}, "scatter_db"),
    ],
)
def test_settings_out_of_range_are_refused(setting, match):
    with pytest.raises(UserError, match=match):
        Rows(**setting)
