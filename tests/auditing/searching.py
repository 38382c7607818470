"""Every number and every text that the files of a folder hold, however they are packed."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from veilmap.experiments.packed_arrays import unpack

_NUMBER = re.compile(r"(?<![\w.#])-?\d+\.?\d*(?:e[-+]?\d+)?(?![\w.])")
_BASE64 = re.compile(r'"([A-Za-z0-9+/]{16,}={0,2})"')
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The name of each file with each text in it."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, content = str(path.relative_to(folder)), path.read_bytes()
        yield name, name
        yield name, content.decode("latin-1")
        if path.suffix == ".pdf":
            yield from ((name, _unpacked(each)) for each in _STREAM.findall(content))
        if path.suffix == ".png":
            with Image.open(path) as image:
                yield name, json.dumps(image.info, default=str)


def numbers(folder: Path) -> Iterator[tuple[str, float]]:
    """The name of each file with each number in it: written, in an array, or packed in a page."""
    for name, text in texts(folder):
        if not name.endswith(".npz"):
            yield from ((name, float(each)) for each in _NUMBER.findall(text))
        for packed in _BASE64.findall(text) if name.endswith(".html") else ():
            yield from ((name, each) for each in _decoded(packed))
    for path in folder.rglob("*.npz"):
        for array in unpack(path.read_bytes()).values():
            yield from ((path.name, float(each)) for each in array.ravel())


def _unpacked(stream: bytes) -> str:
    try:
        return zlib.decompress(stream).decode("latin-1")
    except zlib.error:
        return stream.decode("latin-1")


def _decoded(packed: str) -> Iterator[float]:
    """As whole numbers and as floats of both lengths; one of them is meant."""
    content = base64.b64decode(packed[: len(packed) // 4 * 4])
    for kind in ("<i4", "<f4", "<f8"):
        size = np.dtype(kind).itemsize
        values = np.frombuffer(content[: len(content) // size * size], kind)
        with np.errstate(invalid="ignore"):  # bits that were meant as another kind
            yield from values.astype(float)
