"""Local search that maximises the objective, from several points of many updates at once.

A step evaluates a point and eight others around it, and fits a paraboloid to the nine. If the
paraboloid has a maximum nearby, the next step is centred there; otherwise, mostly at a crease of
a ReLU, on the best of the nine.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from veilmap.attacks.gradient_matching.matching import Objective

# The centre first, so that a tie does not move the point; then around it.
STENCIL = [(0, 0), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
# The width of the next stencil: around a fitted maximum, after a step to the side, and after none.
CLOSER, WIDER, NARROWER = 1 / 4, 2.0, 1 / 2
# Two evaluations of one place may differ by rounding, which must not decide anything.
TIE = 1e-13
# Along a ridge this much less curved than across it, values do not determine a maximum.
RIDGE = 1e-9

Bounds = tuple[Tensor, Tensor] | None


class SearchPoints(NamedTuple):
    """The state of a local search: some points of each update, standardised, in float64.

    Attributes:
        centres: of the next stencil (updates, points, 2).
        widths: of the next stencil.
        widest: their upper bound.
        places: the best evaluated so far.
        cosines: the objective there (updates, points).
        believed: whether the next stencil is centred on the maximum of a paraboloid.
    """

    centres: Tensor
    widths: Tensor
    widest: Tensor
    places: Tensor
    cosines: Tensor
    believed: Tensor

    @classmethod
    def at(cls, places: Tensor, widths: Tensor) -> "SearchPoints":
        """Points that nothing has been evaluated at."""
        unseen = torch.full_like(places[..., 0], -torch.inf)
        return cls(places, widths, widths, places, unseen, unseen > 0)

    def ranked(self) -> tuple[Tensor, Tensor]:
        """The next centres and widths, the best of each update first."""
        order = self.cosines.argsort(dim=1, descending=True, stable=True)[..., None]
        both = order.expand(-1, -1, 2)
        return self.centres.gather(1, both), self.widths.gather(1, both)

    def winners(self) -> tuple[Tensor, Tensor]:
        """The best place of each update, and its cosine."""
        cosines, top = self.cosines.max(dim=1)
        return self.places.gather(1, top[:, None, None].expand(-1, -1, 2))[:, 0], cosines

    def of(self, some: Tensor) -> "SearchPoints":
        """Only some updates."""
        return SearchPoints(*(values[some] for values in self))

    def where(self, left: Tensor, theirs: "SearchPoints") -> "SearchPoints":
        """Theirs for the points that ``left`` marks (updates, points)."""
        pairs = zip(self, theirs, strict=True)
        marked = ((left if old.ndim == 2 else left[..., None], new, old) for old, new in pairs)
        return SearchPoints(*(torch.where(*each) for each in marked))

    def put(self, some: Tensor, theirs: "SearchPoints") -> "SearchPoints":
        """These with some updates replaced."""
        pairs = zip(self, theirs, strict=True)
        return SearchPoints(*(ours.index_put((some,), new) for ours, new in pairs))


# ``local_search`` for the updates of one matching, in whatever way.
LocalSearch = Callable[[SearchPoints, int, Tensor, Bounds], SearchPoints]


def local_search(
    matching: Objective, points: SearchPoints, most: int, exact: Tensor, bounds: Bounds = None
) -> SearchPoints:
    """At most ``most`` steps of each point, until its widths are at most ``exact``.

    The objective is evaluated in the precision of ``matching``; ``bounds`` are two corners that
    points stay between.
    """
    running, some = torch.arange(len(points.widths), device=points.widths.device), points
    for _ in range(most):
        left = (some.widths > exact).any(-1) | some.cosines.isneginf()
        updates = left.any(1)
        count = int(updates.sum())
        if count == 0:
            break
        if count <= len(left) // 2:  # not sooner, because this copies the remaining gradients
            points = points.put(running, some)
            running, some, left = running[updates], some.of(updates), left[updates]
            matching = matching.keep(updates)
        some = some.where(left, _step(matching, some, bounds))
    return points.put(running, some)


def _step(matching: Objective, points: SearchPoints, bounds: Bounds) -> SearchPoints:
    centres, widths = points.centres, points.widths
    stencil = torch.tensor(STENCIL, dtype=widths.dtype, device=widths.device)
    around = _inside(centres[:, :, None] + widths[:, :, None] * stencil, bounds)
    seen = cosines_at(matching, around)
    highest, which = seen.max(dim=-1)
    better = highest > points.cosines - TIE
    chosen = around.gather(2, which[..., None, None].expand(-1, -1, 1, 2))[:, :, 0]
    places = torch.where(better[..., None], chosen, points.places)

    top, is_top = _top(seen @ _differences(stencil))
    believed = better & is_top
    factor = torch.where(better & (which > 0), WIDER, NARROWER)
    # A fitted maximum that was not one: go back, with half the previous width.
    factor = torch.where(points.believed & ~better, NARROWER / CLOSER, factor)
    factor = torch.where(believed, CLOSER, factor)
    top = _inside(centres + widths * top, bounds)
    return SearchPoints(
        centres=torch.where(believed[..., None], top, places),
        widths=torch.minimum(widths * factor[..., None], points.widest),
        widest=points.widest,
        places=places,
        cosines=torch.maximum(highest, points.cosines),
        believed=believed,
    )


def cosines_at(matching: Objective, places: Tensor) -> Tensor:
    """|cos(G, J)| at places (updates, …, 2); -1 where a product overflows, far outside the area."""
    x = places.flatten(1, -2).to(matching.dtype)
    found = matching.at(x).cosine.abs().double().nan_to_num(nan=-1.0, posinf=-1.0)
    return found.reshape(-1, *places.shape[1:-1])


def _inside(places: Tensor, bounds: Bounds) -> Tensor:
    return places if bounds is None else places.clamp(*bounds)


def _differences(stencil: Tensor) -> Tensor:
    """Coefficients of the nine values for the slopes and curvatures in x and y, and the twist."""
    x, y = stencil.T
    bend_x, bend_y = (y == 0) * (3 * x * x - 2), (x == 0) * (3 * y * y - 2)
    return torch.stack([x * (y == 0) / 2, y * (x == 0) / 2, bend_x, bend_y, x * y / 4], 1)


def _top(differences: Tensor) -> tuple[Tensor, Tensor]:
    """The maximum of the paraboloid through the nine, in widths, and whether it lies among them.

    A maximum farther away is not determined by these values.
    """
    slope_x, slope_y, bend_x, bend_y, twist = differences.unbind(-1)
    determinant = bend_x * bend_y - twist * twist
    top = torch.stack([twist * slope_y - bend_y * slope_x, twist * slope_x - bend_x * slope_y], -1)
    top = top / determinant[..., None]
    is_hill = (determinant > RIDGE * (bend_x * bend_x + bend_y * bend_y)) & (bend_x < 0)
    return top, is_hill & (top.abs() <= 1).all(-1)
