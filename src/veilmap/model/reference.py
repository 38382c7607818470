"""The same model in the plainest PyTorch: what every fast path is compared with."""

import torch
from torch import Tensor

from veilmap.model.dropout import Dropout, Dropped
from veilmap.model.network import Floats, Network

_FUNCTIONS = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "elu": torch.nn.functional.elu,
}


def forward(network: Network, weights: Tensor, x: Tensor, dropped: Dropped) -> Tensor:
    """F(x; w), differentiable in ``weights`` and ``x``, without the units in ``dropped``."""
    h, start = x, 0
    for level, (outputs, inputs) in enumerate(network.shapes):
        middle, end = start + outputs * inputs, start + outputs * (inputs + 1)
        h = h @ weights[start:middle].reshape(outputs, inputs).T + weights[middle:end]
        start = end
        if level < len(network.hidden):
            h = _FUNCTIONS[network.activations[level]](h)
            h = h * _mask(h.shape, network.dropout[level], dropped[level])
    return h[:, 0]


def _mask(shape: torch.Size, share: float, dropped: Tensor | None) -> Tensor:
    """0 for a dropped unit, 1/(1-share) for the others; all ones without dropout."""
    if dropped is None:
        return torch.ones(shape)
    mask = torch.full(shape, 1 / (1 - share))
    mask.view(-1)[dropped] = 0
    return mask


def gradient(
    network: Network,
    weights: Floats,
    mini_batch: tuple[Floats, Floats],
    dropout: Dropout | None = None,
) -> Floats:
    """∇ℓ(w; b) by automatic differentiation."""
    xy_std, labels = mini_batch
    w = torch.tensor(weights, requires_grad=True)
    dropped = dropout.draw(len(labels)) if dropout else [None] * len(network.hidden)
    residuals = forward(network, w, torch.from_numpy(xy_std), dropped) - torch.from_numpy(labels)
    (flat,) = torch.autograd.grad((residuals**2).mean(), w)
    return flat.numpy()
