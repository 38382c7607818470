"""What printed settings need before they can be used: the classes that are not veilmap's own."""

from collections.abc import Iterator, Sequence
from typing import Any

from veilmap.maps.families import MAP_FAMILIES
from veilmap.registry import Registry
from veilmap.strategy import Named
from veilmap.study.attack_notation import ATTACK_METHODS, MethodChoice
from veilmap.study.settings import RunSettings
from veilmap.study.step_notation import DEFENCES


def needed_classes(
    runs: Sequence[RunSettings], methods: Sequence[MethodChoice] = ()
) -> tuple[str, ...]:
    """A sentence for each class that texts cannot stand for, or only with its package."""
    needed: dict[str, None] = {}
    for run in runs:
        needed |= dict.fromkeys(_needed(MAP_FAMILIES, run.map))
        for step in run.protection.steps:
            needed |= dict.fromkeys(_needed(DEFENCES, step))
    for method in methods:
        if not isinstance(method, str):
            needed |= dict.fromkeys(_needed(ATTACK_METHODS, method))
    return tuple(needed)


def as_comments(needed: Sequence[str], toml: str) -> str:
    """The settings file below what it needs."""
    return "".join(f"# {sentence}\n" for sentence in needed) + toml


def _needed(registry: Registry[Any], strategy: Named) -> Iterator[str]:
    kind, name = type(strategy), strategy.name
    if name in registry.own:
        return
    called = f"The {registry.what} {name}"
    if name in registry.names and registry.class_of(name) is kind:
        yield f"{called} needs the installed package {registry.package_of(name)}."
    else:
        yield (
            f"{called} is the class {kind.__qualname__} of {kind.__module__}, which no installed "
            "package registers: pass the object in Python, or register the class "
            "(docs/extending.md)."
        )
