"""Squares over the area that become smaller where the mass is."""

from dataclasses import dataclass, replace
from math import ceil, sqrt

import torch
from torch import Tensor

from veilmap.area import Area
from veilmap.attacks.tangent import of_updates

_CHILDREN = ((0, 0), (1, 0), (0, 1), (1, 1))
_NEIGHBOURS = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1))


@dataclass(frozen=True)
class Squares:
    """Squares of one size, by column and row counted from the area's lower left corner.

    Attributes:
        area: what they cover.
        side_m: of each.
        index: (updates, squares, 2); one row if all updates share them.
        real: which of them count, (updates, squares); updates with fewer are padded at the end.
    """

    area: Area
    side_m: float
    index: Tensor
    real: Tensor

    @classmethod
    def cover(cls, area: Area, count: int, device: torch.device | None = None) -> "Squares":
        """About ``count`` squares over the whole area."""
        width_m, height_m = max(area.width_m, 1.0), max(area.height_m, 1.0)
        side_m = max(sqrt(width_m * height_m / count), max(width_m, height_m) / count)
        columns = torch.arange(ceil(width_m / side_m), device=device)
        rows = torch.arange(ceil(height_m / side_m), device=device)
        index = torch.stack(torch.meshgrid(columns, rows, indexing="xy"), -1).reshape(1, -1, 2)
        index = index[:, _begin_inside(area, side_m, index)[0]]
        return cls(area, side_m, index, torch.ones_like(index[..., 0], dtype=torch.bool))

    def __len__(self) -> int:
        """The most that any update has."""
        return self.index.shape[1]

    @property
    def xy_m(self) -> Tensor:
        """The centres; those outside the area are moved to its edge."""
        return self.points_m((0.5, 0.5))

    def points_m(self, across: tuple[float, float]) -> Tensor:
        """A point of each square, from its lower left (0, 0) to its upper right corner (1, 1)."""
        corner = self.index.new_tensor([self.area.x_min_m, self.area.y_min_m], dtype=torch.float64)
        end = corner.new_tensor([self.area.x_max_m, self.area.y_max_m])
        return torch.minimum(corner + (self.index + corner.new_tensor(across)) * self.side_m, end)

    def keep(self, some: Tensor) -> "Squares":
        """Only those of some updates, by number."""
        return replace(self, index=of_updates(self.index, some), real=of_updates(self.real, some))

    def where(self, chosen: Tensor) -> "Squares":
        """The chosen squares (updates, squares) of each update."""
        order = to_front(chosen)
        return replace(self, index=pick(self.index, order), real=chosen.gather(1, order))

    def split(self, chosen: Tensor) -> "Squares":
        """The quarters of the chosen squares (updates, squares) and of their neighbours."""
        side_m, order = self.side_m / 2, to_front(chosen)
        index = pick(self.index, order)
        around = index[:, :, None] + self.index.new_tensor(_NEIGHBOURS)
        # Column and row in one number, so that sorting puts duplicates next to each other.
        beyond = 2**31
        number = (around[..., 0] + 1) * beyond + around[..., 1] + 1
        number = number.masked_fill(~chosen.gather(1, order)[..., None], beyond**2 - 1)
        number = number.flatten(1).sort(1).values
        first = torch.nn.functional.pad(number[:, 1:] != number[:, :-1], (1, 0), value=True)
        some = first & (number < beyond**2 - 1)
        parents = torch.stack([number // beyond - 1, number % beyond - 1], -1)
        quarters = (2 * parents[:, :, None] + self.index.new_tensor(_CHILDREN)).flatten(1, 2)
        some = some.repeat_interleave(len(_CHILDREN), 1)
        some &= _begin_inside(self.area, side_m, quarters)
        order = to_front(some)
        return Squares(self.area, side_m, pick(quarters, order), some.gather(1, order))


def to_front(some: Tensor) -> Tensor:
    """The numbers of those chosen for each update, in order, padded with others at the end."""
    most = int(some.sum(1).max()) if some.numel() else 0
    return (~some).to(torch.uint8).sort(dim=1, stable=True).indices[:, :most]


def pick(pairs: Tensor, numbers: Tensor) -> Tensor:
    """Some of the pairs of each update, (updates, pairs, 2) or (1, pairs, 2), by number."""
    return pairs.expand(len(numbers), -1, -1).gather(1, numbers[..., None].expand(-1, -1, 2))


def _begin_inside(area: Area, side_m: float, index: Tensor) -> Tensor:
    """Which squares have their lower left corner inside; a thin area has one row of them."""
    size_m = index.new_tensor(
        [max(area.width_m, side_m), max(area.height_m, side_m)], dtype=torch.float64
    )
    return ((index >= 0) & (index.double() * side_m < size_m)).all(-1)
