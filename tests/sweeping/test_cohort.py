import pytest

from tests.sweeping.making import make_places
from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.sweeping.cohort import Cohort

# From the target eastward: e 700 m, c 1,400 m, f 2,100 m, b 2,800 m, d 3,500 m.
EAST_DEG = {"t": 0.0, "f": 0.03, "e": 0.01, "d": 0.05, "c": 0.02, "b": 0.04}


@pytest.fixture(scope="module")
def cohort():
    return Cohort.found(make_places(EAST_DEG), None)


def test_roles_go_by_the_distance_between_where_users_measured(cohort):
    """The densest is the target; e, c, f are nearest, d is farthest, b is left over."""
    assert cohort.target == "t"
    assert cohort.similar == ("e", "c", "f")
    assert cohort.dissimilar == "d"
    assert cohort.background == ("b",)


@pytest.mark.parametrize(
    ("others", "similar", "dissimilar", "background"),
    [
        ("", (), None, ()),
        ("e", ("e",), None, ()),
        ("ec", ("e",), "c", ()),
        ("ecf", ("e", "c"), "f", ()),
        ("ecfb", ("e", "c", "f"), "b", ()),
    ],
)
def test_few_users_share_out_what_roles_there_are(others, similar, dissimilar, background):
    data = make_places({user: EAST_DEG[user] for user in "t" + others})
    cohort = Cohort.found(data, None)
    assert (cohort.similar, cohort.dissimilar, cohort.background) == (
        similar,
        dissimilar,
        background,
    )


def test_roles_stand_for_users(cohort):
    assert cohort.users(["target"]) == ("t",)
    assert cohort.users(["all"]) == tuple("bcdeft")
    assert cohort.users(["target", "similar"]) == ("c", "e", "f", "t")
    assert cohort.users(["similar:2", "target", "target"]) == ("c", "t")
    assert cohort.users(["background", "dissimilar", "c"]) == ("b", "c", "d")


@pytest.mark.parametrize("role", ["similar:4", "similar:12"])
def test_a_rank_that_no_user_has_says_so(cohort, role):
    with pytest.raises(UserError, match=f"no user is {role} among the 6 users of the cell"):
        cohort.users([role])


@pytest.mark.parametrize("role", ["similar:0", "similar:x", "similar:-1", "target:1", "simlar", ""])
def test_for_an_unknown_role_the_known_ones_are_listed(cohort, role):
    with pytest.raises(
        UserError, match=f"unknown user or role '{role}'; choose from: all, target, similar:1"
    ):
        cohort.users([role])


def test_a_user_may_have_a_colon_in_the_name():
    cohort = Cohort.found(make_places({"aa:01": 0.0, "aa:02": 0.01}), None)
    assert cohort.users(["aa:02"]) == ("aa:02",)


def test_a_target_may_be_named_by_how_it_begins():
    data = make_places({"anna": 0.0, "bert": 0.01, "bernd": 0.02})
    assert Cohort.found(data, "bert").target == "bert"
    assert Cohort.found(data, "bern").target == "bernd"
    with pytest.raises(
        UserError, match="target 'ber' matches 2 users of the cell; choose one of: anna"
    ):
        Cohort.found(data, "ber")
    with pytest.raises(UserError, match="target 'carl' matches 0 users of the cell"):
        Cohort.found(data, "carl")


def test_the_area_is_around_the_roles_named(cohort):
    near = Cohort(cohort.data, "t", ("e",), area_of=("target", "similar"))
    assert near.area == Area.around(near.of(["t", "e"]).xy_m)
    assert near.area.width_m < 1000 < cohort.area.width_m
    assert cohort.area == Area.around(cohort.data.xy_m)


def test_the_mean_signal_is_of_the_target_or_of_the_cell(cohort):
    """21 rows of -90 dBm, then 20 rows each of -91 to -95: -(1890 + 20 · 465) / 121."""
    assert cohort.mean_dbm("target", 0) == pytest.approx(-90)
    assert cohort.mean_dbm("cell", 0) == pytest.approx(-(1890 + 20 * 465) / 121)


def test_the_mean_signal_of_a_share_is_drawn_with_the_seed(cohort):
    assert cohort.mean_dbm("100%", 0) == pytest.approx(cohort.mean_dbm("cell", 0))
    assert cohort.mean_dbm("10%", 0) == cohort.mean_dbm("10%", 0)
    assert len({cohort.mean_dbm("10%", seed) for seed in range(5)}) > 1
    # At least one row, which has a whole number here.
    assert cohort.mean_dbm("0.001%", 0) in range(-95, -89)


@pytest.mark.parametrize("whose", ["0%", "101%", "-1%", "user", "nan%", ""])
def test_another_mean_signal_is_refused(cohort, whose):
    with pytest.raises(UserError, match="label must be 'target', 'cell' or a share such as '1%'"):
        cohort.mean_dbm(whose, 0)
