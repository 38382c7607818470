"""Which steps go together, and why others do not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from veilmap.defences.geoind import GeoIndistinguishability
from veilmap.defences.random_points import RandomPoints
from veilmap.defences.step import Step, UpdateStep
from veilmap.errors import UserError

SELECTIONS = ("diverse", "farthest")
CONTROL = "random"
DISPLACING = ("geoind", "gan")


def combination_faults(steps: Sequence[Step]) -> Iterator[UserError]:
    """What is wrong with taking these steps in this order."""
    names = [step.name for step in steps]
    for name, count in Counter(names).items():
        if count > 1:
            yield UserError(
                f"the defence has {name} {count} times; once with the stronger setting does more"
            )
    for name in SELECTIONS:
        if CONTROL in names and name in names:
            yield UserError(
                f"{CONTROL} is the control that stands in place of {name}; leave out one of the two"
            )
    yield from _seeing_faults(steps)
    for step, later in pairwise(steps):
        if isinstance(step, UpdateStep) and not isinstance(later, UpdateStep):
            yield UserError(
                f"{step.name} acts on the update, when {later.name} has long chosen the points; "
                f"write {step.name} last"
            )


def _seeing_faults(steps: Sequence[Step]) -> Iterator[UserError]:
    """What looks at true positions before geoind, whose budget speaks of all that is done."""
    for place, step in enumerate(steps):
        if isinstance(step, GeoIndistinguishability):
            for earlier in steps[:place]:
                if not _is_blind(earlier):
                    yield UserError(
                        f"{earlier.name} looks at the true positions, which the budget of "
                        f"{step.name} then does not cover; write {step.name} first"
                    )


def _is_blind(step: Step) -> bool:
    """Whether it treats all points alike wherever they lie."""
    return isinstance(step, UpdateStep) or (isinstance(step, RandomPoints) and step.num is not None)


def cumulative_faults(steps: Sequence[Step]) -> Iterator[UserError]:
    """What cannot be combined with keeping the data of earlier rounds."""
    for step in steps:
        if step.name in DISPLACING:
            yield UserError(
                f"cumulative training would let {step.name} move the points of earlier rounds "
                "again and again, and many draws of one point give it away; leave out one of the "
                "two"
            )
