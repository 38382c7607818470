"""Data at the edge of what there can be, from the file through training to the attack."""

import numpy as np
import pytest

from veilmap.errors import UserError
from veilmap.sources import read
from veilmap.study.attack import attack
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train

LAYERS = {"hidden": [4], "activations": ["relu"], "dropout": [0.0]}
SMALL = {"map": "network", **LAYERS, "split": "random"}
QUICK = {"method": "search,first_layer", "grid_cells": 20, "finest_m": 200.0}
ROWS = 40


def write(path, *, user="u", time="2024-01-01 10:{:02d}:00", lat=51.5, lon=-0.1, rows=ROWS):
    """A user who walks 11 m north a minute; what is given as a function depends on the row."""
    lines = ["user,cell,time,lat,lon,rsrp"]
    for row in range(rows):
        who, east = (each(row) if callable(each) else each for each in (user, lon))
        place = f"{lat + row * 1e-4:.6f},{east}"
        lines.append(f'"{who}",a,{time.format(row)},{place},{-90 - row % 7}')
    path.write_text("\n".join(lines) + "\n")
    return path


def follow(path, folder):
    """Read, train one round, attack: what was found, in metres from the true centroid."""
    data = read(path)
    run = train(data, out=folder, **SMALL)
    assert len(run.prepared.rounds) == 1
    assert np.isfinite(run.rmse_db)
    return data, attack(folder, **QUICK)


def test_one_cell_one_user_and_one_round_are_enough(tmp_path):
    data, found = follow(write(tmp_path / "data.csv"), tmp_path / "run")
    assert (data.cells, data.users) == (["a"], ["u"])
    assert found.scores["search"].distance_median_m < 500


@pytest.mark.parametrize("rows", [1, 2])
def test_one_point_is_no_map_and_that_is_said(tmp_path, rows):
    data = read(write(tmp_path / "data.csv", rows=rows))
    assert len(data) == rows
    with pytest.raises(UserError, match="give more data or another cell"):
        train(data, **SMALL)


def test_many_users_with_one_point_each_are_read_and_cut_into_rounds(tmp_path):
    users = 10_000
    lines = [f"u{k},a,{1_704_103_200 + k},{51.5 + k % 100 / 1e4},-0.1,-90" for k in range(users)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["user,cell,time,lat,lon,rsrp", *lines]))
    prepared = prepare(read(path), RunSettings.of(**SMALL))
    (only,) = prepared.rounds
    assert len(prepared.users) == len(only.data) == users * 0.8


NAMES = (
    "\u202egnp",
    "👩\u200d👩\u200d👧",
    "e\u0301",
    "é",
    "a\nb",
    "日本",
    "../x",
    "a/b\\c",
    "%s{0}",
)


def test_users_may_be_called_anything(tmp_path):
    path = write(tmp_path / "data.csv", user=lambda row: NAMES[row % 9], rows=59)
    data, found = follow(path, tmp_path / "run")
    assert sorted(data.users) == sorted(NAMES)
    assert found.target in NAMES
    assert not list(tmp_path.parent.glob("x*"))


@pytest.mark.parametrize(
    ("lat", "lon", "epsg"),
    [
        (-17.0, lambda row: (179.9995, -179.9995)[row % 2], 32701),
        (-17.0, lambda row: (180, -180)[row % 2], 32701),
        (89.9, lambda row: row * 9 - 180, 32661),
        (-89.99, lambda row: row * 9 - 180, 32761),
        (-0.002, lambda row: 10.0, 32732),
    ],
    ids=["antimeridian", "180 is -180", "north pole", "south pole", "equator"],
)
def test_seams_of_the_map_tear_nothing_apart(tmp_path, lat, lon, epsg):
    """Nobody is farther from the middle in metres of the map than on the ground."""
    data, found = follow(write(tmp_path / "data.csv", lat=lat, lon=lon), tmp_path / "run")
    assert data.projection.epsg == epsg
    north_m = 111_000 * ((90 - abs(lat) if abs(lat) > 84 else 0) + 0.004)
    spread_m = np.abs(data.xy_m - np.median(data.xy_m, axis=0)).max()
    assert spread_m < 1.1 * north_m + 120
    back_deg = data.projection.degrees(data.xy_m)[0]
    np.testing.assert_allclose(back_deg, data.table["lat_deg"].to_numpy(), atol=1e-6)
    assert found.scores["search"].distance_median_m < 25_000


@pytest.mark.parametrize("time", ["1970-01-01 00:{:02d}:00", "9999-12-31 23:{:02d}:00"])
def test_times_that_no_phone_had_are_refused_by_their_year(tmp_path, time):
    path = write(tmp_path / "data.csv", time=time)
    with pytest.raises(
        UserError, match=r"column 'time' of data.csv has times outside of the years"
    ):
        read(path)


def test_swapped_positions_are_called_so(tmp_path):
    path = write(tmp_path / "data.csv", lat=139.7, lon=35.6)
    with pytest.raises(UserError, match="latitude and longitude look swapped") as caught:
        read(path)
    assert "--drop-invalid" not in str(caught.value)
