"""Steps as a stranger writes them."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class First:
    """Keep the first points of the round."""

    num: int = 3
    name = "first"

    def on_points(self, batch, turn):
        return batch.take(np.arange(min(self.num, len(batch)))), {"asked": self.num}


@dataclass(frozen=True)
class Noise:
    """Add noise to the update."""

    sigma: float = 0.001
    name = "noise"

    def on_update(self, update, turn):
        return update + turn.stream("noise").normal(0, self.sigma, len(update)), {}
