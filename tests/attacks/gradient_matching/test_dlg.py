from itertools import pairwise

import numpy as np
import pytest
import torch

from tests.attacks.worlds import (
    FEDAVG,
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
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching import dlg, reference
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.starts import (
    GridStarts,
    NearCentroid,
    PreviousResult,
    RandomStarts,
)
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.reconstruction import Outcome
from veilmap.errors import UserError
from veilmap.federation.observation import Observation

SHORT = {"max_iterations": 20, "optimiser": "sgd", "learning_rate": 10.0}


def two_users(rounds=3):
    """Users a and b in turn, each somewhere else in every round."""
    header = make_header()
    return header, [
        observe(header, around([0.2 * t, 0.3 if user == "a" else 0.8], 20, seed=t), t, user, t)
        for t in range(1, rounds + 1)
        for user in "ab"
    ]


@pytest.mark.parametrize("weights", ["before", "after"])
@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_the_attack_is_algorithm_2_in_metres(weights, name):
    """Every point of the path within 1 mm, at the weights asked for."""
    header = make_header(training=FEDAVG)
    scaler = header.side_knowledge.scaler
    seen = observe(header, around([0.3, 0.6], 40))
    starts = RandomStarts(count=2, seed=5)
    rate = {"sgd": 10.0, "adam": 0.02}[name]
    attack = Dlg(starts, name, rate, 20, still_m=1e-12, weights=weights, keep_path=True)
    found = attack.attack(AttackInput(header, [seen]))
    starts_m = starts.points(header.side_knowledge.area, 1, None)
    for each, start_m in zip(found, starts_m, strict=True):
        path = reference.algorithm_2(
            SMALL,
            seen.weights_before if weights == "before" else seen.weights_after,
            leaked_gradient(seen),
            ((start_m - scaler.mean_m) / scaler.scale_m, -95.0),
            learning_rate=rate,
            iterations=20,
            optimiser={"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[name],
        )
        np.testing.assert_allclose(each.path_m, scaler.metres(path.xy_std), rtol=0, atol=1e-3)


def test_the_path_has_a_point_more_than_iterations_and_ends_at_the_result():
    header, seen = two_users()
    found = Dlg(RandomStarts(count=3), still_m=2.0, keep_path=True).attack(
        AttackInput(header, seen)
    )
    starts_m = RandomStarts(count=3).points(header.side_knowledge.area, 1, None)
    np.testing.assert_allclose([each.path_m[0] for each in found[:3]], starts_m, atol=1e-6)
    assert len({each.iterations for each in found}) > 3
    for each in found:
        assert len(each.path_m) == each.iterations + 1
        np.testing.assert_array_equal(each.path_m[-1], each.xy_m)
    assert Dlg(**SHORT).attack(AttackInput(header, seen))[0].path_m is None


def test_results_come_in_the_order_of_updates_and_starts_and_are_all_reported(monkeypatch):
    monkeypatch.setitem(dlg.UPDATES_AT_ONCE, "cpu", 2)
    header, seen = two_users()
    told = []
    found = Dlg(RandomStarts(count=2), **SHORT).attack(AttackInput(header, seen[:5], told.append))
    assert [(each.round, each.user, each.start) for each in found] == [
        (o.round, o.user, start) for o in seen[:5] for start in range(2)
    ]
    assert [(each.start_s, each.n) for each in found[::2]] == [(o.start_s, o.n) for o in seen[:5]]
    assert sum(told) == 5
    for i, observation in enumerate(seen[:5]):
        alone = Dlg(RandomStarts(count=2), **SHORT).attack(AttackInput(header, [observation]))
        for mine, its in zip(found[2 * i : 2 * i + 2], alone, strict=True):
            np.testing.assert_allclose(mine.xy_m, its.xy_m, rtol=0, atol=1e-6)


def test_the_label_decides_one_sign_and_nothing_else():
    header, seen = two_users(1)
    ends = {
        y: Dlg(label_dbm=y, **SHORT).attack(AttackInput(header, seen)) for y in (-95, -60.0, 60.0)
    }
    default = Dlg(**SHORT).attack(AttackInput(header, seen))
    for same in (ends[-60.0], default):
        for one, other in zip(ends[-95], same, strict=True):
            np.testing.assert_array_equal(one.xy_m, other.xy_m)
            assert one.cosine == other.cosine
    for one, other in zip(ends[-95], ends[60.0], strict=True):
        assert one.cosine > 0 > other.cosine


def test_a_centred_network_compares_with_the_labels_distance_from_the_mean():
    """F is near 0, so -90 dBm lies 6 dB above it and -102 dBm 6 dB below; -96 is the default."""
    header = make_header(offset_dbm=-96.0)
    seen = [observe(header, around([0.3, 0.6], 20))]
    above, mean, default, below = (
        Dlg(label_dbm=y, **SHORT).attack(AttackInput(header, seen))[0]
        for y in (-90.0, -96.0, None, -102.0)
    )
    assert above.cosine * below.cosine < 0
    np.testing.assert_array_equal(default.xy_m, mean.xy_m)


def test_each_outcome_is_reached():
    header, seen = two_users(1)
    calm, short, far, wild = (
        Dlg(PreviousResult(), "sgd", **knobs).attack(AttackInput(header, seen[:1]))[0]
        for knobs in (
            {"learning_rate": 1e-9},
            {"learning_rate": 10.0, "max_iterations": 3},
            {"learning_rate": 1e8},
            {"learning_rate": 1.7e308, "far": np.inf, "max_iterations": 50},
        )
    )
    assert (calm.outcome, calm.iterations) == (Outcome.CONVERGED, 10)
    assert (short.outcome, short.iterations) == (Outcome.OUT_OF_ITERATIONS, 3)
    assert (far.outcome, far.iterations) == (Outcome.FAR_AWAY, 1)
    assert wild.outcome == Outcome.NOT_FINITE


def test_a_location_that_jumps_over_a_crease_for_ever_is_given_up_if_asked():
    """It stays within 10 m and never rests; it ends where the algorithm is at that iteration."""
    header = make_header(paper_network("glorot"))
    weights = header.network.initialise(1)
    nonsense = np.random.default_rng(1).normal(0, 1e-3, len(weights)).astype(np.float32)
    seen = [Observation.of_weights(1, "u", weights, weights - nonsense, 5, 0.0)]
    circling, on = (
        Dlg(PreviousResult(), circling_m=circling_m, max_iterations=4000, keep_path=True).attack(
            AttackInput(header, seen)
        )[0]
        for circling_m in (1.0, None)
    )
    assert circling.outcome == Outcome.CIRCLING
    assert on.outcome == Outcome.OUT_OF_ITERATIONS
    assert np.ptp(on.path_m[circling.iterations :], axis=0).max() < 10
    np.testing.assert_array_equal(on.path_m[: circling.iterations + 1], circling.path_m)


def test_strategy_3_continues_where_the_users_own_round_before_ended():
    header, seen = two_users()
    found = Dlg(PreviousResult(), keep_path=True, **SHORT).attack(AttackInput(header, seen))
    assert [(each.round, each.user) for each in found] == [(o.round, o.user) for o in seen]
    by_user = {user: [each for each in found if each.user == user] for user in "ab"}
    area = header.side_knowledge.area
    for mine in by_user.values():
        first_m = PreviousResult().points(area, 1, None)[0]
        np.testing.assert_allclose(mine[0].path_m[0], first_m, atol=1e-6)
        for last, each in pairwise(mine):
            assert area.contains(last.xy_m)
            np.testing.assert_allclose(each.path_m[0], last.xy_m, atol=1e-6)
    assert off_m(by_user["a"][0].xy_m, by_user["b"][0].xy_m) > 1


@pytest.mark.parametrize("initialisation", ["glorot", "pytorch"])
@pytest.mark.parametrize(("n", "spot"), [(1, [0.8, 0.2]), (7, [0.8, 0.2]), (1, [0.3, 0.6])])
def test_a_batch_at_one_place_is_found(initialisation, n, spot):
    header, place_m = make_header(paper_network(initialisation)), inside(spot)
    seen = [observe(header, make_data(np.tile(place_m, (n, 1))))]
    for attack in (Dlg(optimiser="sgd"), Dlg(optimiser="adam")):
        (found,) = attack.attack(AttackInput(header, seen))
        assert off_m(found.xy_m, place_m) < 1
        assert found.outcome == Outcome.CONVERGED
        assert found.cosine > 1 - 1e-8


def test_an_update_of_zeros_says_nothing():
    header, seen = two_users(1)
    found = Dlg(RandomStarts(count=2), keep_path=True, **SHORT).attack(
        AttackInput(header, [seen[0], silent(header), seen[1]])
    )
    assert [each.outcome == Outcome.NO_SIGNAL for each in found] == [False] * 2 + [True] * 2 + [
        False
    ] * 2
    assert np.isnan(found[2].xy_m).all()


def test_only_the_start_near_the_centroid_uses_the_truth():
    assert Dlg(NearCentroid({1: np.zeros(2)})).oracle
    for start in (RandomStarts(), GridStarts(), PreviousResult()):
        assert not Dlg(start).oracle


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"optimiser": "lbfgs"}, r"unknown optimiser 'lbfgs'; choose one of: sgd, adam"),
        ({"weights": "middle"}, r"unknown weights 'middle'; choose one of: before, after"),
        ({"precision": "half"}, r"unknown precision 'half'; choose one of: double, single"),
        ({"learning_rate": 0.0}, r"learning_rate must be above 0, got 0\.0"),
        ({"learning_rate": np.inf}, r"learning_rate must be above 0, got inf"),
        ({"max_iterations": 0}, r"max_iterations must be above 0, got 0"),
        ({"still_m": -1.0}, r"still_m must be above 0, got -1\.0"),
        ({"still_iterations": 0}, r"still_iterations must be above 0, got 0"),
        ({"circling_m": 0.0}, r"circling_m must be above 0, got 0\.0"),
        ({"far": np.nan}, r"far must be above 0, got nan"),
        ({"still_m": 0, "far": 0}, r"still_m must be .*; far must be above 0, got 0"),
    ],
)
def test_a_bad_setting_is_named(knobs, message):
    with pytest.raises(UserError, match=message):
        Dlg(**knobs)


def test_single_precision_ends_where_double_does():
    """To a metre, from the same starts; the cosine is compared in double precision."""
    header = make_header(paper_network())
    seen = observe(header, around([0.6, 0.4], 40))
    knobs = {"start": RandomStarts(3), "max_iterations": 400, "learning_rate": 0.05}
    double, single = (
        Dlg(**knobs, precision=each).attack(AttackInput(header, [seen]))
        for each in ("double", "single")
    )
    for one, other in zip(double, single, strict=True):
        assert off_m(one.xy_m, other.xy_m) < 1
        assert one.cosine == pytest.approx(other.cosine, abs=1e-6)
        assert (one.xy_m != other.xy_m).any()
