import math

import numpy as np
import pytest
from pyproj import Geod

from veilmap.area import Area
from veilmap.defences.geoind import GeoIndistinguishability
from veilmap.defences.planar_laplace import draw_m
from veilmap.defences.step import PointStep, Spending, Turn
from veilmap.errors import UserError
from veilmap.geo import Projection
from veilmap.local_data import LocalData, Scaler
from veilmap.strategy import as_text

AREA = Area(0, 0, 2000, 1500)
N = 20_000
METRES_PER_DEGREE = 111_195.0


def turn(user="ann", t=1, seed=0, area=AREA):
    return Turn(user, t, seed, area, Scaler.of_area(area))


def a_batch(n, xy_m=(1000.0, 750.0)):
    return LocalData(np.tile(xy_m, (n, 1)), np.linspace(-110, -80, n), np.arange(n) * 60.0)


def test_it_is_a_step_on_points_that_spends():
    step = GeoIndistinguishability()
    assert isinstance(step, PointStep)
    assert isinstance(step, Spending)
    assert step == GeoIndistinguishability(epsilon_per_m=0.01, remap=True)
    assert as_text(step) == "geoind:epsilon_per_m=0.01"
    assert as_text(GeoIndistinguishability(0.05, remap=False)) == (
        "geoind:epsilon_per_m=0.05,remap=False"
    )


def test_points_move_2_over_epsilon_on_average_and_keep_labels_and_times():
    """40 m at ε = 0.05; four standard errors of √2/ε/√n are 0.8 m. The area is never left."""
    batch = a_batch(N)
    moved, figures = GeoIndistinguishability(0.05).on_points(batch, turn())
    distance_m = np.hypot(*(moved.xy_m - batch.xy_m).T)
    assert distance_m.mean() == pytest.approx(40, abs=0.8)
    assert figures == {
        "moved_m": pytest.approx(distance_m.mean()),
        "moved_max_m": pytest.approx(distance_m.max()),
        "remapped": 0,
        "points": N,
    }
    assert (moved.rsrp_dbm == batch.rsrp_dbm).all()
    assert (moved.time_s == batch.time_s).all()
    assert (batch.xy_m == [1000, 750]).all()


def test_points_outside_come_back_to_the_nearest_place_of_the_area():
    batch = a_batch(300, xy_m=(10.0, 1490.0))
    free, none = GeoIndistinguishability(0.01, remap=False).on_points(batch, turn())
    held, some = GeoIndistinguishability(0.01).on_points(batch, turn())
    outside = ~AREA.contains(free.xy_m)
    assert 0 < outside.sum() < 300
    assert some["remapped"] == outside.sum()
    assert none["remapped"] == 0
    assert some["moved_m"] == pytest.approx(np.hypot(*(held.xy_m - batch.xy_m).T).mean())
    assert AREA.contains(held.xy_m).all()
    assert (held.xy_m[~outside] == free.xy_m[~outside]).all()
    edge = np.linspace(0, 1, 4001)
    border = np.concatenate([
        np.column_stack([edge * 2000, np.full(4001, y)]) for y in (0, 1500)
    ] + [np.column_stack([np.full(4001, x), edge * 1500]) for x in (0, 2000)])  # fmt: skip
    for lost, found in zip(free.xy_m[outside][:40], held.xy_m[outside][:40], strict=True):
        nearest_m = np.hypot(*(border - lost).T).min()
        assert np.hypot(*(found - lost)) == pytest.approx(nearest_m, abs=0.5)


@pytest.mark.parametrize("lat_deg", [0.0, 33.0, 51.0, 70.0])
def test_noise_has_one_shape_on_the_ground_at_every_latitude(lat_deg):
    east_m, north_m = ground_shift_m(lat_deg, in_metres)
    assert is_round(east_m, north_m)


@pytest.mark.parametrize("lat_deg", [33.0, 51.0, 70.0])
def test_noise_in_degrees_would_be_squeezed_from_west_to_east(lat_deg):
    east_m, north_m = ground_shift_m(lat_deg, in_degrees)
    assert not is_round(east_m, north_m)
    assert east_m.std() / north_m.std() == pytest.approx(np.cos(np.radians(lat_deg)), rel=0.05)


