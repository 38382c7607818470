"""The published facts of London 2017, cell x455, in the world of seed 0."""

import re
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from veilmap.errors import UserError
from veilmap.geo import distance_m
from veilmap.measurements import Measurements
from veilmap.metrics.transport import emd_paper
from veilmap.rounds import cut, parse_interval
from veilmap.sources import london
from veilmap.sources.london import London, people
from veilmap.sources.london.logs import Logs
from veilmap.sources.london.uploads import file_names, with_device_text
from veilmap.sources.stitch import Stitching, stitch

LUTON_DEG = (51.88, -0.42)


@pytest.fixture(scope="module")
def uploads():
    return london.uploads(0)


@pytest.fixture(scope="module")
def top(uploads):
    return uploads.filter(pl.col("cell") == "x455")


@pytest.fixture(scope="module")
def stitched(uploads):
    return stitch(with_device_text(uploads))


@pytest.fixture(scope="module")
def measurements():
    return london.simulate(0)


@pytest.fixture(scope="module")
def points(measurements):
    """User → positions in metres, in the top cell."""
    table = measurements.of_cell("x455").table
    return {
        user: group.select("x_m", "y_m").to_numpy() for (user,), group in table.group_by("user")
    }


def test_the_densest_cell_is_x455_with_64302_measurements(measurements):
    assert measurements.cells[0] == "x455"
    assert len(measurements.of_cell(None)) == 64_302


def test_of_3500_files_1351_are_of_the_cell(uploads, top):
    assert (uploads["file"].n_unique(), top["file"].n_unique()) == (3500, 1351)


def test_they_span_8_and_a_half_months_of_2017(top):
    first, last = top["time"].min(), top["time"].max()
    assert {first.year, last.year} == {2017}
    assert (last - first).days / (365.25 / 12) == pytest.approx(8.5, abs=0.05)


def test_the_extent_is_5167_km2_within_one_percent(top):
    """East-west along the middle latitude times north-south, as ``inspect`` shows them."""
    lat, lon = ((top[name].min(), top[name].max()) for name in ("lat_deg", "lon_deg"))
    middle = np.array([sum(lat) / 2])
    width_m = distance_m(middle, np.array([lon[0]]), middle[0], lon[1])
    height_m = distance_m(np.array([lat[0]]), np.array([0.0]), lat[1], 0.0)
    assert width_m[0] * height_m[0] / 1e6 == pytest.approx(5167, rel=0.01)


def test_a_phone_logs_16_measurements_in_2_hours_within_one(top):
    files = top.group_by("file").agg(pl.len(), (pl.max("time") - pl.min("time")).alias("span"))
    hours = files["span"].dt.total_seconds().sum() / 3600
    assert 2 * files["len"].sum() / hours == pytest.approx(16, abs=1)


def test_a_mile_gives_933_candidates_five_users_and_1059_background_files(stitched):
    assert (stitched.files, stitched.candidates) == (1351, 933)
    assert len(stitched.users) == 5
    assert sum(user.files for user in stitched.users) == 292
    assert stitched.background_files == 1059


@pytest.mark.parametrize("seed", [1, 2])
def test_every_seed_gives_these_counts(seed):
    found = stitch(with_device_text(london.uploads(seed)))
    assert (found.candidates, len(found.users), found.background_files) == (933, 5, 1059)
    assert found.table.height == 64_302
    assert max(found.users, key=lambda user: user.rows).name == "3"


def test_the_choice_of_users_does_not_hang_on_the_thresholds(uploads):
    rows = with_device_text(uploads)
    for stitching in (Stitching(min_weeks=6, min_per_week=20), Stitching(min_weeks=14)):
        assert [user.weeks for user in stitch(rows, stitching).users] == [21, 20, 26, 22, 16]


def test_the_target_is_user_3_with_26_weekly_batches(measurements, stitched):
    assert max(stitched.users, key=lambda user: user.rows).name == "3"
    rounds = cut(measurements.of_cell("x455"), parse_interval("1w"))
    batches = [len(this.data["3"]) for this in rounds if "3" in this.data]
    assert len(batches) == stitched.users[2].weeks == 26
    assert np.mean(np.array(batches) < 50) > 0.5
    assert np.mean(batches) == pytest.approx(50, abs=5)


def test_weekly_batches_hold_about_50_for_every_user(stitched):
    for user in stitched.users:
        assert user.rows / user.weeks == pytest.approx(50, abs=7)


def test_users_1_to_4_are_around_luton(measurements):
    table = measurements.of_cell("x455").table.filter(pl.col("user").is_in(list("1234")))
    middle = table.group_by("user").agg(pl.mean("lat_deg"), pl.mean("lon_deg"))
    assert middle["lat_deg"].to_numpy() == pytest.approx(LUTON_DEG[0], abs=0.02)
    assert middle["lon_deg"].to_numpy() == pytest.approx(LUTON_DEG[1], abs=0.02)


