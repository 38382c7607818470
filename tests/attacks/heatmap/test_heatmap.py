from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.attacks.worlds import (
    FEDAVG,
    FEDSGD,
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
from veilmap.attacks.heatmap.batches import Capacity
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.heatmap.recovery import Recovery
from veilmap.attacks.heatmap.updates import UpdateBatch
from veilmap.attacks.reconstruction import Outcome
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.metrics.transport import emd_m
from veilmap.model.network import Network

MIDDLE = Network((64, 48), ("relu", "sigmoid"), (0.0, 0.0), "pytorch")
HOME_M = inside([0.35, 0.45])
WORK_M = HOME_M + np.array([480.0, 360.0])  # 600 m away


def seventy_thirty(header, rsrp_dbm=-96.0, **whose):
    places_m = np.repeat([HOME_M, WORK_M], [14, 6], axis=0)
    return observe(header, make_data(places_m, rsrp_dbm), **whose)


def shares_and_offsets(cloud):
    """The share nearer to each place, and how far its mean is from it."""
    to = [np.hypot(*(cloud.xy_m - place).T) for place in (HOME_M, WORK_M)]
    homes = to[0] < to[1]
    rows = []
    for place, mine in ((HOME_M, homes), (WORK_M, ~homes)):
        share = cloud.weights[mine].sum()
        rows.append((share, off_m(cloud.weights[mine] @ cloud.xy_m[mine] / share, place)))
    return rows


@pytest.mark.parametrize("rsrp_dbm", [-96.0, 96.0], ids=["F above all labels", "F below"])
def test_two_places_are_recovered_with_their_weights(rsrp_dbm):
    header = make_header(paper_network())
    (found,) = Heatmap().attack(AttackInput(header, [seventy_thirty(header, rsrp_dbm)]))
    (home, home_off_m), (work, work_off_m) = shares_and_offsets(found.cloud)
    assert (home, work) == (pytest.approx(0.7, abs=0.05), pytest.approx(0.3, abs=0.05))
    assert max(home_off_m, work_off_m) < 30
    assert found.cloud.weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(found.xy_m, found.cloud.mean_m)
    assert 0.999 < found.cosine <= 1


def test_short_stops_are_not_lost_beside_home():
    """Forty stops of 1 % each, more than are looked at closely; the centroid is 220 m away."""
    header = make_header(paper_network())
    stops_m = inside(np.random.default_rng(0).uniform(0.05, 0.95, (40, 2)))
    places_m = np.concatenate([np.repeat(HOME_M[None], 60, axis=0), stops_m])
    seen = observe(header, make_data(places_m))
    (found,) = Heatmap(grid_cells=400, finest_m=30.0).attack(AttackInput(header, [seen]))
    assert emd_m(places_m, found.cloud.xy_m, None, found.cloud.weights) < 30


def test_the_sign_of_all_residuals_does_not_matter():
    """Labels mirrored at F turn the update around, and nothing else."""
    header = make_header(MIDDLE)
    seen = seventy_thirty(header)
    change = seen.weights_after.astype(float) - seen.weights_before
    mirrored = type(seen).of_weights(
        1, "u", seen.weights_before, seen.weights_before - change, 20, 0.0
    )
    settings = Heatmap(sign="one")
    one, other = settings.attack(AttackInput(header, [seen, mirrored]))
    np.testing.assert_allclose(one.cloud.xy_m, other.cloud.xy_m, atol=1e-6)
    np.testing.assert_allclose(one.cloud.weights, other.cloud.weights, atol=1e-4)


@pytest.mark.parametrize(
    ("training", "linearise"), [(FEDSGD, "auto"), (FEDAVG, "auto"), (FEDAVG, "middle")]
)
def test_users_of_one_round_share_a_grid_and_nothing_else(training, linearise):
    header = make_header(MIDDLE, training)
    later = MIDDLE.initialise(9)
    seen = [
        seventy_thirty(header, user="a"),
        observe(header, around([0.7, 0.2], 30), user="b"),
        observe(header, around([0.2, 0.2], 30), user="a", t=2, weights=later),
        seventy_thirty(header, user="b", t=2, weights=later),
    ]
    settings = Heatmap(200, 60.0, linearise, sign="one")
    together = settings.attack(AttackInput(header, seen))
    for observation, found in zip(seen, together, strict=True):
        (alone,) = settings.attack(AttackInput(header, [observation]))
        np.testing.assert_array_equal(alone.cloud.xy_m, found.cloud.xy_m)
        np.testing.assert_array_equal(alone.cloud.weights, found.cloud.weights)
        assert alone.cosine == found.cosine
    assert off_m(together[0].xy_m, together[1].xy_m) > 100


def mixed(header):
    """Users of two rounds: two places, one place, none, both signs, and a step without sense."""
    first, later = header.network.initialise(0), header.network.initialise(9)
    return [
        seventy_thirty(header, user="a"),
        observe(header, around([0.7, 0.2], 30), user="b"),
        silent(header, user="c"),
        observe(header, make_data(np.tile(inside([0.8, 0.2]), (3, 1))), user="d"),
        Observation.of_weights(1, "e", first, first - np.float32(1e-3), 3, 1000.0),
        observe(header, around([0.2, 0.2], 30), user="a", t=2, weights=later),
        seventy_thirty(header, np.repeat([-96.0, 96.0], 10), user="b", t=2, weights=later),
    ]


@pytest.mark.parametrize(
    ("training", "sign", "count"), [(FEDSGD, "auto", 5), (FEDSGD, "both", 7), (FEDAVG, "auto", 7)]
)
def test_a_batch_of_updates_has_the_map_of_each(monkeypatch, training, sign, count):
    """As a GPU works: all at once, at weights of all (the first five) or of each."""
    header, told = make_header(MIDDLE, training), []
    seen = mixed(header)[:count]
    settings = Heatmap(60, 90.0, sign=sign)
    alone = settings.attack(AttackInput(header, seen))
    monkeypatch.setattr(Capacity, "on", classmethod(lambda cls, *given: cls(9, 9)))
    together = settings.attack(AttackInput(header, seen, told.append))
    assert told == [count]
    for one, found in zip(alone, together, strict=True):
        assert (one.user, one.round, one.outcome) == (found.user, found.round, found.outcome)
        np.testing.assert_allclose(one.cloud.xy_m, found.cloud.xy_m, rtol=1e-12)
        np.testing.assert_allclose(one.cloud.weights, found.cloud.weights, atol=1e-5)
        assert one.cosine == pytest.approx(found.cosine, abs=1e-8)
    assert together[2].outcome == Outcome.NO_SIGNAL


@pytest.mark.parametrize("initialisation", ["glorot", "pytorch"])
@pytest.mark.parametrize(("n", "spot"), [(1, [0.8, 0.2]), (7, [0.8, 0.2]), (1, [0.3, 0.6])])
def test_a_batch_at_one_place_is_found_to_a_metre(initialisation, n, spot):
    header, place_m = make_header(paper_network(initialisation)), inside(spot)
    (found,) = Heatmap().attack(
        AttackInput(header, [observe(header, make_data(np.tile(place_m, (n, 1))))])
    )
    assert off_m(found.xy_m, place_m) < 1


def test_residuals_of_both_signs_show_both_places():
    """The network expects more at home and less at work; |μ| is as large at one as at the other."""
    header = make_header(paper_network())
    signals = np.repeat([-96.0, 96.0], [10, 10])
    seen = observe(header, make_data(np.repeat([HOME_M, WORK_M], [10, 10], axis=0), signals))
    (found,) = Heatmap().attack(AttackInput(header, [seen]))
    for place_m in (HOME_M, WORK_M):
        near = np.hypot(*(found.cloud.xy_m - place_m).T) < 50
        assert found.cloud.weights[near].sum() > 0.35


def test_a_zero_update_says_nothing_and_each_update_is_reported():
    header, told = make_header(MIDDLE), []
    settings = Heatmap(grid_cells=50, finest_m=200.0)
    nothing, found = settings.attack(
        AttackInput(header, [silent(header), seventy_thirty(header)], told.append)
    )
    assert nothing.outcome == Outcome.NO_SIGNAL
    assert found.outcome == Outcome.SOLVED
    assert told == [1, 1]


@pytest.mark.parametrize("area", [Area(5, 5, 5, 5), Area(5, 5, 5, 900)], ids=["point", "line"])
def test_an_area_without_extent_has_its_heat_map(area):
    header = make_header(MIDDLE, area=area)
    seen = [observe(header, make_data(inside([0.5, 0.5], area)))]
    (found,) = Heatmap(grid_cells=100).attack(AttackInput(header, seen))
    assert area.contains(found.cloud.xy_m).all()
    assert off_m(found.xy_m, area.centre_m) < 15


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"grid_cells": 3}, r"grid_cells must be at least 4, got 3"),
        ({"finest_m": 0.0}, r"finest_m must be above 0 metres, got 0\.0"),
        ({"finest_m": np.nan}, r"finest_m must be above 0 metres, got nan"),
        ({"linearise": "end"}, r"unknown linearise 'end'; .*: before, middle, after, path, auto"),
        ({"sign": "plus"}, r"unknown sign 'plus'; choose one of: one, both, auto"),
        ({"close": 0.5}, r"close must be at least 1, got 0.5"),
        ({"grid_cells": 0, "sign": "plus"}, r"grid_cells must be .*; unknown sign"),
    ],
)
def test_a_bad_setting_is_named(knobs, message):
    with pytest.raises(UserError, match=message):
        Heatmap(**knobs)


