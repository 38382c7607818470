"""What the page's scripts read: the content as plain values, positions packed."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from veilmap.canvas import colour_range
from veilmap.metrics.rows import FigureRow
from veilmap.report.looks import Look, attack_looks, defence_looks, family_of, scheme_of
from veilmap.report.page.content import Configuration, Content, Found, Ground
from veilmap.report.page.encoding import (
    packed_points,
    packed_raster,
    packed_weights,
    rounded_degrees,
)


def payload(content: Content, tiles: str | None) -> dict[str, Any]:
    """Everything that the scripts draw; what is only read stands in the page itself."""
    return {
        "targets": list(content.targets),
        "attacks": list(content.attacks),
        "seeds": list(content.made.seeds),
        "configurations": [_configuration(each) for each in content.configurations],
        "rows": _table(content.rows),
        "history": _table(content.history),
        "looks": _looks(content),
        "rmseConstantDb": content.rmse_constant_db,
        "ground": None if content.ground is None else _ground(content.ground),
        "tiles": tiles,
    }


def _looks(content: Content) -> dict[str, Any]:
    """Colours and marks, for light and dark pages."""
    names = [each.name for each in content.configurations]
    families = defence_looks(map(family_of, names))
    return {
        "configurations": {
            name: {
                "family": family_of(name),
                "scheme": scheme_of(name),
                "colour": _css(families[family_of(name)]),
                "mark": families[family_of(name)].marker,
            }
            for name in names
        },
        "attacks": {name: _css(look) for name, look in attack_looks(content.attacks).items()},
    }


def _css(look: Look) -> str:
    return f"light-dark({look.colour}, {look.dark})"


def _configuration(configuration: Configuration) -> dict[str, Any]:
    return {
        "name": configuration.name,
        "rmse": asdict(configuration.rmse_db),
        "rmseLossDb": configuration.rmse_loss_db,
        "pointsShare": configuration.points_share,
        "strongest": {
            figure: {"attack": best.attack, **asdict(best.figure)}
            for figure, best in configuration.strongest.items()
        },
        "isAsItIs": configuration.is_as_it_is,
        "isOnFrontier": configuration.is_on_frontier,
        "dominatedBy": configuration.dominated_by,
        "isRecommended": configuration.is_recommended,
        "costs": [
            {
                "step": cost.step,
                "milliseconds": cost.milliseconds,
                "peakMb": cost.peak_mb,
                "learningSeconds": cost.learning_seconds,
                "spent": dict(cost.spent),
            }
            for cost in configuration.costs
        ],
    }


def _table(rows: Sequence[FigureRow]) -> dict[str, Any]:
    """The names once, then the values, which halves a long history."""
    lines = [row.columns() for row in rows]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    return {"columns": columns, "values": [[line.get(name) for name in columns] for line in lines]}


def _ground(ground: Ground) -> dict[str, Any]:
    return {
        "area": [list(corner) for corner in ground.area_deg],
        "tower": None if ground.tower_deg is None else list(ground.tower_deg),
        "rounds": list(ground.rounds),
        "starts": list(ground.starts),
        "truth": [
            {"target": target, **packed_points(track)} for target, track in ground.truth.items()
        ],
        "chosen": [
            {"configuration": configuration, "target": target, **packed_points(track)}
            for (configuration, target), track in ground.chosen.items()
        ],
        "found": [
            {"configuration": configuration, "attack": attack, "target": target, **_found(found)}
            for (configuration, attack, target), found in ground.found.items()
        ],
        "homes": [
            {"target": target, "place": rounded_degrees(np.array(place))}
            for target, place in ground.homes.items()
        ],
        "namedHomes": [
            {
                "configuration": configuration,
                "attack": attack,
                "target": target,
                "place": rounded_degrees(np.array(place)),
            }
            for (configuration, attack, target), place in ground.named_homes.items()
        ],
        "signal": _signal(ground),
    }


def _found(found: Found) -> dict[str, Any]:
    return {
        "locations": {
            "lat": rounded_degrees(found.locations.lat_deg),
            "lon": rounded_degrees(found.locations.lon_deg),
            "rounds": np.asarray(found.locations.rounds).tolist(),
            "inside": np.asarray(found.inside).tolist(),
        },
        "cloud": packed_points(found.cloud) | packed_weights(found.cloud, found.weights),
    }


def _signal(ground: Ground) -> dict[str, Any] | None:
    """All configurations in the same colours, so that like is held to like."""
    levels = [each.rsrp_dbm[np.isfinite(each.rsrp_dbm)] for each in ground.signal.values()]
    present = np.concatenate([np.empty(0), *levels])
    if not len(present):
        return None
    low_dbm, high_dbm = colour_range(float(present.min()), float(present.max()))
    return {
        "lowDbm": low_dbm,
        "highDbm": high_dbm,
        "maps": [
            {"configuration": name, **packed_raster(overlay, low_dbm, high_dbm)}
            for name, overlay in ground.signal.items()
        ],
    }
