import json
from dataclasses import replace

import numpy as np
import pytest
import rasterio
from matplotlib.image import imread
from safetensors import safe_open
from safetensors.numpy import save

from tests.conftest import UNIT_SCALER
from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.federation.plan import Plan
from veilmap.geo import Projection
from veilmap.local_data import Scaler
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.signal_map.export import export
from veilmap.signal_map.picture import DPI, LEFT, TOP
from veilmap.signal_map.raster import Raster
from veilmap.signal_map.signal_map import MapFacts, SignalMap

NETWORK = NetworkMap(hidden=(16,), activations=("tanh",), dropout=(0.0,))
AREA = Area(699_000.0, 5_708_000.0, 700_000.0, 5_708_600.0)


@pytest.fixture
def signal_map() -> SignalMap:
    scaler = type(UNIT_SCALER)((699_500.0, 5_708_300.0), (300.0, 200.0))
    facts = MapFacts("x204", NETWORK, scaler, -96.0, AREA, Projection(32630))
    return SignalMap(facts, {"weights": NETWORK.initialise(1) * 5})


def test_saved_and_loaded_it_predicts_the_same(signal_map, tmp_path):
    signal_map.save(tmp_path / "model.safetensors")
    loaded = SignalMap.load(tmp_path / "model.safetensors")
    assert loaded.facts == signal_map.facts
    assert (loaded.weights == signal_map.weights).all()


def test_a_model_of_the_first_version_is_still_read(signal_map, tmp_path):
    path = tmp_path / "model.safetensors"
    signal_map.save(path)
    with safe_open(path, framework="numpy") as file:
        content = json.loads(file.metadata()["veilmap_model"])
    family = content["facts"].pop("map")
    content["facts"]["network"] = {key: family[key] for key in family if key != "name"}
    first = json.dumps({**content, "schema": 1})
    path.write_bytes(save({"weights": signal_map.weights}, {"veilmap_model": first}))
    assert SignalMap.load(path).facts == signal_map.facts


def test_degrees_and_metres_agree(signal_map):
    xy_m = np.array([[699_100.0, 5_708_100.0], [699_900.0, 5_708_500.0]])
    at = signal_map.predict_at(*signal_map.facts.projection.degrees(xy_m))
    np.testing.assert_allclose(at, signal_map.predict_dbm(xy_m), atol=1e-3)


def test_a_raster_samples_pixel_centres_from_the_north_west(signal_map):
    raster = Raster.of(signal_map, resolution_m=100)
    assert raster.rsrp_dbm.shape == (6, 10)
    corner = signal_map.predict_dbm(np.array([[699_050.0, 5_708_550.0]]))
    assert raster.rsrp_dbm[0, 0] == pytest.approx(corner[0])


@pytest.mark.parametrize("resolution_m", [0, -1, 5e-324, 1e-4, 1e308, float("nan"), float("inf")])
def test_a_resolution_must_be_one_of_a_map(signal_map, resolution_m):
    with pytest.raises(UserError, match=r"must be a number of metres from 0.001 to 1e\+06"):
        Raster.of(signal_map, resolution_m=resolution_m)


def test_a_resolution_that_would_fill_the_memory_is_refused(signal_map):
    with pytest.raises(UserError, match="choose a coarser --resolution"):
        Raster.of(signal_map, resolution_m=0.01)


def test_an_area_without_extent_is_one_pixel(signal_map):
    point = Area(699_000.0, 5_708_000.0, 699_000.0, 5_708_000.0)
    facts = MapFacts("x", NETWORK, signal_map.facts.scaler, 0.0, point, Projection(32630))
    assert Raster.of(SignalMap(facts, signal_map.state)).rsrp_dbm.shape == (1, 1)


def test_rasterio_reads_the_geotiff_as_it_was_meant(signal_map, tmp_path):
    raster = export(signal_map, tmp_path / "map.tif", "geotiff", 50)
    with rasterio.open(tmp_path / "map.tif") as file:
        assert file.crs.to_epsg() == 32630
        assert file.res == (50, 50)
        assert tuple(file.bounds) == (699_000, 5_708_000, 700_000, 5_708_600)
        assert file.dtypes == ("float32",)
        assert (file.read(1) == raster.rsrp_dbm).all()
        assert np.isnan(file.nodata)


