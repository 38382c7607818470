"""Families of maps for tests."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from veilmap import ModuleMap
from veilmap.federation.map_family import Prediction

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


def with_batch_norm():
    return nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))


def of_two_numbers():
    return nn.Linear(2, 2)


def of_doubles():
    return nn.Linear(2, 1, dtype=torch.float64)
