import pytest

from tests.conftest import make_measurements
from veilmap.area import Area
from veilmap.local_data import Scaler
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings

AREA = Area(0.0, 0.0, 100.0, 200.0)


@pytest.mark.parametrize("scaler", ["area", "fitted"])
def test_another_area_takes_the_scaler_along_only_where_it_is_the_areas(scaler):
    before = prepare(make_measurements(), RunSettings.of(scaler=scaler))
    after = before.in_area(AREA)
    own = {"area": Scaler.of_area(AREA), "fitted": before.plan.scaler}
    assert after.plan.area == AREA
    assert after.plan.scaler == own[scaler]
    assert after.header.side_knowledge.area == AREA


def test_another_area_changes_nothing_else():
    before = prepare(make_measurements(), RunSettings.of())
    after = before.in_area(AREA)
    assert after.rounds is before.rounds
    assert after.test is before.test
    assert after.in_area(before.plan.area) == before
