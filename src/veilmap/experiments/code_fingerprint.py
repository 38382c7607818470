"""A hash of the code that a trial runs, so that a result of other code is not taken for its own.

It covers veilmap's own source files, and of foreign map families, defences and attacks the files
that define them; not what those import in turn, nor the versions of libraries.
"""

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from veilmap.experiments.trial import Trial
from veilmap.notation import name_and_values
from veilmap.study.attack_notation import ATTACK_METHODS

_PACKAGE = __name__.partition(".")[0]


def code_of(trial: Trial) -> str | None:
    """The hash; None if a foreign class has no source, so that nobody can tell what it does."""
    digest = sha256(package_fingerprint().encode())
    for thing in dict.fromkeys(_foreign(trial)):
        source = _source(thing)
        if source is None:
            return None
        digest.update(f"{thing.__module__}.{thing.__qualname__}\0{source}\0".encode())
    return digest.hexdigest()


@cache
def package_fingerprint() -> str:
    """Of the package's source files, their names included."""
    folder = Path(__file__).parents[1]
    digest = sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
        digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _foreign(trial: Trial) -> Iterator[Any]:
    """The classes and functions in the settings that are not veilmap's or Python's own."""
    settings, attacks = trial.settings, trial.attacks
    names = attacks.who.method if attacks else ()
    classes = [ATTACK_METHODS.class_of(name_and_values(n)[0]) for n in names if isinstance(n, str)]
    yield from _defined([settings, settings.map, settings.protection.steps, attacks, classes])


def _defined(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _defined(each)
        return
    thing = value if inspect.isclass(value) or inspect.isroutine(value) else type(value)
    kinds = inspect.getmro(thing) if inspect.isclass(thing) else (thing,)
    yield from (each for each in kinds if _is_foreign(each.__module__ or ""))
    if is_dataclass(value) and not inspect.isclass(value):
        for each in fields(value):
            yield from _defined(getattr(value, each.name))


def _is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return (
        bool(top) and top != _PACKAGE and (top not in sys.stdlib_module_names or top == "__main__")
    )


def _source(thing: Any) -> str | None:
    """Of the module that defines it; in a notebook, its own.

    None of a function that uses variables around it, whose values no source tells.
    """
    if getattr(thing, "__closure__", None):
        return None
    module = sys.modules.get(thing.__module__)
    try:
        return inspect.getsource(
            thing if module is None or thing.__module__ == "__main__" else module
        )
    except (OSError, TypeError):
        return None
