"""From the share of a place in the noise to its share of the points."""

from torch import Tensor

from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.attacks.tangent import factors
from veilmap.federation.side_knowledge import Header


def count_by_residuals(
    header: Header, layers: UpdatedLayers, x: Tensor, shares: Tensor, scatter_db: float
) -> Tensor:
    """Shares of the points, (updates, places), from shares of the squared residuals.

    A place has ρ ∝ n E[r²]. Training removes what the network can learn there, about
    F_before − F_after, so along the path E[r²] ≈ scatter² + (F_before − F_after)²/3.
    """
    before, after = (
        factors(header.network, each, x).signal for each in (layers.before, layers.after)
    )
    counted = shares / (scatter_db**2 + (before - after).square() / 3)
    return counted / counted.sum(-1, keepdim=True).clamp(min=1e-300)
