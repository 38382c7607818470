"""A hash of the code behind a result, so that results of other code are not reused.

It covers veilmap's own source files, and the source and the variables that foreign map families,
defences and attacks rest on; not the versions of libraries.
"""

import json
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from veilmap.study.attack_settings import AttackSettings
from veilmap.study.foreign_objects import foreign_bases, foreign_objects, importable_name
from veilmap.study.global_values import global_values
from veilmap.study.settings import RunSettings
from veilmap.study.source_files import module_file, source_files


def code_of(settings: RunSettings, attacks: AttackSettings | None = None) -> str | None:
    """The hash; None if the code of a foreign class or function cannot be identified."""
    parts: list[Any] = [package_fingerprint()]
    try:
        for thing in foreign_objects(settings, attacks):
            names = [importable_name(part) for part in (thing, *foreign_bases(thing))]
            parts += [names, _sources(thing), global_values(thing)]
    except LookupError:
        return None
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@lru_cache(maxsize=256)
def _sources(thing: Any) -> dict[str, str]:
    """Hashes of the files as they were first seen: an edit does not change what is imported."""
    found = source_files(thing.__module__)
    for base in foreign_bases(thing):
        found |= module_file(base.__module__)
    return {name: sha256(content).hexdigest() for name, content in found.items()}


@cache
def package_fingerprint() -> str:
    """Of the package's source files, their names included."""
    folder = Path(__file__).parents[1]
    digest = sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\0".encode())
        digest.update(sha256(file.read_bytes()).digest())
    return digest.hexdigest()
