import numpy as np
import pytest
import torch

from veilmap.defences.obfuscation.crowd import BATCH_ROWS, Crowd
from veilmap.defences.obfuscation.standard_area import StandardArea

GROUND = StandardArea(torch.tensor([-2.0, -2.0]), torch.tensor([2.0, 2.0]))


def crowd(*people):
    return Crowd([torch.tensor(rows) for rows in people], GROUND)


def test_the_blind_losses_by_hand():
    """Two people, each with half the weight: x is 0, 2 (mean 1) and 3, the centre 2.

    The first errs by 4 and 0, on average 2; the second by 1; together 1.5.
    """
    two = crowd([[0.0, 5.0, 0.0], [2.0, 5.0, 0.0]], [[3.0, 5.0, 0.0]])
    assert two.blind_position_loss == pytest.approx(1.5)
    assert two.blind_user_loss == pytest.approx(np.log(2))
    assert crowd([[0.0, 0.0, 0.0]] * 2, [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]]).users == 3


def test_all_users_are_drawn_equally_often_with_their_own_records():
    many, one = [[0.1, 0.1, float(i)] for i in range(500)], [[1.5, 1.5, -1.0]]
    both, draw = crowd(many, one), np.random.default_rng(0)
    batches = [both.mini_batch(draw) for _ in range(20)]
    users = torch.cat([batch.users for batch in batches])
    records = torch.cat([batch.records for batch in batches])
    assert float(users.double().mean()) == pytest.approx(0.5, abs=0.03)  # 4 standard errors
    assert bool(((records[:, 2] < 0) == (users == 1)).all())
    assert len(records[users == 0, 2].unique()) > 490
    assert {batch.own for batch in batches} == {BATCH_ROWS}


def test_one_person_stands_in_a_uniform_crowd_with_labels_like_the_own():
    alone = crowd([[1.0, 1.0, 3.0], [1.0, 1.0, 4.0]])
    batch = alone.mini_batch(np.random.default_rng(0))
    own, others = batch.records[: batch.own], batch.records[batch.own :]
    assert alone.users == 2
    assert batch.own == len(others) == BATCH_ROWS // 2
    assert batch.users.tolist() == [0] * batch.own + [1] * batch.own
    assert bool((own[:, :2] == 1).all())
    assert set(others[:, 2].tolist()) == {3.0, 4.0}
    np.testing.assert_allclose(others[:, :2].std(0), 4 / np.sqrt(12), rtol=0.15)


def test_drawing_does_not_change_the_people():
    rows = torch.tensor([[1.0, 1.0, 3.0]])
    Crowd([rows], GROUND).mini_batch(np.random.default_rng(0))
    assert rows.tolist() == [[1.0, 1.0, 3.0]]
