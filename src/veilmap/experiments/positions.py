"""Everything of a trial that has a position in it, kept apart from its figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.defences.declarations import acts_on_points
from veilmap.experiments.trial import Trial
from veilmap.local_data import LocalData
from veilmap.metrics.places import Home, likely_home
from veilmap.metrics.scores import true_places
from veilmap.study.attack_run import AttackRun
from veilmap.study.train import Run

# Pixels along the longer side of the predicted signal: a page shows no more.
_LONGEST_SIDE = 96
_NOWHERE_M = 1e12  # far outside every area

Arrays = Mapping[str, NDArray[Any]]
Point = tuple[float, float]
AttackTarget = tuple[str, str]  # attack and target


@dataclass(frozen=True)
class Points:
    """Places in metres, with the round and the weight of each."""

    xy_m: NDArray[np.float64]
    rounds: NDArray[np.int64]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, parts: Sequence[tuple[int, NDArray[np.float64], NDArray[np.float64]]]) -> "Points":
        """Joined from (round, places, weights)."""
        rounds = [np.full(len(weights), t, np.int64) for t, _, weights in parts]
        return cls(
            np.concatenate([np.empty((0, 2)), *(xy_m for _, xy_m, _ in parts)]),
            np.concatenate([np.empty(0, np.int64), *rounds]),
            np.concatenate([np.empty(0), *(weights for _, _, weights in parts)]),
        )

    def by_round(self) -> dict[int, LocalData]:
        """The places alone, without signal and time."""
        rounds = {int(t): self.xy_m[self.rounds == t] for t in np.unique(self.rounds)}
        return {t: LocalData(xy_m, *np.zeros((2, len(xy_m)))) for t, xy_m in rounds.items()}


@dataclass(frozen=True)
class Positions:
    """Of one trial; what was not asked to be kept is empty.

    Attributes:
        epsg: of the projection of all places.
        area: where the attacker looked.
        truth: where each target was.
        chosen: what each target trained on, where a defence chose or moved points, or where asked.
        locations: the one place found in a round, by attack and target.
        clouds: the whole distributions found, by attack and target.
        tried: the places found by every start, by attack and target.
        homes: the true home of each target, from which the home error is measured.
        named_homes: the home that an attack names, by attack and target, where it names one.
        path_m: the trajectory of the first attack that keeps one.
        signal_dbm: predicted on a raster in degrees, the first row in the north.
        box_deg: its west, south, east and north.
    """

    epsg: int
    area: Area
    truth: Mapping[str, Points] = field(default_factory=dict)
    chosen: Mapping[str, Points] = field(default_factory=dict)
    locations: Mapping[AttackTarget, Points] = field(default_factory=dict)
    clouds: Mapping[AttackTarget, Points] = field(default_factory=dict)
    tried: Mapping[AttackTarget, Points] = field(default_factory=dict)
    homes: Mapping[str, Point] = field(default_factory=dict)
    named_homes: Mapping[AttackTarget, Point] = field(default_factory=dict)
    path_m: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 2)))
    signal_dbm: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    box_deg: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    def arrays(self, users: Sequence[str]) -> Arrays:
        """Ready for a file; users are numbered, because their names may be anything."""
        area, number = self.area, {user: k for k, user in enumerate(users)}
        found: dict[str, NDArray[Any]] = {
            "epsg": np.array(self.epsg),
            "area_m": np.array([area.x_min_m, area.y_min_m, area.x_max_m, area.y_max_m]),
            "path_m": self.path_m,
            "signal_dbm": self.signal_dbm,
            "box_deg": np.array(self.box_deg),
        }
        for kind in _OF_USERS:
            for user, places in getattr(self, kind).items():
                found |= _packed(f"{kind}-{number[user]}", places)
        for kind in _OF_CASES:
            for (attack, user), places in getattr(self, kind).items():
                found |= _packed(f"{kind}-{number[user]}-{attack}", places)
        return found

    @classmethod
    def read(cls, arrays: Arrays, users: Sequence[str]) -> "Positions":
        """What ``arrays`` gave."""
        parts: dict[str, dict[str, NDArray[Any]]] = {}
        for key, array in arrays.items():
            name, dot, part = key.rpartition(".")
            if dot:
                parts.setdefault(name, {})[part] = array
        found: dict[str, dict[Any, Any]] = {kind: {} for kind in (*_OF_USERS, *_OF_CASES)}
        for name, own in parts.items():
            kind, number, attack = (*name.split("-", 2), "")[:3]
            user = users[int(number)]
            found[kind][(attack, user) if kind in _OF_CASES else user] = _unpacked(own)
        west, south, east, north = arrays["box_deg"].tolist()
        return cls(
            epsg=int(arrays["epsg"]),
            area=Area(*arrays["area_m"].tolist()),
            path_m=arrays["path_m"],
            signal_dbm=arrays["signal_dbm"],
            box_deg=(west, south, east, north),
            **found,
        )


_OF_USERS = ("truth", "chosen", "homes")
_OF_CASES = ("locations", "clouds", "tried", "named_homes")


def _packed(name: str, places: Points | Point) -> Arrays:
    if isinstance(places, tuple):
        return {f"{name}.at": np.array(places)}
    return {f"{name}.{part}": values for part, values in vars(places).items()}


def _unpacked(parts: Arrays) -> Points | Point:
    if "at" in parts:
        x_m, y_m = parts["at"].tolist()
        return x_m, y_m
    return Points(**parts)


def positions_of(trial: Trial, run: Run, attacked: Sequence[AttackRun]) -> Positions | None:
    """From a run in memory and what was found about each target; None if none is to be kept."""
    if not trial.keep & {"positions", "found", "chosen", "path"}:
        return None
    shown = attacked if "positions" in trial.keep else ()
    pairs = [(each, method) for each in shown for method in each.found]
    tried = attacked if "found" in trial.keep else ()
    homes = {each.target: _true_home(each, run.prepared.data.timezone) for each in shown}
    named = {(m, each.target): likely_home(each.scores[m].places) for each, m in pairs}
    projection = run.prepared.data.projection
    found = Positions(
        epsg=projection.epsg,
        area=run.prepared.plan.area,
        truth={each.target: _batches(_truth(trial, run, each)) for each in attacked},
        chosen=_chosen(trial, run, shown),
        locations={(m, each.target): _locations(each.found[m]) for each, m in pairs},
        clouds={(m, each.target): _clouds(each.found[m]) for each, m in pairs},
        tried={
            (m, each.target): _tried(found) for each in tried for m, found in each.every.items()
        },
        homes={user: home.place.xy_m for user, home in homes.items() if home},
        named_homes={key: home.place.xy_m for key, home in named.items() if home},
        path_m=_path_m(attacked if "path" in trial.keep else ()),
    )
    return _with_signal(found, run) if shown else found


def _truth(trial: Trial, run: Run, attacked: AttackRun) -> Mapping[int, LocalData]:
    """In the attacked rounds; for a picture of what was found, in all."""
    if "positions" in trial.keep:
        return attacked.truth or {}
    rounds = {this.number: this.data for this in run.prepared.rounds}
    return {t: data[attacked.target] for t, data in rounds.items() if attacked.target in data}


def _chosen(trial: Trial, run: Run, attacked: Sequence[AttackRun]) -> dict[str, Points]:
    """Where asked, in all rounds; for a map, in the attacked ones if a defence moved points."""
    if "chosen" in trial.keep:
        rounds = {user: list(run.batches) for user in trial.targets}
    elif any(map(acts_on_points, run.prepared.plan.defence.steps)):
        rounds = {each.target: list(each.norms) for each in attacked}
    else:
        rounds = {}
    return {
        user: _batches({t: run.batches[t][user] for t in own if user in run.batches[t]})
        for user, own in rounds.items()
    }


def _batches(batches: Mapping[int, LocalData]) -> Points:
    return Points.of([(t, data.xy_m, np.ones(len(data))) for t, data in batches.items()])


def _locations(found: Sequence[Reconstruction]) -> Points:
    placed = [each for each in found if np.isfinite(each.xy_m).all()]
    return Points.of([(each.round, each.xy_m.reshape(1, 2), np.ones(1)) for each in placed])


def _clouds(found: Sequence[Reconstruction]) -> Points:
    placed = [each for each in found if np.isfinite(each.cloud.xy_m).all()]
    return Points.of([(each.round, each.cloud.xy_m, each.cloud.weights) for each in placed])


def _tried(found: Sequence[Reconstruction]) -> Points:
    """Those without a place count as far outside."""
    places = [np.where(np.isfinite(each.xy_m), each.xy_m, _NOWHERE_M) for each in found]
    parts = zip(found, places, strict=True)
    return Points.of([(each.round, xy_m.reshape(1, 2), np.ones(1)) for each, xy_m in parts])


def _path_m(attacked: Sequence[AttackRun]) -> NDArray[np.float64]:
    """Of the first start in the first attacked round, without steps to nowhere."""
    every = (found for each in attacked for found in each.every.values())
    paths_m = (found[0].path_m for found in every if found and found[0].path_m is not None)
    path_m = next(paths_m, np.empty((0, 2)))
    return path_m[np.isfinite(path_m).all(axis=1)]


def _true_home(attacked: AttackRun, timezone: str) -> Home | None:
    if not attacked.truth:
        return None
    return likely_home(true_places(list(attacked.truth.values()), timezone))


def _with_signal(positions: Positions, run: Run) -> Positions:
    """On a raster in degrees, so that the page can overlay it on its map without reprojection."""
    area, projection = positions.area, run.prepared.data.projection
    corners = [(x, y) for x in (area.x_min_m, area.x_max_m) for y in (area.y_min_m, area.y_max_m)]
    lat_deg, lon_deg = projection.degrees(np.array(corners))
    west, east = float(lon_deg.min()), float(lon_deg.max())
    south, north = float(lat_deg.min()), float(lat_deg.max())
    step_m = max(area.width_m, area.height_m, 1.0) / _LONGEST_SIDE
    columns, rows = (max(round(side / step_m), 1) for side in (area.width_m, area.height_m))
    lon, lat = np.meshgrid(
        west + (np.arange(columns) + 0.5) * (east - west) / columns,
        north - (np.arange(rows) + 0.5) * (north - south) / rows,
    )
    signal = run.signal_map.predict_at(lat.ravel(), lon.ravel()).reshape(rows, columns)
    return replace(positions, signal_dbm=signal, box_deg=(west, south, east, north))