def is_round(east_m, north_m):
    """As wide as high to 4 % and a mean radius of 200 m to 2 %: four standard errors each.

    The scale of UTM, 0.9996 to 1.001, is far inside.
    """
    wide = abs(east_m.std() / north_m.std() - 1) < 0.04
    slanted = abs(np.corrcoef(east_m, north_m)[0, 1]) > 0.05
    radius_m = np.hypot(east_m, north_m).mean()
    return wide and not slanted and abs(radius_m / 200 - 1) < 0.02


def ground_shift_m(lat_deg, move):
    """How far east and north 20,000 points of one place went on the ellipsoid."""
    lat, lon = np.full(N, lat_deg), np.full(N, 1.5)
    new_lat, new_lon = move(lat, lon)
    azimuth, _, distance_m = Geod(ellps="WGS84").inv(lon, lat, new_lon, new_lat)
    return distance_m * np.sin(np.radians(azimuth)), distance_m * np.cos(np.radians(azimuth))


def in_metres(lat_deg, lon_deg):
    projection = Projection.utm_for(lat_deg, lon_deg)
    xy_m = projection.metres(lat_deg, lon_deg)
    batch = LocalData(xy_m, np.zeros(N), np.zeros(N))
    step = GeoIndistinguishability(0.01, remap=False)
    return projection.degrees(step.on_points(batch, turn(area=Area.around(xy_m)))[0].xy_m)


def in_degrees(lat_deg, lon_deg):
    east, north = draw_m(N, 0.01, np.random.default_rng(0)).T / METRES_PER_DEGREE
    return lat_deg + north, lon_deg + east


def test_the_same_turn_has_the_same_noise_and_any_other_has_other_noise():
    step, batch = GeoIndistinguishability(), a_batch(5)
    turns = [turn(), turn(), turn("bob"), turn(t=2), turn(seed=1)]
    first, again, *others = (step.on_points(batch, each)[0].xy_m for each in turns)
    assert (first == again).all()
    assert all((first != other).any(axis=1).all() for other in others)


def test_with_the_seed_the_noise_can_be_removed():
    batch, step = a_batch(50), GeoIndistinguishability(0.05, remap=False)
    moved, _ = step.on_points(batch, turn())
    noise_m = draw_m(50, 0.05, turn().stream("geoind"))
    np.testing.assert_allclose(moved.xy_m - noise_m, batch.xy_m, rtol=0, atol=1e-9)


def test_points_of_one_place_go_to_different_places():
    moved, _ = GeoIndistinguishability(0.1).on_points(a_batch(100), turn())
    assert len(np.unique(moved.xy_m, axis=0)) == 100


def test_n_points_spend_n_epsilon_over_all_turns():
    """30 points at 0.01 per metre: 0.3 per metre, and 30 for traces 100 m apart."""
    step = GeoIndistinguishability(0.01)
    turns = [step.on_points(a_batch(n), turn(t=n))[1] for n in (10, 0, 20)]
    assert step.spent(turns) == {
        "points": 30,
        "epsilon_per_m_all_points": pytest.approx(0.3),
        "epsilon_at_100_m_one_point": pytest.approx(1),
        "epsilon_at_100_m_all_points": pytest.approx(30),
    }
    assert step.spent([])["epsilon_per_m_all_points"] == 0


def test_of_no_points_come_no_points():
    moved, figures = GeoIndistinguishability().on_points(a_batch(0), turn())
    assert len(moved) == 0
    assert moved.xy_m.shape == (0, 2)
    assert figures == {"moved_m": 0, "moved_max_m": 0, "remapped": 0, "points": 0}


def test_one_point_moves_once():
    moved, figures = GeoIndistinguishability().on_points(a_batch(1), turn())
    assert figures["moved_m"] == figures["moved_max_m"] > 0
    assert moved.xy_m.shape == (1, 2)


def test_the_least_epsilon_is_allowed():
    assert GeoIndistinguishability(1e-7).epsilon_per_m == 1e-7


@pytest.mark.parametrize("bad", [0, 1e-310, -0.01, math.nan, math.inf])
def test_an_epsilon_out_of_range_is_refused_with_its_value(bad):
    with pytest.raises(
        UserError, match=f"epsilon_per_m must be finite and at least 1e-07, got {bad}"
    ):
        GeoIndistinguishability(bad)
