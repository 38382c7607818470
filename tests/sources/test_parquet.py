"""Parquet files that are small and unpack to much; what honest ones unpack to is far below."""

import io

import numpy as np
import polars as pl
import pytest

from tests.sources import fakes
from veilmap.errors import UserError
from veilmap.sources import parquet, read, unpacking
from veilmap.sources.thrift import Cursor

ROW = {"cell": "c", "time": "2024-01-01 10:00:00", "lat": 51.5, "lon": -0.1, "rsrp": -90.0}
BOMB = (
    r"unpacks to more than {} MB, like a decompression bomb; "
    r"if the file is genuine, {} and give what comes out"
)


def packed(**columns):
    """A file of bytes, one column being long."""
    file = io.BytesIO()
    pl.select(**columns).with_columns(
        pl.lit(value).alias(name) for name, value in ROW.items() if name not in columns
    ).write_parquet(file)
    return file.getvalue()


def repeated(text, count, kind=pl.Categorical):
    """One text, which the file has once, in every row."""
    column = pl.repeat(0, count, dtype=pl.UInt32)
    return pl.lit(pl.Series([text], dtype=kind)).gather(column)


@pytest.fixture
def low_floor(monkeypatch):
    monkeypatch.setattr(unpacking, "FREE_BYTES", 2_000_000)


def test_three_million_equal_rows_in_kilobytes_are_a_bomb(tmp_path):
    path = fakes.write(tmp_path / "a.parquet", packed(user=pl.repeat("u", 3_000_000)))
    assert path.stat().st_size < 100_000
    with pytest.raises(UserError, match="a.parquet " + BOMB.format(200, "write it as CSV")):
        read(path)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("one text of 3 MB", {"user": pl.lit("u" * 3_000_000)}),
        ("a list of 400,000 numbers", {"further": pl.repeat(0, 400_000).implode()}),
    ],
)
def test_one_row_that_takes_megabytes_is_a_bomb(tmp_path, low_floor, name, column):
    path = fakes.write(tmp_path / "a.parquet", packed(**{"user": pl.lit("u"), **column}))
    with pytest.raises(UserError, match="a.parquet " + BOMB.format(2, "write it as CSV")):
        read(path)


@pytest.mark.parametrize("name", ["up.zip", "up.tar.gz"])
def test_the_tables_of_an_archive_share_its_budget(tmp_path, low_floor, name):
    """Each would be read: 15,000 rows are 1.2 MB."""
    each = packed(user=pl.repeat("u", 15_000))
    make = fakes.CONTAINERS["uploads" + name[2:]]
    path = make(tmp_path / name, {"a.parquet": each, "b.parquet": each})
    with pytest.raises(UserError, match=f"{name} " + BOMB.format(2, "unpack it yourself")):
        read(path)


def test_a_packed_table_is_weighed_by_its_packed_bytes(tmp_path, low_floor):
    """Zeros between its pages and its index would otherwise buy it room."""
    content = packed(user=pl.repeat("u", 15_000))
    index = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    padded = content[:index] + bytes(1_000_000) + content[index:]
    path = fakes.gzipped(tmp_path / "a.parquet.gz", padded)
    with pytest.raises(UserError, match="a.parquet.gz " + BOMB.format(2, "unpack it yourself")):
        read(path)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.String, pl.Binary])
def test_a_long_text_that_every_row_repeats_is_a_missing_one(tmp_path, kind):
    """A text of 1 MB in 1,000 rows, once in the file; as it is, sorting would make a gigabyte."""
    rows = packed(user=repeated("u" * 1_000_000, 1000))
    # Without this hint to readers, what was categorical is read as text.
    rows = rows if kind == pl.Categorical else rows.replace(b"ARROW:schema", b"ARROX:schema")
    frame = parquet.short_texts(pl.scan_parquet(io.BytesIO(rows)).cast({"user": kind}))
    assert frame.select(pl.col("user").null_count()).collect().item() == 1000
    path = fakes.write(tmp_path / "a.parquet", rows)
    with pytest.raises(UserError, match=r"1,000 with missing user"):
        read(path)


def test_texts_packed_by_what_they_share_are_refused(tmp_path, monkeypatch):
    """As are those of DELTA_BYTE_ARRAY; polars writes none, so its plain ones stand in."""
    monkeypatch.setattr(parquet, "RARE_ENCODINGS", (0,))
    path = fakes.write(tmp_path / "a.parquet", packed(user=pl.lit("u")))
    with pytest.raises(UserError, match=r"broken Parquet file \(texts are packed by what they sha"):
        read(path)


