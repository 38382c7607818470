import sys
from dataclasses import dataclass
from functools import partial

import pytest

from tests.study.foreign_attacks import Corner, install
from veilmap.attacks.gradient_matching.search import Search
from veilmap.errors import RenamedWarning, UserError
from veilmap.study.attack_notation import method_name, methods_of
from veilmap.study.attack_settings import AttackSettings, Who


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package that registers these classes."""
    monkeypatch.syspath_prepend(tmp_path)
    return partial(install, tmp_path)


def test_names_of_ours_stay_names_in_their_order():
    assert methods_of("search, dlg") == ("search", "dlg")
    assert methods_of(["search", "dlg,heatmap"]) == ("search", "dlg", "heatmap")


def test_an_object_is_an_attack_alone_in_a_list_or_among_names():
    mine = Corner(depth=5.0)
    assert methods_of(mine) == (mine,)
    assert methods_of(["search", mine]) == ("search", mine)
    assert [method_name(each) for each in methods_of(["search", mine])] == [
        "search", "corner:depth=5",
    ]  # fmt: skip


def test_one_of_ours_may_be_an_object_and_keeps_its_name():
    (made,) = methods_of([Search(inside=True)])
    assert made.inside
    assert method_name(made) == "search"


def test_one_that_a_package_registers_is_found_by_name_with_its_settings(installed):
    installed(corner="tests.study.foreign_attacks:Corner")
    assert methods_of("search,corner:depth=3,knows=true,dlg") == (
        "search", Corner(depth=3.0, knows=True), "dlg",
    )  # fmt: skip
    assert methods_of("corner") == (Corner(),)
    assert Who(method="corner:depth=3").method == (Corner(depth=3.0),)
    with pytest.raises(UserError, match=r"choose one of: dlg, .*, corner, or install the package"):
        methods_of("cormer")
    with pytest.raises(UserError, match="corner: unknown setting 'deep'; did you mean 'depth'"):
        methods_of("corner:deep=3")


def test_a_name_that_is_not_the_attacks_own_is_refused(installed):
    installed(edge="tests.study.foreign_attacks:Corner")
    with pytest.raises(UserError, match="Corner is registered as 'edge' and its name is 'corner'"):
        methods_of("edge")


def test_a_registered_class_that_is_no_attack_is_refused(installed):
    installed(path="pathlib:Path", gone="nowhere_at_all:Gone")
    with pytest.raises(UserError, match="attack Path must be a frozen dataclass"):
        methods_of("path")
    with pytest.raises(UserError, match=r"cannot import nowhere_at_all:Gone .*uninstall strange"):
        methods_of("gone")
    assert "nowhere_at_all" not in sys.modules


@dataclass
class Melting:
    name = "melting"


@dataclass(frozen=True)
class Idle:
    name = "idle"
    oracle = False


@dataclass(frozen=True)
class Read(Corner):
    name = "read"
    reads = True


@dataclass(frozen=True)
class Short(Corner):
    name = "short"

    def attack(self):
        return []


@dataclass(frozen=True)
class Search2(Corner):
    name = "search"


@dataclass(frozen=True)
class Spaced(Corner):
    name = "my attack"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Corner, r"attack Corner is a class; give an instance: Corner\(\)"),
        (Melting(), "attack Melting must be a frozen dataclass, .*; put @dataclass"),
        (Idle(), "attack Idle has no reads, no attack; add what is missing"),
        (Search2(), "the attack Search2 has the name 'search', which is one of ours; choose ano"),
        (Spaced(), "the name of attack Spaced must be letters, digits and underscores, got 'my at"),
        (Read(), "reads of attack Read must be a method, got True; write def reads"),
        (
            Short(),
            r"attack of attack Short must take given, got \[\]; write def attack\(self, given\)",
        ),
        (
            5,
            "attack must be a text such as 'dlg' or an object of a class of yours, got 5; see",
        ),
        (None, "attack must be a text such as 'dlg' or an object .*, got None"),
        ("search:exact_m=1", "search takes its settings as options of their own, not after a col"),
        ((), "method is empty; choose one or more of: dlg, search, first_layer, heatmap"),
        (("search", "search"), "method names 'search' twice; leave one of them out"),
        ((Corner(), Corner()), "method names 'corner:depth=10' twice; leave one of them out"),
    ],
    ids=str,
)
def test_what_is_no_attack_is_refused_with_the_way_out(wrong, message):
    with pytest.raises(UserError, match=message):
        methods_of(wrong)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(UserError, match=r"unknown attack 'a'.*unknown attack 'b'"):
        Who(method=("a", "b"))


def test_the_old_name_of_the_first_layer_works_with_a_warning():
    with pytest.warns(RenamedWarning, match="neurons is deprecated; use first_layer"):
        assert AttackSettings.of(method="neurons,search").who.method == ("first_layer", "search")


def test_the_old_name_of_the_grids_cells_works_with_a_warning():
    with pytest.warns(RenamedWarning, match="the setting cells is deprecated; use grid_cells"):
        assert AttackSettings.of(cells=50).heatmap.grid_cells == 50
