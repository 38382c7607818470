"""One run of a sweep: what decides its figures, and nothing else."""

import hashlib
import json
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from veilmap.area import Area
from veilmap.settings import plain
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.settings import RunSettings
from veilmap.study.trial import SameRound

SCHEMA = 1


@dataclass(frozen=True)
class Case:
    """What is run.

    Attributes:
        data: the name of the measurements among those that all runs share.
        settings: of the run, with its seed.
        target: the user who is attacked.
        area: where the attacker looks.
        attacks: on the target; None only trains.
        counted: nothing is run, the data are counted.
        same_round: one round's data over and over.
        keep: what is kept besides the figures.
    """

    data: str
    settings: RunSettings
    target: str
    area: Area
    attacks: AttackSettings | None = None
    counted: bool = False
    same_round: SameRound | None = None
    keep: frozenset[str] = field(default=frozenset())

    @property
    def seed(self) -> int:
        return self.settings.task.seed

    def digest(self, fingerprint: str) -> str:
        """Of everything that decides the figures; what is kept beside them does not."""
        parts: dict[str, Any] = {
            "schema": SCHEMA,
            "version": version("veilmap"),
            "settings": plain(self.settings),
            "target": self.target,
            "area": plain(self.area),
            "attacks": self.attacks and plain(self.attacks),
            "counted": self.counted,
            "same_round": self.same_round and plain(self.same_round),
            "data": fingerprint,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
