"""Sites with sector antennas, and what a phone receives from each cell.

Path loss and shadowing are those of 3GPP TR 38.901, urban macro with line of sight: with d in
metres and f in GHz 28 + 22 log10 d + 20 log10 f dB up to the breakpoint and 40 log10 d beyond it,
and 4 dB of shadowing that decorrelates in 37 m. The antenna is that of TR 36.942:
-min(12 (θ/65°)², 20) dB; so are the correlations of the shadowing, 0.5 between sites and 1 within
one. Powers here are relative: ``simulation`` shifts all of them to the wanted mean.
"""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.campus.world import EVENLY, Array, Campus, Flags, Index
from veilmap.streams import stream

PROVIDERS = 2
SECTORS = 3
SITE_HEIGHT_M, PHONE_HEIGHT_M, CARRIER_HZ = 25.0, 1.5, 2e9
LIGHT_M_S = 3e8
# The effective heights are a metre less than the real ones.
BREAKPOINT_M = 4 * (SITE_HEIGHT_M - 1) * (PHONE_HEIGHT_M - 1) * CARRIER_HZ / LIGHT_M_S
PENETRATION_DB = 12.0  # into a building: TR 38.901, low-loss model at 2 GHz
BEAM_DEG, BACK_DB = 65.0, 20.0
SITE_CORRELATION = 0.5
MARGIN_M = 300.0  # of the shadowing beyond the campus
# The first sites of each provider, as shares of width and height from the middle: an invented
# layout in which one sector in the south-east looks over housing and campus. Seeds shift and turn
# the sites a little.
SITES = (
    ((0.30, -0.22), (-0.42, 0.30), (-0.05, 0.47), (-0.45, -0.45), (0.0, 0.0)),
    ((-0.10, -0.30), (0.30, 0.20), (-0.35, 0.30), (0.45, -0.40)),
)
FIRST_AZIMUTH_DEG = -20.0
SHIFT_M, TURN_DEG = 40.0, 8.0
STEP_M = 10.0  # of the grid of the shadowing


@dataclass(frozen=True)
class Fields:
    """Several independent fields on one grid of ``STEP_M``, with mean 0 and variance 1.

    Gaussian, with exponential covariance: exp(-r/d) at distance r (Gudmundson, "Correlation model
    for shadow fading in mobile radio systems", Electronics Letters 27, 1991).
    """

    values: Array  # field, row, column
    low_m: Array  # x and y of the first column and row
    length_m: float

    @classmethod
    def draw(
        cls, count: int, low_m: Array, high_m: Array, length_m: float, draw: np.random.Generator
    ) -> "Fields":
        """By circulant embedding (Dietrich and Newsam, 1997).

        The torus is five lengths wider than the area: opposite edges correlate by exp(-5) at most.
        """
        columns, rows = np.ceil((high_m - low_m) / STEP_M).astype(int) + 2
        tail = int(np.ceil(5 * length_m / STEP_M))
        x, y = (_circle_m(size + tail) for size in (columns, rows))
        covariance = np.exp(-np.hypot(x[None, :], y[:, None]) / length_m)
        # On a torus some eigenvalues fall below zero; the others compensate.
        eigenvalues = np.maximum(np.fft.fft2(covariance).real, 0)
        amplitudes = np.sqrt(eigenvalues / eigenvalues.sum())
        values = np.empty((count, rows, columns))
        for field in values:
            noise = draw.normal(size=(2, *covariance.shape))
            spectrum = (noise[0] + 1j * noise[1]) * amplitudes
            field[:] = np.fft.fft2(spectrum).real[:rows, :columns]
        return cls(values, low_m, length_m)

    def at(self, field: int, xy_m: Array) -> Array:
        """Values at any points: bilinear, scaled to variance 1 between grid points too."""
        last = np.array(self.values.shape[:0:-1]) - 2
        place = np.clip((xy_m - self.low_m) / STEP_M, 0, last + 0.999999)
        column, row = corner = place.astype(int).T
        right, up = place.T - corner
        weights = np.stack([(1 - up) * (1 - right), (1 - up) * right, up * right, up * (1 - right)])
        grid = self.values[field]
        around = np.stack(
            [grid[row, column], grid[row, column + 1], grid[row + 1, column + 1],
             grid[row + 1, column]]
        )  # fmt: skip
        value: Array = (weights * around).sum(axis=0) / np.sqrt(self._variance(weights))
        return value

    def _variance(self, weights: Array) -> Array:
        """The variance of a weighted mean of a square's four corners, in order around it."""
        side, diagonal = np.exp(-STEP_M * np.array([1, np.sqrt(2)]) / self.length_m)
        next_to, opposite = np.roll(weights, 1, axis=0), np.roll(weights, 2, axis=0)
        variance: Array = (weights * (weights + 2 * side * next_to + diagonal * opposite)).sum(0)
        return variance


