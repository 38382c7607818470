"""Weighted point sets: the weight at each distinct position."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError
from veilmap.wording import counted

Points = NDArray[np.float64]  # xy_m, one row per point
Weights = NDArray[np.float64]


def on_shared_positions(
    sets: Sequence[Points], weights: Sequence[Weights]
) -> tuple[Points, NDArray[np.float64]]:
    """All distinct positions, and row by row the weight of each set there.

    Phones repeat coordinates, so this leaves far fewer points to sort; and equal sets get equal
    rows, whose distance is exactly 0.
    """
    everywhere = np.concatenate(sets)
    # Complex numbers sort as pairs, many times faster than rows do.
    places, place = np.unique(everywhere[:, 0] + 1j * everywhere[:, 1], return_inverse=True)
    ends = np.cumsum([len(mass) for mass in weights])[:-1]
    masses = [
        np.bincount(of_set, mass, minlength=len(places))
        for of_set, mass in zip(np.split(place, ends), weights, strict=True)
    ]
    return np.column_stack([places.real, places.imag]), np.array(masses)


def as_arrays(
    sets: Sequence[Points], weights: Sequence[Weights | None]
) -> tuple[list[Points], list[Weights]]:
    """As arrays of floats; a set without weights gets equal ones."""
    arrays = [np.asarray(xy_m, np.float64) for xy_m in sets]
    counted = [
        np.ones(xy_m.shape[:1]) if given is None else np.asarray(given, np.float64)
        for xy_m, given in zip(arrays, weights, strict=True)
    ]
    return arrays, counted


def point_set_faults(sets: Sequence[Points], weights: Sequence[Weights]) -> Iterator[UserError]:
    """Why the sets cannot be compared."""
    for number, (xy_m, mass) in enumerate(zip(sets, weights, strict=True), 1):
        which = f"set {number} of {len(sets)}" if len(sets) > 1 else "the set"
        if xy_m.ndim != 2 or xy_m.shape[1] != 2:
            yield UserError(f"{which} must have one row (x, y) per point, got shape {xy_m.shape}")
        elif len(xy_m) == 0:
            yield UserError(f"{which} has no points; give at least one")
        elif not np.isfinite(xy_m).all():
            bad = int((~np.isfinite(xy_m)).any(axis=1).sum())
            yield UserError(f"{which} has {counted(bad, 'non-finite position')}; leave them out")
        elif mass.shape != (len(xy_m),):
            yield UserError(
                f"the weights of {which} must be one per point, got shape {mass.shape} "
                f"for {counted(len(xy_m), 'point')}"
            )
        # NaN is not at least 0, and the sum of an infinite weight is infinite.
        elif not (mass.min() >= 0 and 0 < mass.sum() < np.inf):
            yield UserError(
                f"the weights of {which} must be finite, none negative and not all 0, "
                f"got {mass.min():g} to {mass.max():g}"
            )


def square_numbers(xy_m: Points, side_m: float) -> NDArray[np.intp]:
    """The square that each point lies on, numbered from 0."""
    corner = np.floor(xy_m / side_m)
    _, square = np.unique(corner[:, 0] + 1j * corner[:, 1], return_inverse=True)
    return square


def on_squares(
    xy_m: Points, square: NDArray[np.intp], masses: NDArray[np.float64]
) -> tuple[Points, NDArray[np.float64]]:
    """The mean position of each square's weight, and row by row the masses on the squares."""
    sums = np.array([np.bincount(square, mass) for mass in masses])
    # From the middle, because digits are lost in products with large coordinates.
    middle_m = xy_m.mean(axis=0)
    moments = [np.bincount(square, masses[0] * axis_m) for axis_m in (xy_m - middle_m).T]
    return np.column_stack(moments) / sums[0][:, np.newaxis] + middle_m, sums
