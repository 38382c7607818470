"""Mini-batches and dropout for tests of training."""

import numpy as np

from veilmap.model.dropout import Dropout
from veilmap.streams import stream


def batch(rows, seed=0):
    draw = np.random.default_rng(seed)
    return (
        draw.normal(0, 1.5, (rows, 2)).astype(np.float32),
        draw.normal(-5, 8, rows).astype(np.float32),
    )


def dropout(network, seed=0):
    return Dropout(network, stream(seed, "dropout"))
