"""Families of maps for tests."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from veilmap import ModuleMap
from veilmap.federation.map_family import Prediction
from veilmap.maps.network_map import NetworkMap

ACTIVATIONS = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh, "elu": nn.ELU}


def dense_module(network) -> nn.Module:
    """The network as torch has it, without dropout; its parameters lie flat in the same order."""
    widths = (2, *network.hidden)
    layers = [
        layer
        for width, outputs, name in zip(widths, network.hidden, network.activations, strict=False)
        for layer in (nn.Linear(width, outputs), ACTIVATIONS[name]())
    ]
    return nn.Sequential(*layers, nn.Linear(widths[-1], 1))


@dataclass(frozen=True)
class Bumps(ModuleMap):
    """A family with a setting, as a package would register it."""

    width: int = 6

    name = "bumps"

    def module(self):
        return nn.Sequential(nn.Linear(2, self.width), nn.Tanh(), nn.Linear(self.width, 1))


@dataclass(frozen=True)
class Still(NetworkMap):
    """The paper's layers, on phones that learn nothing."""

    name = "still"

    def answer(self, plan, state, batch, user, t):
        return state


@dataclass(frozen=True)
class Mean:
    """The mean signal of all points: the smallest family there is, of sums and not of weights."""

    name = "mean"

    def start(self, plan):
        return {"sum": np.zeros(1), "count": np.zeros(1)}

    def answer(self, plan, state, batch, user, t):
        above = batch.rsrp_dbm - plan.label_offset_dbm
        return {"sum": np.array([above.sum()]), "count": np.array([float(len(batch))])}

    def combine(self, plan, state, messages, senders):
        found = dict(state)
        for sent in messages:
            found = {name: found[name] + sent.message[name] for name in found}
        return found

    def predict(self, footing, state, xy_m):
        mean = state["sum"] / np.maximum(state["count"], 1)
        return Prediction(np.full(len(xy_m), mean[0]) + footing.label_offset_dbm)


class Waves(nn.Module):
    """Sines at frequencies drawn once: a constant, as a buffer or as a plain tensor."""

    def __init__(self, as_buffer: bool = True) -> None:
        super().__init__()
        frequencies = torch.randn(2, 8)
        if as_buffer:
            self.register_buffer("frequencies", frequencies)
        else:
            self.frequencies = frequencies
        self.last = nn.Linear(8, 1)

    def forward(self, x):
        return self.last((x @ self.frequencies).sin())


class Computed(nn.Module):
    """A hidden layer of eight units, computed as a function says."""

    def __init__(self, compute, layer=None) -> None:
        super().__init__()
        self.compute, self.layer = compute, layer or nn.Linear(2, 8)
        self.last = nn.Linear(8, 1)

    def forward(self, x):
        return self.compute(self, x)


def begun_frozen() -> nn.Module:
    """Only the second layer is trained."""
    module = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    module[0].requires_grad_(False)
    return module


def _by_value(module, x):
    hidden = module.layer(x)
    return module.last(torch.tanh(hidden) if hidden.sum() > 0 else torch.sigmoid(hidden))


def _into_its_input(module, x):
    x[:, 0] *= 2
    return module.last(torch.tanh(module.layer(x)))


def _into_its_output(module, x):
    found = torch.zeros(len(x), 1)
    found[:, 0] = module.last(torch.tanh(module.layer(x)))[:, 0]
    return found


def _into_what_it_needs(module, x):
    hidden = torch.sigmoid(module.layer(x))
    hidden *= 2
    return module.last(hidden)


def _by_chance(module, x):
    return module.last(torch.dropout(module.layer(x), 0.5, True))


def _recurrent(module, x):
    return module.last(module.layer(x[:, None])[0][:, -1])


def _with_attention(module, x):
    """Between the two coordinates of a position."""
    return module.last(module.layer(x[:, :, None].expand(-1, -1, 8))[:, 0])


def by_value():
    return Computed(_by_value)


def into_its_input():
    return Computed(_into_its_input)


def into_its_output():
    return Computed(_into_its_output)


def into_what_it_needs():
    return Computed(_into_what_it_needs)


def by_chance():
    return Computed(_by_chance)


def recurrent():
    return Computed(_recurrent, nn.LSTM(2, 8, batch_first=True))


def with_attention():
    return Computed(
        _with_attention, nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True)
    )


def of_lazy_layers():
    return nn.Sequential(nn.LazyLinear(8), nn.Tanh(), nn.LazyLinear(1))


def of_plain_constants():
    return Waves(as_buffer=False)


class Squares(nn.Module):
    """A table over squares, the simplest map of all; it knows no place beyond them."""

    def __init__(self, side=24) -> None:
        super().__init__()
        self.side, self.table = side, nn.Embedding(side * side, 1)

    def forward(self, x):
        place = ((x + 2) / 4 * self.side).long()
        return self.table(place[:, 0] * self.side + place[:, 1])


def with_batch_norm():
    return nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))


def of_two_numbers():
    return nn.Linear(2, 2)


def of_doubles():
    return nn.Linear(2, 1, dtype=torch.float64)


def of_other_rows():
    return nn.Sequential(nn.Linear(2, 8), nn.TransformerEncoderLayer(8, 2, 16), nn.Linear(8, 1))


def of_one_batch():
    return nn.Sequential(
        nn.Linear(2, 4), nn.BatchNorm1d(4, track_running_stats=False), nn.Linear(4, 1)
    )


def drawn_by_numpy():
    module = nn.Linear(2, 1)
    nn.init.constant_(module.bias, np.random.default_rng().normal())
    return module
