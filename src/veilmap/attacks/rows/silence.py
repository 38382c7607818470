"""Squares where the user cannot have been: a unit that is on there was never on."""

import torch
from torch import Tensor

from veilmap.attacks.heatmap.squares import Squares
from veilmap.attacks.rows.updated_layers import UpdatedLayers, standardise
from veilmap.federation.side_knowledge import Header

_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))


def possible(header: Header, layers: UpdatedLayers, squares: Squares) -> Tensor:
    """Which squares may hold points of the batch, (updates, squares); all, if none may.

    A ReLU unit is on in a half-plane. If the update left all its weights as they were, no point
    turned it on in any step, so no point lies in a square whose four corners do: an exact
    statement, for points inside the area.
    """
    silent = layers.silent
    if header.network.activations[0] != "relu" or not silent.any():
        return torch.ones_like(squares.real.expand(len(silent), -1))
    matrix, bias, *_ = layers.before
    on = torch.ones_like(squares.index[..., :1], dtype=torch.bool)
    for corner in _CORNERS:
        x = standardise(header, squares.points_m(corner))
        on = on & (x @ matrix.mT + bias[:, None] > 0)
    left = ~(on & silent[:, None]).any(-1)
    return left | ~left.any(-1, keepdim=True)
