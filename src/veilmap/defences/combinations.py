"""Which steps go together, and why others do not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

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
    if CONTROL in names:
        for name in SELECTIONS:
            if name in names:
                yield UserError(
                    f"{CONTROL} is the control that stands in place of {name}; leave out one of "
                    "the two"
                )
    for step, later in pairwise(steps):
        if isinstance(step, UpdateStep) and not isinstance(later, UpdateStep):
            yield UserError(
                f"{step.name} acts on the update, when {later.name} has long chosen the points; "
                f"write {step.name} last"
            )


def cumulative_faults(steps: Sequence[Step]) -> Iterator[UserError]:
    """What cannot be combined with keeping the data of earlier rounds."""
    for step in steps:
        if step.name in DISPLACING:
            yield UserError(
                f"cumulative training would give {step.name} the points of earlier rounds again, "
                "and the mean of many draws is the true point; leave out one of the two"
            )
