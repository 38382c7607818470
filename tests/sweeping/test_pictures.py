import pytest

from veilmap.errors import UserError
from veilmap.sweeping.pictures import Bars, Inspected, picture_of


def test_a_table_becomes_the_picture_of_its_kind():
    assert picture_of({"kind": "bars", "figures": ["emd_paper"]}) == Bars(("emd_paper",))
    assert picture_of({"kind": "data", "picture": "map.png"}) == Inspected("map.png")


@pytest.mark.parametrize("kind", ["bar", None, ["bars"]])
def test_for_an_unknown_kind_the_known_ones_are_listed(kind):
    with pytest.raises(UserError, match=r"unknown kind of picture .* choose one of: lines, bars"):
        picture_of({"kind": kind})


def test_for_a_misspelt_setting_a_name_is_suggested():
    with pytest.raises(UserError, match="picture bars: unknown setting 'group'; did you mean"):
        picture_of({"kind": "bars", "figures": ["emd_paper"], "group": ["T"]})


def test_an_unknown_picture_of_the_data_is_refused():
    with pytest.raises(UserError, match=r"'map\.png'"):
        picture_of({"kind": "data", "picture": "maps.png"})
