"""Strategies of one kind, ours and those of others: as text, and as objects that are checked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from veilmap.errors import UserError, refuse, shown
from veilmap.notation import object_of
from veilmap.plugins import registered_class, registered_names
from veilmap.strategy import Named, as_text, class_faults, strategy_faults

Kind = TypeVar("Kind", bound=Named)


@dataclass(frozen=True)
class Registry(Generic[Kind]):
    """All defences, say: ``what`` is one of them.

    Attributes:
        what: the noun for one; other packages register theirs as entry points of ``group``.
        own: our classes by name, which nobody else can take.
        members: what an object must have besides a name.
        reserved: names that mean something else.
        as_text: whether the text of an object must make it again.
    """

    what: str
    own: Mapping[str, type[Kind]]
    members: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()
    as_text: bool = True

    @property
    def group(self) -> str:
        """Of entry points."""
        return f"veilmap.{self.what}s"

    @property
    def names(self) -> tuple[str, ...]:
        """Ours first, then those of installed packages."""
        return registered_names(self.group, self.own)

    def class_of(self, name: str) -> type:
        """The class of that name.

        Raises:
            UserError: nobody registers the name, or what is registered cannot be one.
        """
        kind = registered_class(self.group, self.own, name)
        refuse(class_faults(kind, self.what, self.members))
        called = getattr(kind, "name", None)
        if called != name:
            raise UserError(
                f"the {self.what} {kind.__name__} is registered as {shown(name)} and its name is "
                f"{shown(called)}; its package must make them the same"
            )
        return kind

    def of_text(self, text: str) -> Kind:
        """The object that a text such as ``mine:depth=3`` stands for; units may be left out."""
        made: Kind = object_of(text, self.class_of)
        refuse(self.faults(made))
        return made

    def faults(self, given: object) -> Iterator[UserError]:
        """What keeps an object of anybody's from being one."""
        if type(given) in self.own.values():
            return
        faults = list(strategy_faults(given, self.what, self.members)) or list(
            self._faults(given)  # type: ignore[arg-type]
        )
        yield from faults

    def _faults(self, given: Named) -> Iterator[UserError]:
        called, kind = f"{self.what} {type(given).__name__}", type(given)
        if given.name in (*self.own, *self.reserved):
            yield UserError(
                f"the {called} has the name {shown(given.name)}, which is one of ours; "
                "choose another name"
            )
        elif given.name in self.names and self.class_of(given.name) is not kind:
            yield UserError(
                f"the {called} has the name {shown(given.name)}, by which an installed package "
                f"registers {self.class_of(given.name).__name__}; choose another name"
            )
        elif self.as_text and not _is_read_back(given):
            yield UserError(
                f"the settings of {called} must be numbers, truth values or texts without commas, "
                "which can be written and read again; make other things from them in a property"
            )


def _is_read_back(given: Named) -> bool:
    """Whether its text stands for the same settings."""
    try:
        made = object_of(as_text(given), lambda name: type(given))
        return _values(made) == _values(given)
    # A setting that is an array, or of a class that nothing is known of, fails in its own way.
    except Exception:
        return False


def _values(strategy: Named) -> list[Any]:
    return [getattr(strategy, field.name) for field in fields(strategy)]  # type: ignore[arg-type]
