"""The source files that a module rests on: those of its package, and of what these import.

Libraries do not count: what is installed in site-packages, but for the module's own package, and
what that imports. Imports are read from the source; nothing is imported.
"""

import ast
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from veilmap.study.foreign_objects import is_foreign_module

_INSTALLED = {"site-packages", "dist-packages"}


def source_files(module: str) -> dict[str, bytes]:
    """Their contents by name, such as ``package/module.py``.

    Raises:
        LookupError: the module has no file, as in a notebook.
    """
    own = _package(module)
    found = module_file(module) | _contents(own)
    seen, imported = {own}, set[str]() if _is_library(own) else _imports(found)
    while new := imported - seen:
        files = {k: v for name in new if not _is_library(name) for k, v in _contents(name).items()}
        seen |= new
        found |= files
        imported = _imports(files)
    return found


def module_file(module: str) -> dict[str, bytes]:
    """The content of its own file.

    Raises:
        LookupError: it has none.
    """
    try:
        return {module: Path(sys.modules[module].__file__ or "").read_bytes()}
    except (AttributeError, OSError) as error:
        raise LookupError(module) from error


def _package(module: str) -> str:
    """The outermost package; of what ``python -m`` runs, that which it was found in."""
    spec = sys.modules[module].__spec__
    return (spec.name if spec else module).partition(".")[0]


def _is_library(package: str) -> bool:
    installed = any(_INSTALLED & {*root.parts} for root in _roots(package))
    return installed or not is_foreign_module(package)


def _contents(package: str) -> dict[str, bytes]:
    return {
        f"{package}/{file.relative_to(root).as_posix()}": file.read_bytes()
        for root in _roots(package)
        for file in (root.rglob("*.py") if root.is_dir() else [root])
    }


def _roots(package: str) -> list[Path]:
    """Its folders, or the file of a lone module; none if Python would not find it."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):  # what stands in sys.modules without a spec
        return []
    if spec is None:
        return []
    places = spec.submodule_search_locations or [spec.origin or ""]
    return [path for path in map(Path, places) if path.exists()]


def _imports(files: Mapping[str, bytes]) -> set[str]:
    """The outermost packages that these files import."""
    return {name for content in files.values() for name in _imports_of(content)}


@lru_cache(maxsize=4096)
def _imports_of(source: bytes) -> frozenset[str]:
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):  # compiled, or not of this Python
        return frozenset()
    modules = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    # Those with a level are of the package itself.
    modules += [
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and not node.level and node.module
    ]
    return frozenset(module.partition(".")[0] for module in modules)
