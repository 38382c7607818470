"""An attack on disk: the figures, and separately the places found."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import UserError
from veilmap.files import PRIVATE, json_bytes, remove, written
from veilmap.geo import Projection
from veilmap.metrics.places import likely_home, likely_work
from veilmap.metrics.rows import AttackedRound
from veilmap.metrics.transport import emd_m
from veilmap.output import held, refuse_no_folder
from veilmap.settings import plain
from veilmap.study.attack_run import AttackRun
from veilmap.study.results import result_row, results, versions
from veilmap.study.run_folder import RunFolder, attack_files

# For a round's EMD in the history; with 1,000 directions it changes by less than a thousandth.
_PROJECTIONS = 100


class AttackFolder:
    """``results.json`` has no position in it; ``found.geojson`` has those that the server found."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.results = self.path / "results.json"
        self.places = self.path / "found.geojson"

    def refuse_taken(self, overwrite: bool) -> None:
        """An error if the folder is a run's or a transcript's, or has results that must stay."""
        refuse_no_folder(self.path)
        RunFolder(self.path).refuse_run()
        if self.results.exists() and not overwrite:
            raise UserError(
                f"{self.path} holds results already; choose another --out or add --overwrite "
                "(overwrite=True in Python)"
            )

    @contextmanager
    def held(self, overwrite: bool) -> Iterator[None]:
        """Lock the folder while the block runs.

        Checks again that it is free, because another process may have finished meanwhile.
        """
        with held(self.path):
            self.refuse_taken(overwrite)
            yield

    def write(self, run: AttackRun, pictures: Mapping[str, bytes] | None = None) -> None:
        """All files, the figures last; nothing of an earlier attack stays beside them."""
        contents = {self.path / name: content for name, content in (pictures or {}).items()}
        contents |= {
            self.places: json_bytes(found_places(run)),
            self.results: json_bytes(attack_results(run)),
        }
        with written(contents, PRIVATE):
            remove(attack_files(self.path))


def attack_results(run: AttackRun) -> dict[str, Any]:
    """The content of ``results.json``: one row per method, one line of history per round."""
    settings = {
        **plain(run.settings),
        "resolved": {
            "attacked": run.path,
            "also": list(run.also),
            "configuration": run.configuration,
            "target": run.target,
            "timezone": run.timezone,
            "oracle": list(run.oracle),
            "why_no_truth": run.why_no_truth,
            "prior": run.prior,
        },
        "versions": versions(),
    }
    seed, target = run.settings.who.seed, run.target
    rows, guesses = (
        [
            result_row(run.configuration, seed, attack=name, target=target, **scores.figures())
            for name, scores in every.items()
        ]
        for every in (run.scores, run.guesses)
    )
    history = [
        attacked_round(run, name, each).as_dict()
        for name, every in run.every.items()
        for each in every
    ]
    return results(settings, rows, history, guesses)


def found_places(run: AttackRun) -> dict[str, Any]:
    """GeoJSON: the location of every round, and the places ranked over all rounds."""
    projection = Projection(run.header.side_knowledge.epsg)
    features = [_feature(projection, *each) for each in (*_locations(run), *_ranked(run))]
    return {"type": "FeatureCollection", "features": features}


def _locations(run: AttackRun) -> Iterator[tuple[tuple[float, float], dict[str, Any]]]:
    for name, found in run.found.items():
        for each in found:
            if np.isfinite(each.xy_m).all():
                facts = {"attack": name, "round": each.round, "cosine": _finite(each.cosine)}
                yield (float(each.xy_m[0]), float(each.xy_m[1])), facts


def _ranked(run: AttackRun) -> Iterator[tuple[tuple[float, float], dict[str, Any]]]:
    for name, scores in run.scores.items():
        home, work = likely_home(scores.places), likely_work(scores.places)
        for rank, place in enumerate(scores.places, 1):
            facts = {key: value for key, value in asdict(place).items() if key != "xy_m"}
            likely = "home" if home and place == home.place else None
            likely = "work" if place == work else likely
            yield place.xy_m, {"attack": name, "rank": rank, "likely": likely, **facts}


def _feature(
    projection: Projection, xy_m: tuple[float, float], facts: dict[str, Any]
) -> dict[str, Any]:
    lat_deg, lon_deg = projection.degrees(np.array([xy_m]))
    # Far outside its zone a projection has no inverse.
    inverse = bool(np.isfinite(lat_deg).all() and np.isfinite(lon_deg).all())
    lon_lat = [round(float(lon_deg[0]), 7), round(float(lat_deg[0]), 7)]
    point = {"type": "Point", "coordinates": lon_lat} if inverse else None
    return {"type": "Feature", "geometry": point, "properties": facts}


def attacked_round(run: AttackRun, name: str, each: Reconstruction) -> AttackedRound:
    """The result of one attack on one round, without a position."""
    truth = None if run.truth is None else run.truth[each.round]
    distance_m = None if truth is None else _finite(np.linalg.norm(each.xy_m - truth.centroid_m))
    placed = bool(np.isfinite(each.cloud.xy_m).all())
    predicted = run.predicted.get(each.round)
    return AttackedRound(
        attack=name,
        round=each.round,
        start=int(each.start),
        start_s=float(each.start_s),
        n=int(each.n),
        cosine=_finite(each.cosine),
        inside=bool(run.area.contains(each.xy_m)),
        distance_m=distance_m,
        emd_m=emd_m(truth.xy_m, each.cloud.xy_m, None, each.cloud.weights, _PROJECTIONS)
        if truth is not None and placed
        else None,
        iterations=int(each.iterations),
        seconds=float(each.seconds),
        outcome=each.outcome.name.lower(),
        predicted_error_m=_finite(predicted.error_m) if predicted else None,
        bound_1_std=_finite(predicted.bound_1_std) if predicted else None,
        bound_2_std=_finite(predicted.bound_2_std) if predicted else None,
        layer_norms=tuple(_finite(norm) for norm in run.norms[each.round]),
    )


def _finite(value: Any) -> float | None:
    return float(value) if value is not None and isfinite(value) else None
