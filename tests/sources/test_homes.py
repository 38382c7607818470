"""Who has a home in the data: people of a simulated campus and of Chania, and no driver of Cork."""

import polars as pl
import pytest

import veilmap
from veilmap.metrics.hours import Hours
from veilmap.metrics.places import NoHome, find_places, likely_home
from veilmap.rounds import by_user
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading


def homes(data, timezone=None):
    """By user, the likely home in one cell, or the heaviest place."""
    return {
        user: likely_home(
            find_places(own.xy_m, hours=Hours.local(own.time_s, timezone or data.timezone))
        )
        for user, own in by_user(data).items()
    }


def test_everybody_on_the_campus_has_a_home():
    data = veilmap.read("campus")
    assert {home.by for home in homes(data).values()} == {"hours"}


def test_a_drive_has_no_home(shared_data):
    path = shared_data / "ucc-5g-cork" / "5G-production-dataset.zip"
    data = veilmap.read(path, Columns(user="file"), Reading(drop_invalid=True))
    drives = data.keep(pl.col("user").str.contains("/Driving/"))
    assert len(drives.users) > 50
    for timezone in ("UTC", "Europe/Dublin"):
        assert {home.why_heaviest for home in homes(drives, timezone).values()} == {NoHome.NO_NIGHT}


@pytest.mark.parametrize(
    ("cell", "without"),
    [("60561", [NoHome.NO_NIGHT] * 2), ("60562", [NoHome.NO_NIGHT, NoHome.ONE_NIGHT])],
)
def test_people_in_chania_have_homes_but_for_those_of_a_few_days(shared_data, cell, without):
    path = shared_data / "chania-gsm" / "chania.csv.gz"
    data = veilmap.read(path, reading=Reading(drop_invalid=True, timezone="Europe/Athens"))
    data = data.of_cell(cell)
    found = homes(data)
    why = {user: home.why_heaviest for user, home in found.items() if home.by == "weight"}
    assert sorted(why.values(), key=lambda each: each.name) == sorted(
        without, key=lambda each: each.name
    )
    # Those without one have less than 600 measurements, of tens of thousands.
    assert set(why) < set(data.users[3:])
