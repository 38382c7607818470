"""Classes that other packages register under a name, through Python's entry points.

A package writes in its pyproject.toml, for example::

    [project.entry-points."veilmap.attacks"]
    nearest = "my_package:NearestTower"
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points

from veilmap.errors import UserError, shown


def registered_names(group: str, own: Mapping[str, type]) -> tuple[str, ...]:
    """Our own names, then those of installed packages."""
    return (*own, *(name for name in sorted(_foreign(group)) if name not in own))


def registered_class(group: str, own: Mapping[str, type], name: str) -> type:
    """The class of that name; our own names cannot be taken by others.

    Raises:
        UserError: nobody registers the name, or its package cannot be imported.
    """
    if name in own:
        return own[name]
    found = list(entry_points(group=group, name=name))
    if not found:
        raise UserError(
            f"unknown {_noun(group)} {shown(name)}; choose one of: "
            f"{', '.join(registered_names(group, own))}, or install the package that has it"
        )
    if len(found) > 1:
        packages = sorted(point.dist.name for point in found if point.dist)
        raise UserError(
            f"{_noun(group)} {shown(name)} is registered by {' and '.join(packages)}; "
            "uninstall one of them"
        )
    return _loaded(found[0])


def package_of(group: str, name: str) -> str | None:
    """The installed package that registers the name; None for our own."""
    found = _foreign(group).get(name)
    return None if found is None or found.dist is None else found.dist.name


def _loaded(found: EntryPoint) -> type:
    try:
        kind = found.load()
    # Whatever a foreign module does while it is imported is that package's fault.
    except Exception as error:
        raise UserError(
            f"cannot import {found.value} ({type(error).__name__}: {error}); "
            f"repair or uninstall {found.dist.name if found.dist else 'its package'}"
        ) from error
    if not isinstance(kind, type):
        raise UserError(
            f"{found.value} must be a class, got {shown(kind)}; register the class itself"
        )
    return kind


def _foreign(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}


def _noun(group: str) -> str:
    return group.removeprefix("veilmap.").removesuffix("s")
