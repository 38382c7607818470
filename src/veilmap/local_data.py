"""A phone's points of a round, and the scaler that standardises them for the network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.area import FARTHEST_M, Area
from veilmap.errors import UserError

# Smaller differences between positions are rounding.
LEAST_SCALE_M = 1e-6


@dataclass(frozen=True)
class LocalData:
    """The measurements D_t^k that arrive at user k during round t, in time order."""

    xy_m: NDArray[np.float64]
    rsrp_dbm: NDArray[np.float64]
    time_s: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rsrp_dbm)

    @property
    def centroid_m(self) -> NDArray[np.float64]:
        """x̄_t, the average location, which DLG finds (Lemma 1)."""
        mean: NDArray[np.float64] = self.xy_m.mean(axis=0)
        return mean

    def take(self, rows: NDArray[np.intp] | slice) -> "LocalData":
        """The chosen rows, in the given order."""
        return LocalData(self.xy_m[rows], self.rsrp_dbm[rows], self.time_s[rows])

    def rows(self, start: int, end: int) -> "LocalData":
        """The rows from ``start`` up to ``end``, as views."""
        return self.take(slice(start, end))

    def between(self, start_s: float, end_s: float) -> "LocalData":
        """The points measured in [start, end)."""
        return self.rows(*np.searchsorted(self.time_s, (start_s, end_s)).tolist())

    @classmethod
    def join(cls, parts: Sequence["LocalData"]) -> "LocalData":
        """The points of several pieces, concatenated."""
        return cls(
            np.concatenate([part.xy_m for part in parts]),
            np.concatenate([part.rsrp_dbm for part in parts]),
            np.concatenate([part.time_s for part in parts]),
        )


Truth = Mapping[int, Mapping[str, LocalData]]  # by round and user


@dataclass(frozen=True)
class Round:
    """Round t: the data D_t^k of every user k that measured something in [start, start + T)."""

    number: int
    start_s: float
    data: Mapping[str, LocalData]


@dataclass(frozen=True)
class Scaler:
    """Standardised coordinates: ``xy_std = (xy_m - mean_m) / scale_m``, axis by axis."""

    mean_m: tuple[float, float]
    scale_m: tuple[float, float]

    def __post_init__(self) -> None:
        numbers = np.array((*self.mean_m, *self.scale_m))
        # Written so that NaN fails; an attack would take steps of such a scale without end.
        if not ((np.abs(numbers) <= FARTHEST_M).all() and min(self.scale_m) >= LEAST_SCALE_M):
            raise UserError(
                f"a scaler must have metres up to {FARTHEST_M:g} and scales from "
                f"{LEAST_SCALE_M:g}, got mean_m {self.mean_m} and scale_m {self.scale_m}"
            )

    @classmethod
    def fitted(cls, xy_m: NDArray[np.float64]) -> "Scaler":
        """Mean 0 and variance 1 over the data, as in the paper; it needs all users' positions."""
        return cls._of(xy_m.mean(axis=0), xy_m.std(axis=0))

    @classmethod
    def of_area(cls, area: Area) -> "Scaler":
        """From the public area alone, as in a deployment: uniform points get variance 1."""
        sides_m = np.array([area.width_m, area.height_m])
        return cls._of(area.centre_m, sides_m / np.sqrt(12))

    @classmethod
    def _of(cls, mean_m: NDArray[np.float64], scale_m: NDArray[np.float64]) -> "Scaler":
        # A phone that never moved has no spread; one metre keeps its points finite.
        scale_m = np.where(scale_m >= LEAST_SCALE_M, scale_m, 1.0)
        mean, scale = mean_m.tolist(), scale_m.tolist()
        return cls((mean[0], mean[1]), (scale[0], scale[1]))

    def standardise(self, xy_m: NDArray[np.float64]) -> NDArray[np.float32]:
        """Metres to network input; the subtraction is done in float64 because UTM is large."""
        return self.finely(xy_m).astype(np.float32)

    def finely(self, xy_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same in float64, for callers that differentiate."""
        return (xy_m - self.mean_m) / self.scale_m

    def metres(self, xy_std: NDArray[np.floating]) -> NDArray[np.float64]:
        """Network input back to metres."""
        return np.asarray(xy_std, np.float64) * self.scale_m + self.mean_m
