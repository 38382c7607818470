"""Which defences a run takes, as data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from veilmap.defences.combinations import combination_faults
from veilmap.defences.step import JOINED_BY, LearnedStep, Step, as_text
from veilmap.errors import UserError, refuse
from veilmap.study.notation import step_of


@dataclass(frozen=True)
class Protection:
    """What phones do before they send.

    Attributes:
        defence: the steps in their order, each with its settings, such as
            ``diverse:eps_m=50`` or ``farthest:eps_m=50,num=20`` ``dp:epsilon=100``.
        defended: the users who take them; by default all.
    """

    # A user may be named by a number.
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(coerce_numbers_to_str=True)

    defence: tuple[str, ...] = ()
    defended: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        yield from combination_faults(self.steps)
        if self.defended and not self.defence:
            yield UserError(f"users {self.defended} are to be defended; say how with --defence")

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps themselves."""
        return tuple(step_of(part) for text in self.defence for part in text.split(JOINED_BY))

    @property
    def texts(self) -> tuple[str, ...]:
        """The steps in full."""
        return tuple(as_text(step) for step in self.steps)

    @property
    def oracle(self) -> tuple[str, ...]:
        """What the defences take from everybody's data, which no real phone has."""
        learn = any(isinstance(s, LearnedStep) and s.learns_from == "public" for s in self.steps)
        return ("public sample",) if learn else ()