def test_geojson_squares_lie_where_the_raster_has_them(signal_map, tmp_path):
    raster = export(signal_map, tmp_path / "map.geojson", "geojson", 100)
    content = json.loads((tmp_path / "map.geojson").read_text())
    assert len(content["features"]) == 60
    first = content["features"][0]
    assert first["properties"]["rsrp_dbm"] == pytest.approx(raster.rsrp_dbm[0, 0], abs=0.01)
    (ring,) = first["geometry"]["coordinates"]
    assert ring[0] == ring[-1]
    lon_deg, lat_deg = np.array(ring).T
    corners_m = raster.projection.metres(lat_deg, lon_deg)
    south_west, south_east, north_east = corners_m[0], corners_m[1], corners_m[2]
    np.testing.assert_allclose(south_west, [699_000, 5_708_500], atol=0.05)
    np.testing.assert_allclose(south_east, [699_100, 5_708_500], atol=0.05)
    np.testing.assert_allclose(north_east, [699_100, 5_708_600], atol=0.05)


def test_the_world_file_places_the_pictures_map_in_its_area(signal_map, tmp_path):
    export(signal_map, tmp_path / "map.png", "png", 10)
    image = imread(tmp_path / "map.png")
    x_step, _, _, y_step, left, top = map(float, (tmp_path / "map.pgw").read_text().split())
    column, row = LEFT * DPI, TOP * DPI  # where the map begins, after the margins
    assert left + (column - 0.5) * x_step == pytest.approx(AREA.x_min_m, abs=x_step)
    assert top + (row - 0.5) * y_step == pytest.approx(AREA.y_max_m, abs=-y_step)
    # One pixel inside the map's corner is coloured, one outside is the white margin.
    assert (image[int(row) - 3, int(column) + 3, :3] == 1).all()
    assert (image[int(row) + 3, int(column) + 3, :3] < 1).any()
    with rasterio.open(tmp_path / "map.png") as file:
        assert file.crs.to_epsg() == 32630
        assert file.transform.a == pytest.approx(x_step)


def test_a_cell_may_be_named_like_a_formula(signal_map, tmp_path):
    named = replace(signal_map, facts=replace(signal_map.facts, cell=r"$\frac{1}$ </SRS> & x"))
    export(named, tmp_path / "map.png", resolution_m=100)
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_the_ending_tells_the_format(signal_map, tmp_path):
    export(signal_map, tmp_path / "map.TIFF", resolution_m=100)
    with pytest.raises(
        UserError, match=r"unknown ending of a map file '.bmp'; choose one of: .tif"
    ):
        export(signal_map, tmp_path / "map.bmp")
    with pytest.raises(UserError, match="unknown format 'bmp'; choose one of: geotiff"):
        export(signal_map, tmp_path / "map.tif", "bmp")


def test_a_geojson_too_large_to_open_is_refused(signal_map, tmp_path):
    with pytest.raises(UserError, match="more than 250,000; choose a coarser"):
        export(signal_map, tmp_path / "map.geojson", resolution_m=0.5)


def test_a_model_that_is_not_finite_is_refused(signal_map, tmp_path):
    SignalMap(signal_map.facts, {"weights": signal_map.weights * np.nan}).save(tmp_path / "model")
    with pytest.raises(UserError, match="holds numbers that are not finite"):
        SignalMap.load(tmp_path / "model")


def test_what_is_no_model_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"there is no model .*make one with: veilmap train"):
        SignalMap.load(tmp_path / "nothing")
    (tmp_path / "junk").write_bytes(b"junk" * 100)
    with pytest.raises(UserError, match="junk is not a veilmap model"):
        SignalMap.load(tmp_path / "junk")


def test_a_model_whose_weights_do_not_fit_is_refused(signal_map, tmp_path):
    SignalMap(signal_map.facts, {"weights": signal_map.weights[:-1]}).save(tmp_path / "model")
    with pytest.raises(UserError, match="but its network has 65"):
        SignalMap.load(tmp_path / "model")


