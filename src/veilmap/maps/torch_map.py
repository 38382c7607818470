"""Any torch module from (x, y) to one number, trained by FedAvg with automatic differentiation."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from veilmap.errors import UserError, shown
from veilmap.federation.client import mini_batches
from veilmap.federation.map_family import WEIGHTS, Arrays, Footing, Prediction, Sent
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.maps.averaging import averaged
from veilmap.maps.torch_modules import made_module, outputs, seeded, shared_module
from veilmap.streams import stream

_ROWS = 4096  # predicted at once


class ModuleMap:
    """The four verbs for a class that has ``module``; messages are flat weights.

    Phones take the same mini-batches as with the paper's network, and the same plain SGD. Weights
    are drawn and units dropped by torch's own generator, which is seeded for the purpose and then
    put back as it was.
    """

    robust = True

    def module(self) -> nn.Module:
        """A new module; it is given standardised positions (n, 2) and gives (n,) or (n, 1)."""
        raise NotImplementedError

    def start(self, plan: Plan) -> Arrays:
        """Line 3 of Algorithm 1: w_0, as the module draws them."""
        shared_module(self)  # refuses what phones cannot train
        module = made_module(self, _seed(plan, "initialisation"))
        return {WEIGHTS: parameters_to_vector(module.parameters()).detach().numpy()}

    def answer(self, plan: Plan, state: Arrays, batch: LocalData, user: str, t: int) -> Arrays:
        """Lines 17-22: w_t^k."""
        module = _with_weights(self, state).train()
        parts = [
            (torch.from_numpy(x), torch.from_numpy(y))
            for x, y in mini_batches(plan, batch, user, t)
        ]
        with seeded(_seed(plan, "dropout", user, t)):
            for _ in range(plan.training.epochs):
                for x, y in parts:
                    _step(module, x, y, plan.training.learning_rate)
        return {WEIGHTS: parameters_to_vector(module.parameters()).detach().numpy().copy()}

    def combine(self, plan: Plan, state: Arrays, messages: Iterable[Sent], senders: int) -> Arrays:
        """Line 12: the average of the weights, or another rule of ``plan.training``."""
        return averaged(plan, state, messages, senders)

    @torch.no_grad()
    def predict(self, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]) -> Prediction:
        """F(x; w) above the labels' offset, without dropout."""
        module = _with_weights(self, state).eval()
        x = torch.from_numpy(footing.scaler.standardise(xy_m))
        parts = [outputs(module, x[i : i + _ROWS]).numpy() for i in range(0, len(x), _ROWS)]
        deviation = np.concatenate([np.empty(0), *parts])
        return Prediction(deviation + footing.label_offset_dbm)


# Not equal by its function, which may make another module the next time.
@dataclass(frozen=True, eq=False)
class TorchMap(ModuleMap):
    """A map of the modules that ``make_module`` makes: ``TorchMap(lambda: nn.Linear(2, 1))``.

    Attributes:
        make_module: returns a new module.
        label: what results call the map; by default the name of the function.
    """

    make_module: Callable[[], nn.Module] = field(repr=False)
    label: str = ""

    name = "torch"

    def __post_init__(self) -> None:
        # A module can be called too, with positions.
        if not callable(self.make_module) or isinstance(self.make_module, nn.Module):
            raise UserError(
                "make_module must be a function that returns a new module, got "
                f"{shown(self.make_module)}; put lambda: before it"
            )
        object.__setattr__(self, "label", self.label or _called(self.make_module))
        if not re.fullmatch(r"\w[\w .-]*", self.label):
            raise UserError(
                "label must be letters, digits, spaces, dots, hyphens and underscores, got "
                f"{shown(self.label)}; choose another"
            )

    def module(self) -> nn.Module:
        """A new one."""
        return self.make_module()


def _called(make_module: Callable[[], nn.Module]) -> str:
    """The name of a function, of what a partial calls, or of an object's class."""
    while isinstance(make_module, partial):
        make_module = make_module.func
    return getattr(make_module, "__name__", type(make_module).__name__).strip("<>")


def _seed(plan: Plan, purpose: str, *name: str | int) -> int:
    """For torch's generator, from the stream of that name."""
    return int(stream(plan.seed, purpose, *name).integers(2**63))


def _with_weights(family: ModuleMap, state: Arrays) -> nn.Module:
    module = shared_module(family)
    vector_to_parameters(torch.from_numpy(state[WEIGHTS].copy()), module.parameters())
    return module


def _step(module: nn.Module, x: Tensor, y: Tensor, learning_rate: float) -> None:
    """Line 21: w ← w − η ∇ℓ(w; b)."""
    weights = [each for each in module.parameters() if each.requires_grad]
    loss = (outputs(module, x) - y).square().mean()
    slopes = torch.autograd.grad(loss, weights, allow_unused=True)
    with torch.no_grad():
        for each, slope in zip(weights, slopes, strict=True):
            if slope is not None:
                each.sub_(slope, alpha=learning_rate)
