import numpy as np
import pytest

from veilmap.area import Area
from veilmap.errors import UserError


def test_contains_its_border_and_nothing_beyond():
    area = Area(0, 0, 10, 5)
    points = np.array([[0, 0], [10, 5], [5, 2], [10.001, 2], [5, -0.001]])
    assert area.contains(points).tolist() == [True, True, True, False, False]


def test_around_is_the_bounding_box():
    assert Area.around(np.array([[3.0, 1.0], [-2.0, 7.0]])) == Area(-2, 1, 3, 7)


@pytest.mark.parametrize("bounds", [(1, 0, 0, 1), (0, 0, np.nan, 1), (0, 0, np.inf, 1)])
def test_refuses_what_is_no_rectangle(bounds):
    with pytest.raises(UserError, match="west,south,east,north"):
        Area(*bounds)
