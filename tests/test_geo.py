import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Geod

from veilmap.geo import LocalPlane, Projection


@given(st.floats(-80, 83), st.floats(-180, 179.9))
def test_there_and_back_is_identity(lat, lon):
    lats, lons = np.array([lat]), np.array([lon])
    projection = Projection.utm_for(lats, lons)
    back_lat, back_lon = projection.degrees(projection.metres(lats, lons))
    assert back_lat[0] == pytest.approx(lat, abs=1e-7)
    assert (back_lon[0] - lon + 180) % 360 - 180 == pytest.approx(0, abs=1e-6)


def test_big_ben_to_st_pauls_has_its_known_distance():
    """2,337 m on the ellipsoid; UTM stretches by at most 1 part in 1,000."""
    lat, lon = np.array([51.50070, 51.51384]), np.array([-0.12461, -0.09834])
    known_m = Geod(ellps="WGS84").inv(lon[0], lat[0], lon[1], lat[1])[2]
    xy_m = Projection.utm_for(lat, lon).metres(lat, lon)
    assert known_m == pytest.approx(2337, abs=1)
    assert np.hypot(*(xy_m[1] - xy_m[0])) == pytest.approx(known_m, rel=1e-3)


@pytest.mark.parametrize(
    ("lat", "lon", "epsg"),
    [(33.6, -117.8, 32611), (51.5, -0.1, 32630), (-33.9, 151.2, 32756), (85, 0, 32661),
     (-85, 0, 32761), (0, 180, 32601), (0, 179.9, 32660)],
)  # fmt: skip
def test_the_zone_comes_from_the_data(lat, lon, epsg):
    assert Projection.utm_for(np.array([lat]), np.array([lon])).epsg == epsg


def test_points_on_both_sides_of_the_date_line_lie_together():
    lat, lon = np.array([-17.0, -17.0]), np.array([179.99, -179.99])
    xy_m = Projection.utm_for(lat, lon).metres(lat, lon)
    assert np.hypot(*(xy_m[1] - xy_m[0])) < 2500


def test_metres_around_a_middle_are_degrees_and_back():
    plane = LocalPlane((51.5, -0.1))
    xy_m = np.array([[0.0, 0.0], [1000.0, -2000.0]])
    lat_deg, lon_deg = plane.degrees(xy_m)
    assert (lat_deg[0], lon_deg[0]) == pytest.approx((51.5, -0.1))
    assert lat_deg[1] < 51.5
    assert lon_deg[1] > -0.1
    np.testing.assert_allclose(plane.metres(lat_deg, lon_deg), xy_m, atol=1e-6)
