"""The scale on which a map is judged: 0 is the constant, 1 the map of all measurements at once."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from veilmap.kriging.central import central_kriging
from veilmap.local_data import LocalData, Round
from veilmap.metrics.map_errors import Skill, SquaredErrors, TestSet
from veilmap.model.threads import one_thread


@dataclass(frozen=True)
class Yardstick:
    """Errors on the test data of what needs no federation, from the same training data."""

    constant: SquaredErrors
    rounds: Sequence[Round]
    test: LocalData

    @property
    def central(self) -> SquaredErrors:
        """Of central kriging."""
        return _central(_Hashed(self.rounds, self.test))

    def skill(self, errors: SquaredErrors) -> Skill:
        """Of a map beside the constant."""
        return Skill.of(errors, self.constant)

    def share_of_central(self, skill_by_place: float | None) -> float | None:
        """The part of central kriging's skill that a map has; None if that has none."""
        central = self.skill(self.central).by_place
        if skill_by_place is None or central is None or central <= 0:
            return None
        return skill_by_place / central


@dataclass(frozen=True, eq=False)
class _Hashed:
    """Training and test data, equal to others by their bytes."""

    rounds: Sequence[Round]
    test: LocalData

    @cached_property
    def digest(self) -> bytes:
        digest = hashlib.blake2b()
        pieces = [data for this in self.rounds for data in this.data.values()]
        for data in (*pieces, self.test):
            digest.update(data.xy_m.tobytes())
            digest.update(data.rsrp_dbm.tobytes())
            digest.update(b"end")
        return digest.digest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.digest == other.digest


# Many runs of a comparison have the same data.
@lru_cache(maxsize=16)
def _central(data: _Hashed) -> SquaredErrors:
    test = TestSet(data.test)
    with one_thread():
        return test.errors(central_kriging(data.rounds).predict(test.xy_m)[0])
