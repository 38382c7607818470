"""Local SGD of many clients at once, each with weights of its own, on one torch device.

A GPU takes as long to begin a product as to form it for a hundred clients. So the weights of many
lie in one tensor per layer, (clients, outputs, inputs), and a step is taken by all of them that
have a mini-batch left; rows that only some have weigh nothing. ``training.sgd`` does the same for
one client, with the same draws.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from veilmap.model.activations import ACTIVATIONS
from veilmap.model.dropout import Dropout, Dropped
from veilmap.model.network import Floats, MiniBatch, Network

# Clients whose updates are kept until they can be given back in order: 0.6 GB of the paper's.
WINDOW = 1024
# Of the device's memory, for the clients that are trained at once.
MOST_BYTES = 4 << 30


class Client(NamedTuple):
    """What one client trains on, and which units its steps drop."""

    mini_batches: Sequence[MiniBatch]
    dropout: Dropout


class _StackedBatch(NamedTuple):
    """The mini-batches of all clients that have one left, padded to the largest of them."""

    x: Tensor  # (clients, rows, 2)
    y: Tensor  # (clients, rows, 1)
    share: Tensor  # 2/n for a row of a mini-batch of n, 0 for padding; (clients, rows, 1)
    sizes: list[int]  # n of each client


Layers = list[tuple[Tensor, Tensor]]  # W_l, (clients, outputs, inputs); b_l, (clients, 1, outputs)


def sgd_of_many(
    network: Network,
    weights: Floats,
    clients: Iterable[Client],
    *,
    epochs: int,
    learning_rate: float,
    device: torch.device,
    most_bytes: int = MOST_BYTES,
) -> Iterator[Floats]:
    """``sgd`` of each client from the same weights, in their order."""
    remaining = iter(clients)
    while window := list(islice(remaining, WINDOW)):
        updates: dict[int, Floats] = {}
        for group in groups(network, window, most_bytes):
            some = [window[i] for i in group]
            after = _descend(network, weights, some, epochs, learning_rate, device)
            updates.update(zip(group, after, strict=True))
        yield from (updates[i] for i in range(len(window)))


def groups(network: Network, window: Sequence[Client], most_bytes: int) -> Iterator[list[int]]:
    """Which clients are trained at once: those alike in steps and rows, most steps first."""
    sizes = [(len(each.mini_batches), _largest(each)) for each in window]
    group: list[int] = []
    most_steps = most_rows = 0
    for i in sorted(range(len(window)), key=sizes.__getitem__, reverse=True):
        most_steps, most_rows = max(most_steps, sizes[i][0]), max(most_rows, sizes[i][1])
        if group and (len(group) + 1) * client_bytes(network, most_steps, most_rows) > most_bytes:
            yield group
            group, (most_steps, most_rows) = [], sizes[i]
        group.append(i)
    yield group


def _largest(client: Client) -> int:
    return max(len(labels) for _, labels in client.mini_batches)


def client_bytes(network: Network, steps: int, rows: int) -> float:
    """Of one client: weights, h_l and δ_l of a step; points and dropped units of an epoch."""
    units = sum(network.hidden)
    dropped = sum(
        width * share for width, share in zip(network.hidden, network.dropout, strict=True)
    )
    return 4 * (2 * network.size + 3 * rows * units) + 8 * steps * rows * (2 + 1.2 * dropped)


@torch.inference_mode()
def _descend(
    network: Network,
    weights: Floats,
    clients: Sequence[Client],
    epochs: int,
    learning_rate: float,
    device: torch.device,
) -> list[Floats]:
    """For clients in descending order of steps."""
    layers, steps = _layers(network, weights, len(clients), device), _steps(clients, device)
    for _ in range(epochs):
        for step, dropped in zip(steps, _dropped(network, clients, steps, device), strict=True):
            _take(network, layers, step, dropped, learning_rate)
    flat = torch.cat([part.flatten(1) for layer in layers for part in layer], dim=1)
    return list(flat.cpu().numpy())


def _layers(network: Network, weights: Floats, count: int, device: torch.device) -> Layers:
    """The same for every client; not views into flat vectors, which would not be aligned."""

    def repeated(part: Floats) -> Tensor:
        return torch.from_numpy(part).to(device).repeat(count, 1, 1)

    return [(repeated(matrix), repeated(bias)) for matrix, bias in network.layers(weights)]


def _steps(clients: Sequence[Client], device: torch.device) -> list[_StackedBatch]:
    """All mini-batches in one table that goes to the device at once."""
    blocks, sizes = [], []
    for number in range(len(clients[0].mini_batches)):
        batches = [each.mini_batches[number] for each in clients if number < len(each.mini_batches)]
        sizes.append([len(labels) for _, labels in batches])
        block = np.zeros((len(batches), max(sizes[-1]), 4), np.float32)
        for rows, (xy_std, labels) in zip(block, batches, strict=True):
            rows[: len(labels), :2], rows[: len(labels), 2] = xy_std, labels
            rows[: len(labels), 3] = 2 / len(labels)
        blocks.append(block)
    table = torch.from_numpy(np.concatenate([block.reshape(-1, 4) for block in blocks])).to(device)
    parts = torch.split(table, [block.shape[0] * block.shape[1] for block in blocks])
    padded = [part.view(block.shape) for part, block in zip(parts, blocks, strict=True)]
    return [
        _StackedBatch(each[..., :2], each[..., 2:3], each[..., 3:], own)
        for each, own in zip(padded, sizes, strict=True)
    ]


def _dropped(
    network: Network,
    clients: Sequence[Client],
    steps: Sequence[_StackedBatch],
    device: torch.device,
) -> Iterator[Dropped]:
    """For each step of an epoch the dropped units of all its clients, sent to the device at once.

    As flat indices into (clients, rows, width).
    """
    drawn = [
        [client.dropout.draw(n) for client, n in zip(clients, step.sizes, strict=False)]
        for step in steps
    ]
    layers = zip(*(zip(*each, strict=True) for each in drawn), strict=True)
    return zip(
        *(
            _on_device(of_steps, [step.x.shape[1] * width for step in steps], device)
            for of_steps, width in zip(layers, network.hidden, strict=True)
        ),
        strict=True,
    )


def _on_device(
    of_steps: Sequence[Sequence[Tensor | None]], sizes: Sequence[int], device: torch.device
) -> Sequence[Tensor | None]:
    """One layer's indices, each client's counted from where it begins: in steps of ``sizes``."""
    own = [
        torch.cat([units + i * size for i, units in enumerate(of_clients) if units is not None])
        for of_clients, size in zip(of_steps, sizes, strict=True)
        if of_clients[0] is not None
    ]
    if not own:
        return [None] * len(of_steps)
    return torch.split(torch.cat(own).to(device), [len(each) for each in own])


def _take(
    network: Network, layers: Layers, step: _StackedBatch, dropped: Dropped, learning_rate: float
) -> None:
    """One step w ← w − η∇ℓ(w; b) of the first clients; see ``backprop`` for the formulas."""
    own = [(matrix[: len(step.x)], bias[: len(step.x)]) for matrix, bias in layers]
    inputs, scales = [step.x], [1.0]
    for (matrix, bias), name, share, units in zip(
        own[:-1], network.activations, network.dropout, dropped, strict=True
    ):
        h = torch.baddbmm(bias, inputs[-1], matrix.mT, alpha=scales[-1])
        ACTIVATIONS[name].apply_(h)
        inputs.append(_without(h, units))
        scales.append(1.0 if units is None else 1 / (1 - share))
    output = torch.baddbmm(own[-1][1], inputs[-1], own[-1][0].mT, alpha=scales[-1])
    error = output.sub_(step.y).mul_(step.share)
    for level in reversed(range(len(own))):
        (matrix, bias), h, scale = own[level], inputs[level], scales[level]
        below = torch.bmm(error, matrix).mul_(scale) if level else None
        matrix.baddbmm_(error.mT, h, alpha=-learning_rate * scale)
        bias.sub_(error.sum(1, keepdim=True), alpha=learning_rate)
        if below is not None:
            ACTIVATIONS[network.activations[level - 1]].pull_back_(below, h)
            error = _without(below, dropped[level - 1])


def _without(h: Tensor, units: Tensor | None) -> Tensor:
    return h if units is None else h.view(-1).index_fill_(0, units, 0).view_as(h)
