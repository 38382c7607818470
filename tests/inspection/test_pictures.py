from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.inspection.tables import measured, steps
from veilmap.errors import UserError
from veilmap.inspection.maps import round_step
from veilmap.inspection.pictures import PICTURES, write_pictures
from veilmap.inspection.top_cells import decades_around

HEX = "22223276ea84bbce3a62073c164391fd"
CASES = {
    "one point": steps("a", "c", [0]),
    "one place": steps("a", "c", range(5)),
    "one round of two users": [*steps("a", "c", [0]), *steps("b", "c", [0], north=0.01)],
    "a user beyond the frame of most": [
        *[("a", "c", hour, 0.0, hour / 1e5, -90) for hour in range(400)],
        *steps("b", "c", [0, 1], north=1.0),
    ],
    "dollars, new lines and foreign letters": [
        *steps("$x_{$", "$\\frac$", [0]),
        *steps("日本\nx", "$c_", [1]),
        *steps("\\$", "c", [2]),
    ],
    "200 users with long names": [
        row
        for k in range(200)
        for row in steps(f"{HEX}{k}", f"262-1-12345-{k % 5}", range(3), north=k / 1000)
    ],
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_gives_all_pictures(tmp_path, case):
    paths = list(write_pictures(measured(*CASES[case]), tmp_path / "new" / "folder"))
    assert [path.name for path in paths] == [
        "map.png", "users.png", "top-cells.png", "similarity.png",
    ]  # fmt: skip
    for path in paths:
        with Image.open(BytesIO(path.read_bytes())) as image:
            image.load()
            assert image.format == "PNG"
            assert len(np.unique(np.asarray(image.convert("L")))) > 10


def test_the_same_data_give_the_same_bytes(tmp_path, small_campus):
    first, second = (
        [path.read_bytes() for path in write_pictures(small_campus, tmp_path / folder)]
        for folder in ("a", "b")
    )
    assert first == second


def test_every_user_and_number_stands_in_the_heat_map(small_campus):
    axes = PICTURES["similarity.png"](small_campus).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == small_campus.of_cell(
        None
    ).users
    numbers = [text.get_text() for text in axes.texts]
    assert len(numbers) == 4
    assert numbers[0] == numbers[3] == "0"
    assert numbers[1] == numbers[2] != "0"


def test_maps_have_equal_scales_units_and_one_colour_range(small_campus):
    *panels, colour_bar = PICTURES["map.png"](small_campus).axes
    assert len(panels) == 3
    assert {axes.get_aspect() for axes in panels} == {1.0}
    assert {axes.get_xlabel() for axes in panels} == {"km east of the middle"}
    assert len({axes.collections[0].get_clim() for axes in panels}) == 1
    assert colour_bar.get_ylabel() == "RSRP in dBm"


@pytest.mark.parametrize(("side_km", "step_km"), [(0.216, 0.05), (2.1, 0.5), (1.0, 0.2), (7, 2)])
def test_ticks_are_round_and_few(side_km, step_km):
    assert round_step(side_km) == pytest.approx(step_km)


@pytest.mark.parametrize(
    ("sizes", "bounds"), [([1], (0.7, 14)), ([300, 300], (70, 1400)), ([2, 40_000], (0.7, 140_000))]
)
def test_a_log_axis_shows_a_power_of_ten_on_either_side(sizes, bounds):
    assert decades_around(np.array(sizes)) == pytest.approx(bounds)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write"):
        list(write_pictures(measured(*CASES["one point"]), tmp_path / "file"))
