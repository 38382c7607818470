"""From the results of an audit to what a report shows."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from statistics import fmean
from zoneinfo import ZoneInfo

import numpy as np

from veilmap.area import Area
from veilmap.auditing.ranking import Ranked, Ranking
from veilmap.experiments.positions import Point, Points, Positions
from veilmap.experiments.result import TrialResult
from veilmap.geo import Projection
from veilmap.metrics.panel_row import PanelRow, StepCost
from veilmap.report.page.content import Found, Ground, Overlay, Track


def configurations(
    ranking: Ranking, results: Sequence[TrialResult], recommended: str | None
) -> tuple[PanelRow, ...]:
    """A row for each, without what was only needed to rank them."""
    shown = [each.name for each in fields(PanelRow)]
    return tuple(
        PanelRow(
            **{name: getattr(each, name) for name in shown}
            | {"is_recommended": each.name == recommended, "costs": _costs(each, results)}
        )
        for each in ranking.configurations
    )


def ground(
    results: Sequence[TrialResult], timezone: str, tower_deg: tuple[float, float] | None
) -> Ground | None:
    """All positions, of the first seed, in the rounds of all; None if none were kept."""
    kept = {r.configuration: r.positions for r in results if r.positions is not None}
    if not kept:
        return None
    first = next(iter(kept.values()))
    zone = ZoneInfo(timezone)
    starts = {line.attacked.round: line.attacked.start_s for r in results for line in r.history}
    rounds = sorted(starts)
    project = Projection(first.epsg)
    return Ground(
        area_deg=[_degrees(corner, project) for corner in _corners_m(first.area)],
        rounds=tuple(rounds),
        starts=tuple(f"{datetime.fromtimestamp(starts[t], zone):%Y-%m-%d %H:%M}" for t in rounds),
        truth={user: _track(points, project) for user, points in first.truth.items()},
        chosen={
            (name, user): _track(points, project)
            for name, own in kept.items()
            for user, points in own.chosen.items()
        },
        found={
            (name, attack, user): _found(own, attack, user)
            for name, own in kept.items()
            for attack, user in own.locations
        },
        homes={user: _degrees(xy_m, project) for user, xy_m in first.homes.items()},
        named_homes={
            (name, attack, user): _degrees(xy_m, project)
            for name, own in kept.items()
            for (attack, user), xy_m in own.named_homes.items()
        },
        signal={name: _overlay(own) for name, own in kept.items()},
        tower_deg=tower_deg,
    )


def _costs(ranked: Ranked, results: Sequence[TrialResult]) -> tuple[StepCost, ...]:
    """Step by step, over the seeds: mean time, most memory, most spent."""
    runs = [each.steps for each in results if each.configuration == ranked.name]
    found = []
    for same in zip(*runs, strict=True):
        names = same[0].spent
        found.append(
            StepCost(
                step=same[0].step,
                milliseconds=1000 * fmean(step.seconds for step in same),
                peak_mb=max(step.peak_mb for step in same),
                learning_seconds=fmean(step.learning_seconds for step in same),
                spent={name: max(step.spent.get(name, 0.0) for step in same) for name in names},
            )
        )
    return tuple(found)


def _corners_m(area: Area) -> list[Point]:
    west, south, east, north = area.x_min_m, area.y_min_m, area.x_max_m, area.y_max_m
    return [(west, south), (east, south), (east, north), (west, north)]


def _found(positions: Positions, attack: str, user: str) -> Found:
    project = Projection(positions.epsg)
    locations = _on_earth(positions.locations[attack, user], project)
    cloud = _on_earth(positions.clouds[attack, user], project)
    inside = positions.area.contains(locations.xy_m)
    return Found(_track(locations, project), inside, _track(cloud, project), cloud.weights)


def _on_earth(points: Points, project: Projection) -> Points:
    """Those that have a place on earth: far outside its zone a projection has no inverse."""
    good = np.isfinite(project.degrees(points.xy_m)).all(axis=0)
    return Points(points.xy_m[good], points.rounds[good], points.weights[good])


def _track(points: Points, project: Projection) -> Track:
    lat_deg, lon_deg = project.degrees(points.xy_m)
    return Track(lat_deg, lon_deg, points.rounds)


def _degrees(xy_m: Point, project: Projection) -> tuple[float, float]:
    lat_deg, lon_deg = project.degrees(np.array([xy_m]))
    return float(lat_deg[0]), float(lon_deg[0])


def _overlay(positions: Positions) -> Overlay:
    west, south, east, north = positions.box_deg
    return Overlay((south, west, north, east), positions.signal_dbm.astype(np.float64))
