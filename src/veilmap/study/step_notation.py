"""The steps of a defence: objects, or text such as ``farthest:eps_m=50,num=20``."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator

from veilmap.defences.declarations import declaration_faults
from veilmap.defences.step import Step
from veilmap.defences.steps import STEPS
from veilmap.errors import UserError, refuse, shown
from veilmap.notation import name_and_values, split_steps
from veilmap.registry import Registry

CENTRE = "centre"
DEFENCES: Registry[Step] = Registry("defence", STEPS, reserved=(CENTRE,))


def as_tuple(given: Any) -> tuple[Any, ...]:
    """One step is a list of one."""
    return tuple(given) if isinstance(given, list | tuple) else (given,)


if TYPE_CHECKING:
    Steps = tuple[str | Step, ...]
else:  # parsers of files and command lines see texts
    Steps = Annotated[tuple[str, ...], PlainValidator(as_tuple)]


def parts_of(given: str | Step) -> Sequence[str | Step]:
    """One by one the steps of a text such as ``diverse:eps_m=50 + dp:epsilon=8``; or an object."""
    return split_steps(given) if isinstance(given, str) else [given]


def step_of(given: str | Step) -> Step:
    """The step that a text such as ``diverse:eps_m=50`` stands for; an object, if it is one.

    Raises:
        UserError: it is no step.
    """
    if not isinstance(given, str):
        refuse(DEFENCES.faults(given))
        step = given
    else:
        refuse(_text_faults(name_and_values(given)[0]))
        step = DEFENCES.of_text(given)
    refuse(declaration_faults(step))
    return step


def _text_faults(name: str) -> Iterator[UserError]:
    if name == CENTRE:
        yield UserError("centre is a setting of the labels; choose it with --label-offset mean")
    if "," in name:
        yield UserError(f"unknown defence {shown(name)}; write spaces between steps")
