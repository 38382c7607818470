import pytest
from matplotlib.markers import MarkerStyle

from veilmap.attacks.methods import ATTACKS
from veilmap.defences.steps import STEPS
from veilmap.report.looks import (
    PLAIN,
    attack_looks,
    defence_looks,
    family_of,
    scheme_fillings,
    scheme_of,
)

OURS = [PLAIN, "centre", *STEPS]
COMBINED = ["farthest + dp", "farthest + centre", "first + dp", "diverse + dp"]


@pytest.mark.parametrize(
    ("configuration", "family", "scheme"),
    [
        ("fedavg", PLAIN, "fedavg"),
        ("fedavg:epochs=2 + diverse:eps_m=50", "diverse", "fedavg"),
        ("cumulative fedsgd + gan + dp:epsilon=1", "gan + dp", "cumulative fedsgd"),
        ("fedavg + centre", "centre", "fedavg"),
        ("rings:width_m=25", PLAIN, "rings"),
        ("rings:width_m=25 + fedavg:learning_rate=0.01", PLAIN, "rings + fedavg"),
        ("rings + cumulative fedsgd + snap:side_m=50", "snap", "rings + cumulative fedsgd"),
        ("rings + snap:side_m=50 + centre", "snap + centre", "rings"),
    ],
)  # fmt: skip
def test_a_family_is_the_steps_without_their_settings(configuration, family, scheme):
    assert family_of(configuration) == family
    assert scheme_of(configuration) == scheme


def test_no_two_of_ours_look_the_same():
    looks = defence_looks([*OURS, *COMBINED])
    assert len(set(looks.values())) == len(looks) == len(OURS) + 4
    assert len({look.marker for look in looks.values()}) == len(looks)
    assert len(set(attack_looks(ATTACKS).values())) == len(ATTACKS)
    assert all(MarkerStyle(look.marker).is_filled() for look in looks.values())


def test_what_is_ours_looks_the_same_whatever_else_is_drawn():
    assert defence_looks(["dp"])["dp"] == defence_looks(["first", *OURS])["dp"]
    assert attack_looks(["dlg"])["dlg"] == attack_looks(["mine", "dlg"])["dlg"]


def test_a_foreign_step_looks_the_same_in_every_picture_and_like_no_other():
    alone = defence_looks(["first"])["first"]
    assert defence_looks([*OURS, *COMBINED, "first"])["first"] == alone
    others = defence_looks([*OURS, *COMBINED]).values()
    assert alone not in others
    assert alone.marker not in {look.marker for look in others}


def test_foreign_steps_are_distinguished_as_long_as_there_are_looks():
    names = [f"mine{number}" for number in range(15)]
    assert len(set(defence_looks(names).values())) == len(names)
    assert len(set(attack_looks(names).values())) == len(names)
    assert set(defence_looks([*names, "one_more"])) == {*names, "one_more"}


def test_combinations_are_told_apart_in_any_order():
    names = [f"{first} + {second}" for first in ("dp", "snap", "x") for second in STEPS][:16]
    looks = defence_looks(names)
    assert defence_looks(names[::-1]) == looks
    assert len(set(looks.values())) == len(names) == 16
    assert not set(looks.values()) & set(defence_looks([*OURS, "snap", "x"]).values())
    assert set(defence_looks([*names, "one + more"])) == {*names, "one + more"}


def test_six_schemes_are_told_apart_and_the_first_is_full():
    names = [*(f"map{number} + dp" for number in range(6)), "map0:width_m=5", "map1 + gan"]
    fillings = scheme_fillings(names)
    assert len(set(fillings.values())) == len(fillings) == 6
    assert fillings["map0"] == "full"


def test_a_generator_of_names_will_do():
    assert set(defence_looks(iter(["dp", "first"]))) == {"dp", "first"}
    assert set(attack_looks(iter(["dlg", "mine"]))) == {"dlg", "mine"}
