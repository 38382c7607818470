"""All map families, defences, attacks and features: ours, and those of installed packages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from inspect import getdoc
from typing import Any

from veilmap.errors import UserError
from veilmap.maps.families import MAP_FAMILIES
from veilmap.registry import Registry
from veilmap.shadows.features import FEATURES
from veilmap.study.attack_notation import ATTACK_METHODS
from veilmap.study.step_notation import DEFENCES

REGISTRIES: tuple[Registry[Any], ...] = (MAP_FAMILIES, DEFENCES, ATTACK_METHODS, FEATURES)
_SHOWN = str | int | float | bool | None


@dataclass(frozen=True)
class Method:
    """A map family, a defence, an attack, or features for the trained attacker.

    Attributes:
        kind: map, defence, attack or feature.
        name: as settings give it.
        summary: what it does, in a line; or why it cannot be used.
        settings: with their defaults, the main ones first; None if there is no default.
        package: the package that registers it; None for ours.
    """

    kind: str
    name: str
    summary: str
    settings: dict[str, Any]
    package: str | None = None


def methods(registries: Sequence[Registry[Any]] = REGISTRIES) -> list[Method]:
    """All methods by kind: ours first, then those of installed packages.

    Args:
        registries: of the kinds to list.
    """
    return [_method(registry, name) for registry in registries for name in registry.names]


def _method(registry: Registry[Any], name: str) -> Method:
    package = registry.package_of(name)
    try:
        kind = registry.class_of(name)
    except UserError as fault:
        return Method(registry.what, name, str(fault), {}, package)
    return Method(registry.what, name, _summary(kind), dict(_settings(kind)), package)


def _summary(kind: type) -> str:
    # A dataclass without a docstring is given its signature for one.
    text = (getdoc(kind) or "").partition("\n")[0]
    return "" if text.startswith(f"{kind.__name__}(") else text


def _settings(kind: type) -> Iterator[tuple[str, Any]]:
    for field in fields(kind):
        default = field.default
        if isinstance(default, tuple):
            yield field.name, list(default)
        elif isinstance(default, _SHOWN):
            yield field.name, default
