import math

import numpy as np
import pytest

from veilmap.area import Area
from veilmap.defences.dp import DifferentialPrivacy, clipped
from veilmap.defences.step import Spending, Turn, UpdateStep
from veilmap.errors import UserError
from veilmap.local_data import Scaler
from veilmap.strategy import as_text

AREA = Area(0, 0, 1000, 1000)
SIZE = 145_313


def turn(user="ann", t=1, seed=0):
    return Turn(user, t, seed, AREA, Scaler.of_area(AREA))


def an_update(norm, size=SIZE):
    update = np.random.default_rng(1).normal(size=size)
    return (update * norm / np.linalg.norm(update)).astype(np.float32)


def test_it_is_a_step_on_the_update_that_spends():
    step = DifferentialPrivacy(epsilon=100)
    assert isinstance(step, UpdateStep)
    assert isinstance(step, Spending)
    assert step == DifferentialPrivacy(100, true_epsilon=None, rounds=1, delta=1e-5, clip=1.0)
    assert as_text(step) == "dp:epsilon=100"
    assert (
        as_text(DifferentialPrivacy(true_epsilon=8.0, rounds=11)) == "dp:true_epsilon=8,rounds=11"
    )


def test_with_a_wide_clip_and_next_to_no_noise_the_update_stays():
    """σ is 4.8e-6 where the update has numbers of some 0.003."""
    step = DifferentialPrivacy(epsilon=1e9, clip=1000.0)
    sent, _ = step.on_update(an_update(norm=1.0), turn())
    np.testing.assert_allclose(sent, an_update(norm=1.0), rtol=0, atol=3e-5)


def test_clipping_is_its_closed_form():
    """(3, 4) has length 5: at C = 1 it becomes (0.6, 0.8), at C = 5 and above it stays."""
    update = np.array([3, 4], np.float32)
    np.testing.assert_allclose(clipped(update, 1.0), [0.6, 0.8], rtol=1e-15)
    assert clipped(update, 5.0).tolist() == clipped(update, 1e6).tolist() == [3, 4]
    assert clipped(np.zeros(3, np.float32), 1.0).tolist() == [0, 0, 0]
    assert clipped(np.zeros(0, np.float32), 1.0).tolist() == []


@pytest.mark.parametrize("norm", [0.01, 0.999, 1.001, 1e4, 1e30])
def test_no_update_is_longer_than_the_clip(norm):
    length = np.linalg.norm(clipped(an_update(norm), 1.0))
    assert length == pytest.approx(min(norm, 1), rel=1e-6)
    assert length <= 1 + 1e-12


def test_the_papers_sigma_for_100_is_0_0484():
    assert DifferentialPrivacy(epsilon=100).sigma == pytest.approx(0.0484, abs=5e-5)
    assert DifferentialPrivacy(epsilon=100, clip=3.0).sigma == pytest.approx(0.1453, abs=5e-5)


@pytest.mark.parametrize("clip", [1.0, 0.2])
def test_the_noise_has_mean_0_and_the_deviation_sigma(clip):
    """Of 145,313 numbers; four standard errors are 0.75 % of σ, and 1.05 % for the mean."""
    step, update = DifferentialPrivacy(epsilon=10, clip=clip), an_update(norm=5.0)
    sent, figures = step.on_update(update, turn())
    noise = sent - clipped(update, clip)
    assert noise.std() == pytest.approx(step.sigma, rel=0.0075)
    assert abs(noise.mean()) < 0.0105 * step.sigma
    assert figures["noise_norm"] == pytest.approx(np.linalg.norm(noise), rel=1e-4)


def test_every_coordinate_gets_noise_of_its_own():
    sent, _ = DifferentialPrivacy(epsilon=1).on_update(np.zeros(1000, np.float32), turn())
    assert sent.dtype == np.float32
    assert len(np.unique(sent)) == 1000
    assert abs(np.corrcoef(sent[1:], sent[:-1])[0, 1]) < 0.12


def test_the_figures_say_what_was_done():
    step = DifferentialPrivacy(epsilon=10, clip=2.0)
    _, figures = step.on_update(an_update(norm=5.0), turn())
    assert set(figures) == {"norm", "clipped_to", "noise_std", "noise_norm"}
    assert figures["norm"] == pytest.approx(5, rel=1e-6)
    assert figures["clipped_to"] == pytest.approx(2, rel=1e-12)
    assert figures["noise_std"] == step.sigma
    _, figures = step.on_update(an_update(norm=0.5), turn())
    assert figures["clipped_to"] == figures["norm"] == pytest.approx(0.5, rel=1e-6)


