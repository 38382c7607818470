from dataclasses import dataclass

import numpy as np

from veilmap import AttackInput, Header


@dataclass(frozen=True)
class Ringed:
    """How much was measured in the candidate's ring, of all and of each round."""

    name = "ringed"

    def reads(self, header: Header) -> bool:
        return header.map.name == "rings"

    def of(self, given: AttackInput, candidates_m: np.ndarray) -> np.ndarray:
        area, width_m = given.header.side_knowledge.area, given.header.map.width_m
        away_m = np.hypot(*(candidates_m - area.centre_m).T)
        ring = np.minimum(99, away_m // width_m).astype(int)
        counts = np.array([each.message["sums"][0] for each in given.observations])
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return np.column_stack([shares.mean(axis=0)[ring], shares.min(axis=0)[ring], away_m])
