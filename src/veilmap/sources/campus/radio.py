"""Sites with sector antennas, and what a phone receives from each cell.

Path loss and shadowing are those of 3GPP TR 38.901, urban macro with line of sight: 28 + 22 log10 d
+ 20 log10 f dB (d in metres, f in GHz), 4 dB of shadowing that decorrelates in 37 m. The antenna is
that of TR 36.942: -min(12 (θ/65°)², 20) dB; so are the correlations of the shadowing, 0.5 between
sites and 1 within one.
"""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.campus.shadowing import Fields
from veilmap.sources.campus.world import EVENLY, Array, Campus, Flags, Index
from veilmap.streams import stream

PROVIDERS = 2
SECTORS = 3
HEIGHT_M, CARRIER_GHZ = 25.0, 2.0
# 46 dBm over the 1,200 subcarriers of 20 MHz, and 15 dB of antenna gain.
POWER_DBM = 46 - 10 * np.log10(1200) + 15
PENETRATION_DB = 12.0  # into a building
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


@dataclass(frozen=True)
class Network:
    """The cells of one provider: site, direction and shadowing of each."""

    site: Index
    site_m: Array
    azimuth_deg: Array
    shadowing: Fields  # one per site, and a common one

    @classmethod
    def draw(cls, world: Campus, seed: int, provider: int) -> "Network":
        """Every second cell of the world, three to a site."""
        draw = stream(seed, "campus", "network", provider)
        site, sector = np.divmod(np.arange(len(range(provider, world.cells, PROVIDERS))), SECTORS)
        sites = int(site.max()) + 1
        sites_m = _sites(world, provider, sites) + draw.normal(0, SHIFT_M, (sites, 2))
        turn_deg = draw.normal(FIRST_AZIMUTH_DEG, TURN_DEG, sites)
        reach_m = world.size_m / 2 + MARGIN_M
        fields = Fields.draw(sites + 1, -reach_m, reach_m, world.shadowing_length_m, draw)
        return cls(site, sites_m[site], turn_deg[site] + 360 / SECTORS * sector, fields)

    def received_dbm(self, world: Campus, xy_m: Array, indoors: Flags) -> Array:
        """Mean power of every cell (rows) at every position (columns)."""
        dbm = np.empty((len(self.site), len(xy_m)))
        common = np.sqrt(SITE_CORRELATION) * self.shadowing.at(-1, xy_m)
        for cell, site in enumerate(self.site):
            own = np.sqrt(1 - SITE_CORRELATION) * self.shadowing.at(site, xy_m)
            dbm[cell] = world.shadowing_db * (common + own) - self._loss_db(cell, xy_m)
        dbm += POWER_DBM - PENETRATION_DB * indoors
        return dbm

    def _loss_db(self, cell: int, xy_m: Array) -> Array:
        """Path loss and what the antenna gives away off its beam."""
        away_m = xy_m - self.site_m[cell]
        distance_m = np.hypot(np.hypot(*away_m.T), HEIGHT_M)
        bearing_deg = np.degrees(np.arctan2(*away_m.T))
        off_deg = (bearing_deg - self.azimuth_deg[cell] + 180) % 360 - 180
        antenna_db = np.minimum(12 * (off_deg / BEAM_DEG) ** 2, BACK_DB)
        loss_db: Array = 28 + 22 * np.log10(distance_m) + 20 * np.log10(CARRIER_GHZ) + antenna_db
        return loss_db


def _sites(world: Campus, provider: int, count: int) -> Array:
    """The fixed ones first, further ones spread evenly."""
    fixed = np.array(SITES[provider])
    more = (0.5 + np.arange(1, max(count - len(fixed), 0) + 1)[:, None] * EVENLY) % 1 - 0.5
    sites_m: Array = np.vstack([fixed, more])[:count] * world.size_m
    return sites_m
