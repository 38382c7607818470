"""Local training against the usual loop: B=20, E=5, 3,492 points, one thread.

    python benchmarks/train.py

Both loops start from the same weights and see the same mini-batches. First they are held against
each other without dropout, which each draws from its own generator; then both are timed with it,
in turn, and so are the three matrix products of a step alone; medians are compared. Prints a table
and, as the last line, JSON with ``steps_ratio`` and ``products_us``.
"""

import json
import platform
import statistics
import time

import numpy as np
import torch

from veilmap.model.dropout import Dropout
from veilmap.model.network import Network
from veilmap.model.training import sgd
from veilmap.streams import stream

POINTS, BATCH, EPOCHS, LEARNING_RATE, REPEATS = 3492, 20, 5, 1e-3, 7


class UsualLoop:
    """nn.Module, autograd, torch.optim.SGD."""

    def __init__(self, network, weights):
        layers = []
        for level, (outputs, inputs) in enumerate(network.shapes):
            layers.append(torch.nn.Linear(inputs, outputs))
            if level < len(network.hidden):
                layers.append({"relu": torch.nn.ReLU, "sigmoid": torch.nn.Sigmoid}[
                    network.activations[level]]())  # fmt: skip
                layers.append(torch.nn.Dropout(network.dropout[level]))
        self.module = torch.nn.Sequential(*layers)
        start = torch.from_numpy(weights.copy())
        torch.nn.utils.vector_to_parameters(start, self.module.parameters())

    def run(self, batches):
        optimiser = torch.optim.SGD(self.module.parameters(), lr=LEARNING_RATE)
        pairs = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches]
        for _ in range(EPOCHS):
            for x, y in pairs:
                optimiser.zero_grad()
                loss = torch.nn.functional.mse_loss(self.module(x)[:, 0], y)
                loss.backward()
                optimiser.step()
        flat = torch.nn.utils.parameters_to_vector(self.module.parameters())
        return flat.detach().numpy()


def make_batches():
    draw = np.random.default_rng(0)
    x = draw.normal(size=(POINTS, 2)).astype(np.float32)
    y = draw.normal(0, 5, POINTS).astype(np.float32)
    return [(x[i : i + BATCH], y[i : i + BATCH]) for i in range(0, POINTS, BATCH)]


def products():
    """The three products of one step alone, the least that any implementation must compute."""
    h, delta, matrix = torch.randn(BATCH, 224), torch.randn(BATCH, 640), torch.randn(640, 224)
    for _ in range(EPOCHS * -(-POINTS // BATCH)):
        torch.mm(h, matrix.T)
        torch.mm(delta, matrix)
        matrix.addmm_(delta.T, h, alpha=-1e-9)


def timed(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def main():
    torch.set_num_threads(1)
    batches, steps = make_batches(), EPOCHS * -(-POINTS // BATCH)
    plain, network = Network(dropout=(0.0, 0.0)), Network()
    weights = plain.initialise(0)
    usual = UsualLoop(plain, weights).run(batches)
    ours = sgd(plain, weights, batches, epochs=EPOCHS, learning_rate=LEARNING_RATE)
    difference = float(np.abs(ours - usual).max() / np.abs(usual).max())
    if difference > 1e-4:
        raise SystemExit(f"the two loops disagree: relative difference {difference:.1e}")
    loop = UsualLoop(network, weights)
    jobs = {
        "usual loop": lambda: loop.run(batches),
        "veilmap": lambda: sgd(
            network,
            weights,
            batches,
            epochs=EPOCHS,
            learning_rate=LEARNING_RATE,
            dropout=Dropout(network, stream(0, "dropout")),
        ),
        "products": products,
    }
    seconds = {name: [] for name in jobs}
    for _ in range(REPEATS):
        for name, job in jobs.items():
            seconds[name].append(timed(job))
    rates = {name: steps / statistics.median(values) for name, values in seconds.items()}
    print(f"{steps} steps, {platform.machine()}, torch {torch.__version__}, one thread")
    for name, rate in rates.items():
        print(f"{name:12s} {rate:8,.0f} steps/s   {1e6 / rate:6.0f} us per step")
    print(f"largest difference of the weights after training, relative: {difference:.1e}")
    ratio = rates["veilmap"] / rates["usual loop"]
    result = {
        "steps_ratio": round(ratio, 2),
        "products_us": round(1e6 / rates["products"]),
        "relative_difference": difference,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
