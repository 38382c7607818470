"""Strategies of one kind, ours and those of others: as text, and as objects that are checked.

Other packages register theirs under a name, through Python's entry points. A package writes in its
pyproject.toml, for example::

    [project.entry-points."veilmap.attacks"]
    nearest = "my_package:NearestTower"
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from veilmap.errors import UserError, refuse, shown
from veilmap.notation import name_and_values, settings_of, split_steps
from veilmap.settings import parse
from veilmap.strategy import Named, as_text, class_faults, method_faults

Kind = TypeVar("Kind", bound=Named)

_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Registry(Generic[Kind]):
    """The classes of one kind, such as all defences.

    Attributes:
        what: the noun for the kind; other packages register classes as entry points of ``group``.
        own: our classes by name; other packages cannot register these names.
        methods: that an object must have, as its protocol defines them.
        attributes: that an object must have besides ``name``.
        reserved: names with another meaning, or of our classes that cannot be made from text.
    """

    what: str
    own: Mapping[str, type[Kind]]
    methods: tuple[Callable[..., Any], ...] = ()
    attributes: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """Of entry points."""
        return f"veilmap.{self.what}s"

    @property
    def names(self) -> tuple[str, ...]:
        """Ours first, then those of installed packages."""
        registered = entry_points(group=self.group).names
        return (*self.own, *sorted(registered - {*self.own, *self.reserved}))

    def package_of(self, name: str) -> str | None:
        """The installed package that registers the name; None for our own."""
        packages = [point.dist.name for point in self._registered(name) if point.dist]
        return packages[-1] if packages else None

    def class_of(self, name: str) -> type[Kind]:
        """The class of that name.

        Raises:
            UserError: no package registers the name, its package cannot be imported, or the
                registered class is unsuitable.
        """
        if name in self.own:
            return self.own[name]
        found = self._registered(name)
        if not found:
            raise UserError(
                f"unknown {self.what} {shown(name)}; choose one of: {', '.join(self.names)}, or "
                "install the package that has it"
            )
        if len(found) > 1:
            packages = sorted(point.dist.name for point in found if point.dist)
            raise UserError(
                f"{self.what} {shown(name)} is registered by {' and '.join(packages)}; "
                "uninstall one of them"
            )
        kind = _loaded(found[0])
        refuse(self._class_faults(kind))
        called = getattr(kind, "name", None)
        if called != name:
            raise UserError(
                f"the {self.what} {kind.__name__} is registered as {shown(name)} and its name is "
                f"{shown(called)}; its package must make them the same"
            )
        return kind

    def of_text(self, text: str) -> Kind:
        """The object that a text such as ``mine:depth=3`` stands for; units may be left out."""
        made = _object_of(text, self.class_of(name_and_values(text)[0]))
        refuse(self.faults(made))
        return made

    def faults(self, given: Any) -> Iterator[UserError]:
        """Why an object cannot be used as one of this kind."""
        if type(given) in self.own.values():
            return
        if isinstance(given, type):
            called = given.__name__
            yield UserError(f"{self.what} {called} is a class; give an instance: {called}()")
        elif type(given).__module__ == "builtins":
            yield UserError(
                f"{self.what} must be a text such as {shown(next(iter(self.own)))} or an object of "
                f"a class of yours, got {shown(given)}; see docs/extending.md"
            )
        else:
            yield from (
                list(self._class_faults(type(given)))
                or list(method_faults(given, self.what, self.methods))
                or self._instance_faults(given)
            )

    def _registered(self, name: str) -> list[EntryPoint]:
        """By installed packages, which cannot take a name of ours."""
        is_taken = name in (*self.own, *self.reserved)
        return [] if is_taken else list(entry_points(group=self.group, name=name))

    def _class_faults(self, kind: type) -> Iterator[UserError]:
        members = (*self.attributes, *(method.__name__ for method in self.methods))
        return class_faults(kind, self.what, members)

    def _instance_faults(self, given: Named) -> Iterator[UserError]:
        """Of an instance whose class is as it should be."""
        name, kind = given.name, type(given)
        called = f"{self.what} {kind.__name__}"
        if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z]\w*", name)):
            yield UserError(
                f"the name of {called} must be letters, digits and underscores, got {shown(name)}"
            )
        elif name in (*self.own, *self.reserved):
            if not kind.__module__.startswith(f"{_PACKAGE}."):
                yield UserError(
                    f"the {called} has the name {shown(name)}, which is one of ours; "
                    "choose another name"
                )
        elif name in self.names and self.class_of(name) is not kind:
            yield UserError(
                f"the {called} has the name {shown(name)}, by which an installed package "
                f"registers {self.class_of(name).__name__}; choose another name"
            )
        elif not _is_read_back(given):
            yield UserError(
                f"the settings of {called} must be numbers, truth values, texts without commas or "
                "plus signs, or tuples of these, none of them NaN or empty, got "
                f"{shown(given)}; make the rest in a property"
            )


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


def _object_of(text: str, kind: type[Kind]) -> Kind:
    name, values = name_and_values(text)
    return parse(kind, settings_of(values, kind), name)


def _is_read_back(given: Named) -> bool:
    """Whether its text stands for the same settings, also in a configuration's name."""
    kind = type(given)
    try:
        text = as_text(given)
        is_one = " + " not in text and len(split_steps(text)) == 1
        made = _object_of(text, kind)
        names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        return is_one and all(getattr(made, name) == getattr(given, name) for name in names)
    # A setting that is an array, or of a class that nothing is known of, fails in its own way.
    except Exception:
        return False
