"""The unit of an audit: one configuration with one seed, trained once, every target attacked."""

import hashlib
import json
import time
from dataclasses import dataclass, replace
from importlib.metadata import version
from math import hypot
from statistics import fmean
from typing import Any, Literal

import numpy as np

from veilmap.auditing.positions import Positions, positions_of
from veilmap.errors import UserError
from veilmap.federation.observation import Recorder
from veilmap.local_data import LocalData
from veilmap.measurements import Measurements
from veilmap.metrics.places import find_places
from veilmap.settings import plain
from veilmap.study.attack import attack
from veilmap.study.attack_files import history_line
from veilmap.study.attack_run import AttackRun
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.evidence.evidence import evidence_of
from veilmap.study.prepare import prepare
from veilmap.study.results import result_row
from veilmap.study.settings import RunSettings
from veilmap.study.train import Run, train_prepared

SCHEMA = 3
TOP_PLACES = 5
Row = dict[str, Any]
Key = tuple[str, int]  # configuration and seed


@dataclass(frozen=True)
class Unit:
    """What is to be run.

    Attributes:
        configuration: its name in the audit.
        settings: of the run, with its seed.
        attacks: on it, without a target.
        targets: the users to find.
        with_theory: whether to compute what Theorem 1 says of each round, which takes time.
        with_positions: whether to keep where they were and where they were found.
    """

    configuration: str
    settings: RunSettings
    attacks: AttackSettings
    targets: tuple[str, ...]
    with_theory: bool
    with_positions: bool

    @property
    def seed(self) -> int:
        return self.settings.task.seed

    @property
    def key(self) -> Key:
        return self.configuration, self.seed

    def digest(self, data: Measurements) -> str:
        """Of everything that decides the figures: they are made anew when it changes."""
        parts = {
            "schema": SCHEMA,
            "version": version("veilmap"),
            "settings": plain(self.settings),
            "attacks": plain(self.attacks),
            "targets": list(self.targets),
            "theory": self.with_theory,
            "data": [data.fingerprint, data.timezone, data.projection.epsg],
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Result:
    """What came of it.

    Attributes:
        configuration: its name in the audit.
        seed: of the run.
        rows: one per attack and target.
        history: one per attack, target and round.
        steps: what the defence did on the phones, step by step.
        oracle: what was used that no server has.
        refused: how many updates the server did not take.
        seconds: that it took.
        failed: why there are no figures, or None.
        positions: None where they are not kept.
    """

    configuration: str
    seed: int
    rows: tuple[Row, ...] = ()
    history: tuple[Row, ...] = ()
    steps: tuple[Row, ...] = ()
    oracle: tuple[str, ...] = ()
    refused: int = 0
    seconds: float = 0.0
    failed: str | None = None
    positions: Positions | None = None


def run_unit(unit: Unit, data: Measurements) -> Result:
    """Train in memory and attack; a run that cannot be attacked is a result too."""
    before = time.perf_counter()
    try:
        result = _attacked(unit, data)
    except UserError as error:
        result = Result(unit.configuration, unit.seed, failed=str(error))
    return replace(result, seconds=time.perf_counter() - before)


def _attacked(unit: Unit, data: Measurements) -> Result:
    prepared, seen = prepare(data, unit.settings), Recorder(unit.targets)
    run = train_prepared(prepared, seen, keep=unit.targets)
    known = evidence_of(prepared, seen.observations, run.batches)
    attacked = []
    for target in unit.targets:
        who = replace(unit.attacks.who, target=target)
        theory: Literal[False, "theorem 1"] = "theorem 1" if unit.with_theory else False
        attacked.append(attack(known, replace(unit.attacks, who=who), theory=theory))
    return Result(
        configuration=unit.configuration,
        seed=unit.seed,
        rows=tuple(row for each in attacked for row in _rows(unit, run, each)),
        history=tuple(line for each in attacked for line in _history(unit, run, each)),
        steps=tuple(step.as_dict() for step in run.defences),
        oracle=tuple(dict.fromkeys(name for each in attacked for name in each.oracle)),
        refused=sum(len(record.refused) for record in run.history),
        positions=positions_of(run, attacked) if unit.with_positions else None,
    )


def _rows(unit: Unit, run: Run, attacked: AttackRun) -> list[Row]:
    truth = LocalData.join(list((attacked.truth or {}).values()))
    sent = [each.n for each in next(iter(attacked.found.values()))]
    # A cumulative update has the points of all rounds before.
    trained = sent[-1] if unit.settings.training.cumulative else sum(sent)
    common = {
        "rmse_db": run.rmse_db,
        "rmse_constant_db": run.prepared.rmse_constant_db,
        "points": fmean(sent),
        "points_share": trained / len(truth),
        "true_places": len(find_places(truth.xy_m, most=TOP_PLACES)),
    }
    return [
        result_row(
            unit.configuration,
            unit.seed,
            attack=name,
            target=attacked.target,
            **common,
            **scores.figures(),
        )
        for name, scores in attacked.scores.items()
    ]


def _history(unit: Unit, run: Run, attacked: AttackRun) -> list[Row]:
    """``distance_trained_m`` is from what was trained on, of which the theorems speak."""
    largest_m = max(run.prepared.plan.scaler.scale_m)
    rmse_db = {record.round: record.rmse_db for record in run.history}
    lines = []
    for name, found in attacked.found.items():
        for each in found:
            line = history_line(attacked, name, each)
            centroid_m = run.batches[each.round][attacked.target].centroid_m
            trained_m = float(np.linalg.norm(each.xy_m - centroid_m))
            bound_std = line["bound_1_std"]
            lines.append(
                {
                    "configuration": unit.configuration,
                    "seed": unit.seed,
                    "target": attacked.target,
                    **line,
                    "norm": hypot(*attacked.norms[each.round]),
                    "distance_trained_m": trained_m if np.isfinite(trained_m) else None,
                    "bound_m": None if bound_std is None else bound_std * largest_m,
                    "rmse_db": rmse_db[each.round],
                }
            )
    return lines
