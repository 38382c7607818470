"""Everything of a unit that has a position in it, kept apart from its figures."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.defences.declarations import acts_on_points
from veilmap.geo import Projection
from veilmap.local_data import LocalData
from veilmap.metrics.hours import Hours
from veilmap.metrics.places import Home, find_places, likely_home
from veilmap.study.attack_run import AttackRun
from veilmap.study.train import Run

# Pixels along the longer side of the predicted signal: a page shows no more.
_LONGEST_SIDE = 96

Arrays = Mapping[str, NDArray[Any]]
Point = tuple[float, float]


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


@dataclass(frozen=True)
class Positions:
    """Of one configuration and seed.

    Attributes:
        epsg: of the projection of all places.
        area: where the attacker looked.
        truth: where each target was.
        chosen: what each target trained on, where a defence chose or moved points; else empty.
        locations: the one place found in a round, by attack and target.
        clouds: the whole distributions found, by attack and target.
        homes: the true home of each target, from which ``home_error_m`` is measured.
        named_homes: the home that an attack names, by attack and target, where it names one.
        signal_dbm: predicted on a raster in degrees, the first row in the north.
        box_deg: its west, south, east and north.
    """

    epsg: int
    area: Area
    truth: Mapping[str, Points]
    chosen: Mapping[str, Points]
    locations: Mapping[tuple[str, str], Points]
    clouds: Mapping[tuple[str, str], Points]
    homes: Mapping[str, Point]
    named_homes: Mapping[tuple[str, str], Point]
    signal_dbm: NDArray[np.float32]
    box_deg: tuple[float, float, float, float]

    def arrays(self, targets: Sequence[str]) -> Arrays:
        """Ready for a file; users are numbered, because their names may be anything."""
        area = self.area
        found: dict[str, NDArray[Any]] = {
            "epsg": np.array(self.epsg),
            "area_m": np.array([area.x_min_m, area.y_min_m, area.x_max_m, area.y_max_m]),
            "signal_dbm": self.signal_dbm,
            "box_deg": np.array(self.box_deg),
        }
        for name, points in self._named(targets):
            found |= {f"{name}.{part}": value for part, value in vars(points).items()}
        return found | {name: np.array(xy_m) for name, xy_m in self._named_homes(targets)}

    @classmethod
    def read(cls, arrays: Arrays, targets: Sequence[str]) -> "Positions":
        """What ``arrays`` gave."""

        def points(name: str) -> Points:
            return Points(*(arrays[f"{name}.{part}"] for part in ("xy_m", "rounds", "weights")))

        def point(name: str) -> Point:
            x_m, y_m = arrays[name].tolist()
            return x_m, y_m

        found = (re.fullmatch(r"found-(.+)-\d+\.xy_m", name) for name in arrays)
        methods = dict.fromkeys(match[1] for match in found if match)
        every = [(m, k) for m in methods for k in range(len(targets))]
        pairs = [(m, k) for m, k in every if f"found-{m}-{k}.xy_m" in arrays]
        west, south, east, north = arrays["box_deg"].tolist()
        return cls(
            epsg=int(arrays["epsg"]),
            area=Area(*arrays["area_m"].tolist()),
            truth={user: points(f"truth-{k}") for k, user in enumerate(targets)},
            chosen={
                user: points(f"chosen-{k}")
                for k, user in enumerate(targets)
                if f"chosen-{k}.xy_m" in arrays
            },
            locations={(m, targets[k]): points(f"found-{m}-{k}") for m, k in pairs},
            clouds={(m, targets[k]): points(f"cloud-{m}-{k}") for m, k in pairs},
            homes={
                user: point(f"home-{k}") for k, user in enumerate(targets) if f"home-{k}" in arrays
            },
            named_homes={
                (m, targets[k]): point(f"home-{m}-{k}")
                for m, k in every
                if f"home-{m}-{k}" in arrays
            },
            signal_dbm=arrays["signal_dbm"],
            box_deg=(west, south, east, north),
        )

    def _named(self, targets: Sequence[str]) -> Iterator[tuple[str, Points]]:
        number = {user: k for k, user in enumerate(targets)}
        yield from ((f"truth-{number[user]}", points) for user, points in self.truth.items())
        yield from ((f"chosen-{number[user]}", points) for user, points in self.chosen.items())
        for name, found in (("found", self.locations), ("cloud", self.clouds)):
            yield from ((f"{name}-{m}-{number[u]}", points) for (m, u), points in found.items())

    def _named_homes(self, targets: Sequence[str]) -> Iterator[tuple[str, Point]]:
        number = {user: k for k, user in enumerate(targets)}
        yield from ((f"home-{number[user]}", xy_m) for user, xy_m in self.homes.items())
        yield from ((f"home-{m}-{number[u]}", xy_m) for (m, u), xy_m in self.named_homes.items())


def positions_of(run: Run, attacked: Sequence[AttackRun]) -> Positions:
    """From a run in memory and what was found about each target."""
    plan, projection = run.prepared.plan, run.prepared.data.projection
    moved = any(map(acts_on_points, plan.defence.steps))
    pairs = [(each, method) for each in attacked for method in each.found]
    true = {each.target: _true_home(each, run.prepared.data.timezone) for each in attacked}
    named = {(m, each.target): likely_home(each.scores[m].places) for each, m in pairs}
    signal_dbm, box_deg = _signal(run, projection)
    return Positions(
        epsg=projection.epsg,
        area=plan.area,
        truth={each.target: _batches(each.truth or {}) for each in attacked},
        chosen={each.target: _batches(_chosen(run, each)) for each in attacked if moved},
        locations={(m, each.target): _locations(each.found[m]) for each, m in pairs},
        clouds={(m, each.target): _clouds(each.found[m]) for each, m in pairs},
        homes={user: home.place.xy_m for user, home in true.items() if home},
        named_homes={key: home.place.xy_m for key, home in named.items() if home},
        signal_dbm=signal_dbm,
        box_deg=box_deg,
    )


def _chosen(run: Run, attacked: AttackRun) -> dict[int, LocalData]:
    return {t: run.batches[t][attacked.target] for t in attacked.norms}


def _batches(batches: Mapping[int, LocalData]) -> Points:
    return Points.of([(t, data.xy_m, np.ones(len(data))) for t, data in batches.items()])


def _locations(found: Sequence[Reconstruction]) -> Points:
    placed = [each for each in found if np.isfinite(each.xy_m).all()]
    return Points.of([(each.round, each.xy_m.reshape(1, 2), np.ones(1)) for each in placed])


def _clouds(found: Sequence[Reconstruction]) -> Points:
    placed = [each for each in found if np.isfinite(each.cloud.xy_m).all()]
    return Points.of([(each.round, each.cloud.xy_m, each.cloud.weights) for each in placed])


def _true_home(attacked: AttackRun, timezone: str) -> Home | None:
    if not attacked.truth:
        return None
    truth = LocalData.join(list(attacked.truth.values()))
    return likely_home(find_places(truth.xy_m, hours=Hours.local(truth.time_s, timezone)))


def _signal(
    run: Run, projection: Projection
) -> tuple[NDArray[np.float32], tuple[float, float, float, float]]:
    """On a raster in degrees, so that a page lays it on its map without bending it."""
    area = run.prepared.plan.area
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
    return signal, (west, south, east, north)
