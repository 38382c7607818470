"""How far the signal map of obfuscated records lies from that of the records themselves."""

from dataclasses import dataclass
from math import sqrt

import torch
from torch import Tensor

from veilmap.defences.obfuscation.standard_area import StandardArea

SQUARES_PER_AXIS = 20  # on a campus of 1.7 km by 1.1 km a square is 85 m by 55 m
# Every square also holds the mean label, 0, with this share of the weight of all records. So the
# map is finite where no record is near, and hardly changed where some are.
PRIOR = 1e-4
TINY = 1e-30


@dataclass(frozen=True, eq=False)
class MapGrid:
    """The centres of the map's squares and the kernel's bandwidth, axis by axis, standardised."""

    x: Tensor
    y: Tensor
    bandwidth: tuple[float, float]

    @classmethod
    def of_area(cls, area: StandardArea) -> "MapGrid":
        """A public grid; the bandwidth is a square's side, so no record falls between centres.

        Along an axis without extent the bandwidth is 1, and all squares coincide.
        """
        steps = (torch.arange(SQUARES_PER_AXIS)[:, None] + 0.5) / SQUARES_PER_AXIS
        x, y = (area.low + steps * area.sides).T
        bandwidth = [side / SQUARES_PER_AXIS or 1.0 for side in area.sides.tolist()]
        return cls(x, y, (bandwidth[0], bandwidth[1]))


def map_distortion(original: Tensor, obfuscated: Tensor, grid: MapGrid) -> Tensor:
    """Σ_c q_c (m'_c − m_c)²: the mean squared change of the map where the original has data.

    Records are rows (x, y, label), standardised. m is the kernel-smoothed label of a square
    (Nadaraya and Watson, Gaussian kernel), and q the share of the original's kernel weight in it,
    so that squares without measurements do not count. It is differentiable in both.
    """
    labels, density = _smoothed(original, grid)
    new_labels, _ = _smoothed(obfuscated, grid)
    # Records far outside of the area weigh nothing anywhere; their map, none, has no distortion.
    return (density * (new_labels - labels) ** 2).sum() / density.sum().clamp(min=TINY)


def _smoothed(records: Tensor, grid: MapGrid) -> tuple[Tensor, Tensor]:
    # A Gaussian kernel is a product over the axes, so all squares together are one matrix product.
    along_x = _kernel(records[:, 0], grid.x, grid.bandwidth[0])
    along_y = _kernel(records[:, 1], grid.y, grid.bandwidth[1]) / len(records)
    density = along_x.T @ along_y
    return (along_x * records[:, 2:]).T @ along_y / (density + PRIOR), density


def _kernel(positions: Tensor, centres: Tensor, bandwidth: float) -> Tensor:
    return torch.exp(-(((positions[:, None] - centres) / (bandwidth * sqrt(2))) ** 2))
