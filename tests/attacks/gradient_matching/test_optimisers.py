import numpy as np
import pytest
import torch

from veilmap.attacks.gradient_matching.optimisers import OPTIMISERS

TORCHS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_steps_are_those_of_torch_for_a_tensor_and_for_each_number_alone(name):
    generator = torch.Generator().manual_seed(0)
    slopes = torch.randn((12, 3, 2), generator=generator, dtype=torch.float64)
    x = torch.zeros((3, 2), dtype=torch.float64)
    expected, number = x.clone().requires_grad_(), 0.0
    mine, alone, theirs = (
        OPTIMISERS[name](0.05),
        OPTIMISERS[name](0.05),
        TORCHS[name]([expected], lr=0.05),
    )
    for slope in slopes:
        x, number = mine.step(x, slope), alone.step(number, slope[1, 0].item())
        expected.grad = slope
        theirs.step()
    np.testing.assert_allclose(x.numpy(), expected.detach().numpy(), atol=1e-12)
    assert number == pytest.approx(x[1, 0].item(), abs=1e-12)
    assert type(number) is float


def test_a_slope_too_steep_to_square_makes_no_number_and_no_error():
    assert not np.isfinite(OPTIMISERS["adam"](0.05).step(0.0, -np.inf))
    assert OPTIMISERS["adam"](0.05).step(1.0, 1e300) == 1.0
