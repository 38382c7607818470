import numpy as np
import pytest
import torch

from veilmap.attacks.optimisers import OPTIMISERS

TORCHS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_steps_are_those_of_torch_also_after_some_updates_have_left(name):
    generator = torch.Generator().manual_seed(0)
    slopes = torch.randn((12, 3, 2, 2), generator=generator, dtype=torch.float64)
    x = torch.zeros((3, 2, 2), dtype=torch.float64)
    expected = x.clone().requires_grad_()
    mine, theirs = OPTIMISERS[name](0.05), TORCHS[name]([expected], lr=0.05)
    left = torch.tensor([True, False, True])
    for i, slope in enumerate(slopes):
        if i == 6:
            mine.keep(left)
            x = x[left]
        x = mine.step(x, slope if i < 6 else slope[left])
        expected.grad = slope
        theirs.step()
    np.testing.assert_allclose(x.numpy(), expected.detach()[left].numpy(), atol=1e-12)
