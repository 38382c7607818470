"""What the page's scripts read: the content as plain values, positions packed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from veilmap.canvas import colour_range
from veilmap.metrics.rows import FigureRow
from veilmap.report.looks import (
    Look,
    attack_looks,
    defence_looks,
    family_of,
    scheme_fillings,
    scheme_of,
)
from veilmap.report.page.content import Content, Found, Ground
from veilmap.report.page.encoding import (
    packed_points,
    packed_raster,
    packed_weights,
    rounded_degrees,
)

Value = TypeVar("Value")


def payload(content: Content, tiles: str | None) -> dict[str, Any]:
    """Everything that the scripts draw; what is only read stands in the page itself."""
    return {
        "targets": content.targets,
        "attacks": content.attacks,
        "seeds": content.made.seeds,
        "configurations": [asdict(each) for each in content.configurations],
        "people": [each.figures() for each in content.people],
        "rows": _table(content.rows),
        "guesses": _table(content.guesses),
        "history": _table(content.history),
        "looks": _looks(content),
        "rmse_constant_db": content.rmse_constant_db,
        "ground": None if content.ground is None else _ground(content.ground),
        "tiles": tiles,
    }


def _looks(content: Content) -> dict[str, Any]:
    """Colours and marks, for light and dark pages."""
    names = [each.name for each in content.configurations]
    families, fillings = defence_looks(map(family_of, names)), scheme_fillings(names)
    return {
        "configurations": {
            name: {
                "family": family_of(name),
                "scheme": scheme_of(name),
                "colour": _css(families[family_of(name)]),
                "mark": families[family_of(name)].marker,
                "filling": fillings[scheme_of(name)],
            }
            for name in names
        },
        "attacks": {name: _css(look) for name, look in attack_looks(content.attacks).items()},
    }


def _css(look: Look) -> str:
    return f"light-dark({look.colour}, {look.dark})"


def _table(rows: Sequence[FigureRow]) -> dict[str, Any]:
    """The names once, then the values, which halves a long history."""
    lines = [row.columns() for row in rows]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    return {"columns": columns, "values": [[line.get(name) for name in columns] for line in lines]}


def _ground(ground: Ground) -> dict[str, Any]:
    return {
        "area": ground.area_deg,
        "tower": ground.tower_deg,
        "rounds": ground.rounds,
        "starts": ground.starts,
        "truth": _by_names(ground.truth, packed_points),
        "chosen": _by_names(ground.chosen, packed_points),
        "found": _by_names(ground.found, _found),
        "homes": _by_names(ground.homes, rounded_degrees),
        "named_homes": _by_names(ground.named_homes, rounded_degrees),
        "signal": _signal(ground),
    }


def _by_names(values: Mapping[Any, Value], packed: Callable[[Value], Any]) -> list[Any]:
    """Pairs of key and packed value: the keys of a JSON object cannot be several names."""
    return [[names, packed(value)] for names, value in values.items()]


def _found(found: Found) -> dict[str, Any]:
    return {
        "locations": {
            "lat": rounded_degrees(found.locations.lat_deg),
            "lon": rounded_degrees(found.locations.lon_deg),
            "rounds": found.locations.rounds.tolist(),
            "inside": found.inside.tolist(),
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
        "low_dbm": low_dbm,
        "high_dbm": high_dbm,
        "maps": [
            {"configuration": name, **packed_raster(overlay, low_dbm, high_dbm)}
            for name, overlay in ground.signal.items()
        ],
    }
