import gzip
import io
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from veilmap.errors import UserError
from veilmap.sources import read
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.sources.scan import collected, readable

HEADER = "user,cell,time,lat,lon,rsrp,accuracy"
ROWS = [
    "u1,7,2024-03-01 10:00:00,51.50,-0.10,-96,10",
    "u1,7,2024-03-01 10:00:06,51.51,-0.11,-97,20",
    "u2,8,2024-03-01 11:00:00,51.52,-0.12,-98,200",
]


def write(tmp_path, *lines, name="data.csv", header=HEADER):
    path = tmp_path / name
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def test_a_plain_csv_reads_as_it_stands(tmp_path):
    data = read(write(tmp_path, *ROWS))
    assert len(data) == 3
    assert data.users == ["u1", "u2"]
    assert data.cells == ["7", "8"]
    assert data.projection.epsg == 32630
    row = data.table.row(0, named=True)
    assert (row["lat_deg"], row["lon_deg"], row["rsrp_dbm"], row["accuracy_m"]) == (
        51.5, -0.1, -96, 10,
    )  # fmt: skip
    assert str(row["time"]) == "2024-03-01 10:00:00+00:00"
    assert (data.table["x_m"].is_between(699_000, 703_000)).all()


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_are_recognised(tmp_path, delimiter):
    lines = [row.replace(",", delimiter) for row in ROWS]
    assert len(read(write(tmp_path, *lines, header=HEADER.replace(",", delimiter)))) == 3


def test_gzip_and_parquet_give_the_same_table(tmp_path):
    path = write(tmp_path, *ROWS)
    packed = tmp_path / "data.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    table = tmp_path / "data.parquet"
    pl.read_csv(path).write_parquet(table)
    plain = read(path)
    assert plain.table.equals(read(packed).table)
    assert plain.table.equals(read(table).table)
    (tmp_path / "packed").write_bytes(gzip.compress(table.read_bytes()))
    assert plain.table.equals(read(tmp_path / "packed").table)


def test_what_was_written_reads_back_the_same(tmp_path, small_campus):
    small_campus.write_parquet(tmp_path / "campus.parquet")
    again = read(tmp_path / "campus.parquet")
    assert again.timezone == small_campus.timezone
    assert again.table.equals(small_campus.table)
    assert again.fingerprint == small_campus.fingerprint


def test_the_users_own_column_names(tmp_path):
    path = write(tmp_path, "x,3,1709287200,51.5,-0.1,-96", header="a,b,c,d,e,f")
    columns = Columns(user="a", cell_column="b", time="c", lat="d", lon="e", signal="f")
    assert str(read(path, columns).first) == "2024-03-01 10:00:00+00:00"


def test_a_file_of_one_user_and_one_cell_without_columns_for_them(tmp_path):
    path = write(tmp_path, "2024-03-01 10:00:00,51.5,-0.1,-96", header="time,lat,lon,rsrp")
    with pytest.raises(
        UserError, match=r"no column that looks like the user \(name it with --user"
    ):
        read(path)
    data = read(path, Columns(user="none", cell_column="none"))
    assert (data.users, data.cells) == (["0"], ["0"])


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path):
    path = write(tmp_path, *ROWS)
    with pytest.raises(UserError, match="no column 'uid'; it has: user, cell, time"):
        read(path, Columns(user="uid"))


BAD_ROWS = {
    "unreadable position (first at line 5: 'x', '-0.1')": "u,7,2024-03-01 10:00:09,x,-0.1,-96,1",
    "unreadable position (first at line 5: 'NaN'": "u,7,2024-03-01 10:00:09,NaN,-0.1,-96,1",
    "position out of range (first at line 5: 91.0, -0.1)": "u,7,2024-03-01 10:00:09,91,-0.1,-96,1",
    "position (0, 0) (first at line 5)": "u,7,2024-03-01 10:00:09,0,0,-96,1",
    "signal at or above 0 dBm (first at line 5: 99.0)": "u,7,2024-03-01 10:00:09,51,0,99,1",
    "signal at or below -200 dBm (first at line 5: -200.0)": "u,7,2024-03-01 10:00:09,51,0,-200,1",
    "missing or unreadable signal (first at line 5: '-')": "u,7,2024-03-01 10:00:09,51,0,-,1",
    "unreadable time (first at line 5: '2024-02-30 10:00')": "u,7,2024-02-30 10:00,51,0,-96,1",
    "missing user (first at line 5)": ",7,2024-03-01 10:00:09,51,0,-96,1",
    "missing cell (first at line 5)": "u,,2024-03-01 10:00:09,51,0,-96,1",
    "duplicate of an earlier row (first at line 5)": ROWS[1],
}


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_a_bad_row_is_refused_by_kind_and_can_be_dropped(tmp_path, kind):
    path = write(tmp_path, *ROWS, BAD_ROWS[kind])
    with pytest.raises(UserError) as caught:
        read(path)
    message = str(caught.value)
    assert ": 1 with " in message
    assert kind in message
    assert "1 invalid row of 4" in message
    assert "--drop-invalid" in message
    data = read(path, reading=Reading(drop_invalid=True))
    assert len(data) == 3
    assert sum(fault.rows for fault in data.dropped) == 1


