import numpy as np
import pytest
import torch

from tests.attacks.worlds import (
    AREA,
    FEDAVG,
    FEDSGD,
    SMALL,
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
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.gradient_matching.starts import RandomStarts
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.reconstruction import Outcome
from veilmap.errors import UserError
from veilmap.model.network import Network

ACTIVATIONS = (("relu",), ("tanh",), ("relu", "sigmoid"), ("elu", "tanh"), ("relu", "relu", "elu"))


@pytest.mark.parametrize("activations", ACTIVATIONS, ids="-".join)
@pytest.mark.parametrize("training", [FEDSGD, FEDAVG], ids=["fedsgd", "fedavg"])
@pytest.mark.parametrize("offset_dbm", [0.0, -96.0], ids=["raw", "centred"])
def test_the_cosine_is_at_least_that_of_dlg_from_20_starts(activations, training, offset_dbm):
    widths = (8, 6, 4)[: len(activations)]
    network = Network(widths, activations, (0.0,) * len(widths), "pytorch")
    header = make_header(network, training, offset_dbm=offset_dbm)
    seen = [observe(header, around([0.3, 0.6], 40, 300.0, seed), seed) for seed in range(3)]
    no_descent_is_better_than_the_search(header, seen, starts=20)


def no_descent_is_better_than_the_search(header, seen, starts):
    found = [each.cosine for each in Search().attack(AttackInput(header, seen))]
    for label_dbm in (-300.0, 300.0):
        dlg = Dlg(RandomStarts(starts, 0), label_dbm=label_dbm, max_iterations=150)
        cosines = [each.cosine for each in dlg.attack(AttackInput(header, seen))]
        best = np.reshape(cosines, (len(seen), starts)).max(axis=1)
        assert (found > best - 1e-9).all()


@pytest.mark.parametrize("hidden", [(100, 16), (128, 128), (120,)], ids=str)
def test_wide_networks_with_cancelling_residuals_are_no_exception(hidden):
    activations = ("relu", "sigmoid")[: len(hidden)]
    network = Network(hidden, activations, (0.0,) * len(hidden), "pytorch")
    header = make_header(network, FEDSGD, offset_dbm=-96.0)
    places = [around([0.3, 0.6], 40, 300.0, seed).xy_m for seed in (0, 1)]
    labels = [np.random.default_rng(seed).normal(-96.0, 8.0, 40) for seed in (0, 1)]
    seen = [
        observe(header, make_data(xy_m, rsrp_dbm), seed)
        for seed, (xy_m, rsrp_dbm) in enumerate(zip(places, labels, strict=True))
    ]
    no_descent_is_better_than_the_search(header, seen, starts=12)


@pytest.mark.parametrize("seed", range(4))
def test_inside_it_is_the_best_of_a_fine_grid(seed):
    """Among 160,000 places 5 m apart none is better, and the best lies where the search ends."""
    header = make_header()
    seen = observe(header, around([0.4, 0.5], 30, 150.0, seed), seed)
    side = (np.arange(400) + 0.5) / 400
    places_m = inside(np.stack(np.meshgrid(side, side), -1).reshape(-1, 2))
    scaler = header.side_knowledge.scaler
    matching = Matching.of(SMALL, [seen.weights_before], [leaked_gradient(seen)])
    x = torch.from_numpy((places_m - scaler.mean_m) / scaler.scale_m)[None]
    cosines = matching.at(x).cosine[0].abs().numpy()
    (found,) = Search(inside=True).attack(AttackInput(header, [seen]))
    assert found.cosine >= cosines.max()
    assert off_m(found.xy_m, places_m[cosines.argmax()]) < 5


@pytest.mark.parametrize("seed", range(4))
def test_inside_stays_inside_though_the_optimum_lies_outside(seed):
    header = make_header()
    beyond = [observe(header, around([1.3, -0.2], 30, 20.0, seed), seed)]
    (free,), (held,) = (
        Search(inside=inside).attack(AttackInput(header, beyond)) for inside in (False, True)
    )
    assert not AREA.contains(free.xy_m)
    assert AREA.contains(held.xy_m)
    assert held.cosine < free.cosine


def test_the_cosine_is_that_of_the_place_found():
    header = make_header()
    seen = observe(header, around([0.4, 0.5], 30))
    (found,) = Search().attack(AttackInput(header, [seen]))
    scaler = header.side_knowledge.scaler
    x = torch.from_numpy((found.xy_m - scaler.mean_m) / scaler.scale_m)[None, None]
    match = Matching.of(SMALL, [seen.weights_before], [leaked_gradient(seen)]).at(x)
    assert found.cosine == pytest.approx(abs(match.cosine.item()), abs=1e-7)


def test_a_zero_update_says_nothing_and_each_update_is_reported():
    header, told = make_header(), []
    seen = [silent(header), observe(header, around([0.4, 0.5], 30), user="b", t=4)]
    nothing, found = Search().attack(AttackInput(header, seen, told.append))
    assert nothing.outcome == Outcome.NO_SIGNAL
    assert np.isnan(nothing.xy_m).all()
    assert (found.outcome, found.user, found.round) == (Outcome.SOLVED, "b", 4)
    assert sum(told) == 2


@pytest.mark.parametrize("initialisation", ["glorot", "pytorch"])
@pytest.mark.parametrize("n", [1, 7])
@pytest.mark.parametrize("held", [True, False])
def test_a_batch_at_one_place_is_found(initialisation, n, held):
    header, place_m = make_header(paper_network(initialisation)), inside([0.8, 0.2])
    seen = [observe(header, make_data(np.tile(place_m, (n, 1))))]
    (found,) = Search(inside=held).attack(AttackInput(header, seen))
    assert off_m(found.xy_m, place_m) < 1
    assert found.cosine > 1 - 1e-9


@pytest.mark.parametrize("area", [Area(5, 5, 5, 5), Area(5, 5, 5, 900)], ids=["point", "line"])
def test_an_area_without_extent_is_searched(area):
    header = make_header(area=area)
    seen = [observe(header, make_data(inside([0.5, 0.5], area)))]
    (found,) = Search(inside=True).attack(AttackInput(header, seen))
    assert area.contains(found.xy_m)
    assert off_m(found.xy_m, area.centre_m) < 1


@pytest.mark.parametrize("exact_m", [0.0, -1.0, np.nan, np.inf])
def test_a_bad_exactness_is_named(exact_m):
    with pytest.raises(UserError, match=rf"exact_m must be above 0 metres, got {exact_m}"):
        Search(exact_m=exact_m)