def test_a_batch_that_does_not_fit_is_halved_until_it_does(monkeypatch):
    header, sizes, copy = make_header(MIDDLE), [], UpdateBatch.of

    def small(header, observations, device):
        sizes.append(len(observations))
        if len(observations) > 2:
            raise torch.OutOfMemoryError
        return copy(header, observations, device)

    monkeypatch.setattr(UpdateBatch, "of", small)
    monkeypatch.setattr(Capacity, "on", classmethod(lambda cls, *given: cls(9, 9)))
    found = Heatmap(60, 90.0).attack(AttackInput(header, mixed(header)[:5]))
    assert [each.user for each in found] == ["a", "b", "c", "d", "e"]
    assert sizes == [5, 2, 3, 1, 2]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_it_says_so():
    header = make_header(MIDDLE)
    with pytest.raises(UserError, match="GPU"):
        Heatmap().attack(AttackInput(header, [silent(header)], device="cuda"))


def test_a_linearisation_that_is_close_on_the_first_grid_is_tried_on_small_cells(monkeypatch):
    """Before leaves 9, middle 1 and path 4 times the least on the first grid."""
    coarse = {"before": 9.0, "middle": 1.0, "path": 4.0}
    fine = {"before": 0.9, "middle": 0.5, "path": 0.1}
    tried = []
    begin, refine = Recovery.begin, Recovery.refine

    def initial(self, name, *, signed):
        found = begin(self, name, signed=signed)
        return replace(found, held_out=np.full(len(found.held_out), coarse[name]))

    def refined(self, initial, some):
        tried.extend([initial.refinement.linearise] * len(some))
        found = refine(self, initial, some)
        return [replace(each, held_out=fine[each.linearise]) for each in found]

    monkeypatch.setattr(Recovery, "begin", initial)
    monkeypatch.setattr(Recovery, "refine", refined)
    header = make_header(MIDDLE, FEDAVG)
    seen = seventy_thirty(header)
    for close, names in ((1.0, ["middle"]), (5.0, ["middle", "path"])):
        tried.clear()
        Heatmap(60, 200.0, sign="one", close=close).attack(AttackInput(header, [seen]))
        assert tried == names
