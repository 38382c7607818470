from dataclasses import dataclass

import numpy as np

from veilmap import Prediction


@dataclass(frozen=True)
class Rings:
    """The mean signal by distance from the area's middle: phones send sums, which add up."""

    width_m: float = 50.0
    name = "rings"

    def start(self, plan):
        return {"sums": np.zeros((2, 100))}

    def answer(self, plan, state, batch, user, t):
        parts, ring = (None, batch.rsrp_dbm - plan.label_offset_dbm), self._ring(plan, batch.xy_m)
        return {"sums": np.array([np.bincount(ring, part, 100) for part in parts])}

    def combine(self, plan, state, messages, senders):
        return {"sums": sum((each.message["sums"] for each in messages), state["sums"])}

    def predict(self, footing, state, xy_m):
        count, total_db = state["sums"][:, self._ring(footing, xy_m)]
        return Prediction(total_db / np.maximum(count, 1) + footing.label_offset_dbm)

    def _ring(self, footing, xy):
        return np.minimum(99, np.hypot(*(xy - footing.area.centre_m).T) // self.width_m).astype(int)
