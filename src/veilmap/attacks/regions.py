"""cos(∇w, ∇w') and its slope, piece by piece: where no first-layer ReLU switches much is constant.

With the set D of units that are on, h_1 = D(W_1 x + b_1), and everything up to the second layer is
linear in x: z_2 = A x + c with A = W_2 D W_1 and c = W_2 D b_1 + b_2. With s = f(z_2),
δ_2 = w_3 s', δ_1 = D W_2ᵀ δ_2 and a leaked gradient of blocks (G_l, g_l),

    ⟨G, J(x)⟩ = G_3·s + g_3 + δ_2·u,  u = (G_2 D W_1 + W_2 D G_1) x + G_2 D b_1 + g_2 + W_2 D g_1,
    |J(x)|²   = |s|² + 1 + |δ_2|²(|h_1|² + 1) + |δ_1|²(|x|² + 1).

A unit that switches adds its share to A, c and u or takes it away; no product of matrices is formed
anew. What is left per place are two products of a vector with the columns of W_2 that are on.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.matching import Matching
from veilmap.attacks.tangent import Blocks
from veilmap.model.network import ActivationName, Network

Array = NDArray[np.floating]

# Every switch rounds; after a thousand the sums in single precision are still good to 1e-5.
MOST_SWITCHES = 1000


@dataclass(frozen=True)
class Pieces:
    """One update's weights and leaked gradient, laid out by units of the first layer.

    Attributes:
        activation: of the second layer.
        first: (W_1, b_1)ᵀ, a column per unit.
        columns: W_2ᵀ, a row per unit.
        shares: of each unit that is on, in (A, c)ᵀ and beside it in the same of u: (units, 3, 2n).
        common: what (A, c)ᵀ and the same of u are with all units off.
        last: w_3.
        last_leaked: G_3.
        biases: b_3 and g_3.
    """

    activation: ActivationName
    first: Array
    columns: Array
    shares: Array
    common: Array
    last: Array
    last_leaked: Array
    biases: Array

    @staticmethod
    def suit(network: Network) -> bool:
        """Whether the network has such pieces: two hidden layers, the first of ReLU."""
        return len(network.hidden) == 2 and network.activations[0] == "relu"

    @classmethod
    def of(cls, matching: Matching, update: int) -> "Pieces":
        """In the precision of ``matching``."""
        (w1, b1), (w2, b2), (w3, b3) = _of_update(matching.weights, update)
        (leaked_w1, leaked_b1), (leaked_w2, leaked_b2), (leaked_w3, leaked_b3) = _of_update(
            matching.gradient, update
        )
        first, first_leaked = np.vstack([w1.T, b1]), np.vstack([leaked_w1.T, leaked_b1])
        shares = np.einsum("ih,jh->hij", first, np.vstack([w2, leaked_w2]))
        shares[..., len(w2) :] += np.einsum("ih,jh->hij", first_leaked, w2)
        return cls(
            activation=matching.network.activations[1],
            first=np.ascontiguousarray(first),
            columns=np.ascontiguousarray(w2.T),
            shares=shares,
            common=np.outer([0, 0, 1], np.hstack([b2, leaked_b2])).astype(w2.dtype),
            last=w3[0],
            last_leaked=leaked_w3[0],
            biases=np.array([b3[0], leaked_b3[0]], w3.dtype),
        )


def _of_update(blocks: Blocks, update: int) -> list[tuple[Array, Array]]:
    return [(matrix[update].numpy(), bias[update].numpy()) for matrix, bias in blocks]


class Region:
    """The piece in which a moving location is, and what is constant there."""

    def __init__(self, pieces: Pieces) -> None:
        # Its compiler takes half a second to load, which only those pay who attack.
        from veilmap.attacks.compiled import KINDS, slope_at

        self._pieces, self._slope_at, dtype = pieces, slope_at, pieces.last.dtype
        self._constant = (
            KINDS[pieces.activation],
            pieces.first,
            pieces.columns,
            pieces.shares,
            pieces.last,
            pieces.last_leaked,
            pieces.biases,
        )
        self._on = np.zeros(len(pieces.columns), bool)
        self._room = np.empty(len(pieces.columns), dtype), np.empty((6, len(pieces.last)), dtype)
        self._empty()

    def slope(self, x: float, y: float, label: float) -> tuple[float, float, float]:
        """cos(∇w, ∇w') at the place (x, y), and its derivatives in x and in y."""
        if self._switches > MOST_SWITCHES:
            self._empty()
        cosine, rise_x, rise_y, switches = self._slope_at(
            *self._constant, self._lines, self._on, *self._room, (x, y), label
        )
        self._switches += switches
        return cosine, rise_x, rise_y

    def _empty(self) -> None:
        """All units off."""
        self._lines, self._switches = self._pieces.common.copy(), 0
        self._on[:] = False
