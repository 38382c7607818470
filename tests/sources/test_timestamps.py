import polars as pl
import pytest

from veilmap.errors import UserError
from veilmap.sources.timestamps import times_of


def utc(values, timezone="UTC", time_format=None):
    sample = pl.Series("t", values)
    expression = times_of(sample, time_format, timezone, "data.csv").utc
    times = sample.to_frame().select(expression).to_series()
    return [None if time is None else time.strftime("%Y-%m-%d %H:%M:%S.%f") for time in times]


MOMENT = "2024-03-01 10:00:00.000000"


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-01 10:00:00", "2024-03-01T10:00:00", "2024-03-01T10:00:00Z",
        "2024-03-01T10:00:00.000Z", "2024-03-01T12:00:00+02:00", "2024-03-01 10:00",
        "2024/03/01 10:00:00", "2024.03.01_10.00.00", "20240301100000", "01.03.2024 10:00:00",
        "1709287200", "1709287200000", "1709287200.0", " 2024-03-01 10:00:00 ",
        "2024-03-01T10:00", "20240301T100000Z", "01.03.2024 10:00",
    ],
)  # fmt: skip
def test_the_usual_forms_are_read(text):
    assert utc([text]) == [MOMENT]


@pytest.mark.parametrize("scale", [1, 1000, 1_000_000, 1_000_000_000])
def test_the_unit_of_an_epoch_is_recognised_by_its_size(scale):
    assert utc([1_709_287_200 * scale]) == [MOMENT]


def test_a_time_zone_applies_to_times_without_offset_only():
    assert utc(["2024-07-01 12:00:00"], "Europe/Athens") == ["2024-07-01 09:00:00.000000"]
    assert utc(["2024-07-01T12:00:00Z"], "Europe/Athens") == ["2024-07-01 12:00:00.000000"]


def test_an_offset_in_the_users_own_format_counts():
    own = utc(["12:00 01.07.2024 +02:00"], "Europe/Athens", "%H:%M %d.%m.%Y %:z")
    assert own == ["2024-07-01 10:00:00.000000"]


def test_a_format_that_reads_nothing_is_refused():
    with pytest.raises(UserError, match=r"--time-format '%Q' does not read '2024-03-01'"):
        utc(["2024-03-01"], time_format="%Q")


def test_a_number_that_is_no_time_is_unreadable():
    assert utc([1_709_287_200, 1_709_287_200, 1_709_287_200_000, -5]) == [
        MOMENT,
        MOMENT,
        None,
        None,
    ]


def test_an_hour_that_the_clock_never_shows_is_unreadable():
    assert utc(["2024-03-31 03:30:00"], "Europe/Athens") == [None]


def test_an_hour_shown_twice_is_the_first():
    assert utc(["2024-10-27 03:30:00"], "Europe/Athens") == ["2024-10-27 00:30:00.000000"]


def test_a_few_broken_values_do_not_hide_the_format():
    assert utc(["2024-03-01 10:00:00", "?", "2024-03-01 10:00:00"]) == [MOMENT, None, MOMENT]


def test_day_and_month_that_cannot_be_distinguished_are_asked_for():
    with pytest.raises(UserError, match=r"fit both .*choose with --time-format"):
        utc(["03/04/2024 10:00:00"])
    assert utc(["13/04/2024 10:00:00", "01/03/2024 10:00:00"])[1] == MOMENT
    assert utc(["03/01/2024 10:00:00"], time_format="%m/%d/%Y %H:%M:%S") == [MOMENT]


def test_a_broken_value_does_not_turn_months_into_days():
    values = ["03/04/2017 10:00:00", "N/A", "03/14/2017 10:00:00"]
    assert utc(values) == ["2017-03-04 10:00:00.000000", None, "2017-03-14 10:00:00.000000"]


def test_a_missing_value_among_numbers_is_only_missing():
    assert utc(["NA", "1709287200", "1709287200"]) == [None, MOMENT, MOMENT]


@pytest.mark.parametrize(
    "text", ["20170830", "42977.95", "30.08.17 22:50:14", "17-08-30 22:50:14", "201708302250"]
)
def test_a_form_that_would_be_misread_is_refused(text):
    with pytest.raises(UserError, match="unknown form"):
        utc([text])


def test_a_number_in_a_table_that_is_a_date_is_read_as_one():
    assert utc([20240301100000]) == [MOMENT]


def test_pythons_fraction_of_a_second_is_understood():
    own = utc(["2024-03-01 10:00:00.500000"], time_format="%Y-%m-%d %H:%M:%S.%f")
    assert own == ["2024-03-01 10:00:00.500000"]


def test_times_at_the_end_of_time_are_unreadable_in_every_zone():
    values = ["9999-12-31T23:59:59", "0001-01-01T00:00:00", "2024-03-01T10:00:00"]
    assert utc(values, "America/Los_Angeles") == [None, None, "2024-03-01 18:00:00.000000"]


def test_an_unknown_form_is_refused_with_an_example():
    with pytest.raises(UserError, match=r"unknown form \(first: 'noon'\); give it with --time-for"):
        utc(["noon"])


@pytest.mark.parametrize(
    ("values", "know_utc"),
    [
        ([1_709_287_200], True),
        (["1709287200000"], True),
        (["2024-03-01T10:00:00Z"], True),
        (["2024-03-01T12:00:00+02:00"], True),
        (pl.Series([0]).cast(pl.Datetime("us", "Asia/Tokyo")), True),
        (["2024-03-01 10:00:00"], False),
        (["20240301100000"], False),
        (pl.Series([0]).cast(pl.Datetime("us")), False),
        (pl.Series([0]).cast(pl.Date), False),
    ],
    ids=str,
)
def test_numbers_and_offsets_are_points_in_time_and_other_texts_the_time_of_a_clock(
    values, know_utc
):
    assert times_of(pl.Series("t", values), None, "UTC", "data.csv").know_utc is know_utc