@pytest.fixture
def kriged() -> SignalMap:
    """Ten visited squares of 50 m in a row, seen twice each, and an area of 20 km beside them."""
    area = Area(699_000.0, 5_708_000.0, 719_000.0, 5_708_500.0)
    family = KrigingMap(square_m=50.0, kernel="public")
    facts = MapFacts("x204", family, Scaler.of_area(area), -96.0, area, Projection(32630))
    plan = Plan(family, facts.scaler, area, label_offset_dbm=-96.0)
    state = dict(family.start(plan))
    state["visits"][0, :10], state["signal_sums_db"][0, :10] = 2, 2 * np.arange(10.0)
    return SignalMap(facts, state)


def test_a_pixel_of_a_kriged_map_is_one_of_its_squares(kriged):
    raster = Raster.of(kriged)
    assert raster.resolution_m == 50
    assert raster.rsrp_dbm.shape == (11, 401)
    assert (raster.visits[-1, :10] == 2).all()
    assert raster.visits.sum() == 20
    assert raster.rsrp_dbm[-1, 9] > raster.rsrp_dbm[-1, 0]


def test_there_is_no_data_far_from_any_visit(kriged, tmp_path):
    raster = export(kriged, tmp_path / "map.tif")
    assert not np.isnan(raster.rsrp_dbm[:, :10]).any()
    assert np.isnan(raster.rsrp_dbm[:, -1]).all()
    assert 0 < raster.known_share < 0.2
    with rasterio.open(tmp_path / "map.tif") as file:
        assert file.descriptions == ("RSRP", "uncertainty of RSRP, 68 %")
        assert file.units == ("dBm", "dB")
        assert np.isnan(file.nodatavals).all()
        signal, uncertainty = file.read()
    np.testing.assert_array_equal(signal, raster.rsrp_dbm)
    np.testing.assert_array_equal(uncertainty, raster.std_db)
    assert (np.isnan(signal) == np.isnan(uncertainty)).all()


def test_geojson_leaves_out_what_is_not_known_and_tells_visits(kriged, tmp_path):
    raster = export(kriged, tmp_path / "map.geojson")
    found = json.loads((tmp_path / "map.geojson").read_text())["features"]
    assert len(found) == (~np.isnan(raster.rsrp_dbm)).sum()
    visits = [each["properties"]["visits"] for each in found]
    assert sorted(visits)[-10:] == [2] * 10
    assert sum(visits) == 20
    assert all(each["properties"]["std_db"] > 0 for each in found)


def test_uncertainty_is_drawn_beside_the_signal(kriged, tmp_path):
    export(kriged, tmp_path / "two.png")
    export(replace(kriged, state={**kriged.state, "visits": 0 * kriged.state["visits"]}),
           tmp_path / "nothing.png")  # fmt: skip
    two, nothing = (imread(tmp_path / f"{name}.png") for name in ("two", "nothing"))
    assert two.shape == nothing.shape
    assert len(np.unique(nothing[..., :3].reshape(-1, 3), axis=0)) > 2


def test_nothing_visited_is_no_data_everywhere(kriged):
    raster = Raster.of(
        replace(kriged, state={**kriged.state, "visits": 0 * kriged.state["visits"]})
    )
    assert raster.range_dbm is None
    assert raster.known_share == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("visits", np.zeros((8, 3), np.int64), "holds arrays .*, and not .*; fetch it again"),
        ("visits", np.zeros((8, 11 * 401)), "holds arrays .*float64"),
        ("visits", np.full((8, 11 * 401), -1), "negative counts of visits; fetch it again"),
        ("extra", np.zeros(1), "holds arrays .*extra"),
    ],
)
def test_a_kriged_map_whose_sums_do_not_fit_is_refused(kriged, tmp_path, name, value, message):
    replace(kriged, state={**kriged.state, name: value}).save(tmp_path / "model.safetensors")
    with pytest.raises(UserError, match=message):
        SignalMap.load(tmp_path / "model.safetensors")


def test_a_kriged_map_is_the_same_from_its_file(kriged, tmp_path):
    kriged.save(tmp_path / "model.safetensors")
    loaded = SignalMap.load(tmp_path / "model.safetensors")
    at_m = np.array([[699_010.0, 5_708_010.0], [719_000.0, 5_708_400.0]])
    for one, other in zip(
        vars(loaded.predict(at_m)).values(), vars(kriged.predict(at_m)).values(), strict=True
    ):
        np.testing.assert_array_equal(one, other)
