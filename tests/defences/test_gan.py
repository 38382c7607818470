from dataclasses import replace

import numpy as np
import pytest
import torch

from veilmap.area import Area
from veilmap.defences.gan import GanObfuscation
from veilmap.defences.obfuscation.dense import Dense, DenseAdam
from veilmap.defences.obfuscation.standard_area import StandardArea
from veilmap.defences.step import LearnedStep, PointStep, Turn
from veilmap.errors import UserError
from veilmap.local_data import LocalData, Scaler
from veilmap.model.threads import one_thread
from veilmap.strategy import as_text

AREA = Area(0, 0, 1000, 800)
TURN = Turn("u", 3, 0, AREA, Scaler.of_area(AREA))


def two_places(n=600, seed=0, home_m=(250, 300), work_m=(600, 500)):
    """A person at home and at work, 30 m around each; the signal falls to the east."""
    draw = np.random.default_rng(seed)
    centres_m = np.array([home_m, work_m])[draw.integers(2, size=n)]
    xy_m = centres_m + draw.normal(0, 30, (n, 2))
    return LocalData(xy_m, -80 - xy_m[:, 0] / 50 + draw.normal(0, 1, n), np.arange(n, dtype=float))


def learned(people, turn=TURN, **settings):
    return GanObfuscation(**{"max_steps": 5, **settings}).learn(people, turn)


def adversary_error_m(new, old):
    """The RMS error of a fresh adversary that learns on half of the points, on the other half."""
    draw, half = np.random.default_rng(9), len(old) // 2
    labels = (new.rsrp_dbm - new.rsrp_dbm.mean()) / new.rsrp_dbm.std()
    seen = np.column_stack([TURN.scaler.standardise(new.xy_m), labels]).astype(np.float32)
    x, y = torch.from_numpy(seen), torch.from_numpy(TURN.scaler.standardise(old.xy_m))
    adversary = Dense.drawn((3, 64, 64, 2), draw)
    adam = DenseAdam(adversary)
    with one_thread():
        for _ in range(300):
            adam.descend(((adversary(x[:half]) - y[:half]) ** 2).sum(1).mean())
    guess_m = TURN.scaler.metres(adversary(x[half:]).detach().numpy())
    return np.sqrt(((guess_m - old.xy_m[half:]) ** 2).sum(1).mean())


@pytest.fixture(scope="module")
def by_rho():
    """What comes of the same person, and what it says of itself, for three rho."""
    data = two_places()
    results = {}
    for rho in (0.0, 0.5, 1.0):
        step, _ = learned({"u": data}, rho=rho, max_steps=450)
        results[rho] = (data, *step.on_points(data, TURN))
    return results


def test_rho_1_leaves_points_where_they_are(by_rho):
    _, _, figures = by_rho[1.0]
    assert figures["moved_m"] < 5  # half a per cent of the area's width
    assert figures["label_moved_db"] < 0.2


def test_the_smaller_rho_the_farther_points_move(by_rho):
    moved_m = [by_rho[rho][2]["moved_m"] for rho in (1.0, 0.5, 0.0)]
    assert moved_m == sorted(moved_m)
    assert moved_m[-1] > 100


def test_a_fresh_adversary_fails_the_more_the_smaller_rho(by_rho):
    """Blind guessing errs by about 205 m, the distance of a place from the middle of both.

    The errors of the three rho are about 3, 35 and 200 m; 300 points make them uncertain by 10 %.
    """
    useful, half, private = (
        adversary_error_m(new, old) for old, new, _ in (by_rho[rho] for rho in (1.0, 0.5, 0.0))
    )
    assert useful < 10
    assert 20 < half < 80
    assert private > 160


def test_points_stay_in_the_area_and_keep_number_and_times(by_rho):
    for old, new, _ in by_rho.values():
        assert AREA.contains(new.xy_m).all()
        assert len(new) == len(new.xy_m) == len(old)
        np.testing.assert_array_equal(new.time_s, old.time_s)


def test_the_figures_say_how_far_points_and_labels_moved(by_rho):
    old, new, figures = by_rho[0.5]
    away_m = new.xy_m - old.xy_m
    assert figures["moved_m"] == pytest.approx(np.hypot(*away_m.T).mean())
    assert figures["label_moved_db"] == pytest.approx(np.abs(new.rsrp_dbm - old.rsrp_dbm).mean())


def test_the_same_turn_gives_the_same_bits_whatever_the_global_seeds():
    def all_of_it():
        step, _ = learned({"u": two_places()}, rho=0.3)
        new, _ = step.on_points(two_places(50), TURN)
        return np.column_stack([new.xy_m, new.rsrp_dbm])

    first = all_of_it()
    torch.manual_seed(123)
    np.random.seed(123)  # noqa: NPY002
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    np.testing.assert_array_equal(all_of_it(), first)
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


@pytest.mark.parametrize("other", [{"user": "v"}, {"round": 4}, {"seed": 1}])
def test_another_turn_learns_and_draws_other_numbers(other):
    turn = replace(TURN, **other)
    (step, _), (other_step, _) = learned({"u": two_places()}), learned({"u": two_places()}, turn)
    assert not torch.equal(step.generator.weights, other_step.generator.weights)
    here, there = (step.on_points(two_places(), t)[0] for t in (TURN, turn))
    assert (here.xy_m != there.xy_m).any()


