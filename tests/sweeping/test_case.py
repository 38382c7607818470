from dataclasses import fields, replace

import pytest

from tests.sweeping.making import make_case, make_data
from veilmap.area import Area
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.trial import SameRound
from veilmap.sweeping.case import Case

CASE = make_case(make_data())


def changed(path, value):
    """The case with one setting of one part changed: ``settings.task.interval``."""
    part, group, name = path.split(".")
    settings = getattr(CASE, part)
    inner = replace(getattr(settings, group), **{name: value})
    return replace(CASE, **{part: replace(settings, **{group: inner})})


OTHERS = {
    "seed": changed("settings.task.seed", 1),
    "interval": changed("settings.task.interval", "1d"),
    "scaler": changed("settings.task.scaler", "fitted"),
    "split": changed("settings.test.split", "random"),
    "hidden": changed("settings.model.hidden", (5,)),
    "learning rate": changed("settings.training.learning_rate", 0.5),
    "B": changed("settings.training.batch_size", 7),
    "defence": replace(CASE, settings=configure(CASE.settings, "fedsgd + farthest:num=5")),
    "its strength": replace(CASE, settings=configure(CASE.settings, "fedsgd + farthest:num=6")),
    "defended": replace(CASE, settings=configure(CASE.settings, "fedsgd + farthest:num=5 (on u1)")),
    "target": replace(CASE, target="u1"),
    "area": replace(CASE, area=Area(0, 0, 1, 1)),
    "attack": replace(CASE, attacks=AttackSettings.of(method="search")),
    "label": changed("attacks.dlg.label_dbm", -95.0),
    "iterations": changed("attacks.dlg.max_iterations", 7),
    "no attack": replace(CASE, attacks=None),
    "counted": replace(CASE, counted=True),
    "round": replace(CASE, same_round=SameRound(1)),
    "again": replace(CASE, same_round=SameRound(1, 2)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_setting_changes_the_digest(name):
    digests = {each.digest("data") for each in OTHERS.values()}
    assert OTHERS[name].digest("data") != CASE.digest("data")
    assert len(digests) == len(OTHERS)


def test_other_data_change_the_digest_and_their_name_does_not():
    assert CASE.digest("these") != CASE.digest("those")
    assert replace(CASE, data="there").digest("these") == CASE.digest("these")


def test_what_is_kept_does_not_change_the_digest():
    assert replace(CASE, keep=frozenset({"found"})).digest("data") == CASE.digest("data")


def test_no_part_of_a_case_is_forgotten_in_these_tests():
    """Data and keep have tests of their own."""
    known = {"data", "settings", "target", "area", "attacks", "counted", "same_round", "keep"}
    assert {each.name for each in fields(Case)} == known


def test_a_case_knows_its_seed_and_can_be_looked_up():
    assert OTHERS["seed"].seed == 1
    assert {CASE: "found"}[make_case(make_data())] == "found"
