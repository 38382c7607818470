"""Which way to compute the objective of Algorithm 2 suits a map family."""

from torch import Tensor

from veilmap.attacks.gradient_matching.autodiff_matching import AutodiffMatching
from veilmap.attacks.gradient_matching.matching import Matching, Objective
from veilmap.federation.map_family import Differentiable
from veilmap.federation.side_knowledge import Header
from veilmap.maps.torch_modules import shared_module


def objective(header: Header, weights: Tensor, gradients: Tensor) -> Objective:
    """From float64 rows (updates, W); a single row of weights is shared by all updates.

    Layer factors for a dense network, automatic differentiation for any other module.

    Raises:
        UserError: the family is neither.
    """
    if isinstance(header.map, Differentiable):
        module = shared_module(header.map, weights.device)
        return AutodiffMatching.of_rows(module, weights, gradients)
    return Matching.of_rows(header.network, weights, gradients)


def piecewise(found: Objective) -> Matching | None:
    """The objective of a network that compiled attacks are made for, on a processor."""
    if isinstance(found, Matching) and found.network.is_piecewise and found.device.type == "cpu":
        return found
    return None
