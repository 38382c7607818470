import json

import pytest

from tests.experiments.making import run
from tests.maps.making import Mean
from tests.study.foreign_attacks import Corner, Drift
from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.experiments import run_trial
from veilmap.experiments.trial import SameRound, Trial
from veilmap.federation.observation import Recorder
from veilmap.study.attack import attack
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.evidence.evidence import evidence_of
from veilmap.study.prepare import prepare
from veilmap.study.results import settings_record
from veilmap.study.settings import RunSettings
from veilmap.study.train import train, train_prepared

LAYERS = {"hidden": (8,), "activations": ("relu",), "dropout": (0.0,)}
SETTINGS = RunSettings.of(map="network", interval="1d", **LAYERS, learning_rate=1e-3)
QUICK = AttackSettings.of(method="search,first_layer", inside=True)


def trial(data, settings, attacks, **given):
    """The result on the densest user; a failure is raised."""
    targets = given.pop("targets", (data.of_cell(None).users[0],))
    found = run(Trial(settings.configuration, settings, targets, attacks, **given), data)
    if found.failed is not None:
        raise UserError(found.failed)
    return found


def scores_of(found):
    """By method, without what a clock decides."""
    return {row.attack: {**row.scores.figures(), "seconds": 0} for row in found.rows}


def test_a_trial_in_memory_finds_what_an_attack_on_files_finds(small_campus, tmp_path):
    settings = configure(SETTINGS, "fedavg + diverse:eps_m=50")
    train(small_campus, settings, out=tmp_path / "run")
    filed = attack(tmp_path / "run", QUICK, data=small_campus)
    kept = trial(small_campus, settings, QUICK)
    assert scores_of(kept) == {
        name: {**scores.figures(), "seconds": 0} for name, scores in filed.scores.items()
    }
    assert filed.configuration == kept.configuration == "fedavg + diverse:eps_m=50 + centre"
    assert filed.header.side_knowledge.defence == ("diverse:eps_m=50",)


def test_the_rows_of_a_trial_say_price_find_and_cost(small_campus):
    found = trial(small_campus, configure(SETTINGS, "fedavg + dp:epsilon=100"), QUICK)
    assert [row.attack for row in found.rows] == ["search", "first_layer"]
    row = found.rows[0].as_dict()
    json.dumps(row, allow_nan=False)
    (step,) = found.steps
    rounds = step.turns // 3
    assert step.spent["epsilon_one_round"] == pytest.approx(300.14, abs=0.01)
    assert step.spent["epsilon_all_rounds"] > 300 * rounds / 2
    assert row["rmse_db"] > 0
    assert row["points_share"] == 1
    assert "places" not in row


def test_only_every_third_round_is_attacked(small_campus):
    found = trial(small_campus, SETTINGS, AttackSettings.of(method="first_layer", every=3)).rounds
    all_of_them = trial(small_campus, SETTINGS, AttackSettings.of(method="first_layer")).rounds
    assert [line.round for line in found] == [line.round for line in all_of_them][::3]
    with pytest.raises(UserError, match="every must be at least 1, got 0"):
        AttackSettings.of(every=0)


def test_a_transcript_alone_tells_the_defence(small_campus, tmp_path):
    train(small_campus, configure(SETTINGS, "fedavg + diverse:eps_m=50"), out=tmp_path / "run")
    found = attack(tmp_path / "run" / "transcript", QUICK)
    assert found.configuration.startswith("fedavg + diverse:eps_m=50 + centre:offset_dbm=-")
    assert "public sample" not in found.oracle


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
    assert found.rows[0].scores.nearest_m is None
    assert found.rows[0].scores.distance_m is not None


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
    settings = configure(SETTINGS, f"fedavg + farthest:num=5 (on {target})")
    found = trial(small_campus, settings, QUICK)
    (step,) = found.steps
    assert step.points == pytest.approx(5, abs=1)
    row, _ = found.rows
    assert step.turns == len({line.round for line in found.rounds})
    assert row.sent.points == step.points
    assert row.sent.points_share == pytest.approx(step.points / step.points_before)
    with pytest.raises(UserError, match="user 'nobody' is to be defended and has no training data"):
        train(small_campus, RunSettings.of(defence=("diverse",), defended=("nobody",)))


