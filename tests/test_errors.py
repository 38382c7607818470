import numpy as np
import pytest

from veilmap.errors import UserError, cut, refuse_several, shown


def test_an_endless_word_is_shown_by_its_beginning():
    assert str(UserError(f"no {'x' * 5000} here; mend it")) == f"no {'x' * 255}… here; mend it"


@pytest.mark.parametrize("name", ["a" * 255, "/".join(["a" * 200] * 5)])
def test_a_name_of_a_file_stays_whole(name):
    assert str(UserError(f"cannot read {name}")).endswith(name)


def test_a_value_is_shown_on_one_line():
    assert shown(np.eye(2)) == "array([[1., 0.], [0., 1.]])"


def test_what_was_cut_is_not_cut_again():
    """An error that comes from a worker is made a second time."""
    once = cut("x" * 5000)
    assert cut(once) == once


def test_the_same_settings_given_in_two_ways_are_refused():
    refuse_several("train", settings=None, keywords={"epochs": 1}, prepared_data=False)
    with pytest.raises(
        UserError, match=r"train takes only one of .*, got keywords and prepared data"
    ):
        refuse_several("train", settings=None, keywords={"epochs": 1}, prepared_data=True)
