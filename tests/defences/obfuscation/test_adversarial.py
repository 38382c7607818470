import numpy as np
import pytest
import torch

from veilmap.defences.obfuscation import adversarial as module
from veilmap.defences.obfuscation.adversarial import (
    Game,
    at_rest,
    bounded_by_blind,
    guess_losses,
    obfuscate,
    train,
    utility_loss,
)
from veilmap.defences.obfuscation.crowd import Crowd
from veilmap.defences.obfuscation.map_distortion import MapGrid
from veilmap.defences.obfuscation.standard_area import StandardArea
from veilmap.model.threads import one_thread

GROUND = StandardArea(torch.tensor([-2.0, -2.0]), torch.tensor([2.0, 2.0]))


@pytest.fixture(autouse=True)
def _on_one_thread():
    with one_thread():
        yield


def people(count=1, n=100):
    draw = np.random.default_rng(0)
    rows = [draw.normal((0.3 * k, 0, 0), (0.3, 0.3, 1), (n, 3)) for k in range(count)]
    return Crowd([torch.from_numpy(each.astype(np.float32)) for each in rows], GROUND)


def trained(crowd, rho=0.5, max_steps=3):
    return train(crowd, rho, max_steps, np.random.default_rng(0), np.random.default_rng(1))


def mini_batch(crowd):
    return crowd.mini_batch(np.random.default_rng(1))


def test_the_parameters_are_those_of_two_networks_of_three_layers():
    """7→64→64→3 has 4,867 weights; 3→64→64→K+2 has 4,676 for 2 users and 4,741 for 3."""
    assert trained(people()).parameters == 4_867 + 4_676
    assert trained(people(3)).parameters == 4_867 + 4_741


def test_an_adversary_worse_than_blind_counts_as_blind():
    crowd = people(2)
    blind = (crowd.blind_user_loss, crowd.blind_position_loss)
    for wild in ((100.0, 100.0), (100.0, blind[1]), blind):
        bounded = bounded_by_blind(*map(torch.tensor, wild), crowd)
        assert bounded.item() == pytest.approx(sum(blind))
    assert bounded_by_blind(torch.tensor(0.25), torch.tensor(0.125), crowd) == 0.375


@pytest.mark.parametrize("rho", [0.0, 0.5, 1.0])
def test_a_step_weighs_utility_against_what_the_adversary_loses_after_its_own_step(rho):
    """The adversary's loss is the sum of both, before its step; ``before`` is an equal game."""
    crowd = people(2)
    before, game = (Game(crowd, rho, np.random.default_rng(0)) for _ in range(2))
    batch = mini_batch(crowd)
    adversary_loss, generator_loss = game.step(batch, np.random.default_rng(2)).tolist()
    moved = obfuscate(before.generator, batch.records, GROUND, np.random.default_rng(2))
    wanted = torch.stack(guess_losses(before.adversary(moved), batch)).sum().item()
    assert adversary_loss == pytest.approx(wanted, rel=1e-6)
    private = -bounded_by_blind(*guess_losses(game.adversary(moved), batch), crowd).item()
    useful = utility_loss(moved, batch, MapGrid.of_area(GROUND)).item()
    assert private < 0 < useful
    assert generator_loss == pytest.approx(rho * useful + (1 - rho) * private, rel=1e-5)


def test_both_networks_take_a_step():
    crowd = people(2)
    before, game = (Game(crowd, 0.5, np.random.default_rng(0)) for _ in range(2))
    game.step(mini_batch(crowd), np.random.default_rng(2))
    assert not torch.equal(game.adversary.weights, before.adversary.weights)
    assert not torch.equal(game.generator.weights, before.generator.weights)


def test_guessing_all_positions_and_no_user_loses_as_a_blind_guess_of_the_user():
    crowd = people(3)
    batch = mini_batch(crowd)
    guess = torch.cat([torch.zeros(len(batch.records), 3), batch.records[:, :2]], dim=1)
    user_loss, position_loss = guess_losses(guess, batch)
    assert position_loss == 0
    assert user_loss.item() == pytest.approx(crowd.blind_user_loss)


def test_the_utility_loss_leaves_the_stand_ins_out():
    batch, grid = mini_batch(people()), MapGrid.of_area(GROUND)
    moved = batch.records.clone()
    moved[batch.own :] += 1
    assert utility_loss(moved, batch, grid) == 0
    moved[: batch.own, 0] += 0.5
    assert utility_loss(moved, batch, grid) > 0.25


def test_the_adversary_is_not_asked_where_the_stand_ins_are():
    batch = mini_batch(people())
    guess = torch.zeros(len(batch.records), 4)
    _, before = guess_losses(guess, batch)
    guess[batch.own :, -2:] += 1
    assert guess_losses(guess, batch)[1] == before
    guess[: batch.own, -2:] += 1
    assert guess_losses(guess, batch)[1] != before


def test_both_losses_must_stand_still_for_two_windows():
    still = torch.zeros(2 * module.WINDOW, 2)
    assert at_rest(list(still), 0.01)
    assert at_rest(list(still[1:]), 0.01) is False
    for column in (0, 1):
        rising = still.clone()
        rising[module.WINDOW :, column] = 0.02
        assert not at_rest(list(rising), 0.01)
        assert at_rest(list(rising), 0.021)


def test_what_rests_is_the_mean_of_a_window_wherever_it_lies():
    """Losses of 6 and 4 in turn, and in the second window the other way round."""
    steps = torch.arange(2 * module.WINDOW)
    swaying = 5 + torch.where((steps % 2 == 0) == (steps < module.WINDOW), 1.0, -1.0)
    assert at_rest(list(torch.stack([swaying, 2 * swaying], dim=1)), 0.01)


def test_rest_is_less_than_the_difference_allowed():
    assert not at_rest(list(torch.zeros(2 * module.WINDOW, 2)), 0.0)


def test_rest_is_a_share_of_what_blind_guessing_loses(monkeypatch):
    asked, crowd = [], people()
    monkeypatch.setattr(module, "WINDOW", 1)
    monkeypatch.setattr(module, "at_rest", lambda _, still: asked.append(still))
    trained(crowd, max_steps=1)
    blind = crowd.blind_user_loss + crowd.blind_position_loss
    assert asked == [pytest.approx(module.REST * blind)]


def test_training_ends_at_rest_or_at_the_last_step(monkeypatch):
    monkeypatch.setattr(module, "WINDOW", 5)
    monkeypatch.setattr(module, "REST", 1e9)
    ended = trained(people(), max_steps=50)
    assert (ended.steps, ended.rested) == (10, True)
    monkeypatch.setattr(module, "REST", 0.0)
    ended = trained(people(), max_steps=23)
    assert (ended.steps, ended.rested) == (23, False)
