import json

import pytest

from veilmap.errors import UserError
from veilmap.study.attack import attack
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.settings import RunSettings
from veilmap.study.train import train
from veilmap.study.trial import trial

SETTINGS = RunSettings.of(
    interval="1d", hidden=(8,), activations=("relu",), dropout=(0.0,), learning_rate=1e-3
)
QUICK = AttackSettings.of(method="search,neurons", inside=True)


def test_a_trial_in_memory_finds_what_an_attack_on_files_finds(small_campus, tmp_path):
    settings = configure(SETTINGS, "fedavg + diverse:eps_m=50")
    train(small_campus, settings, out=tmp_path / "run")
    filed = attack(tmp_path / "run", QUICK, data=small_campus)
    kept = trial(small_campus, settings, QUICK).attacked
    for name, scores in kept.scores.items():
        figures, other = scores.figures(), filed.scores[name].figures()
        assert {**figures, "seconds": 0} == {**other, "seconds": 0}
    assert filed.configuration == kept.configuration == "fedavg + diverse:eps_m=50 + centre"
    assert filed.header.side_knowledge.defence == ("diverse:eps_m=50",)


def test_the_rows_of_a_trial_say_price_find_and_cost(small_campus):
    rows = trial(small_campus, configure(SETTINGS, "fedavg + dp:epsilon=100"), QUICK).rows()
    assert [row["attack"] for row in rows] == ["search", "neurons"]
    json.dumps(rows, allow_nan=False)
    (step,) = rows[0]["defences"]
    rounds = step["turns"] // 3
    assert step["spent"]["epsilon_one_round"] == pytest.approx(300.14, abs=0.01)
    assert step["spent"]["epsilon_all_rounds"] > 300 * rounds / 2
    assert rows[0]["rmse_db"] > 0
    assert rows[0]["points_share"] == 1
    assert "places" not in rows[0]


def test_only_every_third_round_is_attacked(small_campus):
    found = trial(small_campus, SETTINGS, AttackSettings.of(method="neurons", every=3)).attacked
    all_of_them = trial(small_campus, SETTINGS, AttackSettings.of(method="neurons")).attacked
    assert list(found.norms) == list(all_of_them.norms)[::3]
    with pytest.raises(UserError, match="every must be at least 1, got 0"):
        AttackSettings.of(every=0)


def test_only_the_target_may_take_the_defence(small_campus):
    target = small_campus.of_cell(None).users[0]
    settings = RunSettings.of(interval="1d", defence=("farthest:num=5",), defended=(target,))
    found = trial(small_campus, settings, QUICK)
    (step,) = found.run.defences
    assert step.points == pytest.approx(5, abs=1)
    row, _ = found.rows()
    assert row["points"] == step.points
    assert row["points_share"] == pytest.approx(step.points / step.points_before)
    with pytest.raises(UserError, match="user 'nobody' is to be defended and has no training data"):
        train(small_campus, RunSettings.of(defence=("diverse",), defended=("nobody",)))


@pytest.mark.parametrize("source", ["past", "public"])
def test_a_gan_learns_on_the_way(small_campus, source):
    settings = configure(SETTINGS, f"fedsgd + gan:learns_from={source},max_steps=20 + farthest")
    gan, farthest = trial(small_campus, settings, QUICK).run.defences
    assert gan.figures["gan_parameters"] > 1000
    assert gan.figures["moved_m"] > 0
    assert farthest.points <= 20
    assert ("public sample" in settings.oracle) == (source == "public")
