from itertools import pairwise

import pytest

from tests.sources import fakes
from veilmap.errors import UserError
from veilmap.sources import read, scan
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading


def rows(tmp_path, content, **reading):
    return scan(
        fakes.write(tmp_path / "log.xml", content), reading=Reading(**reading)
    ).table.collect()


def test_a_log_reads_by_what_it_says(tmp_path):
    first = rows(tmp_path, fakes.radiocells(2), timezone="Europe/London").row(0, named=True)
    assert str(first.pop("time")) == "2024-03-01 10:00:00+00:00"
    assert first == {
        "row": 6, "user": "samsung GT-I9100 4.2.2 Radiobeacon 00.8.00", "cell": "234-10-53762",
        "lat_deg": 51.5, "lon_deg": -0.1, "rsrp_dbm": -90.0, "accuracy_m": 5.0, "file": "log.xml",
    }  # fmt: skip


def test_times_are_those_of_the_local_clock(tmp_path):
    """10:00 in Athens is 08:00 UTC in winter."""
    table = rows(tmp_path, fakes.radiocells(1), timezone="Europe/Athens")
    assert str(table["time"][0]) == "2024-03-01 08:00:00+00:00"


def test_neighbours_are_passed_over_and_counted(tmp_path):
    path = fakes.write(tmp_path / "log.xml", fakes.radiocells(3))
    (fault,) = read(path).dropped
    assert str(fault) == "3 with a neighbouring cell"


def test_cells_of_other_technologies_are_passed_over_by_name(tmp_path):
    gsm = '<gsmserving mcc="234" mnc="10" lac="1" id="7" ss="-60" act="GPRS"/>'
    path = fakes.zipped(
        tmp_path / "up.zip",
        {"a.xml": fakes.radiocells(3), "b.xml": fakes.radiocells(2, serving=gsm)},
    )
    data = read(path)
    assert len(data) == 3
    assert [str(fault) for fault in data.dropped] == [
        "5 with a neighbouring cell", "2 with another radio technology (GPRS)",
    ]  # fmt: skip


def test_an_unknown_cell_is_a_missing_one(tmp_path):
    unknown = '<gsmserving mcc="234" mnc="10" lac="1" id="-1" ss="-60" act="LTE"/>'
    with pytest.raises(UserError, match="1 with missing cell"):
        read(fakes.write(tmp_path / "log.xml", fakes.radiocells(1, serving=unknown)))


def test_the_end_fix_stands_in_for_a_missing_begin(tmp_path):
    table = rows(tmp_path, fakes.radiocells(1, fix="end"))
    assert table.select("lat_deg", "lon_deg", "accuracy_m").row(0) == (52.5, -0.2, 6.0)


def test_the_older_logger_has_one_fix_without_type_and_accuracy(tmp_path):
    table = rows(tmp_path, fakes.radiocells(1, fix="none", swid="FSOnen1"))
    assert table.select("lat_deg", "lon_deg", "accuracy_m").row(0) == (51.5, -0.1, None)


@pytest.mark.parametrize(
    ("swver", "exportver", "begin", "end"),
    [
        ("00.6.00", None, True, True),
        ("00.6.01", None, True, True),
        ("00.6.02", None, True, True),
        ("00.6.03", None, False, False),
        ("00.7.00", None, False, True),
        ("00.7.01", None, False, False),
        ("00.6.01", "00.6.01", False, False),
        ("00.7.00", "00.7.00", False, False),
    ],
)
def test_swapped_coordinates_are_repaired(tmp_path, swver, exportver, begin, end):
    """The fakes are not swapped, so that what is repaired comes out swapped."""
    for fix, swapped, lat, lng in (("begin", begin, 51.5, -0.1), ("end", end, 52.5, -0.2)):
        content = fakes.radiocells(1, fix=fix, swver=swver, exportver=exportver)
        expected = (lng, lat) if swapped else (lat, lng)
        assert rows(tmp_path, content).select("lat_deg", "lon_deg").row(0) == expected


def test_every_file_may_be_a_user(tmp_path):
    members = {"a.xml": fakes.radiocells(3), "b.xml": fakes.radiocells(2, first=5)}
    path = fakes.tarred(tmp_path / "up.tar.gz", members)
    assert read(path).users == ["samsung GT-I9100 4.2.2 Radiobeacon 00.8.00"]
    assert read(path, Columns(user="file")).users == ["a.xml", "b.xml"]
    assert scan(path).table.collect()["row"].to_list() == [6, 12, 18, 6, 12]


def test_other_columns_of_the_log_may_be_named(tmp_path):
    path = fakes.write(tmp_path / "log.xml", fakes.radiocells(1))
    assert read(path, Columns(cell_column="lac", user="none")).cells == ["123"]
    with pytest.raises(UserError, match=r"log.xml has no column 'rsrp'; it has: device, time"):
        read(path, Columns(signal="rsrp"))


BOMB = "".join(
    f'<!ENTITY {name} "{f"&{inner};" * 10}">' for inner, name in pairwise(("a", "b", "c", "d"))
)
BROKEN = {
    "broken XML at line 3, column 3 .mismatched tag.": b"<logfile>\n<scan>\n</logfile>",
    "broken XML at line 2, column 13 .not well-formed": b"<logfile>\n<scan time='\xe9t\xe9'/>",
    "broken XML at line 1, column 10 .no element found": b"<logfile>",
    "log.xml has a DOCTYPE": f'<!DOCTYPE x [<!ENTITY a "a">{BOMB}]><logfile model="&d;"/>'.encode(),
    "XML but not a Radiocells log .it begins with <kml>": b"<kml><Placemark/></kml>",
    "log.xml has no cell in it": b"<logfile swver='1'><scan time='20240301100000'/></logfile>",
    "unknown encoding": b"<?xml version='1.0' encoding='martian'?><logfile/>",
}


@pytest.mark.parametrize("message", BROKEN)
def test_what_is_no_sound_log_is_named_with_the_place(tmp_path, message):
    with pytest.raises(UserError, match=message) as caught:
        read(fakes.write(tmp_path / "log.xml", BROKEN[message]))
    assert "log.xml" in str(caught.value)


def test_a_broken_log_among_others_leaves_no_half_behind(tmp_path):
    cut = fakes.radiocells(9)[:-40]
    path = fakes.folder(tmp_path / "f", {"a.xml": fakes.radiocells(2), "cut.xml": cut})
    data = read(path, reading=Reading(keep_going=True))
    assert len(data) == 2
    assert [file for file, _ in data.left_out] == ["cut.xml"]
