"""Named arrays in one file, as numpy packs them; the file is untrusted.

``np.load`` reserves what an array's header declares before it looks how much there is. Here an
array is what was unpacked, and its header has to agree.
"""

import zlib
from collections.abc import Mapping
from io import BytesIO
from math import prod
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from veilmap.sources.unpacking import Budget, MeteredFile

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """One file of all of them, compressed."""
    packed = BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    return packed.getvalue()


def unpack(packed: bytes) -> dict[str, NDArray[Any]]:
    """What ``pack`` was given.

    Raises:
        ValueError: it is damaged, holds objects, is a bomb, or declares more than there is.
    """
    budget = Budget("the file", len(packed))
    try:
        with ZipFile(BytesIO(packed)) as archive:
            contents = {name: _content(archive, name, budget) for name in archive.namelist()}
    except (BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise ValueError(f"a damaged file of arrays ({error})") from error
    return {name.removesuffix(".npy"): _array(content) for name, content in contents.items()}


def _content(archive: ZipFile, name: str, budget: Budget) -> bytes:
    with archive.open(name) as file:
        return b"".join(MeteredFile(file, budget).chunks())


def _array(content: bytes) -> NDArray[Any]:
    file = BytesIO(content)
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"an array of version {version}")
    shape, is_fortran, dtype = _HEADERS[version](file)
    values = content[file.tell() :]
    if dtype.hasobject or prod(shape) * dtype.itemsize != len(values):
        raise ValueError(f"an array of {shape} {dtype} in {len(values):,} bytes")
    flat = np.frombuffer(bytearray(values), dtype)
    return flat.reshape(shape, order="F" if is_fortran else "C")
