"""The posterior of the centre of a secret zone: an empty disc amid visits."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.attacks.sums.density import density_on
from veilmap.attacks.sums.history import Floats, History, reads_squares, same_for_all
from veilmap.attacks.sums.posterior import cloud_of
from veilmap.errors import Checked, UserError, out_of_range
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.notation import name_and_values

# Radii of zones in metres where the run declares none; the guard is then half the radius.
RADII_M = (100.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0, 600.0)
GUARD_SHARE = 0.5
SECTORS = 12
# A visit that has nothing to do with the border lies anywhere up to here.
FAR_M = 1000.0
ROUNDING = 1e-9


@dataclass(frozen=True)
class Zone:
    """A disc of a radius around a secret centre, from which home is at most radius − guard."""

    radius_m: float
    guard_m: float

    @property
    def home_within_m(self) -> float:
        return self.radius_m - self.guard_m


@dataclass(frozen=True)
class ZoneCentre(Checked):
    """Where home is if the phone leaves out all points in one disc around a secret centre.

    A centre c with radius R is possible if no visited square lies wholly in the disc. Paths end at
    the border, so in each of twelve directions the visited square nearest to c is just outside,
    e = distance − R away:

        P(visits | c, R) ∝ Π_directions [w exp(−e/ℓ)/ℓ + (1 − w)/1000 m]^β

    Home lies in the disc of radius R − g around c, as the public density has it. R and g are those
    of the run's defence where it names ``radius_m`` and ``guard_m``; else all of a list of radii
    with half of each as guard are equally likely.

    Attributes:
        border_m: ℓ.
        border_share: w, the share of directions in which a path ends at the border.
        border_temper: β, for directions that depend on each other.
    """

    border_m: float = 30.0
    border_share: float = 0.7
    border_temper: float = 0.5

    name = "zone_centre"
    oracle = False
    all_at_once = True

    def _faults(self) -> Iterator[UserError]:
        if not 0 < self.border_m < inf:
            yield out_of_range("border_m", "above 0 metres", self.border_m)
        if not 0 < self.border_share < 1:
            yield out_of_range("border_share", "above 0 and below 1", self.border_share)
        if not 0 < self.border_temper <= 1:
            yield out_of_range("border_temper", "above 0 and at most 1", self.border_temper)

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return reads_squares(header)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The same cloud for every message: the posterior of home over the squares' centres."""
        before = time.perf_counter()
        history = History.of(given.header, given.observations)
        cloud = None
        if len(history.squares):
            zones = zones_of(given.header.side_knowledge)
            density = density_on(history.grid, given.density)
            cloud = cloud_of(history, self.of(history, density, zones))
        return same_for_all(given, cloud, time.perf_counter() - before)

    def of(self, history: History, density: Floats, zones: tuple[Zone, ...]) -> Floats:
        """The posterior of home over all squares, which sums to 1; the density if no zone fits."""
        grid = history.grid
        more = int(max(zone.home_within_m for zone in zones) / grid.side_m) + 1
        nearest_m = nearest_by_direction_m(history, more)
        logs = np.array([self._log_likelihood(history, nearest_m, zone) for zone in zones])
        if not np.isfinite(logs).any():
            return density
        chances = np.exp(logs - logs.max()).reshape(len(zones), grid.rows + 2 * more, -1)
        near = sum(
            _near_home(chance, zone.home_within_m / grid.side_m, more)
            for chance, zone in zip(chances, zones, strict=True)
        )
        found: Floats = density * np.ravel(near)
        return found / found.sum() if found.any() else density

    def _log_likelihood(self, history: History, nearest_m: Floats, zone: Zone) -> Floats:
        """Of every candidate; minus infinity where a visited square lies wholly in the disc.

        Points of a square are half a diagonal from its middle, and so are centres from candidates.
        """
        beyond_m = nearest_m - zone.radius_m
        border = np.exp(-np.maximum(beyond_m, 0) / self.border_m) / self.border_m
        mixed = self.border_share * border + (1 - self.border_share) / FAR_M
        logs = self.border_temper * np.log(mixed).sum(axis=1)
        found: Floats = np.where(beyond_m.min(axis=1) >= -sqrt(2) * history.grid.side_m, logs, -inf)
        return found


def zones_of(known: SideKnowledge) -> tuple[Zone, ...]:
    """The zone that a step of the run's defence declares; else the list of radii."""
    for text in known.defence:
        _, values = name_and_values(text)
        if {"radius_m", "guard_m"} <= set(values):
            return (Zone(float(values["radius_m"]), float(values["guard_m"])),)
    return tuple(Zone(radius_m, GUARD_SHARE * radius_m) for radius_m in RADII_M)


def _near_home(chances: Floats, within: float, more: int) -> Floats:
    """For every square as home the mean chance of the centres within so many squares of it."""
    from scipy.signal import fftconvolve  # takes long to load

    steps = np.arange(-more, more + 1)
    disc = (np.hypot(*np.meshgrid(steps, steps)) <= within).astype(np.float64)
    summed: Floats = np.maximum(fftconvolve(chances, disc / disc.sum(), mode="valid"), 0)
    # Rounding of the transform is no chance.
    return np.where(summed > ROUNDING * summed.max(), summed, 0)


def nearest_by_direction_m(history: History, more: int = 0) -> Floats:
    """Of every square's centre the distance to the nearest visit in each direction, or infinity.

    Also of as many rows and columns beyond the grid as ``more``; one row per centre. Centres and
    visits are on one lattice, so that what a visit means for all centres is a window of a table.
    """
    grid = history.grid
    rows, columns = grid.rows + 2 * more, grid.columns + 2 * more
    table_m = _by_direction_m(grid.rows + more, grid.columns + more, grid.side_m)
    found = np.full((SECTORS, rows, columns), inf, np.float32)
    for row, column in zip(*np.divmod(history.squares, grid.columns), strict=True):
        # The centre at the south-western corner of the table lies north-east of the visit.
        south, west = grid.rows - 1 - row, grid.columns - 1 - column
        window_m = table_m[:, south : south + rows, west : west + columns]
        np.minimum(found, window_m, out=found)
    return found.reshape(SECTORS, -1).T.astype(np.float64)


def _by_direction_m(reach_rows: int, reach_columns: int, side_m: float) -> NDArray[np.float32]:
    """How far a visit in the middle is from every centre, in its direction; else infinity."""
    north = -np.arange(-reach_rows + 1, reach_rows)[:, None]
    east = -np.arange(-reach_columns + 1, reach_columns)
    distance_m = side_m * np.hypot(north, east)
    turn = np.arctan2(north, east) / (2 * np.pi) % 1
    sector = np.minimum((turn * SECTORS).astype(np.int64), SECTORS - 1)
    every = np.arange(SECTORS)[:, None, None]
    return np.where(sector == every, distance_m, inf).astype(np.float32)
