"""The same model in the plainest PyTorch: what every fast path is compared with."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.model.dropout import Dropout, Masks
from veilmap.model.network import Network

Floats = NDArray[np.float32]

_FUNCTIONS = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "elu": torch.nn.functional.elu,
}


def forward(network: Network, weights: Tensor, x: Tensor, masks: Masks) -> Tensor:
    """F(x; w), differentiable in ``weights`` and ``x``."""
    h, start = x, 0
    for level, (outputs, inputs) in enumerate(network.shapes):
        middle, end = start + outputs * inputs, start + outputs * (inputs + 1)
        h = h @ weights[start:middle].reshape(outputs, inputs).T + weights[middle:end]
        start = end
        if level < len(network.hidden):
            h = _FUNCTIONS[network.activations[level]](h)
            mask = masks[level]
            h = h if mask is None else h * mask
    return h[:, 0]


def gradient(
    network: Network,
    weights: Floats,
    mini_batch: tuple[Floats, Floats],
    dropout: np.random.Generator | None = None,
) -> Floats:
    """∇ℓ(w; b) by automatic differentiation."""
    xy_std, labels = mini_batch
    w = torch.tensor(weights, requires_grad=True)
    masks = Dropout(network, dropout).draw(len(labels))
    residuals = forward(network, w, torch.from_numpy(xy_std), masks) - torch.from_numpy(labels)
    (flat,) = torch.autograd.grad((residuals**2).mean(), w)
    result: Floats = flat.numpy()
    return result
