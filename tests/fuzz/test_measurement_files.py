from datetime import date, datetime, time, timedelta
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.edits import apply, edits
from tests.fuzz.guard import FORM, read_or_refuse
from tests.fuzz.measurement_files import KINDS
from tests.sources import fakes
from veilmap.sources import read
from veilmap.sources.reading import Reading

readings = st.sampled_from([Reading(), Reading(drop_invalid=True, keep_going=True)])


@pytest.mark.parametrize("name", KINDS)
def test_a_sound_file_is_read(tmp_path, name):
    kind = KINDS[name]
    assert len(read(fakes.write(tmp_path / name, kind.pack(kind.inside)))) >= 1


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(tmp_path_factory, name):
    kind, path = KINDS[name], tmp_path_factory.mktemp("fuzz") / name

    @FORM
    @given(edits, st.booleans(), readings)
    def one(wanted, inside, reading):
        if inside:
            content = kind.pack(apply(kind.inside, wanted))
        else:
            content = apply(kind.pack(kind.inside), wanted)
        fakes.write(path, content)
        read_or_refuse(lambda file: read(file, reading=reading), path)

    one()


# One value of every kind of column that a Parquet file may have.
VALUES = (
    None, True, 0, -1, 2**63 - 1, 51.5, -90.0, float("nan"), float("inf"), 5e-324, 1e308, "", "a",
    "51.5", "2024-01-01 10:00:00", b"\xff\0", date(1, 1, 1), date(9999, 12, 31),
    datetime(1970, 1, 1), datetime(2024, 1, 1, 10), datetime(9999, 12, 31, 23, 59),
    time(10, 30), timedelta(days=9999), Decimal("1.5"), [1.0], [], {"a": 1}, [[{"b": "c"}]],
)  # fmt: skip
ROLES = ("user", "cell", "time", "lat", "lon", "rsrp", "accuracy")
GOOD = ("u", "a", datetime(2024, 1, 1, 10), 51.5, -0.1, -90.0, 5.0)
columns = st.tuples(st.sampled_from(VALUES), st.sampled_from([1, 2])).map(
    lambda drawn: [drawn[0], None][: drawn[1]]
)


def test_columns_of_any_kind_are_read_or_refused_in_a_sentence(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "typed.parquet"

    @FORM
    @given(st.dictionaries(st.sampled_from(ROLES), columns, min_size=1, max_size=3), readings)
    def one(hostile, reading):
        rows = max(map(len, hostile.values()))
        table = dict(zip(ROLES, ([value] * rows for value in GOOD), strict=True))
        table |= {role: (values * rows)[:rows] for role, values in hostile.items()}
        series = [pl.Series(role, values, strict=False) for role, values in table.items()]
        pl.DataFrame(series).write_parquet(path)
        read_or_refuse(lambda file: read(file, reading=reading), path)

    one()
