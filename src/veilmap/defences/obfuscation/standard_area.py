"""The public area in standardised coordinates, on which records are moved."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from veilmap.area import Area
from veilmap.local_data import Scaler

LABEL_REACH = 3.0  # standard deviations of the labels that were learned from


@dataclass(frozen=True, eq=False)
class StandardArea:
    """The lower left and the upper right corner of the area, standardised."""

    low: Tensor
    high: Tensor

    @classmethod
    def of_area(cls, area: Area, scaler: Scaler) -> "StandardArea":
        """The same rectangle in the scale in which the networks see it."""
        low, high = torch.from_numpy(scaler.standardise(area.corners_m))
        return cls(low, high)

    @property
    def sides(self) -> Tensor:
        return self.high - self.low

    def moved(self, records: Tensor, pull: Tensor) -> Tensor:
        """Records (x, y, label) displaced by ``pull``, which may be of any size, inside the area.

        A pull of 1 is half a side. What would cross the border is reflected, as often as it takes:
        no pull is the identity, which no squashing into the area allows, and the gradient never
        dies.

        Positions that lie outside are brought to the border first. A label goes at most
        ``LABEL_REACH``, through z/(1 + |z|).
        """
        xy = torch.clamp(records[:, :2], self.low, self.high) + pull[:, :2] * (self.sides / 2)
        push = pull[:, 2:] / (1 + pull[:, 2:].abs())
        return torch.cat([self._reflected(xy), records[:, 2:] + LABEL_REACH * push], dim=1)

    def _reflected(self, xy: Tensor) -> Tensor:
        # A way there and back is two sides; along an axis without extent it must not be 0.
        side = self.sides.clamp(min=torch.finfo(torch.float32).tiny)
        return self.low + side - (torch.remainder(xy - self.low, 2 * side) - side).abs()

    def uniform(self, points: int, draw: np.random.Generator) -> Tensor:
        """Positions anywhere in the area."""
        return self.low + self.sides * torch.from_numpy(draw.random((points, 2), np.float32))
