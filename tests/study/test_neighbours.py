import pytest

from tests.study.foreign_steps import First
from veilmap.errors import UserError
from veilmap.federation.observation import Recorder
from veilmap.study.attack import attack
from veilmap.study.evidence.evidence import evidence_of
from veilmap.study.neighbours import people_besides, steps_of
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train, train_prepared


def test_an_attacker_is_trained_through_the_defence_of_the_run(small_campus, tmp_path):
    """In memory a step may be any object; on disk it must be registered."""
    settings = RunSettings.of(interval="1w", defence=[First(5)])
    prepared, seen = prepare(small_campus, settings), Recorder()
    train_prepared(prepared, seen)
    evidence = evidence_of(prepared, seen.observations)
    result = attack(evidence, method="learned:people=20,frequency", target="0")
    assert list(result.scores) == ["learned", "frequency"]
    assert result.scores["learned"].home_error_m is not None
    assert steps_of(evidence, "0") == (First(5),)
    with pytest.raises(
        UserError, match="needs 20 people to learn from and got messages of 1; give"
    ):
        attack(evidence, method="learned:people=20,source=others", target="0")
    train(small_campus, settings, out=tmp_path / "run")
    with pytest.raises(UserError, match="unknown defence 'first'; choose one of"):
        attack(tmp_path / "run", method="learned:people=20")


def test_people_besides_the_target_are_those_with_a_home(small_campus):
    settings = RunSettings.of(interval="1w")
    prepared, seen = prepare(small_campus, settings), Recorder()
    train_prepared(prepared, seen)
    evidence = evidence_of(prepared, seen.observations)
    found = people_besides(evidence, "0")
    assert "0" not in [each.user for each in found]
    for each in found:
        assert set(each.rounds) == {t for t, own in evidence.truth.items() if each.user in own}
        assert prepared.plan.area.contains(each.home_m)


def test_a_user_without_the_defence_has_no_steps(small_campus):
    settings = RunSettings.of(interval="1w", defence=["random:num=5"], defended=["2"])
    prepared = prepare(small_campus, settings)
    evidence = evidence_of(prepared, [])
    assert steps_of(evidence, "0") == ()
    assert steps_of(evidence, "2") == prepared.plan.defence.steps
