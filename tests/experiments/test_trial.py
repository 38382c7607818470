from dataclasses import fields, replace

import pytest

from tests.experiments.making import make_trial
from tests.sweeping.making import make_data
from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.experiments.trial import SameRound, Trial
from veilmap.geo import Projection
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.prepare import prepare

DATA = make_data()
TRIAL = make_trial(DATA)


def changed(path, value):
    """The trial with one setting of one part changed: ``settings.task.interval``."""
    part, group, name = path.split(".")
    settings = getattr(TRIAL, part)
    inner = replace(getattr(settings, group), **{name: value})
    return replace(TRIAL, **{part: replace(settings, **{group: inner})})


OTHERS = {
    "seed": changed("settings.task.seed", 1),
    "interval": changed("settings.task.interval", "1d"),
    "scaler": changed("settings.task.scaler", "fitted"),
    "split": changed("settings.test.split", "random"),
    "hidden": changed("settings.model.hidden", (5,)),
    "learning rate": changed("settings.training.learning_rate", 0.5),
    "B": changed("settings.training.batch_size", 7),
    "defence": replace(TRIAL, settings=configure(TRIAL.settings, "fedsgd + farthest:num=5")),
    "its strength": replace(TRIAL, settings=configure(TRIAL.settings, "fedsgd + farthest:num=6")),
    "defended": replace(
        TRIAL, settings=configure(TRIAL.settings, "fedsgd + farthest:num=5 (on u1)")
    ),
    "targets": replace(TRIAL, targets=("u1",)),
    "name": replace(TRIAL, configuration="another"),
    "area": replace(TRIAL, area=Area(0, 0, 1, 1)),
    "attack": replace(TRIAL, attacks=AttackSettings.of(method="search")),
    "label": changed("attacks.dlg.label_dbm", -95.0),
    "iterations": changed("attacks.dlg.max_iterations", 7),
    "theory": replace(TRIAL, theory=True),
    "no attack": replace(TRIAL, attacks=None),
    "counted": replace(TRIAL, counted=True),
    "round": replace(TRIAL, same_round=SameRound(1)),
    "again": replace(TRIAL, same_round=SameRound(1, 2)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_setting_changes_the_digest(name):
    digests = {each.digest(DATA) for each in OTHERS.values()}
    assert OTHERS[name].digest(DATA) != TRIAL.digest(DATA)
    assert len(digests) == len(OTHERS)


def test_other_data_change_the_digest_and_their_name_does_not():
    own = TRIAL.digest(DATA)
    others = [
        make_data(rows=159),
        replace(DATA, timezone="Europe/Athens"),
        replace(DATA, projection=Projection(32631)),
    ]
    assert len({own, *(TRIAL.digest(each) for each in others)}) == 4
    assert replace(TRIAL, data="there").digest(DATA) == own


def test_what_is_kept_does_not_change_the_digest():
    assert replace(TRIAL, keep=frozenset({"found"})).digest(DATA) == TRIAL.digest(DATA)


def test_no_part_of_a_trial_is_forgotten_in_these_tests():
    """Data and keep have tests of their own."""
    known = {
        "configuration", "data", "settings", "targets", "area", "attacks", "theory", "counted",
        "same_round", "keep",
    }  # fmt: skip
    assert {each.name for each in fields(Trial)} == known


def test_another_version_is_another_digest(monkeypatch):
    before = TRIAL.digest(DATA)
    monkeypatch.setattr("veilmap.experiments.trial.version", lambda name: "99")
    assert TRIAL.digest(DATA) != before


def test_a_trial_knows_its_seed():
    assert OTHERS["seed"].seed == 1


def test_no_users_cannot_be_attacked_or_counted():
    for given in ({}, {"attacks": None, "counted": True}):
        with pytest.raises(UserError, match="attacks or counts its targets, got none"):
            replace(TRIAL, targets=(), **given)
    assert replace(TRIAL, targets=(), attacks=None).targets == ()


def test_of_too_few_rounds_the_last_is_taken():
    prepared = prepare(DATA, TRIAL.settings)
    (only,) = SameRound(1000).apply(prepared).rounds
    assert only.start_s == prepared.rounds[-1].start_s
    assert only.number == 1


def test_there_is_no_round_zero():
    with pytest.raises(UserError, match="number must be at least 1, got 0; times must be at least"):
        SameRound(0, times=0)
