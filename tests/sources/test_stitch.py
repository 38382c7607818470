from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

from veilmap.errors import UserError
from veilmap.geo import distance_m
from veilmap.measurements import Measurements
from veilmap.sources.stitch import MILE_M, Stitching, candidates, stitch

MONDAY = datetime(2017, 1, 2, 8, tzinfo=UTC)
NORTH_DEG = 1 / 111_195  # one metre of latitude on the sphere
EVERYTHING = Stitching(min_weeks=1, min_per_week=0)


def upload(file, start_m=0.0, end_m=0.0, *, user="phone", cell="a", day=0, rows=4):
    """A file that moves north from ``start_m`` to ``end_m``, a row a minute."""
    at_m = np.linspace(start_m, end_m, rows)
    return pl.DataFrame(
        {
            "user": user,
            "file": file,
            "cell": cell,
            "time": [MONDAY + timedelta(days=day, minutes=row) for row in range(rows)],
            "lat_deg": 51.5 + at_m * NORTH_DEG,
            "lon_deg": [-0.1] * rows,
            "rsrp_dbm": [-96.0] * rows,
            "accuracy_m": [8.0] * rows,
        },
        schema_overrides={"time": pl.Datetime("us", "UTC")},
    )


def random_uploads(seed, files=60):
    draw = np.random.default_rng(seed)
    return pl.concat(
        upload(
            f"f{number}",
            *draw.uniform(0, 9000, 2),
            user=f"phone {draw.integers(3)}",
            cell="ab"[draw.integers(2)],
            day=int(draw.integers(60)),
            rows=int(draw.integers(1, 6)),
        )
        for number in range(files)
    )


def owners(stitched, uploads):
    """User → files, by the times and positions of the rows."""
    key = ["cell", "time", "lat_deg"]
    joined = stitched.table.select("user", "file", *key).sort(*key)
    assert joined.height == uploads.height
    return {
        user: sorted(group["file"].unique())
        for (user,), group in joined.group_by("user", maintain_order=True)
    }


def test_a_hand_made_example_gives_two_users_and_a_background():
    """Z = 1,000 m.

    f1, f2, f3 form a chain (f1 and f3 are 1,600 m apart); f4 starts with them and ends elsewhere;
    f5 is another phone; f6 and f7 go the way of f4 later, with f4 one candidate. Kept are those
    with 2 weeks and 4 rows a week: the chain (weeks 0, 1, 2) appears first.
    """
    uploads = pl.concat(
        [
            upload("f1", 0, 5000, day=0),
            upload("f2", 800, 5800, day=8),
            upload("f3", 1600, 6600, day=15),
            upload("f4", 0, 9000, day=1),
            upload("f5", 0, 5000, day=2, user="other phone"),
            upload("f6", 100, 9100, day=10),
            upload("f7", 200, 9200, day=11),
        ]
    )
    found = stitch(uploads, Stitching(distance_m=1000, min_weeks=2, min_per_week=4))
    assert (found.files, found.candidates, found.background_files) == (7, 3, 1)
    assert owners(found, uploads) == {"1": ["f1", "f2", "f3"], "2": ["f4", "f6", "f7"], "0": ["f5"]}
    assert [(user.files, user.weeks, user.rows) for user in found.users] == [(3, 3, 12), (3, 2, 12)]


def test_users_with_too_few_weeks_or_rows_are_background():
    weeks = [upload(f"f{week}", day=7 * week) for week in range(4)]
    uploads = pl.concat(weeks)
    assert len(stitch(uploads, Stitching(min_weeks=4, min_per_week=4)).users) == 1
    assert stitch(uploads, Stitching(min_weeks=5, min_per_week=4)).users == ()
    assert stitch(uploads, Stitching(min_weeks=4, min_per_week=4.1)).background_files == 4


@pytest.mark.parametrize("seed", range(3))
def test_candidates_are_the_components_of_the_graph_of_all_pairs(seed):
    draw = np.random.default_rng(seed)
    ends = np.column_stack(
        [51 + draw.uniform(0, 0.2, 80), draw.uniform(0, 0.3, 80)] * 2
    ) + draw.normal(0, 0.004, (80, 4))
    files = pl.DataFrame(ends, schema=["start_lat", "start_lon", "end_lat", "end_lon"])
    found = candidates(files.with_columns(cell=pl.lit("a"), user=pl.lit("phone")), MILE_M)
    expected = _plain_components(ends)
    assert 5 < len(set(expected)) < 75
    assert len(set(zip(found, expected, strict=True))) == len(set(found)) == len(set(expected))


def _plain_components(ends):
    """Merge the labels of every linked pair until nothing changes."""
    label = list(range(len(ends)))
    changed = True
    while changed:
        changed = False
        for i, here in enumerate(ends):
            start_m = distance_m(ends[:, 0], ends[:, 1], here[0], here[1])
            end_m = distance_m(ends[:, 2], ends[:, 3], here[2], here[3])
            for j in np.flatnonzero((start_m <= MILE_M) & (end_m <= MILE_M)):
                if label[j] != label[i]:
                    label[i] = label[j] = min(label[i], label[j])
                    changed = True
    return label


