import pytest

from veilmap.inspection.labels import short_names, shortened, shown_users


def test_a_long_name_keeps_its_head_and_its_tail():
    assert shortened("22223276ea84bbce3a62073c164391fd") == "2222327…91fd"
    assert shortened("twelve.chars") == "twelve.chars"
    assert shortened("two\nlines") == "two lines"


@pytest.mark.parametrize("longest", [8, 12, 40])
def test_a_shortened_name_has_exactly_the_allowed_length(longest):
    assert len(shortened("x" * 100, longest)) == longest


def test_names_that_look_alike_when_short_are_numbered():
    names = ["session-0000-001", "session-0001-001", "b"]
    assert short_names(names) == ("session…-001 (1)", "session…-001 (2)", "b")


def test_it_is_said_when_not_all_users_are_shown():
    assert shown_users(8, 2000) == "the 8 densest of 2,000 users"
    assert shown_users(8, 8) == "8 users"
