import sys
from functools import partial

import numpy as np
import pytest
import torch

from tests.attacks.worlds import SMALL, around, make_header, observe, off_m
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching.compiled_local_search import CompiledLocalSearch
from veilmap.attacks.gradient_matching.local_search import SearchPoints, cosines_at, local_search
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.tangent import factors

EXACT = torch.tensor([1e-6, 1e-6], dtype=torch.float64)


def make_matching(updates, seed=0):
    weights, vector = np.random.default_rng(seed).normal(size=(2, updates, SMALL.size))
    return Matching.of(SMALL, weights, vector)


def make_points(updates, places=3, width=0.2):
    where = torch.from_numpy(np.random.default_rng(9).normal(size=(updates, places, 2)))
    return SearchPoints.at(where, torch.full_like(where, width))


def test_no_start_gets_worse_and_all_end_narrow():
    matching, points = make_matching(6), make_points(6)
    ended = local_search(matching, points, 400, EXACT)
    assert (ended.cosines >= cosines_at(matching, points.centres)).all()
    assert (ended.cosines > cosines_at(matching, points.centres) + 1e-3).any()
    assert (ended.widths <= EXACT).all()
    np.testing.assert_allclose(ended.cosines, cosines_at(matching, ended.places), atol=1e-14)


def test_each_update_is_searched_as_if_it_were_alone():
    """They end after different numbers of steps, and those who have ended are left out."""
    matching, points = make_matching(7), make_points(7)
    together = local_search(matching, points, 400, EXACT)
    for i in range(7):
        some = torch.tensor([i])
        alone = local_search(matching.keep(some), points.of(some), 400, EXACT)
        np.testing.assert_allclose(alone.places[0], together.places[i], atol=1e-7)
        np.testing.assert_allclose(alone.cosines[0], together.cosines[i], atol=1e-12)


@pytest.mark.parametrize("most", [1, 8])
def test_compiled_it_is_the_same_search(most):
    """Until rounding parts two searches at a crease, which takes more steps."""
    matching, points = make_matching(20), make_points(20)
    slow = local_search(matching, points, most, EXACT)
    fast = CompiledLocalSearch(matching)(points, most, EXACT, None)
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_allclose(one.double(), other.double(), atol=1e-9)
    assert fast.believed.any()


@pytest.mark.parametrize("kind", ["slow", "compiled"])
def test_bounds_hold(kind):
    matching, points = make_matching(4), make_points(4)
    low, high = torch.tensor([[-0.5, -0.5], [0.5, 0.5]], dtype=torch.float64)
    search = (
        CompiledLocalSearch(matching) if kind == "compiled" else partial(local_search, matching)
    )
    ended = search(points, 400, EXACT, (low, high))
    assert (ended.places >= low).all()
    assert (ended.places <= high).all()


def test_the_top_of_a_smooth_hill_is_reached_in_few_steps():
    """The gradient is that of one place, and the search begins beside it."""
    matching = make_matching(1)
    place = torch.tensor([[[0.3, -0.2]]], dtype=torch.float64)
    flat = _gradient_at(matching, place)
    hill = Matching.of(SMALL, [_flat(matching.weights)], [flat])
    points = SearchPoints.at(place + 0.01, torch.full_like(place, 0.02))
    found, cosines = local_search(hill, points, 12, EXACT).winners()
    assert cosines.item() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(found[0], place[0, 0], atol=1e-5)


def test_without_numba_a_search_finds_the_same(monkeypatch):
    header = make_header()
    seen = [observe(header, around([0.4, 0.5], 30, seed=seed), seed) for seed in range(3)]
    fast = Search().attack(AttackInput(header, seen))
    monkeypatch.setitem(
        sys.modules, "veilmap.attacks.gradient_matching.compiled_local_search", None
    )
    for one, other in zip(fast, Search().attack(AttackInput(header, seen)), strict=True):
        assert one.cosine == pytest.approx(other.cosine, abs=1e-9)
        assert off_m(one.xy_m, other.xy_m) < 0.1


def test_far_away_where_products_overflow_is_no_place():
    far = torch.full((1, 1, 2), 1e200, dtype=torch.float64)
    assert cosines_at(make_matching(1), far).item() == -1


def _flat(blocks):
    return torch.cat([block.flatten(1) for block in blocks], 1)[0].numpy()


def _gradient_at(matching, place):
    found = factors(SMALL, matching.weights, place)
    return _flat(found.combine(torch.ones(1, 1, dtype=torch.float64)))