def test_several_kinds_are_counted_each(tmp_path):
    bad = ["u,7,2024-03-01 10:00:09,0,0,-96,1", "u,7,2024-03-01 10:00:10,0,0,-96,1",
           "u,7,2024-03-01 10:00:11,51,0,5,1"]  # fmt: skip
    with pytest.raises(UserError, match=r"2 with position \(0, 0\).*1 with signal at or above"):
        read(write(tmp_path, *ROWS, *bad))


def test_filters_leave_out_what_is_known_to_be_unwanted(tmp_path):
    path = write(tmp_path, *ROWS, "u3,7,2024-03-02 10:00:00,51.53,-0.1,-96,")
    assert len(read(path, reading=Reading(max_accuracy_m=100))) == 3  # unknown accuracy stays
    assert len(read(path, reading=Reading(since="2024-03-01T11:00"))) == 2
    assert len(read(path, reading=Reading(until="2024-03-01T11:00"))) == 2
    assert len(read(path, reading=Reading(box=(-0.115, 51.0, 0.0, 51.515)))) == 2


def test_a_filter_on_time_uses_the_clock_of_the_file(tmp_path):
    reading = Reading(since="2024-03-01T13:00", timezone="Europe/Athens")
    with pytest.raises(UserError, match="no measurement left"):
        read(write(tmp_path, *ROWS), reading=reading)
    earlier = Reading(since="2024-03-01T10:30", timezone="Europe/Athens")
    assert len(read(write(tmp_path, *ROWS), reading=earlier)) == 1


def test_a_value_that_is_no_number_passes_the_filter_on_it(tmp_path):
    frame = pl.read_csv(write(tmp_path, *ROWS)).with_columns(
        accuracy=pl.Series([float("nan"), -1.0, 200.0])
    )
    frame.write_parquet(tmp_path / "data.parquet")
    assert len(read(tmp_path / "data.parquet", reading=Reading(max_accuracy_m=100))) == 2


def test_positions_on_the_other_side_of_the_earth_are_refused(tmp_path):
    path = write(tmp_path, *ROWS, "u1,7,2024-03-01 10:00:09,51.5,179,-96,10")
    with pytest.raises(UserError, match="has 1 position farther than 500 km from the middle"):
        read(path)
    assert len(read(path, reading=Reading(box=(-1, 51, 1, 52)))) == 3


def test_filters_apply_to_a_simulated_world_too():
    data = read("campus", reading=Reading(since="2017-04-01"))
    assert str(data.first.astimezone(ZoneInfo("America/Los_Angeles")).date()) == "2017-04-01"


def test_the_order_of_the_lines_decides_nothing(tmp_path):
    one = read(write(tmp_path, *ROWS))
    assert read(write(tmp_path, *reversed(ROWS))).fingerprint == one.fingerprint


def test_an_accuracy_filter_needs_accuracies(tmp_path):
    path = write(tmp_path, "u,7,2024-03-01 10:00:00,51.5,-0.1,-96", header=HEADER[:-9])
    with pytest.raises(UserError, match="no column of accuracies; name one with --accuracy"):
        read(path, reading=Reading(max_accuracy_m=100))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "is empty"),
        ("empty.csv.gz", b"", "is empty"),
        ("empty-inside.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("cut.csv.gz", gzip.compress(b"user,time\n" * 9000, mtime=0)[:40], "broken gzip"),
        ("mark.csv", b"\xef\xbb\xbf", "is empty"),
        ("byte.csv", b"\xef", "not UTF-8 text .byte 0, line 1"),
        ("header.csv", (HEADER + "\n").encode(), "has a header and no row"),
        ("binary.csv", bytes(range(256)) * 20, "neither text nor Parquet"),
        (
            "cut.parquet",
            b"PAR1" + bytes(100),
            "cut.parquet is a broken Parquet file .it is cut off",
        ),
        ("latin1.csv", "user,zeit,straße\n1,2,3\n".encode("latin1"), "not UTF-8 text .byte 14"),
        ("one-column.csv", b"hello\nworld\n", "a single column"),
    ],
)
def test_what_is_no_table_is_one_clear_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        read(path)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(UserError, match=r"there is no file .*or one of: campus"):
        read(tmp_path / "nothing.csv")


