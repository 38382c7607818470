"""What a step says of itself, and what is assumed of one that says nothing.

Any class may be a step: what it does not declare is taken at its worst. A declaration is an
attribute or a property, because it may depend on the step's settings.
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import get_args

from veilmap.defences.step import (
    LearnedStep,
    LooksAt,
    Moves,
    PointStep,
    Source,
    Spending,
    Step,
    UpdateStep,
)
from veilmap.errors import UserError, out_of_range, unknown_choice
from veilmap.strategy import method_faults

KINDS = (PointStep.on_points, UpdateStep.on_update, LearnedStep.learn)  # a step has one of these


def acts_on_points(step: Step) -> bool:
    """Whether it chooses or moves points, at once or after it has learned."""
    return not isinstance(step, UpdateStep)


def looks_at(step: Step) -> LooksAt:
    """What its result depends on: where points lie, or nothing of the kind."""
    assumed: LooksAt = "positions" if acts_on_points(step) else "nothing"
    return getattr(step, "looks_at", assumed)


def moves(step: Step) -> Moves:
    """What it does to positions.

    ``nothing``: of the points it is given it keeps some. ``by rule``: the same points always come
    to the same places. ``at random``: to other places each time.
    """
    assumed: Moves = "at random" if acts_on_points(step) else "nothing"
    return getattr(step, "moves", assumed)


def is_selection(step: Step) -> bool:
    """Whether it keeps some points, which it chooses by where they lie."""
    return looks_at(step) == "positions" and moves(step) == "nothing" and not is_control(step)


def is_control(step: Step) -> bool:
    """Whether it is what a selection is compared with."""
    return getattr(step, "control", False)


def covers_positions(step: Step) -> bool:
    """Whether it has a budget that covers where the points were measured."""
    return acts_on_points(step) and isinstance(step, Spending)


def fixed_size(step: Step) -> int | None:
    """How many points it keeps of a round with more; one with no more is kept whole.

    None if that depends on where the points lie.
    """
    return getattr(step, "fixed_size", None)


def noise_std(step: Step) -> float:
    """σ of the noise that it adds to each coordinate of an update."""
    return getattr(step, "sigma", 0.0)


def mu_of(step: Step) -> float | None:
    """μ by which one update is Gaussian differentially private; None if it does not say."""
    return getattr(step, "mu", None)


def declaration_faults(step: Step) -> Iterator[UserError]:
    """What cannot be true of a step."""
    kinds = [method.__name__ for method in KINDS]
    methods = [name for name in kinds if hasattr(step, name)]
    yield from method_faults(step, "defence", (*KINDS, Spending.spent))
    if len(methods) != 1:
        yield UserError(
            f"defence {step.name} must have one of {', '.join(kinds)}, got "
            f"{' and '.join(methods) or 'none of them'}; split it into steps of one kind each"
        )
    elif methods == ["learn"]:
        yield from _choice_faults(step, "learns_from", get_args(Source), None)
    yield from _choice_faults(step, "looks_at", get_args(LooksAt), looks_at(step))
    yield from _choice_faults(step, "moves", get_args(Moves), moves(step))
    yield from _choice_faults(step, "control", (True, False), False)
    if not acts_on_points(step) and (looks_at(step), moves(step)) != ("nothing", "nothing"):
        yield UserError(
            f"defence {step.name} acts on the update and never has the points, got looks_at "
            f"{looks_at(step)!r} and moves {moves(step)!r}; leave both out"
        )
    size = fixed_size(step)
    if size is not None and not (isinstance(size, int) and size >= 1):
        yield out_of_range(f"fixed_size of defence {step.name}", "at least 1, or None", size)
    for name, value in (("sigma", noise_std(step)), ("mu", mu_of(step))):
        if value is not None and not (isinstance(value, int | float) and 0 <= value < inf):
            demand = "a finite number of at least 0"
            yield out_of_range(f"{name} of defence {step.name}", demand, value)


def _choice_faults(
    step: Step, name: str, choices: Sequence[object], assumed: object
) -> Iterator[UserError]:
    value = getattr(step, name, assumed)
    if value not in choices:
        yield unknown_choice(f"{name} of defence {step.name}", value, map(str, choices))