@dataclass(frozen=True)
class RadioNetwork:
    """The cells of one provider: site, direction and shadowing of each."""

    site: Index
    site_m: Array
    azimuth_deg: Array
    shadowing: Fields  # one per site, and a common one

    @classmethod
    def draw(cls, world: Campus, seed: int, provider: int) -> "RadioNetwork":
        """Every second cell of the world, three to a site."""
        draw = stream(seed, "campus", "network", provider)
        site, sector = np.divmod(np.arange(len(range(provider, world.cells, PROVIDERS))), SECTORS)
        sites = int(site.max()) + 1
        sites_m = _sites(world, provider, sites) + draw.normal(0, SHIFT_M, (sites, 2))
        turn_deg = draw.normal(FIRST_AZIMUTH_DEG, TURN_DEG, sites)
        reach_m = world.size_m / 2 + MARGIN_M
        fields = Fields.draw(sites + 1, -reach_m, reach_m, world.shadowing_length_m, draw)
        return cls(site, sites_m[site], turn_deg[site] + 360 / SECTORS * sector, fields)

    def received_db(self, world: Campus, xy_m: Array, indoors: Flags) -> Array:
        """Mean power of every cell (rows) at every position (columns), up to a constant."""
        power_db = np.empty((len(self.site), len(xy_m)))
        common = np.sqrt(SITE_CORRELATION) * self.shadowing.at(-1, xy_m)
        for cell, site in enumerate(self.site):
            own = np.sqrt(1 - SITE_CORRELATION) * self.shadowing.at(site, xy_m)
            away_m = xy_m - self.site_m[cell]
            power_db[cell] = world.shadowing_db * (common + own) - path_loss_db(away_m)
            power_db[cell] -= antenna_loss_db(away_m, self.azimuth_deg[cell])
        power_db -= PENETRATION_DB * indoors
        return power_db


def path_loss_db(away_m: Array) -> Array:
    """PL1 and PL2 of TR 38.901, table 7.4.1-1, UMa LOS, without the constant terms."""
    drop_m = SITE_HEIGHT_M - PHONE_HEIGHT_M
    ground_m = np.hypot(*away_m.T)
    slant_m = np.hypot(ground_m, drop_m)
    beyond_db = 40 * np.log10(slant_m) - 9 * np.log10(BREAKPOINT_M**2 + drop_m**2)
    loss_db: Array = np.where(ground_m <= BREAKPOINT_M, 22 * np.log10(slant_m), beyond_db)
    return loss_db


def antenna_loss_db(away_m: Array, azimuth_deg: float) -> Array:
    """The loss of a sector off the centre of its beam."""
    bearing_deg = np.degrees(np.arctan2(*away_m.T))
    off_deg = (bearing_deg - azimuth_deg + 180) % 360 - 180
    loss_db: Array = np.minimum(12 * (off_deg / BEAM_DEG) ** 2, BACK_DB)
    return loss_db


def _sites(world: Campus, provider: int, count: int) -> Array:
    """The fixed sites first, further ones spread evenly."""
    fixed = np.array(SITES[provider])
    more = (0.5 + np.arange(1, max(count - len(fixed), 0) + 1)[:, None] * EVENLY) % 1 - 0.5
    return np.vstack([fixed, more])[:count] * world.size_m


def _circle_m(size: int) -> Array:
    """Distances from the first of ``size`` points on a circle."""
    index = np.arange(size)
    return STEP_M * np.minimum(index, size - index)
