"""Which defences a run takes, as data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from veilmap.defences.combinations import combination_faults
from veilmap.defences.step import LearnedStep, Step
from veilmap.errors import UserError, fault_of, refuse
from veilmap.settings import ONE_OR_MORE, NamesMayBeNumbers
from veilmap.strategy import as_text
from veilmap.study.step_notation import Steps, as_tuple, parts_of, step_of
from veilmap.wording import counted


@dataclass(frozen=True)
class Protection(NamesMayBeNumbers):
    """What phones do before they send.

    Attributes:
        defence: defence steps in order: diverse, farthest, random, geoind, gan, dp, or those of
            installed packages (see veilmap methods), with settings after a colon:
            farthest:eps_m=50,num=20 dp:epsilon=100. See docs/defences.md.
        defended: users whose phones apply them; by default all.
    """

    defence: Steps = ()
    defended: Annotated[tuple[str, ...], ONE_OR_MORE] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "defence", as_tuple(self.defence))
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        faults = [fault for part in self._parts for fault in fault_of(step_of, part)]
        yield from faults or combination_faults(self.steps)
        if self.defended and not self.defence:
            yield UserError(
                f"{counted(len(self.defended), 'user')} to be defended; say how with --defence"
            )

    @property
    def _parts(self) -> list[str | Step]:
        return [part for given in self.defence for part in parts_of(given)]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps themselves."""
        return tuple(map(step_of, self._parts))

    @property
    def texts(self) -> tuple[str, ...]:
        """The steps in full."""
        return tuple(as_text(step) for step in self.steps)

    @property
    def oracle(self) -> tuple[str, ...]:
        """What the defences take from all users' data, which no real phone has."""
        learn = any(isinstance(s, LearnedStep) and s.learns_from == "public" for s in self.steps)
        return ("public sample",) if learn else ()
