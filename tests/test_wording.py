from veilmap.wording import counted, listed, plural


def test_only_one_is_singular():
    assert [plural(count, "user") for count in (0, 1, 2)] == ["users", "user", "users"]


def test_counts_have_separators():
    assert (counted(1, "user"), counted(1200, "user")) == ("1 user", "1,200 users")


def test_lists_are_cut_after_the_first_names():
    assert listed("abc", 3) == "a, b, c"
    assert listed("abcd", 3) == "a, b, c, …"
    assert listed("abc", 2, "; ") == "a; b; …"
    assert listed([*"abcdefgh"]) == "a, b, c, d, e, f, g, h"
