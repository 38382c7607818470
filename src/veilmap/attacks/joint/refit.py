"""The rows of some messages, fitted again to the places that all rounds share."""

import torch
from torch import Tensor

from veilmap.attacks.rows.place_fit import Explained
from veilmap.attacks.rows.rows import Rows
from veilmap.attacks.rows.square_search import SquareSearch
from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.federation.side_knowledge import Header

# The likeliest places of a round, among which the rows decide.
_CANDIDATES = 200
# How much a place counts that other rounds name, beside one that the round itself names.
_OTHERS = 0.2
# A place that no round supports must explain so much more than others do; one with a twentieth of
# the largest support half of that.
_PRICE, _HALF_PRICE = 0.03, 0.05
_STEPS = 4


def refit(
    header: Header, layers: UpdatedLayers, xy_m: Tensor, of_round: Tensor, overall: Tensor
) -> list[Explained | None]:
    """The shares of places in some messages; None where they explain nothing.

    Args:
        header: what the server knows.
        layers: of the messages.
        xy_m: the places, (places, 2).
        of_round: π, the shares that the mixture gives them in each round, (updates, places); 0
            where the user cannot have been.
        overall: G, their shares in all rounds, (places,).
    """
    support = (of_round + overall) * (of_round > 0)
    support, order = support.topk(min(_CANDIDATES, support.shape[1]))
    weights = of_round.gather(1, order) + _OTHERS * overall[order]
    price = _PRICE * _HALF_PRICE / (support / support[:, :1] + _HALF_PRICE)
    rows_fit = SquareSearch.of(Rows(), header, layers).place_fit
    candidates, target = rows_fit.begin(xy_m[order], support > 0, weights), rows_fit.target
    # Noise ψ of columns always takes part: judging it, as the search does, doubles the time here.
    has_noise = torch.ones_like(support[:, :1])
    fit = rows_fit.fit(candidates, target, has_noise, _STEPS, price)
    return rows_fit.read(candidates, target, has_noise, fit)