def test_the_order_of_people_does_not_matter():
    people = {"a": two_places(30), "b": two_places(20, 1)}
    one, other = learned(people)[0], learned(dict(reversed(people.items())))[0]
    assert torch.equal(one.generator.weights, other.generator.weights)


def test_learning_and_acting_take_one_thread_and_give_the_others_back(monkeypatch):
    threads, before = [], torch.get_num_threads()
    step = DenseAdam.descend
    monkeypatch.setattr(
        DenseAdam, "descend", lambda *args: (threads.append(torch.get_num_threads()), step(*args))
    )
    moved = StandardArea.moved
    monkeypatch.setattr(
        StandardArea,
        "moved",
        lambda *args: (threads.append(torch.get_num_threads()), moved(*args))[1],
    )
    torch.set_num_threads(2)
    try:
        acting, _ = learned({"u": two_places()}, max_steps=1)
        acting.on_points(two_places(), TURN)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    # One of the adversary, one of the generator, and moved once in each.
    assert threads == [1] * 4


def test_of_no_points_come_no_points():
    step, _ = learned({"u": two_places()})
    new, figures = step.on_points(two_places(0), TURN)
    assert len(new) == len(new.xy_m) == 0
    assert figures == {"moved_m": 0.0, "label_moved_db": 0.0}


def test_one_step_is_enough_to_be_learned():
    _, figures = learned({"u": two_places()}, max_steps=1)
    assert figures["gan_steps"] == 1


def test_the_figures_of_learning():
    _, figures = learned({"a": two_places(30), "b": two_places(20, 1), "c": two_places(0)})
    assert figures == {
        "gan_steps": 5,
        "gan_parameters": 4_867 + 4_676,
        "gan_rested": 0,
        "gan_points": 50,
    }


ONE = LocalData(np.array([[100.0, 200.0]]), np.array([-90.0]), np.zeros(1))
EQUAL = LocalData(np.full((40, 2), 300.0), np.full(40, -91.3), np.arange(40.0))
FLAT = replace(two_places(), rsrp_dbm=np.full(600, -93.1))
OUTSIDE = replace(two_places(), xy_m=two_places().xy_m + 5_000)


@pytest.mark.parametrize(
    "people",
    [
        pytest.param({"u": ONE}, id="one point"),
        pytest.param({"u": EQUAL}, id="all points equal"),
        pytest.param({"u": FLAT}, id="all labels equal"),
        pytest.param({"u": two_places(), "v": ONE}, id="two people, one with one point"),
        pytest.param({"u": EQUAL, "v": EQUAL}, id="two equal people"),
        pytest.param({"u": OUTSIDE}, id="all outside of the area"),
    ],
)
@pytest.mark.parametrize("rho", [0.0, 1.0])
def test_poor_data_gives_finite_points_in_the_area(people, rho):
    step, _ = learned(people, rho=rho, max_steps=20)
    for data in people.values():
        new, figures = step.on_points(data, TURN)
        assert AREA.contains(new.xy_m).all()
        assert np.isfinite(new.rsrp_dbm).all()
        assert np.isfinite(list(figures.values())).all()


def test_an_area_without_width_is_no_trouble():
    line = Area(300, 0, 300, 800)
    turn = Turn("u", 0, 0, line, Scaler.of_area(line))
    step, _ = learned({"u": EQUAL}, turn)
    new, _ = step.on_points(EQUAL, turn)
    assert (new.xy_m[:, 0] == 300).all()


def test_two_people_in_different_places_are_mixed():
    """Two people 700 m apart: how often the nearer of the two means names the right one."""
    people = {
        "a": two_places(200, 1, (150, 150), (150, 200)),
        "b": two_places(200, 2, (850, 650), (850, 600)),
    }
    step, _ = learned(people, rho=0.0, max_steps=300)
    moved = [step.on_points(data, TURN)[0].xy_m for data in people.values()]
    means = [xy_m.mean(0) for xy_m in moved]
    right = [
        np.mean(np.linalg.norm(xy_m - mean, axis=1) < np.linalg.norm(xy_m - other, axis=1))
        for xy_m, mean, other in zip(moved, means, means[::-1], strict=True)
    ]
    assert np.mean(right) < 0.75


def test_without_any_point_there_is_nothing_to_learn():
    for people in ({}, {"u": two_places(0)}):
        with pytest.raises(UserError, match="gan must have points to learn from, got none"):
            learned(people)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rho": -0.1}, "rho must be from 0 .* got -0.1"),
        ({"rho": 1.1}, "rho must be from 0 .* got 1.1"),
        ({"rho": float("nan")}, "rho must be from 0 .* got nan"),
        ({"learns_from": "others"}, "unknown learns_from 'others'; choose one of: past, public"),
        ({"max_steps": 0}, "max_steps must be at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(UserError, match=message):
        GanObfuscation(**settings)


def test_it_is_a_learned_step_that_gives_a_step_on_points():
    assert isinstance(GanObfuscation(), LearnedStep)
    step, _ = learned({"u": ONE})
    assert isinstance(step, PointStep)
    assert (GanObfuscation().name, step.name) == ("gan", "gan")
    assert GanObfuscation() == GanObfuscation(rho=0.5, learns_from="past", max_steps=2000)
    assert as_text(GanObfuscation(rho=0.25)) == "gan:rho=0.25"
    assert as_text(GanObfuscation(learns_from="public")) == "gan:rho=0.5,learns_from=public"
