"""Squares where the user cannot have been: a unit that is on there was never on."""

from collections.abc import Sequence

import torch
from torch import Tensor

from veilmap.attacks.heatmap.squares import Squares
from veilmap.attacks.rows.updated_layers import UpdatedLayers, standardise
from veilmap.federation.side_knowledge import Header

_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))


def possible(header: Header, layers: UpdatedLayers, squares: Squares) -> Tensor:
    """Which squares may hold points of the batch, (updates, squares); all, if none may."""
    return possible_between(header, layers, [squares.points_m(each) for each in _CORNERS])


def possible_between(header: Header, layers: UpdatedLayers, corners_m: Sequence[Tensor]) -> Tensor:
    """The same of the regions between corners; each tensor has one corner of all of them.

    A ReLU unit is on in a half-plane. If the update left all its weights as they were, no point
    turned it on in any step, so no point lies in a square whose four corners do: an exact
    statement, for points inside the area.
    """
    silent = layers.silent
    everywhere = torch.ones_like(corners_m[0][..., 0], dtype=torch.bool)
    if header.network.activations[0] != "relu" or not silent.any():
        return everywhere.expand(len(silent), -1)
    matrix, bias, *_ = layers.before
    on = everywhere[..., None]
    for corner_m in corners_m:
        x = standardise(header, corner_m)
        on = on & (x @ matrix.mT + bias[:, None] > 0)
    left = ~(on & silent[:, None]).any(-1)
    return left | ~left.any(-1, keepdim=True)
