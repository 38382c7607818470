import json
from dataclasses import replace

import pytest

from veilmap.area import Area
from veilmap.attacks.secure_sum import secure_sum
from veilmap.errors import UserError
from veilmap.federation.observation import Recorder
from veilmap.study.attack import attack
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.evidence.evidence import evidence_of
from veilmap.study.prepare import prepare
from veilmap.study.results import settings_record
from veilmap.study.settings import RunSettings
from veilmap.study.train import train, train_prepared
from veilmap.study.trial import SameRound, trial

SETTINGS = RunSettings.of(
    interval="1d", hidden=(8,), activations=("relu",), dropout=(0.0,), learning_rate=1e-3
)
QUICK = AttackSettings.of(method="search,first_layer", inside=True)


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
    assert [row["attack"] for row in rows] == ["search", "first_layer"]
    json.dumps(rows, allow_nan=False)
    (step,) = rows[0]["defences"]
    rounds = step["turns"] // 3
    assert step["spent"]["epsilon_one_round"] == pytest.approx(300.14, abs=0.01)
    assert step["spent"]["epsilon_all_rounds"] > 300 * rounds / 2
    assert rows[0]["rmse_db"] > 0
    assert rows[0]["points_share"] == 1
    assert "places" not in rows[0]


def test_only_every_third_round_is_attacked(small_campus):
    found = trial(small_campus, SETTINGS, AttackSettings.of(method="first_layer", every=3)).attacked
    all_of_them = trial(small_campus, SETTINGS, AttackSettings.of(method="first_layer")).attacked
    assert list(found.norms) == list(all_of_them.norms)[::3]
    with pytest.raises(UserError, match="every must be at least 1, got 0"):
        AttackSettings.of(every=0)


def test_a_transcript_alone_tells_the_defence(small_campus, tmp_path):
    train(small_campus, configure(SETTINGS, "fedavg + diverse:eps_m=50"), out=tmp_path / "run")
    found = attack(tmp_path / "run" / "transcript", QUICK)
    assert found.configuration.startswith("fedavg + diverse:eps_m=50 + centre:offset_dbm=-")
    assert "public sample" not in found.oracle


def test_the_one_who_measured_most_is_attacked_also_if_few_points_are_sent(small_campus):
    target = small_campus.of_cell(None).users[0]
    settings = RunSettings.of(interval="1d", defence=("random:num=1",), defended=(target,))
    assert trial(small_campus, settings, QUICK).attacked.target == target


def test_theory_is_silent_about_points_that_a_defence_chose(small_campus, tmp_path):
    for name in ("fedavg", "fedavg + diverse"):
        train(small_campus, configure(SETTINGS, name), out=tmp_path / "run", overwrite=True)
        found = attack(tmp_path / "run", QUICK, data=small_campus, theory=True)
        assert {each is None for each in found.predicted.values()} == {"diverse" in name}


def test_theory_speaks_of_the_points_trained_on_where_they_are_known(small_campus):
    """One point is its own centroid: Theorem 1 says 0, whatever else the user measured."""
    predicted = {}
    for name in ("fedsgd + farthest:num=1", "fedsgd + farthest:num=1 + dp:epsilon=100"):
        prepared, seen = prepare(small_campus, configure(SETTINGS, name)), Recorder()
        run = train_prepared(prepared, seen, keep=prepared.users)
        found = attack(evidence_of(prepared, seen.observations, run.batches), QUICK, theory=True)
        predicted[name] = list(found.predicted.values())
    exact, noisy = predicted.values()
    assert max(each.error_m for each in exact) == pytest.approx(0, abs=1e-3)
    assert set(noisy) == {None}


def test_cumulative_updates_have_no_nearest_point_of_their_round(small_campus):
    found = trial(small_campus, configure(SETTINGS, "cumulative fedavg + farthest"), QUICK)
    assert found.attacked.scores["search"].nearest_m is None
    assert found.attacked.scores["search"].distance_m is not None


def test_the_public_sample_is_a_tenth(small_campus):
    prepared = prepare(small_campus, configure(SETTINGS, "fedavg + gan:learns_from=public"))
    sample = sum(map(len, prepared.plan.defence.public.values()))
    rows = sum(len(data) for this in prepared.rounds for data in this.data.values())
    assert sample == round(rows / 10)
    assert "public sample" in settings_record(prepared)["resolved"]["oracle"]


def test_a_defence_that_leaves_nothing_says_so(small_campus):
    settings = configure(SETTINGS, "fedavg + diverse:eps_m=0.01,min_points=5000,noise=drop")
    with pytest.raises(UserError, match="the defence left no phone a point"):
        trial(small_campus, settings, QUICK)


def test_only_the_target_may_take_the_defence(small_campus):
    target = small_campus.of_cell(None).users[0]
    settings = RunSettings.of(interval="1d", defence=("farthest:num=5",), defended=(target,))
    found = trial(small_campus, settings, QUICK)
    (step,) = found.run.defences
    assert step.points == pytest.approx(5, abs=1)
    row, _ = found.rows()
    assert step.turns == len(found.attacked.norms)
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


