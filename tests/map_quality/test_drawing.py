from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import veilmap
from tests.map_quality.making import TINY, make_field, row
from tests.map_quality.test_quality import Doubting
from veilmap.canvas import blank_sheet
from veilmap.map_quality.drawing import draw_sheet
from veilmap.map_quality.learning_curve import draw_curve
from veilmap.map_quality.rows import CurvePoint
from veilmap.map_quality.sheet import grid_around, means, sheet_of
from veilmap.metrics.rows import RoundRecord
from veilmap.square_grid import SquareGrid


@pytest.fixture(scope="module")
def compared():
    return veilmap.quality(make_field(), maps=("network", Doubting()), **TINY)


def test_means_stand_in_their_squares_and_nothing_elsewhere():
    """-90 and -94 in the south-western square, -80 in the north-eastern; one row is outside."""
    grid = SquareGrid(0.0, 0.0, 50.0, 1, 2)
    xy_m = np.array([[1.0, 1], [49, 49], [99, 40], [101, 0], [-1, 0]])
    found = means(grid, xy_m, np.array([-90.0, -94, -80, 0, 0]))
    np.testing.assert_array_equal(found, [[-92, -80]])
    assert grid.centres_m(np.arange(2)).tolist() == [[25, 25], [75, 25]]
    assert np.isnan(means(grid, xy_m[:1], np.array([-90.0]))[0, 1])


@pytest.mark.parametrize("extent_m", [10.0, 1000.0, 30_000.0])
def test_squares_are_few_and_cover_the_frame(extent_m):
    xy_m = np.random.default_rng(0).uniform(0, extent_m, (200, 2))
    grid = grid_around(xy_m)
    assert max(grid.rows, grid.columns) <= 110
    assert grid.side_m >= 20
    assert (grid.squares(xy_m) >= 0).all()


def test_the_errors_shown_are_those_of_the_test_data(compared):
    sheet = sheet_of(compared.first)
    test, kriging = compared.first.prepared.test, sheet.maps[0]
    rows = means(sheet.grid, test.xy_m, test.rsrp_dbm)
    assert (np.isnan(rows) == np.isnan(kriging.error_db)).all()
    assert not np.isnan(kriging.predicted_dbm).any()
    is_test = ~np.isnan(rows)
    expected = kriging.predicted_dbm[is_test] - rows[is_test]
    assert np.corrcoef(kriging.error_db[is_test], expected)[0, 1] > 0.8
    measured = ~np.isnan(sheet.measured_dbm)
    assert measured.sum() > (~np.isnan(rows)).sum()
    off = kriging.predicted_dbm[measured] - sheet.measured_dbm[measured]
    assert np.sqrt(np.mean(off**2)) < 4


def test_maps_without_uncertainty_say_so_and_scales_are_shared(compared):
    figure = draw_sheet(sheet_of(compared.first), compared.rows, compared.curve, "title")
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts.count("this map states\nno uncertainty") == 1  # the network; the other two do
    images = [image for axes in figure.axes[:12] for image in axes.images]
    signal = [image for image in images if image.get_cmap().name == "viridis"]
    assert len(signal) == 4
    assert len({image.norm.vmin for image in signal}) == 1
    errors = [image for image in images if image.get_cmap().name == "RdBu_r"]
    assert [image.norm.vmin for image in errors] == [-errors[0].norm.vmax] * 3
    assert "best centralised: " in " ".join(texts)


def test_the_picture_is_a_png_and_the_same_every_time(compared):
    content = compared.picture()
    with Image.open(BytesIO(content)) as image:
        image.load()
        assert image.format == "PNG"
        assert image.width > 1000
    assert content == compared.picture()


@pytest.mark.parametrize("maps", [(), (Doubting(),)])
def test_a_picture_without_a_curve_and_one_without_a_round_of_skill(maps):
    found = veilmap.quality(make_field(200), maps=maps, **TINY)
    assert found.picture().startswith(b"\x89PNG")


def point(number, skill, seed=0):
    return CurvePoint("network", seed, RoundRecord(number, 0.0, 1, 1, 5.0, 5.0, skill, None, 0.1))


def test_a_curve_is_the_mean_over_seeds_and_far_below_is_cut_off():
    """Skills of -40 and -20, then 0.2 and 0.4."""
    axes = blank_sheet((3, 2)).subplots()
    rows = [row(), row("network", "federated", skill_by_place=0.3)]
    curve = [point(1, -40, 0), point(1, -20, 1), point(3, 0.2, 0), point(3, 0.4, 1)]
    draw_curve(axes, rows, curve, {"network": "black"})
    line = axes.lines[0]
    assert list(line.get_xdata()) == [1, 3]
    assert list(line.get_ydata()) == pytest.approx([-30, 0.3])
    assert axes.get_ylim()[0] > -0.8
    assert axes.get_ylim()[1] > 0.3


def test_where_the_constant_is_exact_there_is_no_curve():
    axes = blank_sheet((3, 2)).subplots()
    draw_curve(axes, [row("network", "federated")], [point(1, None)], {"network": "black"})
    assert [text.get_text() for text in axes.texts] == ["- - constant"]