def test_users_1_to_4_are_alike_and_0_and_5_unlike_them(points):
    """Alike: nearer to one another than random points in the target's own area are, 34."""
    far = {"0": points["0"][::50], "5": points["5"]}
    for one, other in combinations("1234", 2):
        assert emd_paper(points[one], points[other]) < 30
    for one, other in product("1234", far):
        assert emd_paper(points[one], far[other]) > 100


def test_random_points_in_the_targets_area_score_34_within_one(points):
    target = points["3"]
    draw = np.random.default_rng(0)
    random = draw.uniform(target.min(axis=0), target.max(axis=0), target.shape)
    assert emd_paper(target, random) == pytest.approx(34, abs=1)


def test_the_signal_is_minus_96_dbm_and_spreads_by_5_to_8_db(measurements):
    table = measurements.of_cell("x455").table
    assert table["rsrp_dbm"].mean() == pytest.approx(-96, abs=1)
    for rows in (table, table.filter(pl.col("user") == "3")):
        assert 5 < rows["rsrp_dbm"].std() < 8
    assert (table["rsrp_dbm"] % 1 == 0).all()


def test_neighbouring_rows_of_a_file_have_similar_signals(top):
    """Shadowing is a field: within a burst only fading differs."""
    gap_s = pl.col("time").diff().over("file").dt.total_seconds()
    step = top.select(gap_s=gap_s, step_db=pl.col("rsrp_dbm").diff().over("file"))
    within_db = step.filter(pl.col("gap_s") < 30)["step_db"].std() / 2**0.5
    assert within_db < 0.6 * top["rsrp_dbm"].std()


def test_no_user_moves_faster_than_a_car_on_a_motorway(measurements, uploads):
    metres = measurements.projection.metres(uploads["lat_deg"], uploads["lon_deg"])
    rows = uploads.with_columns(x=metres[:, 0], y=metres[:, 1])
    step = pl.col("x", "y").diff().over("file")
    seconds = pl.col("time").diff().over("file").dt.total_seconds()
    moves = rows.select("time", step, seconds=seconds).filter(pl.col("seconds") > 30)
    speed_km_h = 3.6 * np.hypot(moves["x"], moves["y"]) / moves["seconds"]
    assert 50 < speed_km_h.max() < 130


def test_a_phone_scans_at_most_once_a_second(uploads):
    assert not uploads.select("file", "time").is_duplicated().any()


def test_files_are_named_as_the_app_does_and_no_name_comes_twice(uploads):
    same = np.full(4000, 5)  # 4,000 files that end together cannot be uploaded together
    names = [*uploads["file"].unique(), *file_names(0, Logs(same, same, same, same, same))]
    assert all(re.fullmatch(r"V2_234_log2017\d{10}-cellular\.xml", name) for name in names)
    assert len(set(names[3500:])) == 4000


def test_a_few_devices_are_common_and_many_are_rare(top):
    device = ["manufacturer", "model", "revision", "swid", "swver"]
    counts = top.unique("file").group_by(device).len()["len"].sort(descending=True)
    assert counts[0] > 40
    assert (counts < 5).mean() > 0.5


def test_the_same_seed_gives_the_same_world_and_another_another(uploads, measurements, stitched):
    assert london.uploads(0).equals(uploads)
    assert not london.uploads(1).equals(uploads)
    again = Measurements.of(stitched.table)
    assert again.fingerprint == measurements.of_cell("x455").fingerprint


def test_a_world_may_be_smaller():
    habits = tuple(replace(habit, weeks=9, first_week=week, files=18)
                   for week, habit in enumerate(London().habits))  # fmt: skip
    world = London(
        files=260, cell_files=240, cell_rows=6000, candidates=120, habits=habits, days=98
    )
    found = stitch(with_device_text(london.uploads(3, world)))
    assert (found.files, found.candidates, found.table.height) == (240, 120, 6000)
    assert [user.files for user in found.users] == [18] * 5


def test_a_world_that_cannot_be_is_refused():
    with pytest.raises(UserError, match="files must be at least cell_files = 1351, got 9"):
        London(files=9)
    with pytest.raises(UserError, match="candidates must be at least 2 and at most 1059 more"):
        London(candidates=1100)
    with pytest.raises(UserError, match="weeks of habit 1 must be 1 to 9, got 21"):
        London(days=70)


def test_contributors_that_cannot_be_distinguished_are_refused(monkeypatch):
    monkeypatch.setattr(people, "MOST_EXCHANGES", 1)
    with pytest.raises(UserError, match="933 contributors cannot be distinguished in 64 km"):
        london.uploads(0)