def test_a_trial_without_attacks_only_trains(small_campus):
    done = trial(small_campus, SETTINGS, None)
    (row,) = done.rows()
    assert (done.attacked, row["attack"], row["target"]) == (None, "none", None)
    assert row["rmse_db"] == done.run.rmse_db
    assert "points" not in row


def test_only_the_updates_of_the_target_are_kept(small_campus):
    """An update is half a megabyte; those of ten thousand users would fill any memory."""
    attacked = trial(small_campus, SETTINGS, QUICK)
    assert {each.user for each in attacked.observations} == {attacked.attacked.target}
    assert trial(small_campus, SETTINGS, None).observations == []
    everybody = trial(small_campus, SETTINGS, None, keep_updates=True).observations
    assert {each.user for each in everybody} == {"0", "2"}


@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_sums_made_while_training_are_those_of_all_updates(small_campus, fraction):
    settings = replace(SETTINGS, training=replace(SETTINGS.training, fraction=fraction))
    attacks = AttackSettings.of(method="first_layer", secure_aggregation=True)
    found = trial(small_campus, settings, attacks)
    every = trial(small_campus, settings, attacks, keep_updates=True)
    summed = list(secure_sum(every.observations))
    assert [each.n for each in found.observations] == [each.n for each in summed]
    for one, other in zip(found.observations, summed, strict=True):
        assert one.weights_after.tobytes() == other.weights_after.tobytes()
    one, other = (each.attacked.scores["first_layer"].figures() for each in (found, every))
    assert {**one, "seconds": 0} == {**other, "seconds": 0}


def test_who_measured_most_is_found_also_if_a_defence_silences_him(small_campus):
    """It is known only after training, so the run is made again; all updates at once agree."""
    densest = small_campus.of_cell(None).users[0]
    silent = ("diverse:eps_m=0.01,min_points=5000,noise=drop",)
    settings = RunSettings.of(
        interval="1d", hidden=(8,), activations=("relu",), dropout=(0.0,), learning_rate=1e-3,
        defence=silent, defended=(densest,),
    )  # fmt: skip
    found = trial(small_campus, settings, QUICK)
    every = trial(small_campus, settings, QUICK, keep_updates=True)
    assert found.attacked.target == every.attacked.target != densest
    for name, scores in found.attacked.scores.items():
        other = every.attacked.scores[name]
        assert {**scores.figures(), "seconds": 0} == {**other.figures(), "seconds": 0}


def test_the_same_round_is_trained_again_and_again(small_campus):
    done = trial(small_campus, SETTINGS, None, same_round=SameRound(3, times=4))
    chosen = prepare(small_campus, SETTINGS).rounds[2]
    assert [record.round for record in done.run.history] == [1, 2, 3, 4]
    assert {record.n for record in done.run.history} == {sum(map(len, chosen.data.values()))}
    assert {record.start_s for record in done.run.history} == {chosen.start_s}


def test_of_too_few_rounds_the_last_is_taken(small_campus):
    prepared = prepare(small_campus, SETTINGS)
    (only,) = SameRound(1000).apply(prepared).rounds
    assert only.start_s == prepared.rounds[-1].start_s
    assert only.number == 1


def test_there_is_no_round_zero():
    with pytest.raises(UserError, match="number must be at least 1, got 0; times must be at least"):
        SameRound(0, times=0)


def test_a_trial_in_another_area_knows_no_other(small_campus):
    data = small_campus.of_cell(None)
    area = Area.around(data.xy_m + 5000.0)
    done = trial(small_campus, SETTINGS, QUICK, area=area)
    assert done.attacked.area == done.run.prepared.plan.area == area
    assert all(area.contains(each.xy_m[None]).all() for each in done.attacked.found["search"])


def test_the_spread_of_the_points_sent_is_that_of_a_coordinate(small_campus):
    """The mean over the rounds of the mean of both coordinates' standard deviations."""
    done = trial(small_campus, SETTINGS, QUICK)
    target = done.attacked.target
    batches = [done.run.batches[t][target].xy_m for t in done.attacked.norms]
    expected = sum((xy[:, 0].std() + xy[:, 1].std()) / 2 for xy in batches) / len(batches)
    assert done.rows()[0]["points_std_m"] == pytest.approx(expected)
    one = trial(small_campus, configure(SETTINGS, "fedsgd + random:num=1"), QUICK)
    assert one.rows()[0]["points_std_m"] == 0


def test_the_gap_to_the_past_is_a_mean_over_the_rounds_that_have_one(small_campus):
    done = trial(small_campus, SETTINGS, None, past=True)
    first, *later = done.run.history
    gaps = [record.rmse_past_db - record.rmse_db for record in later]
    assert first.rmse_past_db is None
    assert done.rows()[0]["rmse_past_gap_db"] == pytest.approx(sum(gaps) / len(gaps))
    assert trial(small_campus, SETTINGS, None).rows()[0]["rmse_past_gap_db"] is None
    once = trial(small_campus, SETTINGS, None, past=True, same_round=SameRound(1))
    assert once.rows()[0]["rmse_past_gap_db"] is None