def test_lines_may_end_in_two_ways_within_a_file(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_bytes(
        "\r\n".join([HEADER, ROWS[0]]).encode() + b"\n" + "\r\n".join(ROWS[1:]).encode()
    )
    assert read(path).table.equals(read(write(tmp_path, *ROWS)).table)


def test_lines_of_old_macs_are_refused_by_name(tmp_path):
    path = tmp_path / "mac.csv"
    path.write_bytes("\r".join([HEADER, *ROWS]).encode())
    with pytest.raises(UserError, match=r"mac.csv ends its lines as old Macs did"):
        read(path)


def test_latin_1_and_utf_16_are_named_with_the_line(tmp_path):
    text = "\n".join([HEADER, ROWS[0], ROWS[1].replace("u1", "Jürgen")])
    (tmp_path / "latin1.csv").write_bytes(text.encode("latin1"))
    with pytest.raises(UserError, match=r"latin1.csv is not UTF-8 text \(byte \d+, line 3\)"):
        read(tmp_path / "latin1.csv")
    (tmp_path / "wide.csv").write_bytes(text.encode("utf-16"))
    with pytest.raises(UserError, match=r"wide.csv is UTF-16 text \(from line 1 on\)"):
        read(tmp_path / "wide.csv")


def test_decimal_commas_between_commas_are_refused_with_the_line(tmp_path):
    """51,50 is two fields, so that 9 stand under 7 names from line 3 on."""
    shifted = "u1,7,2024-03-01 10:00:06,51,51,-0,11,-97,20"
    with pytest.raises(UserError, match=r"data.csv has 9 fields in line 3 and 7 in its header"):
        read(write(tmp_path, ROWS[0], shifted))


def test_empty_fields_beyond_the_header_are_fine(tmp_path):
    assert len(read(write(tmp_path, *(f"{row},," for row in ROWS)))) == 3


def test_columns_named_row_and_file_are_the_files_own(tmp_path):
    header = "file,row,time,lat,lon,rsrp"
    path = write(tmp_path, "a,7,2024-03-01 10:00:00,51.5,-0.1,-96", header=header)
    data = read(path, Columns(user="file", cell_column="row"))
    assert (data.users, data.cells) == (["a"], ["7"])


def test_filters_that_leave_nothing_say_so(tmp_path):
    with pytest.raises(UserError, match="no measurement left; loosen the filters"):
        read(write(tmp_path, *ROWS), reading=Reading(since="2030-01-01"))


def test_whole_numbers_with_gaps_keep_their_names(tmp_path):
    """Pandas makes floats of a column of whole numbers with a missing value: 7 and not 7.0."""
    frame = pl.read_csv(io.StringIO("\n".join([HEADER, *ROWS]))).cast({"cell": pl.Float64})
    frame.write_parquet(tmp_path / "data.parquet")
    assert read(tmp_path / "data.parquet").cells == ["7", "8"]
    frame.write_csv(tmp_path / "data.csv")
    assert read(tmp_path / "data.csv").cells == ["7", "8"]


def test_numbers_with_a_fraction_stay_apart(tmp_path):
    frame = pl.read_csv(io.StringIO("\n".join([HEADER, *ROWS])))
    frame.with_columns(cell=pl.Series([12345.1, 12345.2, 12345.2])).write_parquet(tmp_path / "d")
    assert read(tmp_path / "d").cells == ["12345.2", "12345.1"]


def test_the_fingerprint_changes_with_any_value(tmp_path):
    first = read(write(tmp_path, *ROWS)).fingerprint
    assert first == read(write(tmp_path, *ROWS, name="again.csv")).fingerprint
    assert (
        first != read(write(tmp_path, ROWS[0], ROWS[1], ROWS[2].replace("-98", "-99"))).fingerprint
    )


def test_a_decimal_comma_and_padding_are_understood(tmp_path):
    lines = ["u1;7;2024-03-01 10:00:00;51,50;-0,10;-96,5"]
    data = read(write(tmp_path, *lines, header="user;cell;time;lat;lon;rsrp"))
    assert data.table.row(0, named=True)["lat_deg"] == 51.5
    padded = [", ".join(row.split(",")) for row in ROWS]
    assert read(write(tmp_path, *padded)).users == ["u1", "u2"]
    assert len(read(write(tmp_path, *padded))) == 3


def test_a_blank_line_is_no_row(tmp_path):
    assert len(read(write(tmp_path, *ROWS, "", ""))) == 3


@pytest.mark.parametrize("marker", ["", "NA", "nan", "-", "NULL"])
def test_a_marker_of_a_missing_value_is_no_user(tmp_path, marker):
    with pytest.raises(UserError, match="1 with missing user"):
        read(write(tmp_path, *ROWS, f"{marker},7,2024-03-01 10:00:09,51,0,-96,1"))


def test_a_name_with_the_signs_of_a_pattern_is_one_file(tmp_path):
    write(tmp_path, ROWS[0], name="a b.csv")
    assert len(read(write(tmp_path, *ROWS, name="a*b.csv"))) == 3
    assert len(read(write(tmp_path, *ROWS, name="data[1].csv"))) == 3


def test_headers_with_units_are_recognised(tmp_path):
    header = "User ID,Cell ID,Time (UTC),Latitude (deg),Longitude (deg),RSRP (dBm),Accuracy (m)"
    assert len(read(write(tmp_path, *ROWS, header=header))) == 3


def test_one_column_cannot_play_two_roles(tmp_path):
    with pytest.raises(UserError, match=r"column 'lat' of data.csv cannot be both lat and lon"):
        read(write(tmp_path, *ROWS), Columns(lat="lat", lon="lat"))


def test_a_truncated_gzip_of_many_rows_is_refused(tmp_path):
    text = (
        HEADER + "\n" + "".join(f"u,7,{1709287200 + i},51.5,-0.1,-96,{i}\n" for i in range(50_000))
    )
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(text.encode())[:-5000])
    with pytest.raises(UserError, match=r"cut.csv.gz"):
        read(tmp_path / "cut.csv.gz")


