import numpy as np
import pytest

from tests.report.fakes import AREA, CORNER_M
from veilmap.area import Area
from veilmap.report.ground import in_km, inches, legend, view_around


def test_a_view_holds_its_points_with_a_margin_and_is_no_strip():
    road_m = np.array([[0.0, 0.0], [1000.0, 0.0]])
    view = view_around(road_m, np.empty((0, 2)))
    assert (view.width_m, view.height_m) == pytest.approx((1140, 570))
    assert view.centre_m == pytest.approx([500, 0])


def test_a_single_place_gets_a_view_of_its_own():
    view = view_around(CORNER_M[None])
    assert view.width_m == view.height_m == pytest.approx(57)


def test_kilometres_count_from_the_lower_left_corner():
    (x_km,), (y_km,) = in_km(CORNER_M + np.array([1500.0, -200.0]), AREA)
    assert (x_km, y_km) == pytest.approx((1.5, -0.2))


def test_the_longer_side_fills_the_panel():
    assert inches(AREA, 4.0) == pytest.approx((4, 2))


def test_the_area_is_in_the_legend_only_where_its_outline_is_in_sight():
    inner = Area(500_100.0, 4_000_100.0, 500_900.0, 4_000_900.0)
    assert legend(inner, AREA, with_truth=False) == []
    shown = legend(view_around(AREA.corners_m), AREA, with_truth=True)
    assert [each.get_label() for each in shown] == ["the area", "true points", "true centroid"]
