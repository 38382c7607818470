"""From the files that a run leaves to figures: every access to them stands here, once.

A figure is a number, a text or None. Left out is what a clock or a machine decides, what is written
for people, and what follows from other figures.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import fsum, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import veilmap

Figures = dict[str, Any]
TIMINGS = {"seconds", "seconds_max", "learning_seconds", "peak_mb"}
WORDS = {"label", "trained", "refused", "defences", "says", "paper", "note", "values", "effect"}
FOLLOWS = {"start_s", "emd_paper", "emd_random_paper", "true_places", "key_name"}
LEFT_OUT = TIMINGS | WORDS | FOLLOWS
# A longer column is kept as a hash of its bits, with the values to so many digits beside it.
LONG, DIGITS = 4, 5


def of_run(folder: Path) -> Figures:
    """Rows, history, what the phones did, the weights, and what the server saw."""
    content = _json(folder / "results.json")
    refused = {str(each["round"]): list(each["refused"]) for each in content["history"]}
    return {
        "resolved": _flat(content["settings"]["resolved"]),
        "rows": columns(content["rows"]),
        "history": columns(content["history"]),
        "refused": {number: users for number, users in refused.items() if users},
        "defences": columns(_flat(step) for step in content["defences"]),
        "weights": of_array(veilmap.SignalMap.load(folder / "model.safetensors").weights),
        "transcript": of_transcript(folder / "transcript"),
    }


def of_transcript(folder: Path) -> Figures:
    """The header's facts, one line per observation, and the weights that each round began with."""
    transcript = veilmap.Transcript(folder)
    known = transcript.header.side_knowledge
    facts = {
        "label_offset_dbm": known.label_offset_dbm,
        "interval_s": known.interval_s,
        "epsg": known.epsg,
        "defence": list(known.defence),
        "defended": list(known.defended),
    }
    begun, lines = {}, []
    for seen in transcript:
        begun[seen.round] = {"round": seen.round, "begun": seen.start_s} | _bits(
            seen.weights_before
        )
        lines.append(
            {"round": seen.round, "user": seen.user, "n": seen.n} | _bits(seen.weights_after)
        )
    return {"header": facts, "rounds": columns(begun.values()), "observations": columns(lines)}


def of_array(values: np.ndarray) -> Figures:
    """Its bits as a hash, and numbers that tell by how much they changed."""
    return {"size": int(values.size), "mean": float(values.astype(np.float64).mean())} | _bits(
        values
    )


def _bits(values: np.ndarray) -> Figures:
    return {
        "bits": _hash(np.ascontiguousarray(values).tobytes()),
        "norm": sqrt(fsum(np.square(values, dtype=np.float64))),  # no BLAS, whose threads change it
    }


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()[:10]


def of_attack(folder: Path) -> Figures:
    """Rows, history, and the positions found."""
    content, places = _json(folder / "results.json"), _json(folder / "found.geojson")
    found = [_place(each) for each in places["features"]]
    return {
        "rows": columns(content["rows"]),
        "history": columns(_flat(line) for line in content["history"]),
        "located": columns(each for each in found if "rank" not in each),
        "ranked": columns(each for each in found if "rank" in each),
    }


def _place(feature: Mapping[str, Any]) -> Figures:
    point = feature["geometry"]
    lon, lat = point["coordinates"] if point else (None, None)
    facts = {name: value for name, value in feature["properties"].items() if name != "cosine"}
    return {**facts, "lat_deg": lat, "lon_deg": lon}


def of_audit(folder: Path, *, of_rounds: bool) -> Figures:
    """Rows, the medians of each configuration, and of rounds the history."""
    content = _json(folder / "results.json")
    return {
        "rows": columns(content["rows"]),
        "history": columns(content["history"] if of_rounds else ()),
        "configurations": columns(content["configurations"]),
        "failed": list(content["failed"]),
    }


