"""Random points: what keeping few points does by itself, the control of Table 1."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from veilmap.defences.clustering.dbscan import number_faults
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.step import Figures, LooksAt, Turn
from veilmap.errors import Checked, UserError, shown, too_low
from veilmap.local_data import LocalData


@dataclass(frozen=True)
class RandomPoints(Checked):
    """Keep points drawn uniformly without replacement, the control of selections (Table 1).

    Give one of the two. A round of fewer points is kept whole.

    Attributes:
        num: how many.
        eps_m: in each round as many as ``DiverseBatch(eps_m)`` would keep.
    """

    num: int | None = None
    eps_m: float | None = None
    name = "random"
    moves = "nothing"
    control = True

    @property
    def looks_at(self) -> LooksAt:
        """A given number is drawn blindly; how many a selection keeps depends on where they lie."""
        return "nothing" if self.eps_m is None else "positions"

    @property
    def fixed_size(self) -> int | None:
        """A round of no more points is kept whole."""
        return self.num

    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, Figures]:
        """The drawn points in time order."""
        number, figures = self._asked(batch, turn)
        draw = turn.stream("random points")
        rows = draw.choice(len(batch), min(number, len(batch)), replace=False)
        return batch.take(np.sort(rows)), figures

    def _asked(self, batch: LocalData, turn: Turn) -> tuple[int, Figures]:
        if self.num is not None:
            return self.num, {"asked": self.num}
        # One of the two is there.
        diverse, figures = DiverseBatch(cast(float, self.eps_m)).on_points(batch, turn)
        return len(diverse), {"asked": len(diverse), "clusters": figures["clusters"]}

    def _faults(self) -> Iterator[UserError]:
        if (self.num is None) == (self.eps_m is None):
            yield UserError(
                "give one of num, how many points, and eps_m, as many as diverse would keep; "
                f"got {shown(self.num)} and {shown(self.eps_m)}"
            )
        if self.num is not None:
            yield from too_low(1, int, num=self.num)
        if self.eps_m is not None:
            yield from number_faults(self.eps_m, min_points=1)
