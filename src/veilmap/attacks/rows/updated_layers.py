"""The layers of a network before and after several updates."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from veilmap.attacks.tangent import Blocks, blocks_of
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header


def standardise(header: Header, xy_m: Tensor) -> Tensor:
    """Metres to network input, without rounding."""
    scaler = header.side_knowledge.scaler
    return (xy_m - xy_m.new_tensor(scaler.mean_m)) / xy_m.new_tensor(scaler.scale_m)


@dataclass(frozen=True)
class UpdatedLayers:
    """The first two layers before and after several updates, in float64.

    Attributes:
        before: W_1, b_1, W_2, b_2, … of each update.
        after: the same after it.
    """

    before: Blocks
    after: Blocks

    @classmethod
    def of(
        cls, header: Header, observations: Sequence[Observation], device: torch.device
    ) -> "UpdatedLayers":
        """Of updates on a device."""
        both = (
            [each.weights_before for each in observations],
            [each.weights_after for each in observations],
        )
        before, after = (torch.from_numpy(np.stack(rows)).to(device).double() for rows in both)
        return cls(blocks_of(header.network, before), blocks_of(header.network, after))

    def keep(self, some: Tensor) -> "UpdatedLayers":
        """Only those of some updates, by number."""
        return UpdatedLayers(
            [block[some] for block in self.before], [block[some] for block in self.after]
        )

    @property
    def rows(self) -> Tensor:
        """(ΔW2, Δb2), (updates, units of the second layer, units of the first + 1)."""
        change = [after - before for before, after in zip(self.before, self.after, strict=True)]
        return torch.cat([change[2], change[3][..., None]], -1)

    @cached_property
    def silent(self) -> Tensor:
        """Which units of the first layer no gradient touched, (updates, units)."""
        still = [
            (after == before) for before, after in zip(self.before[:3], self.after[:3], strict=True)
        ]
        return still[0].all(-1) & still[1] & still[2].all(-2)
