"""Where a network is linearised to explain an update of many steps.

One step of SGD is G = (2/N) Σ r_i J(x_i) exactly, at the weights before. Local training sums such
steps along a path: Δw = Σ_s Σ_i r_i(s) J(x_i; w(s)). A linearisation replaces the path by a few
nodes, weights w_p with shares a_p: J̄(x) = Σ_p a_p J(x; w_p).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.heatmap.heatmap import LinearisationName
from veilmap.attacks.heatmap.updates import UpdateBatch
from veilmap.attacks.tangent import Blocks, blocks_of, factors

PATH_NODES = 3


@dataclass(frozen=True)
class PathNode:
    """Weights on the path and the share of the update made there, for each update or for all."""

    share: Tensor
    weights: Blocks


@dataclass(frozen=True)
class Guess:
    """Where users may have been: places (updates, places, 2), standardised, and their shares."""

    x: Tensor
    shares: Tensor

    @classmethod
    def at(cls, updates: UpdateBatch, xy_m: Sequence[NDArray[np.float64]]) -> "Guess":
        """Each user at a single place."""
        x = updates.standardise(torch.from_numpy(np.stack(xy_m)[:, None]).to(updates.device))
        return cls(x, torch.ones_like(x[..., 0]))


def nodes(
    name: LinearisationName, updates: UpdateBatch, guess: Guess | None = None
) -> list[PathNode]:
    """The nodes of some updates; a ``path`` requires a guess."""
    if guess is not None and name == "path":
        return _path(updates, guess)
    part = {"before": 0.0, "middle": 0.5, "after": 1.0}[name]
    weights = updates.before - part * updates.gradient if part else updates.before
    return [PathNode(weights.new_ones(len(weights)), blocks_of(updates.header.network, weights))]


def _path(updates: UpdateBatch, guess: Guess) -> list[PathNode]:
    """The path of the weights if the user was where ``guess`` says, in equal parts of progress.

    While all residuals share one sign and decrease together, each part ds of the progress moves the
    weights along −Σ c_j J(x_j; w(s)), whatever the step size and the labels: the residuals only set
    the pace. The path is integrated by the midpoint rule; its midpoints are the nodes, and their
    shares add up to the whole update.
    """
    network, gradient = updates.header.network, updates.gradient
    length = gradient.square().sum(1)

    def move(weights: Tensor) -> tuple[Tensor, Tensor]:
        """Σ c_j J(x_j; w), and how much of it is the whole update's length along the update."""
        moved = factors(network, blocks_of(network, weights), guess.x).combine(guess.shares)
        flat = torch.cat([block.flatten(1) for block in moved], 1)
        along = PATH_NODES * (flat * gradient).sum(1) / length
        return flat, torch.where(along != 0, 1 / along, 0.0)

    midpoints, weights = [], updates.before
    for _ in range(PATH_NODES):
        flat, pace = move(weights)
        middle = weights - flat * pace[:, None] / 2
        flat, pace = move(middle)
        weights = weights - flat * pace[:, None]
        midpoints.append((pace, middle))
    total = torch.stack([pace for pace, _ in midpoints]).sum(0)
    total = torch.where(total != 0, total, 1.0)
    return [PathNode(pace / total, blocks_of(network, middle)) for pace, middle in midpoints]