def test_an_unknown_cell_is_refused_with_those_there(tmp_path):
    with pytest.raises(UserError, match=r"no measurement of cell '9' in data.csv; it has: 7, 8"):
        read(write(tmp_path, *ROWS)).of_cell("9")


def test_a_user_with_one_point_is_a_user(tmp_path):
    assert read(write(tmp_path, ROWS[0])).users == ["u1"]


def test_a_wrong_box_and_zone_are_refused():
    with pytest.raises(UserError, match="west south east north"):
        Reading(box=(1, 0, 0, 1))
    with pytest.raises(UserError, match="unknown time zone 'Athens'; give an IANA name"):
        Reading(timezone="Athens")
    with pytest.raises(UserError, match="cannot read the time 'yesterday'"):
        Reading(since="yesterday")


def test_chania_reads_completely(shared_data):
    columns = Columns(signal="rssi")
    data = read(shared_data / "chania-gsm" / "chania.csv.gz", columns, Reading(drop_invalid=True))
    assert len(data) + sum(fault.rows for fault in data.dropped) == 360_643
    assert [str(fault).split(" (")[0] for fault in data.dropped] == [
        "3 with signal at or above 0 dBm"
    ]
    assert (len(data.users), len(data.cells)) == (8, 8)


@pytest.mark.parametrize(
    "line", ["u1,7,garbage,abc,def,ghi,9", "u1,7,,,,,", "u1,7", "u1,7,2024-03-01 10"]
)
def test_a_line_of_rubbish_is_counted_and_a_blank_one_is_not(tmp_path, line):
    path = write(tmp_path, *ROWS[:2], line, "", ROWS[2], "")
    with pytest.raises(UserError, match="1 invalid row of 4: 1 with missing or unreadable time"):
        read(path)
    assert len(read(path, reading=Reading(drop_invalid=True))) == 3
    assert len(read(write(tmp_path, ROWS[0], "", ROWS[1]))) == 2


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = write(tmp_path, *ROWS, header="user,cell,time,lat,lon,lat,accuracy")
    with pytest.raises(UserError, match="has two columns named 'lat'; rename or remove one"):
        read(path)


