import json

import numpy as np
import pytest

from tests.conftest import make_measurements
from veilmap.errors import UserError
from veilmap.federation.update_validation import ANY_FINITE
from veilmap.study.attack import attack
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.robustness import Robustness
from veilmap.study.settings import RunSettings
from veilmap.study.train import train

LAYERS = {"hidden": [8], "activations": ["tanh"], "dropout": [0.0]}
LITTLE = {"map": "network", **LAYERS, "interval": "1d"}


@pytest.fixture(scope="module")
def crowd():
    return make_measurements(rows=360, users=3)


def test_garbage_is_counted_in_the_history_and_the_record_says_that_it_is_simulated(
    crowd, tmp_path
):
    run = train(crowd, out=tmp_path, broken=["u1=nan"], aggregation="median", **LITTLE)
    content = json.loads((tmp_path / "results.json").read_bytes())
    assert [line["refused"] for line in content["history"]] == [
        {"u1": "numbers that are not finite"}
    ] * len(run.history)
    assert [line["users"] for line in content["history"]] == [2] * len(run.history)
    settings = json.loads((tmp_path / "settings.json").read_bytes())
    assert settings["robustness"] == {"broken": ["u1=nan"]}
    assert settings["training"]["aggregation"] == "median"
    assert content["rows"][0]["configuration"] == "fedavg:aggregation=median + centre"
    why = r"of user 'u1' were refused \(numbers that are not finite\); choose one of: u2, u0"
    with pytest.raises(UserError, match=why):
        attack(tmp_path, AttackSettings.of(target="u1"))
    (tmp_path / "results.json").write_text('{"history": [1]}')
    with pytest.raises(UserError, match="there is no user 'u1' in the transcript"):
        attack(tmp_path, AttackSettings.of(target="u1"))
    with pytest.raises(UserError, match=r"'u1' measured, .*: all were refused as malformed"):
        attack(tmp_path, AttackSettings.of(target="u1"), data=crowd)


def test_a_message_that_cannot_be_added_is_refused_and_the_rounds_go_on(crowd, tmp_path):
    run = train(crowd, out=tmp_path, broken=["u1=huge"], interval="1d")
    why = {"u1": "k = 1e+06 for a square, and 0 or 1 is taken"}
    assert [record.refused for record in run.history] == [why] * len(run.history)
    assert [record.users for record in run.history] == [2] * len(run.history)
    assert np.isfinite(run.rmse_db)
    with pytest.raises(UserError, match=r"'u1' were refused \(k = 1e\+06 for a square, and 0 or 1"):
        attack(tmp_path, AttackSettings.of(target="u1"))
    assert attack(tmp_path, AttackSettings.of(target="u0")).scores["squares"]


def test_an_honest_run_has_the_same_bits_with_a_limit_that_no_user_reaches(crowd):
    plain, limited = (train(crowd, most_norm=most, **LITTLE) for most in (None, 1000.0))
    assert (plain.signal_map.weights == limited.signal_map.weights).all()
    assert not any(record.refused for record in limited.history)


def test_updates_that_are_too_long_leave_the_map_as_it_was(crowd):
    run = train(crowd, most_norm=1e-9, **LITTLE)
    network = run.prepared.plan.network
    assert (run.signal_map.weights == network.initialise(0)).all()
    assert "above the 1e-09 of --most-norm" in run.history[0].refused["u0"]


def test_training_diverged_where_no_honest_phone_has_an_update_whatever_broken_ones_send(crowd):
    rates = {"learning_rate": 1e30, **LITTLE}
    with pytest.raises(UserError, match=r"diverged in round 1 .*not finite.*lower --learning-rate"):
        train(crowd, broken=["u1=shape"], **rates)


def test_a_broken_phone_alone_is_no_divergence():
    run = train(make_measurements(users=1), broken=["u0=nan"], **LITTLE)
    assert [record.users for record in run.history] == [0] * len(run.history)


def test_a_sum_of_updates_and_a_median_of_them_exclude_each_other(crowd, tmp_path):
    train(crowd, out=tmp_path, aggregation="median", **LITTLE)
    with pytest.raises(UserError, match="has --aggregation median, for which a server must see"):
        attack(tmp_path, AttackSettings.of(secure_aggregation=True))


def test_a_configuration_may_name_the_aggregation():
    settings = configure(RunSettings(), "fedavg:aggregation=trimmed,trimmed_share=0.3")
    assert settings.training.aggregation == "trimmed"
    assert settings.training.trimmed_share == 0.3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"broken": ["u1"]}, "cannot read 'u1'; write USER=KIND, such as 3=nan"),
        ({"broken": ["u1=odd"]}, "unknown kind of broken phone 'odd'; choose one of: nan, inf"),
        ({"broken": ["u1=nan", "u1=inf"]}, "broken names a user twice: u1=nan, u1=inf"),
        ({"most_norm": -1.0}, "most_norm must be a number above 0, got -1.0"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(UserError, match=message):
        RunSettings.of(**given)


def test_a_stranger_cannot_have_a_broken_phone(crowd):
    with pytest.raises(UserError, match="user 'x' is to have a broken phone and has no training"):
        train(crowd, broken="x=nan", **LITTLE)


def test_names_may_hold_an_equals_sign_and_the_default_takes_all_that_is_finite():
    assert Robustness(broken=("a=b=nan",)).kinds == {"a=b": "nan"}
    assert Robustness().update_limits is ANY_FINITE
