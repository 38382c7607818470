"""The usual ways to run Algorithm 2, each on the same update from the same starts.

All minimise 1 − cos(∇w, ∇w') over a dummy point (x', y') in float32, with the gradients from
automatic differentiation through an automatic differentiation. ``stop`` ends a start once its
location moves no farther than so many metres in so many iterations; None is as the authors of the
method leave it, with a fixed number of them.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import torch
from torch.func import functional_call, grad, vmap

from veilmap.attacks.gradient_matching.descents import TYPICAL_RSRP_DBM
from veilmap.attacks.leak import leaked_gradient
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header

# Of 0.01, 0.02, 0.05 and 0.1 the step that takes Adam the fewest iterations to rest (1369, 799,
# 679 and 714 in all); the cosines agree to 1e-8.
ADAM_RATE, ADAM_ITERATIONS = 0.05, 1000
# As in the code that came with the paper of DLG (mit-han-lab/dlg, main.py): torch.optim.LBFGS with
# its defaults, 300 steps of up to 20 iterations, and no rule to stop. Where L-BFGS has converged, a
# step is one evaluation.
LBFGS_STEPS = 300


@dataclass(frozen=True)
class StoppingRule:
    """A start is over once its location moves less than ``still_m`` so many times in a row."""

    still_m: float
    iterations: int


# The paper's rule for Adam; a step of L-BFGS is many iterations, so one that stays is enough.
ADAM_REST, LBFGS_REST = StoppingRule(0.1, 10), StoppingRule(0.01, 1)


@dataclass(frozen=True)
class PeerResult:
    """Where the starts ended, standardised, and how often the gradient was computed in all."""

    ends: np.ndarray
    evaluations: int


class Loss:
    """nn.Module, the leaked gradient in its parts, and 1 − cos by double back-propagation."""

    def __init__(self, header: Header, observation: Observation) -> None:
        network, known = header.network, header.side_knowledge
        layers: list[torch.nn.Module] = []
        for level, (outputs, inputs) in enumerate(network.shapes):
            layers.append(torch.nn.Linear(inputs, outputs))
            if level < len(network.hidden):
                kind = {"relu": torch.nn.ReLU, "sigmoid": torch.nn.Sigmoid}
                layers.append(kind[network.activations[level]]())
        self.module = torch.nn.Sequential(*layers)
        start = torch.from_numpy(observation.weights_before.copy())
        torch.nn.utils.vector_to_parameters(start, self.module.parameters())
        leaked = leaked_gradient(observation)
        flat = torch.from_numpy((leaked / np.linalg.norm(leaked)).astype(np.float32))
        shapes = [parameter.shape for parameter in self.module.parameters()]
        parts = flat.split([shape.numel() for shape in shapes])
        self.leaked = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        self.scale_m = torch.tensor(known.scaler.scale_m, dtype=torch.float32)
        # As Dlg begins: the mean that the server knows, or what is usual.
        offset = known.label_offset_dbm
        self.label = (offset or TYPICAL_RSRP_DBM) - offset

    def dummy(self, start_std: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.tensor(start_std[None], dtype=torch.float32, requires_grad=True)
        return x, torch.tensor([[self.label]], requires_grad=True)

    def __call__(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = torch.nn.functional.mse_loss(self.module(x), y)
        return self.distance(
            torch.autograd.grad(loss, tuple(self.module.parameters()), create_graph=True)
        )

    def distance(self, dummy: tuple[torch.Tensor, ...]) -> torch.Tensor:
        inner = sum((ours * theirs).sum() for ours, theirs in zip(dummy, self.leaked, strict=True))
        length = sum((ours**2).sum() for ours in dummy).sqrt()
        return 1 - inner / length

    def moved_m(self, x: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        return ((x.detach() - before) * self.scale_m).norm(dim=-1)


def lbfgs(loss: Loss, starts: np.ndarray, stop: StoppingRule | None) -> PeerResult:
    """DLG as published: L-BFGS, start by start."""
    ends, evaluations = [], 0
    for start in starts:
        x, y = loss.dummy(start)
        optimiser = torch.optim.LBFGS([x, y])

        def closure(x=x, y=y, optimiser=optimiser):
            nonlocal evaluations
            evaluations += 1
            optimiser.zero_grad()
            distance = loss(x, y)
            distance.backward(inputs=[x, y])
            return distance

        for _ in range(LBFGS_STEPS):
            before = x.detach().clone()
            optimiser.step(closure)
            if stop and float(loss.moved_m(x, before)) < stop.still_m:
                break
        ends.append(x.detach().numpy()[0].astype(np.float64))
    return PeerResult(np.stack(ends), evaluations)


def adam(loss: Loss, starts: np.ndarray, stop: StoppingRule | None) -> PeerResult:
    """The same with Adam."""
    ends, evaluations = [], 0
    for start in starts:
        x, y = loss.dummy(start)
        optimiser, still = torch.optim.Adam([x, y], lr=ADAM_RATE), 0
        for _ in range(ADAM_ITERATIONS):
            before = x.detach().clone()
            optimiser.zero_grad()
            loss(x, y).backward(inputs=[x, y])
            optimiser.step()
            evaluations += 1
            if stop:
                still = still + 1 if float(loss.moved_m(x, before)) < stop.still_m else 0
                if still == stop.iterations:
                    break
        ends.append(x.detach().numpy()[0].astype(np.float64))
    return PeerResult(np.stack(ends), evaluations)


def func_adam(loss: Loss, starts: np.ndarray, stop: StoppingRule | None) -> PeerResult:
    """torch.func: vmap over the starts of the gradient of the cosine of gradients; Adam on all."""
    weights = {name: value.detach() for name, value in loss.module.named_parameters()}

    def error(weights, x, y):
        return (functional_call(loss.module, weights, (x,)) - y).square().sum()

    def distance(x, y):
        return loss.distance(tuple(grad(error)(weights, x, y).values()))

    slopes = vmap(grad(distance, argnums=(0, 1)))
    x = torch.tensor(starts, dtype=torch.float32)
    y = torch.full((len(starts), 1), loss.label)
    optimiser = torch.optim.Adam([x, y], lr=ADAM_RATE)
    still, evaluations = torch.zeros(len(starts)), 0
    for _ in range(ADAM_ITERATIONS):
        before = x.clone()
        x.grad, y.grad = slopes(x, y)
        optimiser.step()
        evaluations += len(starts)
        if stop:
            still = torch.where(loss.moved_m(x, before) < stop.still_m, still + 1, 0)
            if bool((still >= stop.iterations).all()):
                break
    return PeerResult(x.numpy().astype(np.float64), evaluations)


def breaching(loss: Loss, starts: np.ndarray, stop: StoppingRule | None) -> PeerResult:
    """The package of that name: its cosine objective and its Adam; it has no rule to stop."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from breaching.attacks.optimization_based_attack import OptimizationBasedAttacker
    logging.getLogger("breaching").setLevel(logging.ERROR)
    attacker = OptimizationBasedAttacker(
        loss.module, torch.nn.MSELoss(), _breaching_settings(), {"device": torch.device("cpu")}
    )
    payload = {"parameters": list(loss.module.parameters()), "buffers": [], "metadata": _Point()}
    about = {
        "num_data_points": 1,
        # The gradient of the objective by the label is zero: it matters through a sign alone.
        "labels": torch.tensor([[loss.label]]),
        "local_hyperparams": None,
    }
    shared = {"gradients": loss.leaked, "buffers": None, "metadata": about}
    ends = [
        attacker.reconstruct([payload], [shared], {}, initial_data=loss.dummy(start)[0])[0]["data"]
        for start in starts
    ]
    return PeerResult(torch.cat(ends).numpy().astype(np.float64), len(starts) * ADAM_ITERATIONS)


