"""OpenCelliD, G-NetTrack Pro, Tower Collector and Geosubmit v2."""

import json

import pytest

from tests.sources import fakes
from veilmap.errors import UserError
from veilmap.inspection import inspect
from veilmap.sources import read, scan
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading


def first_row(path, **reading):
    row = scan(path, reading=Reading(**reading)).table.collect().row(0, named=True)
    return {name: str(value) if name == "time" else value for name, value in row.items()}


FIRST = {
    "OpenCelliD": (fakes.opencellid, {
        "row": 2, "user": "0", "cell": "234-10-9751881", "time": "2024-03-01 10:00:00+00:00",
        "lat_deg": 51.5, "lon_deg": -0.1, "rsrp_dbm": -90.0, "accuracy_m": 12.5,
    }),
    "G-NetTrack Pro": (fakes.gnettrack, {  # 21 * 256 + 11 = 5387
        "row": 2, "user": "0", "cell": "608-01-5387", "time": "2024-03-01 10:00:00+00:00",
        "lat_deg": 14.665, "lon_deg": -17.436158, "rsrp_dbm": -81.0, "accuracy_m": None,
    }),
    "G-NetTrack Pro of Cork": (fakes.cork, {
        "row": 2, "user": "0", "cell": "10805003", "time": "2024-03-01 10:00:00+00:00",
        "lat_deg": 51.9, "lon_deg": -8.5, "rsrp_dbm": -95.0, "accuracy_m": None,
    }),
    "Tower Collector": (fakes.towercollector, {
        "row": 2, "user": "Google Pixel 6", "cell": "260-2-42042",
        "time": "2024-03-01 10:00:00+00:00", "lat_deg": 52.2, "lon_deg": 21.0,
        "rsrp_dbm": -97.0, "accuracy_m": 9.5,
    }),
    "Geosubmit v2": (fakes.geosubmit, {
        "row": 1, "user": "0", "cell": "208-1-12345", "time": "2014-07-17 13:00:28.568000+00:00",
        "lat_deg": 48.1, "lon_deg": 2.3, "rsrp_dbm": -91.0, "accuracy_m": 10.0,
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", FIRST)
def test_a_file_is_recognised_by_its_content_and_reads_by_what_it_says(tmp_path, name):
    make, expected = FIRST[name]
    path = fakes.write(tmp_path / "file.bin", make())
    assert scan(path).formats == {name.removesuffix(" of Cork"): 1}
    assert first_row(path) == expected
    assert read(path).dropped == ()
    packed = fakes.gzipped(tmp_path / "packed", make())
    assert first_row(packed) == expected


def test_longitude_before_latitude_is_read_by_name(tmp_path):
    swapped = fakes.write(tmp_path / "swapped.csv", fakes.opencellid(swap=True))
    usual = fakes.write(tmp_path / "usual.csv", fakes.opencellid())
    assert read(swapped).table.equals(read(usual).table)


@pytest.mark.parametrize(
    ("make", "radio", "kept"),
    [
        (fakes.opencellid, "LTE", True),
        (fakes.opencellid, "NR", True),
        (fakes.opencellid, "", True),  # not told
        (fakes.opencellid, "UMTS", False),
        (fakes.gnettrack, "5G", True),
        (fakes.gnettrack, "-", True),
        (fakes.gnettrack, "3G", False),
        (fakes.cork, "LTE", True),
        (fakes.cork, "HSPA+", False),
    ],
)
def test_only_lte_and_5g_have_rsrp(tmp_path, make, radio, kept):
    option = {fakes.opencellid: "act", fakes.gnettrack: "tech", fakes.cork: "mode"}[make]
    members = {"a.csv": make(3), "b.csv": make(2, **{option: radio})}
    path = fakes.zipped(tmp_path / "up.zip", members)
    data = read(path, Columns(user="file"))
    assert len(data) == (5 if kept else 3)
    expected = [] if kept else [f"2 with another radio technology ({radio})"]
    assert [str(fault) for fault in data.dropped] == expected
    found = inspect(path)
    assert (found.rows, found.passed_over) == (len(data), data.dropped)


def test_a_file_of_another_technology_alone_says_so(tmp_path):
    path = fakes.write(tmp_path / "gsm.csv", fakes.opencellid(2, act="GSM"))
    with pytest.raises(UserError, match=r"no measurement left.*2 with another radio technology"):
        read(path)
    with pytest.raises(UserError, match=r"no valid.*2 with another radio technology .GSM."):
        inspect(path)


def test_a_technology_with_an_endless_name_is_shown_by_its_beginning(tmp_path):
    path = fakes.write(tmp_path / "long.csv", fakes.opencellid(2, act="x" * 5000))
    with pytest.raises(UserError, match=r"no measurement left.*2 with another .* \(x{40}\)$"):
        read(path)


def test_asu_in_place_of_dbm_is_a_fault(tmp_path):
    with pytest.raises(UserError, match="3 with signal at or above 0 dBm"):
        read(fakes.write(tmp_path / "asu.csv", fakes.opencellid(signal=43)))


def test_minus_200_and_a_dash_are_no_signal(tmp_path):
    for level, kind in (("-200", "signal at or below -200 dBm"), ("-", "unreadable signal")):
        with pytest.raises(UserError, match=f"3 with .*{kind}"):
            read(fakes.write(tmp_path / "log.txt", fakes.gnettrack(level=level)))


def test_a_cell_of_g_nettrack_beyond_8_bits_is_the_whole_number(tmp_path):
    content = fakes.gnettrack(1).replace(b"\t21\t11\t", b"\t21\t5387\t")
    assert read(fakes.write(tmp_path / "log.txt", content)).cells == ["608-01-5387"]


def test_a_users_own_choice_of_columns_wins(tmp_path):
    path = fakes.write(tmp_path / "a.csv", fakes.opencellid())
    columns = Columns(cell_column="cellid", user="lac", accuracy="none")
    data = read(path, columns)
    assert (data.cells, data.users) == (["9751881"], ["29100"])
    assert data.table["accuracy_m"].null_count() == 3


def test_an_added_column_of_users_is_seen(tmp_path):
    lines = fakes.opencellid(2).decode().splitlines()
    text = "\n".join([f"{lines[0]},user", *(f"{line},anna" for line in lines[1:])])
    assert read(fakes.write(tmp_path / "a.csv", text.encode())).users == ["anna"]


def test_tower_collector_takes_rsrp_then_that_of_5g_then_dbm(tmp_path):
    made = fakes.towercollector(
        {"rsrp": "-101", "dbm": "-1"},
        {"rsrp": "", "ss_rsrp": "-102", "dbm": "-1", "net_type": "NR"},
        {"rsrp": "", "dbm": "-103"},
        {"neighboring": "1"},
        {"net_type": "GSM", "rsrp": "", "dbm": "-60"},
    )
    data = read(fakes.write(tmp_path / "t.csv", made))
    assert data.table["rsrp_dbm"].to_list() == [-101, -102, -103]
    assert [str(fault) for fault in data.dropped] == [
        "1 with a neighbouring cell", "1 with another radio technology (GSM)",
    ]  # fmt: skip


def test_an_old_tower_collector_export_has_dbm_alone(tmp_path):
    lines = fakes.towercollector().decode().splitlines()
    text = "\n".join(",".join(line.split(",")[:18]) for line in lines)
    data = read(fakes.write(tmp_path / "old.csv", text.encode()))
    assert data.table["rsrp_dbm"].to_list() == [-97] * 3
    assert data.users == ["0"]


def test_the_end_of_a_cells_name_is_enough_while_it_is_unique(tmp_path):
    members = {"a.csv": fakes.opencellid(3), "b.xml": fakes.radiocells(2)}
    data = read(fakes.folder(tmp_path / "f", members), Columns(user="file"))
    assert data.of_cell("9751881").cells == ["234-10-9751881"]
    assert len(data.of_cell("234-10-53762")) == 2
    both = fakes.folder(tmp_path / "g", members | {"c.csv": fakes.opencellid(2, mnc=20)})
    with pytest.raises(UserError, match="2 cells in g end in '9751881'; choose one of: 234-10-975"):
        read(both).of_cell("9751881")


@pytest.mark.parametrize("value", [None, "weak", [1], {"a": 1}, True])
def test_a_wrong_value_in_json_is_a_counted_fault(tmp_path, value):
    path = fakes.write(tmp_path / "a.json", fakes.geosubmit(3, tower={"signalStrength": value}))
    with pytest.raises(UserError, match="3 with missing or unreadable signal"):
        read(path)


def test_a_truth_value_in_json_is_no_cell(tmp_path):
    path = fakes.write(tmp_path / "a.json", fakes.geosubmit(3, tower={"cellId": True}))
    with pytest.raises(UserError, match="3 with missing cell"):
        read(path)


def test_a_text_that_is_a_number_is_one(tmp_path):
    tower = {"signalStrength": "-91", "cellId": "12345"}
    path = fakes.write(tmp_path / "a.json", fakes.geosubmit(2, tower=tower))
    assert read(path).table["rsrp_dbm"].to_list() == [-91, -91]


def test_json_towers_that_do_not_serve_are_passed_over(tmp_path):
    members = {"a.json": fakes.geosubmit(2), "b.json": fakes.geosubmit(3, tower={"serving": 0})}
    (fault,) = read(fakes.zipped(tmp_path / "up.zip", members)).dropped
    assert (fault.kind, fault.rows) == ("a neighbouring cell", 3)


DEEP = b"[" * 100_000
BROKEN_JSON = {
    "a.json is broken JSON at line 3, column 1 .Expecting value": b'{"items": [\n{},\n',
    "a.json must be an object and is a list": b"[1, 2]",
    "a.json is JSON without 'items'": b'{"type": "FeatureCollection"}',
    "a.json, 'items' must be a list and is an object": b'{"items": {"timestamp": 1}}',
    "a.json, item 2 must be an object and is null": b'{"items": [{}, null]}',
    "a.json, item 1, 'position' must be an object and is a list": b'{"items": [{"position": [1]}]}',
    "a.json, item 1, 'cellTowers' must be a list and is a text": b'{"items":[{"cellTowers":"x"}]}',
    "a.json, item 1, cellTowers must be an object and is a num": b'{"items":[{"cellTowers":[1]}]}',
    "a.json has no cell tower in it": b'{"items": [{"wifiAccessPoints": []}]}',
    "a.json is not UTF-8 text .byte 13, line 2": b'{"items": \n["\xe9"]}',
    "a.json is JSON that cannot be read .maximum recursion": DEEP,
    "a.json is UTF-16 text": json.dumps({"items": []}).encode("utf-16"),
}  # fmt: skip


@pytest.mark.parametrize("message", BROKEN_JSON)
def test_what_is_no_geosubmit_file_is_named_with_the_place(tmp_path, message):
    with pytest.raises(UserError, match=message):
        read(fakes.write(tmp_path / "a.json", BROKEN_JSON[message]))


def test_a_half_surrogate_and_a_huge_number_are_no_crash(tmp_path):
    tower = {"radioType": "lte\ud800", "cellId": 10**400}
    path = fakes.write(tmp_path / "a.json", fakes.geosubmit(1, tower=tower, timestamp=10**300))
    with pytest.raises(UserError, match="time"):
        read(path)


def test_cork_agrees_with_what_its_source_tells(shared_data):
    path = shared_data / "ucc-5g-cork" / "5G-production-dataset.zip"
    found = inspect(path, reading=Reading(timezone="Europe/Dublin"))
    assert found.formats == {"G-NetTrack Pro": 83}
    passed_over = sum(fault.rows for fault in found.passed_over)
    assert found.rows + passed_over == 188_711
    faults = {fault.kind: fault.rows for fault in found.faults}
    assert found.rows - faults["signal at or below -200 dBm"] == 171_612
    assert (found.users, found.cells) == (1, 220)
    assert (found.densest_cell, found.densest_rows) == ("10805003", 65_040)
    assert [round(side, 1) for side in found.extent_km] == [15.0, 9.3]
    assert f"{found.first:%Y-%m-%d} {found.last:%Y-%m-%d}" == "2019-11-20 2020-02-27"


def test_cork_by_files_has_the_cell_that_its_source_tells(shared_data):
    path = shared_data / "ucc-5g-cork" / "5G-production-dataset.zip"
    table = scan(path, Columns(user="file")).table.collect()
    assert table["user"].n_unique() == 82  # one session was on 3G alone
    assert (table["user"] == table["file"]).all()
    driving = table.filter(table["file"].str.contains("/Driving/"), table["rsrp_dbm"] > -200)
    assert driving.height == 88_944
    assert (driving["cell"] == "11016973").sum() == 10_071
    assert (driving["cell"] == "70430210").sum() == 8_742


def test_ottawa_agrees_with_what_its_source_tells(shared_data):
    path, reading = shared_data / "walksignal-ottawa", Reading(keep_going=True)
    found = inspect(path, reading=reading)
    assert (found.rows, found.cells, found.formats) == (2_621, 99, {"OpenCelliD": 18})
    assert [(fault.kind, fault.rows) for fault in found.faults] == [
        ("duplicate of an earlier row", 1)
    ]
    assert (found.densest_cell, found.densest_rows) == ("302-720-9751881", 408)
    assert f"{found.first:%Y-%m-%d} {found.last:%Y-%m-%d}" == "2020-08-30 2021-01-23"
    assert [file for file, _ in found.left_out] == ["SOURCE.md"]
    data = read(path, Columns(user="file"), Reading(keep_going=True, drop_invalid=True))
    assert len(data.users) == 18
    assert len(data.of_cell("9751831")) == 330
    assert (data.table["rsrp_dbm"].min(), data.table["rsrp_dbm"].max()) == (-123, -66)


def test_a_json_tower_marked_false_does_not_serve(tmp_path):
    members = {"a.json": fakes.geosubmit(2), "b.json": fakes.geosubmit(3, tower={"serving": False})}
    assert len(read(fakes.zipped(tmp_path / "up.zip", members))) == 2


@pytest.mark.parametrize(
    ("operator", "node", "cell"),
    [("-", 21, 11), ("0", 21, 11), ("60801", -1, 11), ("60801", 21, -1), ("60801", 21, 2147483647)],
)
def test_gnettrack_makes_up_no_cell_of_unknown_numbers(tmp_path, operator, node, cell):
    log = fakes.gnettrack(2).replace(
        b"\t60801\t\t21\t11\t", f"\t{operator}\t\t{node}\t{cell}\t".encode()
    )
    with pytest.raises(UserError, match="2 with missing cell"):
        read(fakes.write(tmp_path / "log.txt", log))
