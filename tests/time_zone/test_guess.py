from datetime import datetime
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest

from veilmap.time_zone.guess import guess_timezone

# Large cities that no zone is called after, and the zone that they are in.
CITIES = {
    "Cork": (51.9, -8.47, "Europe/Dublin"),
    "Chania": (35.51, 24.02, "Europe/Athens"),
    "Irvine": (33.65, -117.84, "America/Los_Angeles"),
    "Ottawa": (45.42, -75.69, "America/Toronto"),
    "Munich": (48.14, 11.58, "Europe/Berlin"),
    "Hamburg": (53.55, 9.99, "Europe/Berlin"),
    "Cologne": (50.94, 6.96, "Europe/Berlin"),
    "Barcelona": (41.39, 2.17, "Europe/Madrid"),
    "Vigo": (42.24, -8.72, "Europe/Madrid"),
    "Seville": (37.39, -5.98, "Europe/Madrid"),
    "Porto": (41.15, -8.61, "Europe/Lisbon"),
    "Marseille": (43.3, 5.37, "Europe/Paris"),
    "Brest": (48.39, -4.49, "Europe/Paris"),
    "Edinburgh": (55.95, -3.19, "Europe/London"),
    "Milan": (45.46, 9.19, "Europe/Rome"),
    "Bari": (41.12, 16.87, "Europe/Rome"),
    "Krakow": (50.06, 19.94, "Europe/Warsaw"),
    "Thessaloniki": (40.64, 22.94, "Europe/Athens"),
    "Gothenburg": (57.71, 11.97, "Europe/Stockholm"),
    "Tromso": (69.65, 18.96, "Europe/Oslo"),
    "Oulu": (65.01, 25.47, "Europe/Helsinki"),
    "StPetersburg": (59.94, 30.31, "Europe/Moscow"),
    "Ankara": (39.93, 32.86, "Europe/Istanbul"),
    "Alexandria": (31.2, 29.92, "Africa/Cairo"),
    "Lagos": (6.52, 3.38, "Africa/Lagos"),
    "CapeTown": (-33.92, 18.42, "Africa/Johannesburg"),
    "Mumbai": (19.08, 72.88, "Asia/Kolkata"),
    "Delhi": (28.61, 77.21, "Asia/Kolkata"),
    "Bengaluru": (12.97, 77.59, "Asia/Kolkata"),
    "Beijing": (39.9, 116.4, "Asia/Shanghai"),
    "Chengdu": (30.57, 104.07, "Asia/Shanghai"),
    "Guangzhou": (23.13, 113.26, "Asia/Shanghai"),
    "Harbin": (45.8, 126.53, "Asia/Shanghai"),
    "Osaka": (34.69, 135.5, "Asia/Tokyo"),
    "Sapporo": (43.06, 141.35, "Asia/Tokyo"),
    "Busan": (35.18, 129.08, "Asia/Seoul"),
    "Surabaya": (-7.26, 112.75, "Asia/Jakarta"),
    "Melbourne": (-37.81, 144.96, "Australia/Melbourne"),
    "Cairns": (-16.92, 145.77, "Australia/Brisbane"),
    "Wellington": (-41.29, 174.78, "Pacific/Auckland"),
    "Seattle": (47.61, -122.33, "America/Los_Angeles"),
    "SaltLake": (40.76, -111.89, "America/Denver"),
    "Dallas": (32.78, -96.8, "America/Chicago"),
    "ElPaso": (31.76, -106.49, "America/Denver"),
    "Atlanta": (33.75, -84.39, "America/New_York"),
    "Miami": (25.76, -80.19, "America/New_York"),
    "Minneapolis": (44.98, -93.27, "America/Chicago"),
    "Montreal": (45.5, -73.57, "America/Toronto"),
    "Calgary": (51.05, -114.07, "America/Edmonton"),
    "Guadalajara": (20.67, -103.35, "America/Mexico_City"),
    "Rio": (-22.91, -43.17, "America/Sao_Paulo"),
    "Brasilia": (-15.79, -47.88, "America/Sao_Paulo"),
    "Medellin": (6.24, -75.57, "America/Bogota"),
    "Cordoba": (-31.42, -64.18, "America/Argentina/Cordoba"),
}
# Where another country's city is nearer, by how many hours the guess is off.
OFF_H = {
    "Vigo": 1, "Brest": 1, "Tromso": 1, "StPetersburg": 1, "Mumbai": 0.5, "Delhi": 0.25,
    "Beijing": 1, "Harbin": 2, "Sapporo": 2,
}  # fmt: skip


def offset_h(timezone, month):
    moment = datetime(2024, month, 15, 12, tzinfo=ZoneInfo(timezone))
    return moment.utcoffset().total_seconds() / 3600


@pytest.mark.parametrize("city", CITIES)
def test_a_city_has_its_clock_in_winter_and_in_summer(city):
    lat_deg, lon_deg, true = CITIES[city]
    guessed = guess_timezone(lat_deg, lon_deg)
    off_h = max(abs(offset_h(guessed, month) - offset_h(true, month)) for month in (1, 7))
    assert off_h == OFF_H.get(city, 0)


def test_night_and_day_are_told_apart_better_than_by_the_sun():
    """45 of 54 cities have their very clock; by longitude alone (round(lon / 15) hours) 10."""

    def by_sun_h(city):
        _, lon_deg, true = CITIES[city]
        return max(abs(round(lon_deg / 15) - offset_h(true, month)) for month in (1, 7))

    assert (len(CITIES), len(CITIES) - len(OFF_H)) == (54, 45)
    assert sum(by_sun_h(city) == 0 for city in CITIES) == 10
    assert max(map(by_sun_h, CITIES)) == 3


@pytest.mark.parametrize(
    ("lat_deg", "lon_deg", "timezone"),
    [
        (-18.0, 179.99, "Pacific/Fiji"),
        (-18.0, -179.99, "Pacific/Fiji"),
        # With seconds in the table.
        (40.71, -74.0, "America/New_York"),
        (-90.0, 0.0, None),
        (0.0, -30.0, None),
    ],
)
def test_every_place_on_earth_has_a_clock(lat_deg, lon_deg, timezone):
    guessed = guess_timezone(lat_deg, lon_deg)
    assert timezone in (guessed, None)
    ZoneInfo(guessed)


def test_the_table_says_that_it_is_free():
    text = (files("veilmap.time_zone") / "zone1970.tab").read_text()
    assert "This file is in the public domain." in text
