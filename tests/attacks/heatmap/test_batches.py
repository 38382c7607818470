import numpy as np
import pytest

from tests.attacks.worlds import FEDAVG, make_header, paper_network
from veilmap.attacks.heatmap import batches as module
from veilmap.attacks.heatmap.batches import Capacity, batches
from veilmap.federation.observation import Observation


def starting_from(*rounds):
    """Observations by the number of the weights they started from."""
    weights = {t: np.full(3, t, np.float32) for t in rounds}
    # Equal weights need not be the same array.
    return [Observation.of_weights(t, "u", weights[t].copy(), weights[t], 1, 0.0) for t in rounds]


def test_many_users_of_a_round_stay_together_and_others_meet(monkeypatch):
    """Of room for two, those of rounds 1 and 3 fill some; where three are many, 3 has too few."""
    monkeypatch.setattr(module, "MANY_USERS", 3)
    seen = starting_from(2, 1, 1, 1, 3, 3, 1)
    assert list(batches(seen, Capacity(2, 3))) == [[1, 2], [3], [4, 5], [0, 6]]
    assert list(batches(seen, Capacity(9, 9))) == [[1, 2, 3], [0, 4, 5, 6]]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_one_at_a_time_in_their_order(count):
    seen = starting_from(*[1] * count)
    assert list(batches(seen, Capacity(1, 1))) == [[i] for i in range(count)]


def test_a_gpu_holds_fewer_updates_with_kernels_of_their_own(monkeypatch):
    """An own kernel of 1,000 cells has 8 MB, and there are two for each linearisation."""
    monkeypatch.setattr(module.torch.cuda, "mem_get_info", lambda device: (2 * 64 * 2**30, 0))
    header, gpu = make_header(paper_network(), FEDAVG), module.torch.device("cuda")
    one_step = Capacity.on(gpu, header, 1000, ("before",))
    many_steps = Capacity.on(gpu, header, 1000, ("before", "middle", "path"))
    assert one_step.shared > one_step.own > many_steps.own
    assert many_steps.shared > many_steps.own > 100
    assert many_steps.own * (6 * 8e6 + 3 * 8e6) < 64 * 2**30