def of_sweep(folder: Path, swept: Any) -> Figures:
    """Rows as JSON and as Parquet, what became of the claims, and what was kept of each run."""
    content = _json(folder / "results.json")
    table = pl.read_parquet(folder / "rows.parquet")
    verdicts = [verdict for under in swept.verdicts for verdict in under]
    return {
        "rows": columns(content["rows"]),
        "parquet": {"rows": table.height, "columns": sorted({*table.columns} - LEFT_OUT)},
        "claims": columns(
            {
                "claim": verdict.claim.says,
                "attack": verdict.attack,
                "outcome": verdict.outcome.name,
                **{f"effect_{i}": effect for i, effect in enumerate(verdict.effects)},
            }
            for verdict in verdicts
        ),
        "rounds": columns(map(_with_keys, swept.figures.rows("rounds"))),
        "training": columns(map(_with_keys, swept.figures.rows("training"))),
        "gradient": columns(map(_with_keys, swept.figures.rows("gradient"))),
        "kept": columns(_kept(result) for _, result in swept.figures.runs),
    }


def _with_keys(row: Any) -> Figures:
    return {**row.row.as_dict(), **row.keys}


def _kept(result: Any) -> Figures:
    """Of the places found, of DLG's path and of the points chosen: how many, and their middle."""
    positions = result.positions
    if positions is None:
        return {"found": 0, "path": 0, "chosen": 0}
    found = [
        (t, *_rounded(xy_m))
        for points in positions.tried.values()
        for t, xy_m in zip(points.rounds.tolist(), points.xy_m, strict=True)
    ]
    chosen = [_rounded(xy_m) for points in positions.chosen.values() for xy_m in points.xy_m]
    kept = {"found": found, "path": [*map(_rounded, positions.path_m)], "chosen": chosen}
    middles = {name: np.mean(lines, axis=0).tolist() for name, lines in kept.items() if lines}
    return {name: len(lines) for name, lines in kept.items()} | _flat(middles)


def _rounded(xy_m: np.ndarray) -> tuple[float, ...]:
    """To a centimetre, as places were recorded."""
    return tuple(round(float(value), 2) for value in xy_m)


def of_reproduction(folder: Path, attacks: Sequence[str]) -> Figures:
    """Rows, and what became of each claim, under the attacks that there were on that day."""
    content = _json(folder / "results.json")
    claims = [
        {
            **claim,
            "under": {name: claim["under"][name] for name in claim["under"] if name in attacks},
        }
        for claim in content["claims"]
    ]
    return {
        "rows": columns(row for row in content["rows"] if row["attack"] in (*attacks, "none")),
        "claims": columns(map(_flat, claims)),
    }


def columns(rows: Iterable[Mapping[str, Any]]) -> Figures:
    """``[{"a": 1, "b": 5}, {"a": 2, "b": 5}]`` → ``{"count": 2, "a": [1, 2], "b": 5}``.

    None where a row lacks the figure; one value alone where all rows have the same.
    """
    table = [dict(row) for row in rows]
    names = dict.fromkeys(name for row in table for name in row if name not in LEFT_OUT)
    found = {name: _column([row.get(name) for row in table]) for name in names}
    return {"count": len(table)} | found


def _column(values: Sequence[Any]) -> Any:
    if all(value == values[0] for value in values):
        return values[0]
    if len(values) <= LONG or not any(isinstance(value, float) for value in values):
        return values
    numbers = [value if value is None else float(value) for value in values]
    rounded = [value if value is None else float(f"{value:.{DIGITS}g}") for value in numbers]
    return {"bits": _hash(json.dumps(numbers).encode()), "values": rounded}


def _flat(values: Mapping[str, Any], before: str = "") -> Figures:
    """Tables and lists within tables as one: ``figures.noise_std``, ``layer_norms.0``."""
    found: Figures = {}
    for name, value in values.items():
        if isinstance(value, list):
            value = {str(place): each for place, each in enumerate(value)}
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[before + name] = value
    return found


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content
