"""Which clock is taken for a file, and how it is known."""

from dataclasses import replace

import pytest

import veilmap
from veilmap.errors import UserError
from veilmap.inspection import inspect
from veilmap.measurements import Measurements, clock_text
from veilmap.rounds import cut
from veilmap.sources.reading import Reading
from veilmap.study.evidence.opening import open_evidence

# Ten hours in Cork, from noon UTC on 1 July 2024.
HOURS = range(10)
EPOCH = [1_719_835_200 + 3600 * hour for hour in HOURS]
NAIVE = [f"2024-07-01 {12 + hour}:00:00" for hour in HOURS]
OFFSET = [f"2024-07-01T{12 + hour}:00:00Z" for hour in HOURS]


def csv(path, times, lon_deg=-8.47):
    rows = [f"ann,x1,{when},{51.9 + n / 1e4},{lon_deg},-90" for n, when in enumerate(times)]
    path.write_text("\n".join(["user,cell,time,lat,lon,rsrp", *rows]))
    return path


def clock(data):
    return data.timezone, data.timezone_by


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (EPOCH, ("Europe/Dublin", "position")),
        (OFFSET, ("Europe/Dublin", "position")),
        (NAIVE, ("UTC", "writing")),
    ],
    ids=["epoch", "offset", "naive"],
)
def test_points_in_time_have_the_clock_of_the_position(tmp_path, times, expected):
    path = csv(tmp_path / "drive.csv", times)
    data = veilmap.read(path)
    assert clock(data) == clock(inspect(path)) == expected
    # The times themselves are the same.
    assert data.first.isoformat() == "2024-07-01T12:00:00+00:00"


@pytest.mark.parametrize("times", [EPOCH, NAIVE], ids=["epoch", "naive"])
def test_a_time_zone_that_is_given_is_taken(tmp_path, times):
    path, zone = csv(tmp_path / "drive.csv", times), Reading(timezone="Asia/Tokyo")
    data = veilmap.read(path, reading=zone)
    assert clock(data) == clock(inspect(path, reading=zone)) == ("Asia/Tokyo", "given")


def test_a_file_of_veilmap_keeps_the_clock_it_was_written_with(tmp_path):
    guessed = veilmap.read(csv(tmp_path / "drive.csv", EPOCH))
    guessed.write_parquet(tmp_path / "kept.parquet")
    assert clock(veilmap.read(tmp_path / "kept.parquet")) == ("Europe/Dublin", "file")
    replace(guessed, timezone="UTC").write_parquet(tmp_path / "utc.parquet")
    assert clock(veilmap.read(tmp_path / "utc.parquet")) == ("UTC", "file")
    given = veilmap.read(tmp_path / "kept.parquet", reading=Reading(timezone="Asia/Tokyo"))
    assert clock(given) == ("Asia/Tokyo", "given")


def test_a_parquet_file_of_others_has_the_clock_of_the_position(tmp_path):
    veilmap.read(csv(tmp_path / "drive.csv", EPOCH)).table.write_parquet(tmp_path / "bare.parquet")
    assert clock(veilmap.read(tmp_path / "bare.parquet")) == ("Europe/Dublin", "position")


def test_a_simulated_world_has_its_own_clock():
    assert clock(veilmap.read("campus")) == ("America/Los_Angeles", "given")


def test_of_files_with_and_without_offsets_the_writing_decides(tmp_path):
    csv(tmp_path / "a.csv", EPOCH)
    csv(tmp_path / "b.csv", NAIVE, lon_deg=-8.48)
    assert clock(veilmap.read(tmp_path)) == ("UTC", "writing")


def test_points_in_time_go_by_the_clock_of_the_files_beside_them(tmp_path):
    veilmap.read(csv(tmp_path / "a.csv", EPOCH)).write_parquet(tmp_path / "b.parquet")
    csv(tmp_path / "a.csv", EPOCH, lon_deg=-8.48)
    assert clock(veilmap.read(tmp_path)) == ("Europe/Dublin", "file")


def test_files_of_two_clocks_need_one(tmp_path):
    veilmap.read(csv(tmp_path / "a.csv", EPOCH)).write_parquet(tmp_path / "b.parquet")
    csv(tmp_path / "a.csv", NAIVE)
    with pytest.raises(UserError, match=r"different clocks \(Europe/Dublin, UTC\)"):
        veilmap.read(tmp_path)


def test_data_on_both_sides_of_the_date_line_have_one_clock(tmp_path):
    """The middle of the numbers is at 0°, in Africa or Europe."""
    sides = [179.9, -179.9] * 5
    rows = [f"ann,x1,{t},{-17.0 - n / 1e4},{sides[n]},-90" for n, t in enumerate(EPOCH)]
    path = tmp_path / "fiji.csv"
    path.write_text("\n".join(["user,cell,time,lat,lon,rsrp", *rows]))
    assert clock(veilmap.read(path)) == clock(inspect(path)) == ("Pacific/Fiji", "position")


def test_in_python_the_caller_says_it_or_has_it_guessed(tmp_path):
    table = veilmap.read(csv(tmp_path / "drive.csv", EPOCH)).table.drop("x_m", "y_m")
    assert clock(Measurements.of(table)) == ("UTC", "given")
    guessed = Measurements.of(table, timezone_by="position")
    assert clock(guessed) == ("Europe/Dublin", "position")


def test_how_it_is_known_is_said():
    assert clock_text("Europe/Athens", "given") == "clock of Europe/Athens"
    assert clock_text("UTC", "writing") == "clock of UTC, in which times without an offset are read"


def test_days_of_rounds_begin_at_the_guessed_midnight(tmp_path):
    """Ten hours from 21:00 in Tokyo, seven of them after midnight; in UTC they are of one day."""
    rows = [f"ann,x1,{t},{35.6 + n / 1e4},139.7,-90" for n, t in enumerate(EPOCH)]
    path = tmp_path / "tokyo.csv"
    path.write_text("\n".join(["user,cell,time,lat,lon,rsrp", *rows]))
    data = veilmap.read(path)
    assert data.timezone == "Asia/Tokyo"
    assert [sum(map(len, each.data.values())) for each in cut(data, 86_400.0)] == [3, 7]
    assert len(cut(replace(data, timezone="UTC"), 86_400.0)) == 1


def test_a_run_keeps_the_clock_by_which_its_rounds_were_cut(tmp_path, monkeypatch):
    """Also where a later version would guess another."""
    data = veilmap.read(csv(tmp_path / "drive.csv", EPOCH))
    run = tmp_path / "run"
    veilmap.train(data, interval="3h", split="random", out=run)
    before = open_evidence(run)
    monkeypatch.setattr("veilmap.measurements.guess_timezone", lambda *middle: "Asia/Kolkata")
    assert veilmap.read(tmp_path / "drive.csv").timezone == "Asia/Kolkata"
    after = open_evidence(run)
    assert before.timezone == after.timezone == "Europe/Dublin"
    assert {t: len(own["ann"]) for t, own in (before.truth or {}).items()} == {
        t: len(own["ann"]) for t, own in (after.truth or {}).items()
    }