def test_a_first_line_of_data_is_refused_and_not_shown(tmp_path):
    path = write(tmp_path, *ROWS[1:], header=ROWS[0])
    with pytest.raises(UserError, match="has numbers where the names of columns belong") as error:
        read(path)
    assert "51.5" not in str(error.value)


def test_names_that_are_not_utf_8_deep_in_a_file_are_not_merged(tmp_path):
    path = write(tmp_path, *(ROWS[1] for _ in range(3000)))
    with path.open("ab") as file:
        for user in (b"Jos\xe9", b"Jos\xe8"):
            file.write(user + b",7,2024-03-01 10:00:00,51.50,-0.10,-96,10\n")
    with pytest.raises(
        UserError, match=r"2 with a user or cell that is not UTF-8 \(first at line 3,0"
    ):
        read(path)


@pytest.mark.parametrize(
    "options", [{"columns": Columns(lat="foo")}, {"reading": Reading(timezone="UTC")}]
)
def test_a_simulated_world_takes_no_columns_and_no_clock(options):
    with pytest.raises(UserError, match="campus is a simulated world with columns and a clock"):
        read("campus", **options)


@pytest.mark.parametrize("data", ["", "./campus"])
def test_a_path_that_is_not_there_is_shown_as_given(tmp_path, monkeypatch, data):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"there is no file '{data}'"):
        read(data)


def test_all_columns_that_are_missing_are_reported_at_once(tmp_path):
    path = write(tmp_path, "1,2", header="a,b")
    with pytest.raises(UserError) as caught:
        read(path, Columns(signal="power"))
    message = str(caught.value)
    assert message.startswith(
        "data.csv has no column that looks like the user (name it with --user"
    )
    for text in ("the cell (name it with --cell-column", "the time (", "the lat (", "the lon ("):
        assert f"none that looks like {text}" in message
    assert ", none 'power', none that" in message
    assert message.endswith("; it has: a, b")


def test_signals_that_are_all_positive_are_no_reason_to_drop_all_rows(tmp_path):
    path = write(tmp_path, *(row.replace("-9", "4") for row in ROWS))
    for reading in (Reading(), Reading(drop_invalid=True)):
        with pytest.raises(
            UserError, match="no signal is negative, so it is not RSRP in dBm"
        ) as told:
            read(path, reading=reading)
        assert "--drop-invalid" not in str(told.value)


def test_an_unreadable_value_deep_in_a_folder_is_shown_as_it_is_written(tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    write(folder, *ROWS, name="a.csv")
    write(folder, ROWS[0], "u,7,soon,51,0,-96,1", "u,7,2024-03-01 10:00:09,51,0,x,1", name="b.csv")
    with pytest.raises(UserError, match=r"time \(first at line 3 of b.csv: 'soon'\)") as caught:
        read(folder)
    assert "signal (first at line 4 of b.csv: 'x')" in str(caught.value)


def test_a_row_of_a_parquet_file_counts_from_one_and_shows_its_value(tmp_path):
    path = tmp_path / "data.parquet"
    pl.read_csv(write(tmp_path, *ROWS, "u,7,2024-03-01 10:00:09,51,0,,1")).write_parquet(path)
    with pytest.raises(UserError, match=r"signal \(first at row 4: nothing\)"):
        read(path)


@pytest.mark.parametrize("kind", [pl.Duration("us"), pl.List(pl.Float64), pl.Binary()])
def test_a_column_of_a_kind_without_numbers_is_one_clear_line(tmp_path, kind):
    path = tmp_path / "data.parquet"
    table = pl.read_csv(write(tmp_path, *ROWS)).with_columns(lat=pl.lit(None, kind))
    table.write_parquet(path)
    with pytest.raises(UserError, match=r"data.parquet.*(check|map|name another)"):
        read(path)


def test_a_panic_of_the_library_is_one_clear_line():
    with (
        pytest.raises(
            UserError, match=r"cannot read data.parquet: torn; check that the file is whole"
        ),
        readable("data.parquet"),
    ):
        raise pl.exceptions.PanicException("torn\nat line 3")


def test_columns_that_differ_in_length_are_refused(monkeypatch):
    """A flipped bit in a Parquet file's counts gives such tables."""
    monkeypatch.setattr(pl.DataFrame, "height", property(lambda frame: 3))
    with pytest.raises(UserError, match=r"data.parquet is damaged: its columns differ in length"):
        collected(pl.LazyFrame({"a": [1, 2]}), "data.parquet")