@pytest.mark.parametrize("seed", range(3))
def test_every_file_goes_to_exactly_one_user_and_no_row_is_lost(seed):
    uploads = random_uploads(seed)
    found = stitch(uploads, EVERYTHING, cell="all")
    users = owners(found, uploads)
    assert sum(len(files) for files in users.values()) == found.files == 60
    assert found.candidates == len(found.users) == len(users)


def test_a_larger_distance_never_gives_more_candidates():
    uploads = random_uploads(0)
    counts = [
        stitch(uploads, Stitching(distance_m=distance_m), cell="all").candidates
        for distance_m in (0, 200, 800, 1600, 3200, 9000)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 60
    assert counts[-1] == 6  # three phones in two cells


@pytest.mark.parametrize("other", [{"user": "phone 2"}, {"cell": "b"}])
def test_another_device_or_another_cell_never_merges(other):
    uploads = pl.concat([upload("f1"), upload("f2", **other)])
    assert stitch(uploads, Stitching(distance_m=1e6), cell="all").candidates == 2


def test_both_ends_must_be_near_and_the_direction_counts():
    uploads = pl.concat([upload("f1", 0, 5000), upload("f2", 5000, 0, day=1)])
    assert stitch(uploads).candidates == 2
    southward = pl.concat([upload("f1", 5000, 0), upload("f2", 5000, 5000, day=1)])
    assert stitch(southward).candidates == 2


def test_the_limit_itself_is_near_enough_and_a_metre_more_is_not():
    for gap_m, expected in ((999.5, 1), (1000.5, 2)):
        uploads = pl.concat([upload("f1"), upload("f2", gap_m, gap_m, day=1)])
        assert stitch(uploads, Stitching(distance_m=1000)).candidates == expected


def test_a_file_starts_and_ends_with_its_rows_of_the_cell():
    """f1 begins far away in cell b; in cell a it starts where f2 starts."""
    elsewhere = upload("f1", 50_000, 50_000, cell="b", day=-1)
    uploads = pl.concat([elsewhere, upload("f1", rows=9), upload("f2", day=1)])
    found = stitch(uploads)
    assert set(found.table["cell"]) == {"a"}
    assert (found.files, found.candidates) == (2, 1)


def test_the_order_of_rows_and_files_decides_nothing():
    uploads = random_uploads(1)
    mixed = uploads.sample(fraction=1, shuffle=True, seed=3)
    one, other = (stitch(rows, EVERYTHING, cell="all") for rows in (uploads, mixed))
    assert one.users == other.users
    assert Measurements.of(one.table).fingerprint == Measurements.of(other.table).fingerprint


def test_one_file_and_one_row_per_file_are_enough():
    assert stitch(upload("f1", rows=1), EVERYTHING).users[0].rows == 1
    single = pl.concat([upload(f"f{day}", rows=1, day=day) for day in range(5)])
    found = stitch(single, EVERYTHING)
    assert (found.candidates, found.users[0].files) == (1, 5)


def test_files_on_both_sides_of_the_date_line_are_near():
    uploads = pl.concat([upload("f1"), upload("f2", day=1)])
    lon_deg = pl.Series([179.999] * 4 + [-179.999] * 4)
    assert stitch(uploads.with_columns(lon_deg=lon_deg)).candidates == 1


def test_invalid_rows_are_refused_or_left_out_and_counted():
    uploads = pl.concat([upload("f1"), upload("f2", day=1)])
    broken = uploads.with_columns(rsrp_dbm=pl.Series([99.0] + [-96.0] * 7))
    with pytest.raises(UserError, match=r"mine.zip has 1 invalid row of 8.*--drop-invalid"):
        stitch(broken, source="mine.zip")
    found = stitch(broken, drop_invalid=True)
    assert found.table.height == 7
    assert found.dropped[0].rows == 1


def test_what_cannot_be_stitched_is_said():
    with pytest.raises(UserError, match="does not say which upload file a row is from"):
        stitch(upload("f1").drop("file"))
    with pytest.raises(UserError, match="no measurement of cell 'z' in memory; it has: "):
        stitch(upload("f1"), cell="z")
    with pytest.raises(UserError, match=r"distance_m must be .* got -1; min_weeks must be"):
        Stitching(distance_m=-1, min_weeks=0)


def test_weeks_count_from_the_first_row_of_each_cell():
    """Cell b begins on day 3: its files on days 3, 8 and 9 are in one week, not two."""
    uploads = pl.concat(
        [upload("first", cell="a", day=0)]
        + [upload(f"b{day}", cell="b", day=day) for day in (3, 8, 9)]
    )
    found = stitch(uploads, EVERYTHING, cell="all")
    assert [user.weeks for user in found.users if user.cell == "b"] == [1]
