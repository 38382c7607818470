"""Small files that are read together give what each by itself gives, to the row and the word."""

import polars as pl
import pytest

from tests.sources import fakes
from veilmap.errors import UserError
from veilmap.sources import csv_batching, read
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading

HEADER = "user,cell,time,lat,lon,rsrp,accuracy"


def csv(*rows, header=HEADER, end="\n"):
    return ("\n".join([header, *rows]) + end).encode()


def row(
    user="u", cell="7", time="2024-03-01 10:00:00", lat="51.5", lon="-0.1", rsrp="-90", acc="5"
):
    return f"{user},{cell},{time},{lat},{lon},{rsrp},{acc}"


PLAIN = csv(row(), row(time="2024-03-01 10:00:06", rsrp="-91.5", acc=""))
# What stands between two plain files, and whether all three are read in one go.
BETWEEN = {
    "plain": (csv(row(user="v")), True),
    "no line feed at the end": (csv(row(user="v"), end=""), True),
    "a user missing": (csv(row(user="")), True),
    "fractions of seconds": (csv(row(time="2024-03-01 10:00:00.5")), False),
    "seconds since 1970": (csv(row(time="1709287200")), False),
    "day first": (csv(row(time="21.03.2024 10:00:00")), False),
    "ambiguous": (csv(row(time="01/02/2024 10:00:00")), False),
    "no such day": (csv(row(time="2024-13-01 10:00:00")), False),
    "a year that is none": (csv(row(time="0024-03-01 10:00:00")), False),
    "whole numbers as floats": (csv(row(user="3.0", cell="7.0")), False),
    "padded": (csv(row(user=" v", lat=" 51.5")), False),
    "padded names": (csv(row(user="v ")), False),
    "quoted": (csv(row(user='"v"')), False),
    "a number in words": (csv(row(rsrp="weak")), False),
    "an exponent": (csv(row(rsrp="-9e1")), False),
    "no position": (csv(row(lat="")), False),
    "a field too many": (csv(row() + ",x"), False),
    "a field too few": (csv(row().rpartition(",")[0]), False),
    "an empty line": (csv(row(user="v"), "", row(user="w", rsrp="-95")), False),
    "no row": (csv(), False),
    "nothing": (b"", False),
    "not UTF-8": (csv(row(user="v")).replace(b"v", b"\xff"), False),
    "carriage returns": (csv(row(user="v")).replace(b"\n", b"\r\n"), False),
    "another header": (csv(row(), header=HEADER.replace("rsrp", "signal")), False),
    "lon before lat": (csv(row(), header=HEADER.replace("lat,lon", "lon,lat")), False),
    "semicolons": (csv(row(user="v")).replace(b",", b";"), False),
    "a document": (fakes.geosubmit(2), False),
    "out of range": (csv(row(lat="95.5")), True),
}


def outcome(path, columns=Columns(), reading=Reading()):
    """All that a reader gives, or the error's words."""
    try:
        found = read(path, columns, reading)
    except UserError as error:
        return str(error)
    return found.table.to_dicts(), found.dropped, found.left_out, found.timezone


def both(monkeypatch, path, *how):
    """Read together, and with every file alone."""
    fast = outcome(path, *how)
    monkeypatch.setattr(csv_batching, "MOST_FILES", 1)
    return fast, outcome(path, *how)


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize("case", BETWEEN)
def test_what_is_read_is_what_each_file_by_itself_gives(tmp_path, monkeypatch, case, keep_going):
    content, _ = BETWEEN[case]
    path = fakes.zipped(tmp_path / "up.zip", {"a.csv": PLAIN, "b.csv": content, "c.csv": PLAIN})
    reading = Reading(keep_going=keep_going, drop_invalid=keep_going)
    fast, slow = both(monkeypatch, path, Columns(), reading)
    assert fast == slow


@pytest.mark.parametrize("case", BETWEEN)
def test_which_files_go_together(case, monkeypatch, tmp_path):
    content, expected = BETWEEN[case]
    alone = []
    add = csv_batching.batches

    def told(pieces):
        for batch in add(pieces):
            alone.append(len(batch))
            yield batch

    monkeypatch.setattr("veilmap.sources.gathering.batches", told)
    monkeypatch.setattr(
        "veilmap.sources.gathering.PieceReader.add", lambda self, piece: alone.append("alone")
    )
    path = fakes.zipped(tmp_path / "up.zip", {"a.csv": PLAIN, "b.csv": content, "c.csv": PLAIN})
    outcome(path)
    assert (alone == [3]) is expected


OTHERS = {
    "the second tells day from month": [
        csv(row(time=f"{day:02}/02/2024 10:00:00")) for day in (1, 13)
    ],
    "14 digits": [csv(row(time="20240301100000")), csv(row(time="90240301100000"))],
    "text that is none, far behind": [
        csv(*(row(rsrp=f"-{50 + n / 1000:.3f}") for n in range(1000))),
        csv(*(row(rsrp=f"-{60 + n / 1000:.3f}") for n in range(1000))),
        csv(row(user="v")).replace(b"v", b"\xff"),
    ],
}


@pytest.mark.parametrize("case", OTHERS)
def test_so_are_files_of_another_kind(tmp_path, monkeypatch, case):
    files = {f"{number}.csv": content for number, content in enumerate(OTHERS[case])}
    fast, slow = both(monkeypatch, fakes.zipped(tmp_path / "up.zip", files))
    assert fast == slow


def test_rows_that_polars_counts_in_another_way_are_not_alike():
    table = pl.read_csv(csv(row(), row()), infer_schema=False)
    roles = {"time": "time", "user": "user"}
    for counts in ((1, 1), (2, 1)):
        alike = csv_batching.are_alike(table, roles, sum(counts), ())
        assert alike is (sum(counts) == 2)


@pytest.mark.parametrize("name", fakes.CONTAINERS)
def test_every_container_and_users_by_file(tmp_path, monkeypatch, name):
    files = {f"{i}.csv": csv(row(user="x", rsrp=f"-{80 + i}")) for i in range(5)}
    path = fakes.CONTAINERS[name](tmp_path / name, files)
    fast, slow = both(monkeypatch, path, Columns(user="file"))
    assert fast == slow
    assert {each["user"] for each in fast[0]} == set(files)


@pytest.mark.parametrize("make", [fakes.opencellid, fakes.cork])
def test_known_formats_too(tmp_path, monkeypatch, make):
    files = {f"{i}.csv": make(3) for i in range(2)} | {"2.csv": make(2, "GSM")}
    fast, slow = both(monkeypatch, fakes.zipped(tmp_path / "up.zip", files), Columns(user="file"))
    assert fast == slow


def test_a_hundred_files_are_scanned_by_polars_as_one(tmp_path, monkeypatch):
    """Twice: as texts and as numbers. A scan costs more than the rows of a small file."""
    files = {f"{i}.csv": csv(row(user=str(i), rsrp=f"-{60 + i % 60}")) for i in range(100)}
    path = fakes.zipped(tmp_path / "up.zip", files)
    scan_csv, scans = pl.scan_csv, []
    monkeypatch.setattr(pl, "scan_csv", lambda *a, **k: scans.append(a) or scan_csv(*a, **k))
    for most, expected in ((500, 2), (1, 200)):
        scans.clear()
        monkeypatch.setattr(csv_batching, "MOST_FILES", most)
        assert len(read(path)) == 100
        assert len(scans) == expected
