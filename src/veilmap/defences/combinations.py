"""Which steps go together, and why others do not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from veilmap.defences.declarations import (
    acts_on_points,
    covers_positions,
    is_control,
    is_selection,
    looks_at,
    moves,
)
from veilmap.defences.step import Step
from veilmap.errors import UserError


def combination_faults(steps: Sequence[Step]) -> Iterator[UserError]:
    """What is wrong with taking these steps in this order."""
    names = [step.name for step in steps]
    for name, count in Counter(names).items():
        if count > 1:
            yield UserError(
                f"the defence has {name} {count} times; once with the stronger setting does more"
            )
    for control in filter(is_control, steps):
        for selection in filter(is_selection, steps):
            yield UserError(
                f"{control.name} is the control that stands in place of {selection.name}; leave "
                "out one of the two"
            )
    yield from _seeing_faults(steps)
    for step, later in pairwise(steps):
        if not acts_on_points(step) and acts_on_points(later):
            yield UserError(
                f"{step.name} acts on the update, when {later.name} has long chosen the points; "
                f"write {step.name} last"
            )


def _seeing_faults(steps: Sequence[Step]) -> Iterator[UserError]:
    """Steps that look at true positions before a step whose budget should cover them."""
    for place, step in enumerate(steps):
        if covers_positions(step):
            for earlier in steps[:place]:
                if looks_at(earlier) == "positions":
                    yield UserError(
                        f"{earlier.name} looks at the true positions, which the budget of "
                        f"{step.name} then does not cover; write {step.name} first"
                    )


def cumulative_faults(steps: Sequence[Step]) -> Iterator[UserError]:
    """What cannot be combined with keeping the data of earlier rounds."""
    for step in steps:
        if moves(step) == "at random":
            way_out = "" if hasattr(step, "moves") else ", or declare what it moves"
            yield UserError(
                f"cumulative training would let {step.name} move the points of earlier rounds "
                "again and again, and many draws of one point give it away; leave out one of the "
                f"two{way_out}"
            )