def test_the_same_turn_has_the_same_noise_and_any_other_has_other_noise():
    step, update = DifferentialPrivacy(epsilon=10), an_update(norm=1.0, size=50)
    kept = update.copy()
    turns = [turn(), turn(), turn("bob"), turn(t=2), turn(seed=1)]
    first, again, *others = (step.on_update(update, each)[0] for each in turns)
    assert (first == again).all()
    assert all((first != other).all() for other in others)
    assert (update == kept).all()


def test_with_the_seed_the_noise_can_be_removed():
    step, update = DifferentialPrivacy(epsilon=10), an_update(norm=0.5, size=50)
    sent, _ = step.on_update(update, turn())
    noise = turn().stream("dp").normal(0, step.sigma, 50)
    np.testing.assert_allclose(sent - noise, update, rtol=0, atol=1e-7)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_update_that_is_not_finite_stays_so_as_a_whole(bad):
    update = np.array([0.1, bad, 0.2], np.float32)
    assert np.isnan(clipped(update, 1.0)).all()
    sent, figures = DifferentialPrivacy(epsilon=10).on_update(update, turn())
    assert np.isnan(sent).all()
    assert not math.isfinite(figures["norm"])
    assert not math.isfinite(figures["clipped_to"])


def test_a_nominal_epsilon_of_100_spends_300_in_a_round_and_2634_in_11():
    spent = DifferentialPrivacy(epsilon=100).spent([{}] * 11)
    assert spent == {
        "epsilon_nominal": 100,
        "delta": 1e-5,
        "rounds": 11,
        "epsilon_one_round": pytest.approx(300.14, abs=0.01),
        "epsilon_all_rounds": pytest.approx(2634.20, abs=0.01),
        "epsilon_one_round_two_updates": pytest.approx(1027, abs=1),
        "epsilon_all_rounds_two_updates": pytest.approx(9956, abs=1),
    }


def test_below_1_the_papers_formula_keeps_what_it_promises():
    for epsilon in (0.01, 0.5, 0.99):
        assert DifferentialPrivacy(epsilon=epsilon).spent([{}])["epsilon_one_round"] < epsilon


@pytest.mark.parametrize("rounds", [1, 11, 150])
def test_a_true_epsilon_is_spent_in_all_rounds_together(rounds):
    step = DifferentialPrivacy(true_epsilon=8.0, rounds=rounds, delta=1e-6, clip=0.5)
    spent = step.spent([{}] * rounds)
    assert "epsilon_nominal" not in spent
    assert spent["epsilon_wanted"] == 8
    assert spent["delta"] == 1e-6
    assert spent["epsilon_all_rounds"] == pytest.approx(8, rel=1e-9)
    assert step.spent([{}] * (rounds + 1))["epsilon_all_rounds"] > 8
    alone = DifferentialPrivacy(true_epsilon=8.0, delta=1e-6, clip=0.5)
    assert step.sigma == pytest.approx(alone.sigma * math.sqrt(rounds))


def test_a_user_that_never_took_part_spent_nothing():
    assert DifferentialPrivacy(epsilon=100).spent([])["epsilon_all_rounds"] == 0


def test_exactly_one_epsilon_is_needed():
    with pytest.raises(
        UserError, match=r"give either epsilon, .* or true_epsilon, .*; got None and None"
    ):
        DifferentialPrivacy()
    with pytest.raises(UserError, match="got 1 and 2"):
        DifferentialPrivacy(epsilon=1, true_epsilon=2)


@pytest.mark.parametrize("name", ["epsilon", "true_epsilon", "clip"])
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 1e10])
def test_a_number_out_of_range_is_refused_by_name_with_its_value(name, bad):
    given = {"epsilon": 1.0} if name == "clip" else {}
    with pytest.raises(UserError, match=rf"^{name} must be from 1e-09 to 1e\+09, got {bad}"):
        DifferentialPrivacy(**given, **{name: bad})


def test_the_ends_of_the_range_are_in_it():
    for end in (1e-9, 1e9):
        assert DifferentialPrivacy(epsilon=end, clip=end).sigma > 0


def test_delta_and_rounds_out_of_range_are_named_together():
    with pytest.raises(
        UserError, match="rounds must be a whole number of at least 1, got 0; delta must be above 0"
    ):
        DifferentialPrivacy(true_epsilon=1, rounds=0, delta=1.0)


def test_rounds_are_refused_where_they_would_do_nothing():
    with pytest.raises(UserError, match="rounds counts only with true_epsilon, got 11"):
        DifferentialPrivacy(epsilon=100, rounds=11)
