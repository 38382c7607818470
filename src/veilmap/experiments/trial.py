"""A trial: one configuration with one seed, trained once, every target attacked."""

import hashlib
import json
from dataclasses import dataclass, is_dataclass, replace
from importlib.metadata import version
from typing import Literal

from veilmap.area import Area
from veilmap.errors import UserError, refuse, too_low
from veilmap.measurements import Measurements
from veilmap.settings import plain
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.code_fingerprint import code_of
from veilmap.study.foreign_objects import foreign_objects, name_in_process
from veilmap.study.prepare import Prepared
from veilmap.study.settings import RunSettings

Keep = Literal["history", "positions", "found", "chosen", "path", "past", "gradient"]


@dataclass(frozen=True)
class SameRound:
    """The data of one round over and over, as if nothing new were measured.

    Attributes:
        number: which of the rounds with data, from 1; the last if there are fewer.
        times: how often.
    """

    number: int
    times: int = 1

    def __post_init__(self) -> None:
        refuse(too_low(1, **{"the round's number": self.number, "times": self.times}))

    def apply(self, prepared: Prepared) -> Prepared:
        """The same footing with these rounds alone."""
        chosen = prepared.rounds[: self.number][-1]
        again = (replace(chosen, number=i) for i in range(1, self.times + 1))
        return replace(prepared, rounds=tuple(again))


@dataclass(frozen=True)
class Trial:
    """What is to be run.

    Attributes:
        configuration: what it is called.
        settings: of the run, with its seed.
        targets: the users who are attacked, or whose data are counted.
        attacks: on each target; None only trains.
        area: where the attacker looks, if not the area of the settings.
        same_round: one round's data over and over.
        theory: also compute the error that Theorem 1 predicts of each round, which takes time.
        counted: nothing is trained, the targets' data are counted.
        keep: what is kept besides the figures: a line of ``history`` per attack and round, all
            ``positions`` for a map, the places ``found`` by every start, the points that the
            targets trained on (``chosen``), the ``path`` of the first attack by DLG, the RMSE on
            ``past`` data, the spread of the elements of the updates (``gradient``).
        data: the name of its measurements among those that several trials share.
    """

    configuration: str
    settings: RunSettings
    targets: tuple[str, ...]
    attacks: AttackSettings | None = None
    area: Area | None = None
    same_round: SameRound | None = None
    theory: bool = False
    counted: bool = False
    keep: frozenset[Keep] = frozenset()
    data: str = ""

    def __post_init__(self) -> None:
        if not self.targets and (self.attacks or self.counted):
            raise UserError("a trial attacks or counts its targets, got none; name users")

    @property
    def seed(self) -> int:
        return self.settings.task.seed

    @property
    def code(self) -> str | None:
        """Hash of the code that decides the figures; None if it cannot be identified."""
        return code_of(self.settings, self.attacks)

    def digest(self, data: Measurements) -> str:
        """Of everything that decides the figures but the code; what is kept does not.

        Different objects with the same text have different digests. For objects that cannot be
        imported this holds within one process only; ``code`` is then None, and nothing is cached.
        """
        parts = {
            name: plain(value) if is_dataclass(value) else value
            for name, value in vars(self).items()
            if name != "keep"
        }
        parts["version"] = version("veilmap")
        parts["data"] = [data.fingerprint, data.timezone, data.projection.epsg]
        objects = foreign_objects(self.settings, self.attacks)
        if objects:
            parts["objects"] = [name_in_process(thing) for thing in objects]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
