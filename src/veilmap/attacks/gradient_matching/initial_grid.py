"""Where the search starts: a grid over the area, and ever larger frames around it."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from veilmap.federation.side_knowledge import SideKnowledge

# Ever larger frames lie around the grid: the optimum of an uninformative update may be anywhere,
# and iterative DLG goes there too.
FRAMES = (3.0, 9.0, 27.0, 81.0)


@dataclass(frozen=True)
class InitialGrid:
    """Candidates (candidates, 2), standardised, and half the distance between neighbours."""

    places: Tensor
    widths: Tensor

    @classmethod
    def over(
        cls, known: SideKnowledge, side: int, frame_side: int, *, inside: bool
    ) -> "InitialGrid":
        """``side`` candidates along a side of the area, ``frame_side`` along that of a frame."""
        low, high = corners(known).numpy()
        middle, half = (low + high) / 2, (high - low) / 2
        frames = () if inside else FRAMES
        places, widths = [], []
        for reach, count in [(1.0, side), *((reach, frame_side) for reach in frames)]:
            steps = (np.arange(count) + 0.5) / count * 2 - 1
            square = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
            # The middle third of a frame is the grid before it.
            outside = square[(np.abs(square) > 1 / 3).any(axis=1)] if reach > 1 else square
            places.append(middle + outside * half * reach)
            widths.append(np.broadcast_to(half * reach / count, outside.shape))
        return cls(*(torch.from_numpy(np.concatenate(parts)) for parts in (places, widths)))

    def to(self, device: torch.device) -> "InitialGrid":
        """The same on another device."""
        return InitialGrid(self.places.to(device), self.widths.to(device))

    def best(self, cosines: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """For each row of cosines the best places that are not neighbours of a better one.

        Places and widths are (rows, count, 2).
        """
        left, chosen = cosines, []
        for _ in range(count):
            top = left.argmax(1)
            reach = 2.1 * torch.maximum(self.widths, self.widths[top][:, None])
            near = ((self.places - self.places[top][:, None]).abs() <= reach).all(-1)
            left = left.masked_fill(near, -torch.inf)
            chosen.append(top)
        which = torch.stack(chosen, 1)
        return self.places[which], self.widths[which]


def corners(known: SideKnowledge) -> Tensor:
    """The area's lower left and upper right corner, standardised."""
    return torch.from_numpy(known.scaler.finely(known.area.corners_m))
