"""What is measured of a candidate for home, given the messages: by map family, and open to others.

Every ``Features`` that reads a header adds its columns, so that a defence can add its own to those
of the family. They should say where a candidate lies relative to what the messages tell, and not
where it lies on the earth: then what is learned in one place holds in another.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.sums.history import Floats
from veilmap.errors import UserError, shown
from veilmap.federation.side_knowledge import Header
from veilmap.registry import Registry
from veilmap.shadows.cloud_features import CloudFeatures
from veilmap.shadows.hole_features import HoleFeatures
from veilmap.shadows.visit_features import VisitFeatures
from veilmap.strategy import Named


class Features(Named, Protocol):
    """A frozen dataclass that measures candidates; packages register theirs as entry points."""

    def reads(self, header: Header) -> bool:
        """Whether it can measure messages of this map family, under this defence."""

    def of(self, given: AttackInput, candidates_m: Floats) -> Floats:
        """One row per candidate, the same columns for every input; NaN where nothing is known."""


FEATURES: Registry[Features] = Registry(
    "feature",
    {"visits": VisitFeatures, "holes": HoleFeatures, "clouds": CloudFeatures},
    (Features.reads, Features.of),
)


def readers(header: Header) -> list[Features]:
    """Those that can read messages of this kind, ours first."""
    every = [FEATURES.class_of(name)() for name in FEATURES.names]
    return [each for each in every if each.reads(header)]


def measured(
    features: Sequence[Features], given: AttackInput, candidates_m: Floats
) -> NDArray[np.float32]:
    """The columns of all of them, in single precision.

    Raises:
        UserError: one of them does not return one row per candidate.
    """
    columns = []
    for each in features:
        values = np.asarray(each.of(given, candidates_m))
        if values.ndim != 2 or len(values) != len(candidates_m):
            raise UserError(
                f"features {each.name} must be one row for each of {len(candidates_m):,} "
                f"candidates, got shape {shown(values.shape)}"
            )
        columns.append(values.astype(np.float32))
    found: NDArray[np.float32] = np.concatenate(columns, axis=1)
    return found