class _Point:
    """What breaching asks about the data: one place in the plane."""

    shape, modality = (2,), "vision"


def _breaching_settings():
    """Its default attack by optimisation with the objective of Algorithm 2, and our step."""
    from omegaconf import OmegaConf

    return OmegaConf.create(
        {
            "type": "cosine",
            "objective": {"type": "cosine-similarity", "scale": 1.0, "task_regularization": 0.0},
            "restarts": {"num_trials": 1, "scoring": "cosine-similarity"},
            "init": "zeros",
            "normalize_gradients": False,
            "optim": {
                "optimizer": "adam",
                "signed": None,
                "step_size": ADAM_RATE,
                "boxed": False,
                "max_iterations": ADAM_ITERATIONS,
                "step_size_decay": None,
                "langevin_noise": 0.0,
                "warmup": 0,
                "grad_clip": None,
                "callback": ADAM_ITERATIONS,
            },
            "differentiable_augmentations": False,
            "impl": {"dtype": "float", "mixed_precision": False, "JIT": None},
        }
    )


@dataclass(frozen=True)
class Peer:
    """A way, and when it stops; ``quick`` ones take seconds."""

    way: Callable[[Loss, np.ndarray, StoppingRule | None], PeerResult]
    stop: StoppingRule | None
    quick: bool = False


PEERS = {
    "L-BFGS as published": Peer(lbfgs, None),
    "L-BFGS, stopped at rest": Peer(lbfgs, LBFGS_REST, quick=True),
    "Adam": Peer(adam, None),
    "Adam, stopped at rest": Peer(adam, ADAM_REST, quick=True),
    "torch.func, Adam": Peer(func_adam, None),
    "torch.func, stopped at rest": Peer(func_adam, ADAM_REST, quick=True),
}
if find_spec("breaching"):
    PEERS["breaching, Adam"] = Peer(breaching, None)
