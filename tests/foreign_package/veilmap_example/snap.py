from dataclasses import dataclass, replace

import numpy as np

from veilmap import LocalData, Turn, UserError


@dataclass(frozen=True)
class Snap:
    """Move each point to the centre of its square in a public grid."""

    side_m: float = 100.0

    name = "snap"
    looks_at = "positions"
    moves = "by rule"

    def __post_init__(self) -> None:
        if not self.side_m > 0:
            raise UserError(f"side_m must be above 0, got {self.side_m}")

    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, dict[str, float]]:
        xy_m = (np.floor(batch.xy_m / self.side_m) + 0.5) * self.side_m
        moved_m = np.linalg.norm(xy_m - batch.xy_m, axis=1)
        return replace(batch, xy_m=xy_m), {"moved_max_m": moved_m.max(initial=0.0)}
