import numpy as np
import pytest
import torch

from veilmap.defences.obfuscation import adversarial as module
from veilmap.defences.obfuscation.adversarial import obfuscate, train
from veilmap.defences.obfuscation.crowd import Crowd
from veilmap.defences.obfuscation.ground import Ground
from veilmap.model.threads import one_thread

GROUND = Ground(torch.tensor([-2.0, -2.0]), torch.tensor([2.0, 2.0]))


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


def losses(rho, crowd, monkeypatch, position_scale=1.0):
    """The adversary's and the generator's loss in the first step, with a wild adversary."""
    game = module._Game(crowd, rho, np.random.default_rng(0))
    monkeypatch.setattr(game._adversary_steps, "descend", lambda loss: None)
    game._adversary.weights.mul_(position_scale)
    return game.step(crowd.mini_batch(np.random.default_rng(1)), np.random.default_rng(2)).tolist()


def test_the_parameters_are_those_of_two_networks_of_three_layers():
    """7→64→64→3 has 4,867 weights; 3→64→64→K+2 has 4,676 for 2 users and 4,741 for 3."""
    assert trained(people()).parameters == 4_867 + 4_676
    assert trained(people(3)).parameters == 4_867 + 4_741


def test_an_adversary_worse_than_blind_counts_as_blind(monkeypatch):
    crowd = people()
    adversary_loss, loss = losses(0.0, crowd, monkeypatch, position_scale=30.0)
    assert adversary_loss > 100
    assert loss == pytest.approx(-crowd.blind_user_loss - crowd.blind_position_loss)


def test_rho_weighs_utility_against_the_adversarys_loss(monkeypatch):
    crowd = people(2)
    private, half, useful = (losses(rho, crowd, monkeypatch)[1] for rho in (0.0, 0.5, 1.0))
    assert private < 0 < useful
    assert half == pytest.approx((private + useful) / 2, rel=1e-5)


def test_the_adversarys_loss_is_that_of_the_user_and_that_of_the_position(monkeypatch):
    crowd = people(2)
    game = module._Game(crowd, 0.5, np.random.default_rng(0))
    batch = crowd.mini_batch(np.random.default_rng(1))
    moved = obfuscate(game.generator, batch.records, GROUND, np.random.default_rng(2))
    user_loss, position_loss = (each.item() for each in game._guess(moved, batch))
    told = losses(0.5, crowd, monkeypatch)[0]
    assert told == pytest.approx(user_loss + position_loss, rel=1e-6)


def test_who_guesses_all_positions_and_no_user_loses_as_a_blind_guess_of_the_user():
    crowd = people(3)
    game = module._Game(crowd, 0.5, np.random.default_rng(0))
    batch = crowd.mini_batch(np.random.default_rng(1))
    game._adversary = lambda moved: torch.cat([torch.zeros(len(moved), 3), moved[:, :2]], dim=1)
    user_loss, position_loss = game._guess(batch.records, batch)
    assert position_loss == 0
    assert user_loss.item() == pytest.approx(crowd.blind_user_loss)


def test_the_utility_loss_leaves_the_stand_ins_out():
    crowd = people()
    game = module._Game(crowd, 1.0, np.random.default_rng(0))
    batch = crowd.mini_batch(np.random.default_rng(1))
    moved = batch.records.clone()
    moved[batch.own :] += 1
    assert game._utility_loss(moved, batch) == 0
    moved[: batch.own, 0] += 0.5
    assert game._utility_loss(moved, batch) > 0.25


def test_the_adversary_is_not_asked_where_the_stand_ins_are():
    crowd = people()
    game = module._Game(crowd, 1.0, np.random.default_rng(0))
    batch = crowd.mini_batch(np.random.default_rng(1))
    _, before = game._guess(batch.records, batch)
    moved = batch.records.clone()
    moved[batch.own :] += 1
    assert game._guess(moved, batch)[1] == before


def test_both_losses_must_stand_still_for_two_windows():
    still = torch.zeros(2 * module.WINDOW, 2)
    assert module._rest(list(still), 0.01)
    assert module._rest(list(still[1:]), 0.01) is False
    for column in (0, 1):
        rising = still.clone()
        rising[module.WINDOW :, column] = 0.02
        assert not module._rest(list(rising), 0.01)
        assert module._rest(list(rising), 0.021)


def test_what_rests_is_the_mean_of_a_window_wherever_it_lies():
    """Losses of 6 and 4 in turn, and in the second window the other way round."""
    steps = torch.arange(2 * module.WINDOW)
    swaying = 5 + torch.where((steps % 2 == 0) == (steps < module.WINDOW), 1.0, -1.0)
    assert module._rest(list(torch.stack([swaying, 2 * swaying], dim=1)), 0.01)


def test_rest_is_less_than_the_difference_allowed():
    assert not module._rest(list(torch.zeros(2 * module.WINDOW, 2)), 0.0)


def test_rest_is_a_share_of_what_blind_guessing_loses(monkeypatch):
    asked, crowd = [], people()
    monkeypatch.setattr(module, "WINDOW", 1)
    monkeypatch.setattr(module, "_rest", lambda _, still: asked.append(still))
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
