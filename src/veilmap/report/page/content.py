"""What a report shows, as data: the page draws this and knows nothing else.

Figures are numbers and names; every position is in :class:`Ground`, which is left out of a report
that is to be shown to strangers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilmap.metrics.panel_row import PanelRow
from veilmap.metrics.people import HomeErrors
from veilmap.metrics.rows import TrialRound, TrialRow
from veilmap.metrics.verdict import Verdict


@dataclass(frozen=True)
class Track:
    """Points in degrees, sorted by round; ``rounds`` is the round of each."""

    lat_deg: NDArray[np.float64]
    lon_deg: NDArray[np.float64]
    rounds: NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """What an attack found: a location for a round, and the cloud with its weights.

    The weights of a round sum to 1. Locations without a position are left out.
    """

    locations: Track
    inside: NDArray[np.bool_]
    cloud: Track
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class Overlay:
    """The predicted signal on a raster, the first row in the north, in dBm.

    ``box_deg`` is south, west, north, east.
    """

    box_deg: tuple[float, float, float, float]
    rsrp_dbm: NDArray[np.float64]


@dataclass(frozen=True)
class Ground:
    """Everything with a position in it, of the first seed.

    Attributes:
        area_deg: the corners of the public area, (latitude, longitude).
        rounds: their numbers, in order.
        starts: when each began, as text.
        truth: where each target was.
        chosen: the points trained on, by configuration and target, where a defence chose or moved
            them.
        found: by configuration, attack and target.
        homes: latitude and longitude of each target's true home, where there is one.
        named_homes: of the home that an attack names, by configuration, attack and target, where it
            names one.
        signal: by configuration.
        tower_deg: latitude and longitude, if known.
    """

    area_deg: Sequence[tuple[float, float]]
    rounds: tuple[int, ...]
    starts: tuple[str, ...]
    truth: Mapping[str, Track]
    chosen: Mapping[tuple[str, str], Track]
    found: Mapping[tuple[str, str, str], Found]
    homes: Mapping[str, tuple[float, float]]
    named_homes: Mapping[tuple[str, str, str], tuple[float, float]]
    signal: Mapping[str, Overlay]
    tower_deg: tuple[float, float] | None = None


@dataclass(frozen=True)
class Made:
    """How the report came about, so that anyone can make it again."""

    command: str
    settings_toml: str
    seeds: tuple[int, ...]
    versions: Mapping[str, str]
    data: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class Content:
    """All of a report.

    Attributes:
        title: of the page.
        verdict: the answer in words.
        targets: the users who were attacked.
        attacks: by name, in the order of the tables.
        configurations: in the order of the panel.
        rows: one for each configuration, attack, target and seed, with all figures.
        history: one for each configuration, attack, target, seed and round.
        rmse_constant_db: of the constant (mean) baseline.
        made: how it came about.
        ground: the positions; None for a report without any.
        people: by configuration the home errors over people under the strongest attack, then under
            each guess.
        guesses: rows of the guesses that see no message.
    """

    title: str
    verdict: Verdict
    targets: tuple[str, ...]
    attacks: tuple[str, ...]
    configurations: tuple[PanelRow, ...]
    rows: Sequence[TrialRow]
    history: Sequence[TrialRound]
    rmse_constant_db: float
    made: Made
    ground: Ground | None
    people: tuple[HomeErrors, ...] = ()
    guesses: Sequence[TrialRow] = ()
