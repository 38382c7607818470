"""Where the tangent of a network is taken to explain an update of many steps.

One step of SGD is G = (2/N) Σ r_i J(x_i) exactly, at the weights before. Local training sums such
steps along a path: Δw = Σ_s Σ_i r_i(s) J(x_i; w(s)). A linearisation replaces the path by a few
nodes, weights w_p with shares a_p: J̄(x) = Σ_p a_p J(x; w_p).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.matching import leaked_gradient
from veilmap.attacks.reconstruction import Cloud
from veilmap.attacks.tangent import Blocks, as_blocks, factors
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header

LinearisationName = Literal["before", "middle", "after", "path"]
PATH_NODES = 3

Flat = NDArray[np.float64]


@dataclass(frozen=True)
class Node:
    """Weights on the way, and the share of the update made there."""

    share: float
    weights: Blocks


def nodes(
    name: LinearisationName, header: Header, observation: Observation, guess: Cloud
) -> list[Node]:
    """The nodes of one update; ``guess`` is where the user may have been, used by ``path``."""
    before = observation.weights_before.astype(np.float64)
    if name == "path":
        return _path(header, before, leaked_gradient(observation), guess)
    after = observation.weights_after.astype(np.float64)
    weights = {"before": before, "middle": (before + after) / 2, "after": after}[name]
    return [Node(1.0, as_blocks(header.network, weights))]


def _path(header: Header, before: Flat, gradient: Flat, guess: Cloud) -> list[Node]:
    """The way of a user who sits where ``guess`` says, in equal parts of the progress made.

    While all residuals share one sign and fall together, each part ds of the progress moves the
    weights along −Σ c_j J(x_j; w(s)), whatever the step size and the labels: the residuals only
    set the pace. The midpoint rule walks it; its midpoints are the nodes, and their shares add up
    to the whole update.
    """
    network, scaler = header.network, header.side_knowledge.scaler
    x = torch.from_numpy(scaler.finely(guess.xy_m))[None]
    shares = torch.from_numpy(guess.weights)[None]

    def move(weights: Flat) -> tuple[Flat, float]:
        """Σ c_j J(x_j; w), and how much of it is the whole update's length along the update."""
        blocks = factors(network, as_blocks(network, weights), x).combine(shares)
        flat = np.concatenate([part.numpy().ravel() for block in blocks for part in block])
        along = float(flat @ gradient / (gradient @ gradient))
        return flat, 1 / (PATH_NODES * along) if along else 0.0

    walked, weights = [], before
    for _ in range(PATH_NODES):
        flat, pace = move(weights)
        middle = weights - flat * pace / 2
        flat, pace = move(middle)
        weights = weights - flat * pace
        walked.append((pace, middle))
    total = sum(pace for pace, _ in walked) or 1.0
    return [Node(pace / total, as_blocks(network, middle)) for pace, middle in walked]
