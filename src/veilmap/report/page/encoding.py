"""Numbers in little room: what the page carries as text and unpacks by itself."""

import json
from base64 import b64encode
from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from veilmap.report.page.content import Overlay, Track

_STEPS = 65_535  # of 16 bits
_SHADES = 254  # of 8 bits; one code says that there is no value
_LONGEST_SIDE = 160  # pixels of a raster; a map drawn from it is smooth
_DIGITS = 6  # of a degree: 0.1 m

# Inside a script block these would end it or start a comment; escaped, JSON reads them the same.
_UNSAFE = {
    ord(character): f"\\u{ord(character):04x}" for character in ("<", ">", "&", "\u2028", "\u2029")
}


def script_json(value: Any) -> Markup:
    """JSON that may stand in a script block; NaN and infinity, which JSON lacks, become null."""
    text = json.dumps(_without_gaps(value), ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate(_UNSAFE))  # noqa: S704 - escaped in the line itself


def packed_points(track: Track) -> dict[str, Any]:
    """Positions as pairs of 16 bits in their own bounding box, with the points of each round.

    For a town that is finer than 0.5 m, and a third of the room of decimal degrees.
    """
    rounds, counts = np.unique(track.rounds, return_counts=True)
    if len(track.rounds) == 0:
        return {"box": [0, 0, 0, 0], "rounds": [], "counts": [], "points": ""}
    degrees = np.column_stack([track.lat_deg, track.lon_deg])
    low, high = degrees.min(axis=0), degrees.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    steps = np.round((degrees - low) / span * _STEPS).astype("<u2")
    order = np.argsort(track.rounds, kind="stable")
    return {
        "box": [*low.tolist(), *high.tolist()],
        "rounds": rounds.tolist(),
        "counts": counts.tolist(),
        "points": _base64(steps[order]),
    }


def packed_weights(track: Track, weights: NDArray[np.float64]) -> dict[str, Any]:
    """8 bits of the square root, so that the small weights of a heat map keep their order."""
    largest = float(weights.max(initial=0.0))
    order = np.argsort(track.rounds, kind="stable")
    shares = np.sqrt(np.clip(weights[order], 0, None) / (largest or 1.0))
    return {"largest": largest, "roots": _base64(np.round(shares * 255).astype(np.uint8))}


def packed_raster(overlay: Overlay, low_dbm: float, high_dbm: float) -> dict[str, Any]:
    """8 bits between two levels, thinned to what a screen shows; 0 where there is no value."""
    rsrp_dbm = _thinned(np.asarray(overlay.rsrp_dbm, np.float64))
    known = np.isfinite(rsrp_dbm)
    share = np.clip((np.where(known, rsrp_dbm, low_dbm) - low_dbm) / (high_dbm - low_dbm), 0, 1)
    codes = np.where(known, 1 + np.round(share * _SHADES), 0).astype(np.uint8)
    rows, columns = codes.shape
    return {"box": overlay.box_deg, "rows": rows, "columns": columns, "codes": _base64(codes)}


def rounded_degrees(degrees: Iterable[float]) -> list[float]:
    """Decimal degrees, to 0.1 m."""
    return [round(float(each), _DIGITS) for each in degrees]


def _thinned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    shrink = min(_LONGEST_SIDE / max(values.shape), 1.0)
    rows, columns = (_middles(side, max(round(side * shrink), 1)) for side in values.shape)
    return values[np.ix_(rows, columns)]


def _middles(side: int, parts: int) -> NDArray[np.intp]:
    """The middles of equal parts of a side."""
    return ((np.arange(parts) + 0.5) * side / parts).astype(np.intp)


def _base64(values: NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def _without_gaps(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_gaps(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_gaps(each) for each in value]
    if isinstance(value, float):  # numpy's float64 as well
        return float(value) if isfinite(value) else None
    return value
