from veilmap.wording import counted, plural


def test_only_one_is_singular():
    assert [plural(count, "user") for count in (0, 1, 2)] == ["users", "user", "users"]


def test_counts_have_separators():
    assert (counted(1, "user"), counted(1200, "user")) == ("1 user", "1,200 users")
