"""Places that go uphill on the objective, for many updates at once.

Around each place eight others are looked at. A paraboloid through the nine tells where the top is,
around which the next step looks; where there is none, on a ReLU's crease mostly, it looks around
the best of the nine.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from veilmap.attacks.gradient_matching.matching import Matching

# The centre first, so that a tie is no move; then around it.
STENCIL = [(0, 0), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
# How wide the next look is: around a top that is believed, after a step to the side, and after
# none.
CLOSER, WIDER, NARROWER = 1 / 4, 2.0, 1 / 2
# Two looks at one place may differ by rounding, which must not decide anything.
TIE = 1e-13
# A ridge, so many times less bent along than across, has no top that values would tell.
RIDGE = 1e-9

Bounds = tuple[Tensor, Tensor] | None


@dataclass(frozen=True)
class Climbers:
    """Some places of each update on their way up, standardised, in float64.

    Attributes:
        centres: where they look next (updates, places, 2).
        widths: and how widely.
        widest: they never look more widely.
        places: the best that they have seen.
        cosines: there (updates, places).
        believed: who looks around the top of a paraboloid.
    """

    centres: Tensor
    widths: Tensor
    widest: Tensor
    places: Tensor
    cosines: Tensor
    believed: Tensor

    @classmethod
    def at(cls, places: Tensor, widths: Tensor) -> "Climbers":
        """Who has seen nothing yet."""
        unseen = torch.full_like(places[..., 0], -torch.inf)
        return cls(places, widths, widths, places, unseen, unseen > 0)

    def ranked(self) -> tuple[Tensor, Tensor]:
        """Where to go on from, the best of each update first, and how widely to look there."""
        order = self.cosines.argsort(dim=1, descending=True, stable=True)[..., None]
        both = order.expand(-1, -1, 2)
        return self.centres.gather(1, both), self.widths.gather(1, both)

    def winners(self) -> tuple[Tensor, Tensor]:
        """The best place of each update, and its cosine."""
        cosines, top = self.cosines.max(dim=1)
        return self.places.gather(1, top[:, None, None].expand(-1, -1, 2))[:, 0], cosines

    def of(self, some: Tensor) -> "Climbers":
        """Only some updates."""
        return Climbers(*(values[some] for values in vars(self).values()))

    def where(self, left: Tensor, theirs: "Climbers") -> "Climbers":
        """Theirs for those places that ``left`` marks (updates, places)."""
        pairs = zip(vars(self).values(), vars(theirs).values(), strict=True)
        return Climbers(
            *(
                torch.where(left if old.ndim == 2 else left[..., None], new, old)
                for old, new in pairs
            )
        )

    def put(self, some: Tensor, theirs: "Climbers") -> "Climbers":
        """All of them, some updates replaced."""
        pairs = zip(vars(self).values(), vars(theirs).values(), strict=True)
        return Climbers(*(ours.index_put((some,), new) for ours, new in pairs))


class Climb(Protocol):
    """A way to climb; each update has one matching throughout."""

    def __call__(self, climbers: Climbers, most: int, exact: Tensor, bounds: Bounds) -> Climbers:
        """``most`` steps, of each place only until its widths are at most ``exact``."""


def climb(
    matching: Matching, climbers: Climbers, most: int, exact: Tensor, bounds: Bounds = None
) -> Climbers:
    """``most`` steps, of each place only until its widths are at most ``exact``.

    Places are looked at in the precision of ``matching``; ``bounds`` are corners that they stay in.
    """
    going, some = torch.arange(len(climbers.widths), device=climbers.widths.device), climbers
    for _ in range(most):
        left = (some.widths > exact).any(-1) | some.cosines.isneginf()
        updates = left.any(1)
        count = int(updates.sum())
        if count == 0:
            break
        if count <= len(left) // 2:  # no sooner: the gradients of those who stay are copied
            climbers = climbers.put(going, some)
            going, some, left = going[updates], some.of(updates), left[updates]
            matching = matching.keep(updates)
        some = some.where(left, _step(matching, some, bounds))
    return climbers.put(going, some)


def _step(matching: Matching, climbers: Climbers, bounds: Bounds) -> Climbers:
    centres, widths = climbers.centres, climbers.widths
    stencil = torch.tensor(STENCIL, dtype=widths.dtype, device=widths.device)
    around = _inside(centres[:, :, None] + widths[:, :, None] * stencil, bounds)
    seen = cosines_at(matching, around)
    highest, which = seen.max(dim=-1)
    better = highest > climbers.cosines - TIE
    chosen = around.gather(2, which[..., None, None].expand(-1, -1, 1, 2))[:, :, 0]
    places = torch.where(better[..., None], chosen, climbers.places)

    top, is_top = _top(seen @ _differences(stencil))
    believed = better & is_top
    factor = torch.where(better & (which > 0), WIDER, NARROWER)
    # A top that was believed and was none: back, and look half as widely as before.
    factor = torch.where(climbers.believed & ~better, NARROWER / CLOSER, factor)
    factor = torch.where(believed, CLOSER, factor)
    top = _inside(centres + widths * top, bounds)
    return Climbers(
        centres=torch.where(believed[..., None], top, places),
        widths=torch.minimum(widths * factor[..., None], climbers.widest),
        widest=climbers.widest,
        places=places,
        cosines=torch.maximum(highest, climbers.cosines),
        believed=believed,
    )


def cosines_at(matching: Matching, places: Tensor) -> Tensor:
    """|cos(G, J)| at places (updates, …, 2); far out a product may overflow: -1, no place."""
    x = places.flatten(1, -2).to(matching.dtype)
    found = matching.at(x).cosine.abs().double().nan_to_num(nan=-1.0, posinf=-1.0)
    return found.reshape(-1, *places.shape[1:-1])


def _inside(places: Tensor, bounds: Bounds) -> Tensor:
    return places if bounds is None else places.clamp(*bounds)


def _differences(stencil: Tensor) -> Tensor:
    """What the nine values are multiplied by for slopes in x and y, bends in x and y, and twist."""
    x, y = stencil.T
    bend_x, bend_y = (y == 0) * (3 * x * x - 2), (x == 0) * (3 * y * y - 2)
    return torch.stack([x * (y == 0) / 2, y * (x == 0) / 2, bend_x, bend_y, x * y / 4], 1)


def _top(differences: Tensor) -> tuple[Tensor, Tensor]:
    """Where the paraboloid through the nine has its top, in widths, and whether it is among them.

    A top farther away is not told by values around here.
    """
    slope_x, slope_y, bend_x, bend_y, twist = differences.unbind(-1)
    determinant = bend_x * bend_y - twist * twist
    top = torch.stack([twist * slope_y - bend_y * slope_x, twist * slope_x - bend_x * slope_y], -1)
    top = top / determinant[..., None]
    is_hill = (determinant > RIDGE * (bend_x * bend_x + bend_y * bend_y)) & (bend_x < 0)
    return top, is_hill & (top.abs() <= 1).all(-1)
