import pytest

from tests.sources.test_tables import BAD_ROWS, HEADER, ROWS
from veilmap.errors import UserError
from veilmap.faults import DUPLICATE
from veilmap.inspection import facts, inspect
from veilmap.sources import read
from veilmap.sources.reading import Reading


def test_the_facts_agree_with_the_table(small_campus, campus_file):
    found = inspect(campus_file, reading=Reading(timezone=small_campus.timezone))
    assert found.rows == len(small_campus)
    assert (found.users, found.cells) == (3, 4)
    assert found.first == small_campus.first
    assert found.mean_dbm == pytest.approx(small_campus.table["rsrp_dbm"].mean())
    assert found.std_dbm == pytest.approx(small_campus.table["rsrp_dbm"].std(), rel=1e-3)
    assert found.faults == ()
    width_m = small_campus.table["x_m"].max() - small_campus.table["x_m"].min()
    assert found.extent_km[0] * 1000 == pytest.approx(width_m, rel=0.01)
    assert [count.interval for count in found.rounds] == ["1h", "3h", "1d", "1w"]
    for count in found.rounds:
        assert count.rounds * count.points_per_round == pytest.approx(found.densest_rows)


def test_chunks_change_nothing(campus_file, monkeypatch):
    whole = inspect(campus_file)
    monkeypatch.setattr(facts, "CHUNK_ROWS", 500)
    parts = inspect(campus_file)
    assert parts.mean_dbm == pytest.approx(whole.mean_dbm)
    assert (parts.rows, parts.rounds, parts.extent_km) == (
        whole.rows, whole.rounds, whole.extent_km,
    )  # fmt: skip


def test_bad_rows_are_counted_as_the_reader_counts_them(tmp_path):
    lines = ["user,cell,time,lat,lon,rsrp"]
    lines += [f"u,7,2024-03-01 10:{minute:02d}:00,51.5,-0.1,-96" for minute in range(30)]
    lines += ["u,7,2024-03-01 11:00:00,0,0,-96", "u,7,2024-03-01 11:00:00,51,0,12", lines[3]]
    lines += ["NA,7,2024-03-01 11:00:00,51,0.1,-96"]
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines))
    found, read_back = inspect(path), read(path, reading=Reading(drop_invalid=True))
    assert found.rows == 34
    kinds = {fault.kind: fault.rows for fault in found.faults}
    assert kinds == {fault.kind: fault.rows for fault in read_back.dropped}
    assert kinds[DUPLICATE] == 1
    assert [fault.first_row for fault in found.faults[:3]] == [35, 32, 33]


@pytest.mark.parametrize("kind", BAD_ROWS)
def test_one_bad_row_of_any_kind_is_found(tmp_path, kind):
    path = tmp_path / "bad.csv"
    path.write_text("\n".join([HEADER, *ROWS, BAD_ROWS[kind]]))
    (fault,) = inspect(path).faults
    (dropped,) = read(path, reading=Reading(drop_invalid=True)).dropped
    assert (fault.kind, fault.rows) == (dropped.kind, 1)


def test_the_date_line_does_not_go_round_the_earth(tmp_path):
    lines = ["user,cell,time,lat,lon,rsrp"]
    lines += [
        f"u,7,2024-03-01 10:00:0{i},-17.0,{lon},-96" for i, lon in enumerate((179.99, -179.99))
    ]
    (tmp_path / "fiji.csv").write_text("\n".join(lines))
    assert inspect(tmp_path / "fiji.csv").extent_km[0] == pytest.approx(2.13, abs=0.01)


def test_a_file_without_one_sound_row_is_an_error(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("user,cell,time,lat,lon,rsrp\nu,7,2024-03-01 10:00:00,0,0,-96\n")
    with pytest.raises(UserError, match=r"no valid measurement \(1 with position \(0, 0\)"):
        inspect(path)


def test_chania_has_the_rounds_that_its_source_tells(shared_data):
    found = inspect(shared_data / "chania-gsm" / "chania.csv.gz")
    assert (found.rows, found.users, found.cells) == (360_643, 8, 8)
    assert found.densest_rows == 87_730
    rounds = {
        count.interval: (count.rounds, round(count.points_per_round)) for count in found.rounds
    }
    assert rounds == {"1h": (551, 159), "3h": (282, 311), "1d": (109, 805), "1w": (25, 3509)}
