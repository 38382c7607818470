"""Local SGD of a network whose first hidden layer is ReLU, compiled; requires numba.

A matrix product cannot know that half of the ReLU units are off for a row, or dropped. Here each
row has a list of the units that are on, and each unit one of the rows for which it is on; of W_2
only the pairs in them are worked on, in both directions and for the step. W_2 is kept transposed,
so that what belongs to a unit lies together. ``reference`` says the same with autograd.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.model.compiling import compiled
from veilmap.model.dropout import Dropout
from veilmap.model.network import Floats, Network
from veilmap.model.numba_activations import KINDS, bend, pull_back
from veilmap.model.vectors import LANES, fma, load, splat, store, total, turn

Indices = NDArray[np.int32]
Steps = tuple[NDArray[np.int64], NDArray[np.int64]]

# Columns of W_2 that a row works on at a time, in four registers; 224 units of them are 57 kB.
TILE = 4 * LANES
# Rows whose steps are taken in one call: Python's own work between two calls takes as long as a
# small step, and the dropped units of all these rows are kept for it.
ROWS_AT_ONCE = 2560
# Rows whose errors meet a unit's weights at a time.
TOGETHER = 4


class _Weights(NamedTuple):
    """In the order in which loops want them; rows of ``columns`` are padded with zeros."""

    first: Floats  # W_1ᵀ and b_1, (3, units)
    columns: Floats  # W_2ᵀ, (units, stride)
    bias: Floats  # b_2, (stride,)
    last: Floats  # w_3, (width,)
    last_bias: Floats  # b_3, (1,)


class _Room(NamedTuple):
    """What one step writes and the next writes over."""

    hidden: Floats  # h_1 of one row
    units: Indices  # of each row: which are on,
    values: Floats  # their h_1 with dropout's scale,
    on: Indices  # and how many they are
    rows: Indices  # of each unit: for which it is on,
    row_values: Floats  # its h_1 there with dropout's scale,
    rows_on: Indices  # and how many they are
    second: Floats  # h_2, (rows, stride)
    errors: Floats  # δ_2, (rows, stride)
    sums: Floats  # ∂ℓ/∂b_2 and ∂ℓ/∂w_3, (2, width)
    before: Floats  # a unit's part of W_2 before the step,
    pulled: Floats  # and of W_2ᵀ δ_2, for the rows in its list


def descend(
    network: Network,
    weights: Floats,
    mini_batches: Sequence[tuple[Floats, Floats]],
    epochs: int,
    learning_rate: float,
    dropout: Dropout | None,
) -> Floats:
    """``training.sgd`` of a network with two hidden layers, the first of ReLU."""
    x = np.concatenate([xy_std for xy_std, _ in mini_batches])
    y = np.concatenate([labels for _, labels in mini_batches])
    sizes = [len(labels) for _, labels in mini_batches]
    own, room = _laid_out(network, weights), _room(network, max(sizes))
    scales = np.array([1 / (1 - share) if dropout else 1 for share in network.dropout], np.float32)
    kind, rate = KINDS[network.activations[1]], np.float32(learning_rate)
    starts, order = np.cumsum([0, *sizes]), np.tile(np.arange(len(sizes)), epochs)
    count = max(ROWS_AT_ONCE // max(sizes), 1)
    for first in range(0, len(order), count):
        some = order[first : first + count]
        dropped = _drawn(dropout, [sizes[number] for number in some])
        _take(kind, own, room, x, y, starts, some, *dropped, scales, rate)
    return _flat(network, own)


def _laid_out(network: Network, weights: Floats) -> _Weights:
    (w1, b1), (w2, b2), (w3, b3) = network.layers(weights)
    width, units = w2.shape
    columns, bias = _zeros(units, _stride(width)), _zeros(_stride(width))
    _transpose(w2, columns, width, units)
    bias[:width] = b2
    return _Weights(np.vstack([w1.T, b1]), columns, bias, w3[0].copy(), b3.copy())


def _flat(network: Network, own: _Weights) -> Floats:
    weights = np.empty(network.size, np.float32)
    (w1, b1), (w2, b2), (w3, b3) = network.layers(weights)
    w1[:], b1[:] = own.first[:2].T, own.first[2]
    _transpose(own.columns, w2, len(own.columns), len(w2))
    b2[:] = own.bias[: len(w2)]
    w3[:], b3[:] = own.last, own.last_bias
    return weights


def _room(network: Network, rows: int) -> _Room:
    units, width = network.hidden
    stride, lists = _stride(width), (units, rows + TOGETHER - 1)
    return _Room(
        hidden=_zeros(units),
        units=np.empty((rows, units), np.int32),
        values=_zeros(rows, units),
        on=np.empty(rows, np.int32),
        rows=np.empty(lists, np.int32),
        row_values=_zeros(*lists),
        rows_on=np.empty(units, np.int32),
        second=_zeros(rows, stride),
        errors=_zeros(rows, stride),
        sums=_zeros(2, width),
        before=_zeros(stride),
        pulled=_zeros(rows + TOGETHER - 1),
    )


def _stride(width: int) -> int:
    """An odd number of cache lines: else most units' weights would compete for few places there."""
    return -(-width // TILE) * TILE + LANES


def _zeros(*shape: int) -> Floats:
    """Through torch: its memory is aligned to cache lines, without which all takes 20 % longer."""
    return torch.zeros(shape).numpy()


def _drawn(dropout: Dropout | None, sizes: Sequence[int]) -> Iterator[Steps]:
    """For each layer the dropped units of some steps one after the other, and where each begins."""
    nothing = np.zeros(0, np.int64)
    steps = [dropout.draw(size) for size in sizes] if dropout else [(None, None)] * len(sizes)
    for layer in zip(*steps, strict=True):
        units = [nothing if each is None else each.numpy() for each in layer]
        yield np.concatenate(units), np.cumsum([0, *(len(each) for each in units)])


@compiled
def _transpose(source: Floats, target: Floats, rows: int, width: int) -> None:
    """``target[j, i] = source[i, j]`` of the first rows and columns; numpy takes thrice as long."""
    squares, whole = rows - rows % LANES, width - width % LANES
    flat, flat_target = source.reshape(-1), target.reshape(-1)
    stride, target_stride = source.shape[1], target.shape[1]
    for i in range(0, squares, LANES):
        for j in range(0, whole, LANES):
            at, to = i * stride + j, j * target_stride + i
            turn(flat, at, stride, flat_target, to, target_stride)
    for i in range(rows):
        for j in range(whole if i < squares else 0, width):
            target[j, i] = source[i, j]


@compiled
def _take(
    kind: int,
    own: _Weights,
    room: _Room,
    x: Floats,
    y: Floats,
    starts: NDArray[np.int64],
    order: NDArray[np.int64],
    dropped_1: Steps,
    dropped_2: Steps,
    scales: Floats,
    rate: np.float32,
) -> None:
    """One step w ← w − η∇ℓ(w; b) after the other, of mini-batches in a certain order."""
    for step in range(len(order)):
        rows = slice(starts[order[step]], starts[order[step] + 1])
        without_1 = dropped_1[0][dropped_1[1][step] : dropped_1[1][step + 1]]
        without_2 = dropped_2[0][dropped_2[1][step] : dropped_2[1][step + 1]]
        _first_layer(own.first, x[rows], without_1, scales[0], room)
        _second_layer(own, room, len(y[rows]))
        _last_layer(kind, own, y[rows], without_2, scales[1], rate, room)
        _back(own, x[rows], scales[0], rate, room)


@compiled
def _first_layer(
    first: Floats, x: Floats, dropped: NDArray[np.int64], scale: np.float32, room: _Room
) -> None:
    """h_1 = relu(W_1 x + b_1), as lists."""
    count, hidden, next_dropped = first.shape[1], room.hidden, 0
    room.rows_on[:] = 0
    for i in range(len(x)):
        for j in range(count):
            hidden[j] = first[0, j] * x[i, 0] + first[1, j] * x[i, 1] + first[2, j]
        while next_dropped < len(dropped) and dropped[next_dropped] < (i + 1) * count:
            hidden[dropped[next_dropped] - i * count] = 0
            next_dropped += 1
        on = 0
        for j in range(count):  # without a branch, which no processor could foresee
            room.units[i, on], room.values[i, on] = j, scale * hidden[j]
            on += not hidden[j] <= 0  # NaN counts as on, and so comes out again
        room.on[i] = on
        for n in range(on):
            j = room.units[i, n]
            place = room.rows_on[j]
            room.rows[j, place], room.row_values[j, place] = i, room.values[i, n]
            room.rows_on[j] = place + 1
    for j in range(count):  # whole groups: the rest are rows without weight
        for place in range(room.rows_on[j], room.rows_on[j] + TOGETHER - 1):
            room.rows[j, place], room.row_values[j, place] = 0, 0


@compiled
def _second_layer(own: _Weights, room: _Room, rows: int) -> None:
    """z_2 = W_2 h_1 + b_2, over the units that are on."""
    stride = own.columns.shape[1]
    columns, second = own.columns.reshape(-1), room.second.reshape(-1)
    for k in range(0, stride - LANES, TILE):
        for i in range(rows):
            z_0, z_1 = load(own.bias, k), load(own.bias, k + LANES)
            z_2, z_3 = load(own.bias, k + 2 * LANES), load(own.bias, k + 3 * LANES)
            for n in range(room.on[i]):
                h, at = splat(room.values[i, n]), room.units[i, n] * stride + k
                z_0 = fma(h, load(columns, at), z_0)
                z_1 = fma(h, load(columns, at + LANES), z_1)
                z_2 = fma(h, load(columns, at + 2 * LANES), z_2)
                z_3 = fma(h, load(columns, at + 3 * LANES), z_3)
            at = i * stride + k
            store(second, at, z_0)
            store(second, at + LANES, z_1)
            store(second, at + 2 * LANES, z_2)
            store(second, at + 3 * LANES, z_3)


@compiled
def _last_layer(
    kind: int,
    own: _Weights,
    y: Floats,
    dropped: NDArray[np.int64],
    scale: np.float32,
    rate: np.float32,
    room: _Room,
) -> None:
    """F(x; w), then δ_2 and the steps of b_2, w_3 and b_3."""
    width, next_dropped, error_sum = len(own.last), 0, np.float32(0)
    bias_sum, last_sum = room.sums[0], room.sums[1]
    room.sums[:] = 0
    for i in range(len(y)):
        h, error = room.second[i, :width], room.errors[i, :width]
        bend(kind, h)
        first_dropped = next_dropped
        while next_dropped < len(dropped) and dropped[next_dropped] < (i + 1) * width:
            h[dropped[next_dropped] - i * width] = 0
            next_dropped += 1
        output = np.float32(0)
        for k in range(width):
            output += h[k] * own.last[k]
        residual = scale * output + own.last_bias[0] - y[i]
        error_of_output = residual * (np.float32(2) / np.float32(len(y)))
        error_sum += error_of_output
        pulled = scale * error_of_output
        for k in range(width):
            error[k] = pulled * own.last[k]
        pull_back(kind, h, error)
        for n in range(first_dropped, next_dropped):
            error[dropped[n] - i * width] = 0
        for k in range(width):
            bias_sum[k] += error[k]
            last_sum[k] += pulled * h[k]
    for k in range(width):
        own.bias[k] -= rate * bias_sum[k]
        own.last[k] -= rate * last_sum[k]
    own.last_bias[0] -= rate * error_sum


@compiled
def _back(own: _Weights, x: Floats, scale: np.float32, rate: np.float32, room: _Room) -> None:
    """Unit by unit δ_1 = W_2ᵀ δ_2 where it is on, and the steps of its weights in W_1 and b_1."""
    columns, errors = own.columns.reshape(-1), room.errors.reshape(-1)
    for j in range(own.columns.shape[0]):
        _one_unit(columns, errors, j, -rate, room)
        x_sum, y_sum, sum_ = np.float32(0), np.float32(0), np.float32(0)
        for n in range(room.rows_on[j]):
            i, error = room.rows[j, n], scale * room.pulled[n]
            x_sum += error * x[i, 0]
            y_sum += error * x[i, 1]
            sum_ += error
        own.first[0, j] -= rate * x_sum
        own.first[1, j] -= rate * y_sum
        own.first[2, j] -= rate * sum_


@compiled
def _one_unit(columns: Floats, errors: Floats, j: int, factor: np.float32, room: _Room) -> None:
    """W_2ᵀ δ_2 of unit j, and the step of its weights in W_2.

    Both go over the same errors, so each is loaded once for two products.
    """
    stride, before, zero = room.before.shape[0], room.before, splat(np.float32(0))
    own, h = j * stride, room.row_values
    for k in range(0, stride - LANES, LANES):
        # Later groups must not see the steps of earlier ones.
        store(before, k, load(columns, own + k))
    for n in range(0, room.rows_on[j], TOGETHER):
        at_0, at_1 = room.rows[j, n] * stride, room.rows[j, n + 1] * stride
        at_2, at_3 = room.rows[j, n + 2] * stride, room.rows[j, n + 3] * stride
        h_0, h_1 = splat(factor * h[j, n]), splat(factor * h[j, n + 1])
        h_2, h_3 = splat(factor * h[j, n + 2]), splat(factor * h[j, n + 3])
        sum_0, sum_1, sum_2, sum_3 = zero, zero, zero, zero
        for k in range(0, stride - LANES, LANES):
            old, new = load(before, k), load(columns, own + k)
            error = load(errors, at_0 + k)
            sum_0, new = fma(old, error, sum_0), fma(h_0, error, new)
            error = load(errors, at_1 + k)
            sum_1, new = fma(old, error, sum_1), fma(h_1, error, new)
            error = load(errors, at_2 + k)
            sum_2, new = fma(old, error, sum_2), fma(h_2, error, new)
            error = load(errors, at_3 + k)
            sum_3, new = fma(old, error, sum_3), fma(h_3, error, new)
            store(columns, own + k, new)
        room.pulled[n], room.pulled[n + 1] = total(sum_0), total(sum_1)
        room.pulled[n + 2], room.pulled[n + 3] = total(sum_2), total(sum_3)