@pytest.mark.parametrize("source", ["past", "public"])
def test_a_gan_learns_on_the_way(small_campus, source):
    settings = configure(SETTINGS, f"fedsgd + gan:learns_from={source},max_steps=20 + farthest")
    gan, farthest = trial(small_campus, settings, QUICK).steps
    assert gan.figures["gan_parameters"] > 1000
    assert gan.figures["moved_m"] > 0
    assert farthest.points <= 20
    assert ("public sample" in settings.oracle) == (source == "public")


def test_a_trial_without_attacks_only_trains(small_campus):
    done = trial(small_campus, SETTINGS, None)
    (row,) = done.rows
    assert (done.rounds, row.attack, row.target) == ((), "none", None)
    assert row.map.rmse_db == done.training[-1].rmse_db
    assert "points" not in row.as_dict()


def test_only_the_updates_that_are_read_are_kept(small_campus, monkeypatch):
    """An update is half a megabyte; those of ten thousand users would fill any memory."""
    recorders = []

    def recorder(*users):
        recorders.append(Recorder(*users))
        return recorders[-1]

    monkeypatch.setattr(run_trial, "Recorder", recorder)
    attacked = trial(small_campus, SETTINGS, QUICK, targets=("2",))
    trial(small_campus, SETTINGS, None)
    every = trial(small_campus, SETTINGS, QUICK, targets=("2",), keep=frozenset({"gradient"}))
    kept = [{seen.user for seen in recorder.observations} for recorder in recorders]
    assert kept == [{"2"}, set(), {"0", "2"}]
    assert scores_of(attacked) == scores_of(every)


def test_the_same_round_is_trained_again_and_again(small_campus):
    done = trial(small_campus, SETTINGS, None, same_round=SameRound(3, times=4))
    chosen = prepare(small_campus, SETTINGS).rounds[2]
    assert [record.round for record in done.training] == [1, 2, 3, 4]
    assert {record.n for record in done.training} == {sum(map(len, chosen.data.values()))}
    assert {record.start_s for record in done.training} == {chosen.start_s}


def test_a_trial_in_another_area_knows_no_other(small_campus):
    data = small_campus.of_cell(None)
    area = Area.around(data.xy_m + 5000.0)
    done = trial(small_campus, SETTINGS, QUICK, area=area, keep=frozenset({"found"}))
    assert done.positions.area == area
    (search,) = (found for (name, _), found in done.positions.tried.items() if name == "search")
    assert area.contains(search.xy_m).all()


def test_the_spread_of_the_points_sent_is_that_of_a_coordinate(small_campus):
    """The mean over the rounds of the mean of both coordinates' standard deviations."""
    done = trial(small_campus, SETTINGS, QUICK, keep=frozenset({"chosen"}))
    (sent,) = done.positions.chosen.values()
    batches = [batch.xy_m for batch in sent.by_round().values()]
    expected = sum((xy[:, 0].std() + xy[:, 1].std()) / 2 for xy in batches) / len(batches)
    assert done.rows[0].sent.points_std_m == pytest.approx(expected)
    one = trial(small_campus, configure(SETTINGS, "fedsgd + random:num=1"), QUICK)
    assert one.rows[0].sent.points_std_m == 0


def test_the_gap_to_the_past_is_a_mean_over_the_rounds_that_have_one(small_campus):
    past = frozenset({"past"})
    done = trial(small_campus, SETTINGS, None, keep=past)
    first, *later = done.training
    gaps = [record.rmse_past_db - record.rmse_db for record in later]
    assert first.rmse_past_db is None
    assert done.rows[0].map.rmse_past_gap_db == pytest.approx(sum(gaps) / len(gaps))
    assert trial(small_campus, SETTINGS, None).rows[0].map.rmse_past_gap_db is None
    once = trial(small_campus, SETTINGS, None, keep=past, same_round=SameRound(1))
    assert once.rows[0].map.rmse_past_gap_db is None


def test_attacks_that_cannot_read_a_map_are_in_the_result(small_campus):
    settings = RunSettings.of(interval="1d", map=Mean())
    found = trial(small_campus, settings, AttackSettings.of(method=["search", Corner()]))
    assert found.unread == ("search",)
    assert [row.attack for row in found.rows] == ["corner:depth=10"]


def test_the_way_of_any_attack_is_kept(small_campus):
    attacks = AttackSettings.of(method=["search", Drift()])
    found = trial(small_campus, SETTINGS, attacks, keep=frozenset({"path"}))
    assert found.positions.path_m.shape == (4, 2)