@pytest.mark.parametrize("depth", [100, 400])
def test_columns_that_nest_without_end_are_refused(tmp_path, depth):
    kind = pl.Int64()
    for _ in range(depth):
        kind = pl.List(kind)
    path = fakes.write(tmp_path / "a.parquet", packed(user=pl.lit(None, kind)))
    with pytest.raises(UserError, match=r"a\.parquet .*columns nest more than 32 deep\); write it"):
        read(path)


def test_a_list_is_no_user(tmp_path):
    path = fakes.write(tmp_path / "a.parquet", packed(user=pl.repeat("u", 5).implode()))
    with pytest.raises(UserError, match=r"column 'user' of a\.parquet holds a list .*with --user"):
        read(path)


def test_an_index_of_megabytes_is_not_read(tmp_path):
    size = parquet.MOST_INDEX_BYTES + 1
    content = b"PAR1" + bytes(size) + size.to_bytes(4, "little") + b"PAR1"
    with pytest.raises(UserError, match=r"its index has 16,000,001 bytes"):
        read(fakes.write(tmp_path / "a.parquet", content))


@pytest.mark.parametrize("compression", ["zstd", "gzip", "snappy", "uncompressed"])
def test_a_phone_that_never_moved_is_no_bomb(tmp_path, monkeypatch, compression):
    """Seconds of one phone on one table pack best of all that is honest; half the bound is left.

    Nor is there a bound on all that comes out, as for archives, which are held in memory.
    """
    monkeypatch.setattr(unpacking, "MOST_BYTES", 0)
    monkeypatch.setattr(unpacking, "FREE_BYTES", 0)
    monkeypatch.setattr(unpacking, "MOST_TIMES", 100)
    rows = 50_000
    signal = np.random.default_rng(0).integers(-92, -88, rows)
    frame = pl.DataFrame({"rsrp": signal}).with_columns(
        user=pl.lit("u"), cell=pl.lit("c"), lat=51.5, lon=-0.1,
        time=pl.datetime(2024, 1, 1) + pl.duration(seconds=pl.int_range(rows)),
    )  # fmt: skip
    frame.write_parquet(tmp_path / "a.parquet", compression=compression)
    assert len(read(tmp_path / "a.parquet")) == rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "ends too soon"),
        (b"\x15", "ends too soon"),
        (b"\x18\x7f", "ends too soon"),
        (b"\x1d", "no kind 13"),
        (b"\x16" + b"\xff" * 11, "more than 64 bits"),
        (b"\x1c" * 30, "nest too deeply"),
        (b"\x19\x19" * 30, "nest too deeply"),
        (b"\x19\xf1\xff\xff\xff\xff\x07", "ends too soon"),
        (b"\x1b\xff\xff\xff\xff\x07\x55", "ends too soon"),
    ],
)
def test_what_is_no_thrift_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        Cursor(content, 0, len(content)).struct()


def test_thrift_by_hand():
    """Fields 1: -1, 2: a text, 3: [1, 2], 20: true, 21: {} in this order, then a number."""
    content = b"\x15\x01\x18\x02hi\x19\x25\x02\x04\x01\x28\x1c\x00\x00\x7f"
    cursor = Cursor(content, 0, len(content))
    assert cursor.struct() == {1: -1, 2: None, 3: [1, 2], 20: True, 21: {}}
    assert content[cursor.at] == 0x7F


@pytest.mark.parametrize(
    ("sound", "damaged"),
    [(b"\x2c\x15\x06", b"\x2c\x15\x07"), (b"\x4c\x15\x02", b"\x4c\x15\x03")],
    ids=["page", "dictionary"],
)
def test_a_page_of_less_than_no_values_is_refused_before_it_is_read(tmp_path, sound, damaged):
    """One flipped bit: as an unsigned number it is so large that the table reader would abort."""
    content = packed(user=pl.repeat("u", 3))
    assert sound in content
    path = fakes.write(tmp_path / "a.parquet", content.replace(sound, damaged, 1))
    with pytest.raises(UserError, match=r"broken Parquet file \(a part of it has -\d values"):
        read(path)
