import io
import zipfile

import numpy as np
import pytest
from numpy.lib import format as npy

from veilmap.experiments.packed_arrays import pack, unpack
from veilmap.sources import unpacking


def zipped(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", content)
    return packed.getvalue()


def declared(shape, dtype="<f8", values=b""):
    file = io.BytesIO()
    npy.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return zipped(file.getvalue() + values)


@pytest.mark.parametrize(
    "array",
    [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.empty((0, 2)), np.int64(7)],
)
def test_arrays_come_back_as_numpy_reads_them(array):
    packed = pack({"a": array})
    with np.load(io.BytesIO(packed), allow_pickle=False) as reference:  # noqa: TID251 - the oracle
        expected = reference["a"]
    found = unpack(packed)["a"]
    assert np.array_equal(found, expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)


@pytest.mark.parametrize(
    "packed",
    [
        declared((10**12,)),
        declared((2**40, 2**40), values=bytes(8)),
        declared((1,), "|O", bytes(8)),
        zipped(b"\x93NUMPY\x09\x00"),
        zipped(b"no array"),
        b"no zip",
        pack({"a": np.arange(99.0)})[:-30],
    ],
)
def test_what_is_declared_and_not_there_is_refused(packed):
    with pytest.raises(ValueError, match=r"array|magic"):
        unpack(packed)


def test_a_bomb_is_refused(monkeypatch):
    monkeypatch.setattr(unpacking, "FREE_BYTES", 1000)
    monkeypatch.setattr(unpacking, "MOST_TIMES", 2)
    with pytest.raises(ValueError, match="like a decompression bomb"):
        unpack(pack({"a": np.zeros(100_000)}))
