"""A step of a defence from its text."""

from veilmap.defences.step import Step
from veilmap.defences.steps import STEPS
from veilmap.errors import UserError, shown
from veilmap.notation import object_of


def step_of(text: str) -> Step:
    """The step that a text such as ``diverse:eps_m=50`` stands for."""
    step: Step = object_of(text, _class_of)
    return step


def _class_of(name: str) -> type[Step]:
    if name == "centre":
        raise UserError("centre is a setting of the labels; choose it with --label-offset mean")
    if name not in STEPS:
        raise UserError(
            f"unknown defence {shown(name)}; choose from: {', '.join(STEPS)}, with spaces between "
            "steps"
        )
    return STEPS[name]
