import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.maps.making import Mean
from tests.study.foreign_attacks import Corner, Drift
from veilmap.attacks.gradient_matching.dlg import UPDATES_AT_ONCE
from veilmap.attacks.secure_sum import SUM
from veilmap.errors import UserError
from veilmap.geo import Projection
from veilmap.report.attack_pictures import attack_pictures
from veilmap.sources.reader import read
from veilmap.study.attack import attack
from veilmap.study.attack_files import AttackFolder
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.run_folder import RunFolder
from veilmap.study.train import train
from veilmap.transcript import Transcript

DOCS = Path(__file__).parents[2] / "docs"
SMALL = {
    "map": "network",
    "hidden": [24, 24],
    "activations": ["relu", "sigmoid"],
    "dropout": [0.0, 0.0],
    "label_offset_dbm": "none",
    "batch_size": "inf",
    "epochs": 1,
    "interval": "3h",
}
METHODS = ("dlg", "search", "first_layer", "heatmap", "rows", "joint")


@pytest.fixture(scope="module")
def run(campus_file, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(read(campus_file), out=folder, **SMALL)
    return folder


@pytest.fixture(scope="module")
def attacked(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("attacks") / "out"
    return attack(run, out=out, max_iterations=300, grid_cells=100, finest_m=60.0), out


def test_every_method_attacks_every_round_of_the_densest_user(run, attacked):
    result, _ = attacked
    observed = list(Transcript(RunFolder(run).transcript))
    points = dict.fromkeys({each.user for each in observed}, 0)
    for each in observed:
        points[each.user] += each.n
    assert result.target == max(points, key=points.get)
    rounds = [each.round for each in observed if each.user == result.target]
    assert set(result.every) == set(METHODS)
    for found in result.found.values():
        assert [each.round for each in found] == rounds


def test_the_strong_attacks_come_close_and_random_points_do_not(attacked):
    result, _ = attacked
    for name in ("search", "first_layer"):
        scores = result.scores[name]
        assert scores.distance_median_m < 30
        assert scores.emd_m < 0.5 * scores.emd_random_m


def test_search_explains_at_least_as_much_as_dlg(attacked):
    result, _ = attacked
    for one, other in zip(result.found["search"], result.found["dlg"], strict=True):
        assert one.cosine >= other.cosine - 1e-9


def test_results_have_a_row_per_method_and_no_position(attacked):
    result, out = attacked
    text = (out / "results.json").read_text()
    content = json.loads(text)
    assert [row["attack"] for row in content["rows"]] == list(METHODS)
    for row in content["rows"]:
        assert row["target"] == result.target
        assert row["emd_m"] == pytest.approx(result.scores[row["attack"]].emd_m)
    assert len(content["history"]) == len(METHODS) * len(result.norms)
    assert content["settings"]["resolved"]["oracle"] == list(result.oracle)
    x_m, y_m = result.found["search"][0].xy_m
    assert f"{x_m:.0f}" not in text
    assert f"{y_m:.0f}" not in text


def test_the_places_found_are_points_on_earth(attacked):
    result, out = attacked
    features = json.loads((out / "found.geojson").read_text())["features"]
    rounds = [each for each in features if "round" in each["properties"]]
    ranked = [each for each in features if "rank" in each["properties"]]
    assert len(rounds) == len(METHODS) * len(result.norms)
    assert len(ranked) == sum(len(scores.places) for scores in result.scores.values())
    for name in METHODS:
        likely = [p["likely"] for p in (f["properties"] for f in ranked) if p["attack"] == name]
        assert likely.count("home") == 1
        assert likely.count("work") <= 1
    for each in ranked:
        lon_deg, lat_deg = each["geometry"]["coordinates"]
        assert -180 <= lon_deg <= 180
        assert -90 <= lat_deg <= 90
    places = [place.xy_m for scores in result.scores.values() for place in scores.places]
    lon_deg, lat_deg = np.array([each["geometry"]["coordinates"] for each in ranked]).T
    back_m = Projection(result.header.side_knowledge.epsg).metres(lat_deg, lon_deg)
    np.testing.assert_allclose(back_m, places, atol=0.05)


def test_results_are_not_replaced_unasked(run, tmp_path):
    out = tmp_path / "out"
    attack(run, out=out, method=("search",))
    with pytest.raises(UserError, match="holds results already; choose another --out"):
        attack(run, out=out, method=("first_layer",))
    attack(run, out=out, method=("first_layer",), overwrite=True)
    assert len(json.loads((out / "results.json").read_text())["rows"]) == 1


def test_an_unknown_target_is_answered_with_those_there_are(run):
    with pytest.raises(UserError, match="no user 'nobody' in the transcript; choose one of: "):
        attack(run, target="nobody")


def test_the_best_of_several_starts_counts(run):
    result = attack(run, method=("dlg",), starts=3, max_iterations=20)
    rounds = len(result.norms)
    assert len(result.every["dlg"]) == 3 * rounds
    for best in result.found["dlg"]:
        same = [each.cosine for each in result.every["dlg"] if each.round == best.round]
        assert best.cosine == max(same)


def test_a_start_at_the_true_centroid_is_an_oracle(run):
    result = attack(run, method=("dlg",), start="centroid", max_iterations=5)
    assert "the start of dlg" in result.oracle
    assert "the start of dlg" not in attack(run, method=("dlg",), max_iterations=5).oracle


@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_the_sum_of_all_users_is_attacked_under_secure_aggregation(campus_file, tmp_path, fraction):
    train(read(campus_file), out=tmp_path / "run", fraction=fraction, **SMALL)
    result = attack(tmp_path / "run", method=("search", "first_layer"), secure_aggregation=True)
    observed = list(Transcript(RunFolder(tmp_path / "run").transcript))
    assert result.target == SUM
    for found in result.found["first_layer"]:
        of_round = [each for each in observed if each.round == found.round]
        assert found.n == sum(each.n for each in of_round) == len(result.truth[found.round])
    assert result.scores["search"].distance_median_m < 60


def test_theorem_1_predicts_where_lemma_1_places_the_user(run):
    """One full-batch step without dropout: the theory's g is what the update sums up."""
    result = attack(run, method=("first_layer",), theory=True)
    assert set(result.predicted) == set(result.norms)
    scaler = result.header.side_knowledge.scaler
    for seen in Transcript(RunFolder(run).transcript):
        if seen.user != result.target:
            continue
        (w, b), *_ = result.header.network.layers(seen.weights_before - seen.weights_after)
        told = np.abs(b) > 1e-3 * np.abs(b).max()
        ratios_m = scaler.metres(w[told] / b[told, None])
        predicted = result.predicted[seen.round]
        located = np.average(ratios_m, axis=0, weights=np.abs(b[told]))
        assert np.linalg.norm(located - predicted.x_dlg_m) < 20
        assert predicted.error_m >= 0


def test_theory_is_silent_about_cumulative_training(campus_file, tmp_path):
    train(read(campus_file), out=tmp_path / "run", **{**SMALL, "interval": "1d"}, cumulative=True)
    result = attack(tmp_path / "run", method=("first_layer",), theory=True)
    assert set(result.predicted.values()) == {None}


def test_a_run_is_never_replaced_by_an_attack(run):
    before = (run / "results.json").read_bytes()
    for folder in (run, run / "transcript"):
        with pytest.raises(UserError, match="holds a run or a transcript; choose another --out"):
            attack(run, method=("first_layer",), out=folder, overwrite=True)
    assert (run / "results.json").read_bytes() == before


def test_pictures_of_an_earlier_attack_do_not_stay(run, tmp_path):
    (tmp_path / "whereabouts.png").write_bytes(b"old")
    (tmp_path / "mine.txt").write_bytes(b"mine")
    attack(run, method=("first_layer",), out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "results.json", "found.geojson", "mine.txt",
    }  # fmt: skip


def test_a_start_that_ran_to_infinity_is_no_best_start(run):
    result = attack(
        run, method=("dlg",), optimiser="sgd", attack_rate=1e308, starts=2, max_iterations=5
    )
    assert all(-1 <= each.cosine <= 1 for each in result.every["dlg"])


def test_the_stops_asked_for_reach_the_walk():
    settings = AttackSettings.of(method="dlg", still_m=0.5, circling_m=2.0, max_iterations=9)
    made = settings.make(None, keep_path=False)["dlg"]
    assert (made.still_m, made.circling_m, made.max_iterations) == (0.5, 2.0, 9)
    default = AttackSettings.of(method="dlg").make(None, keep_path=False)["dlg"]
    assert default.circling_m is None


def test_the_work_of_all_starts_counts(run):
    result = attack(run, method=("dlg",), starts=3, max_iterations=7)
    assert result.scores["dlg"].iterations == pytest.approx(21)
    assert result.scores["dlg"].seconds == pytest.approx(
        sum(each.seconds for each in result.every["dlg"])
    )


def test_the_clock_and_cell_of_a_run_are_its_own(run):
    with pytest.raises(UserError, match="is a run and knows its cell and clock; leave out --cell"):
        attack(run, cell="x204")


def test_a_run_whose_data_is_gone_is_attacked_without_truth(small_campus, tmp_path):
    train(small_campus, out=tmp_path / "run", **SMALL)
    result = attack(tmp_path / "run", method=("first_layer",), out=tmp_path / "out")
    assert result.truth is None
    assert "--data" in result.why_no_truth
    scores = result.scores["first_layer"]
    assert (scores.emd_m, scores.home_error_m) == (None, None)
    assert scores.places
    (row,) = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    assert (row["emd_m"], row["diverged_share"]) == (None, 0)
    given = attack(tmp_path / "run", method=("first_layer",), data=small_campus)
    assert given.scores["first_layer"].distance_median_m < 30
    assert given.scores["first_layer"].places == scores.places


def test_other_data_than_the_runs_is_refused(run, small_campus):
    other = small_campus.keep(small_campus.table["rsrp_dbm"] < -80)
    with pytest.raises(UserError, match=r"is not what .* was trained on: the cell's rows differ"):
        attack(run, data=other)


def test_start_centroid_needs_the_truth(small_campus, tmp_path):
    train(small_campus, out=tmp_path / "run", **SMALL)
    with pytest.raises(UserError, match="start 'centroid' needs to know where the user was"):
        attack(tmp_path / "run", method=("dlg",), start="centroid")


def test_a_transcript_is_attacked_with_the_truth_from_a_table(run, small_campus):
    whole = attack(run, method=("first_layer",))
    result = attack(run / "transcript", method=("first_layer",), data=small_campus)
    assert result.target == whole.target
    # The run set test rows aside; the table has them too.
    for t, data in result.truth.items():
        assert len(data) >= len(whole.truth[t])
    assert result.scores["first_layer"].distance_median_m < 40


def test_a_table_without_the_users_rows_is_refused(run, small_campus):
    late = small_campus.keep(small_campus.table["time"] > small_campus.table["time"][-1000])
    with pytest.raises(UserError, match="the data has no rows of user"):
        attack(run / "transcript", data=late)


def test_the_five_lines_of_the_docs_write_a_transcript_that_can_be_attacked(tmp_path, monkeypatch):
    """The docs' user sits at (0.5, -0.3) standardised, 0.01 wide: about 288.7 + 144.3 m off."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "transcript.md").read_text()
    code = next(
        block
        for block in re.findall(r"```python\n(.*?)```", text, re.S)
        if "TranscriptWriter" in block
    )
    exec(compile(code, "docs/transcript.md", "exec"), {})  # noqa: S102
    result = attack("transcript", method=METHODS, grid_cells=100, max_iterations=2000, starts=5)
    assert result.target == "phone 7"
    scaler = result.header.side_knowledge.scaler
    place_m = scaler.metres(np.array([0.5, -0.3]))
    for name in ("search", "first_layer", "heatmap", "dlg"):
        first = result.found[name][0]
        assert np.linalg.norm(first.xy_m - place_m) < 15, name


def test_there_must_be_something_to_attack(tmp_path):
    with pytest.raises(
        UserError, match="nothing does not exist; give the folder that veilmap train"
    ):
        attack(tmp_path / "nothing")
    with pytest.raises(UserError, match="holds neither a finished run nor a transcript"):
        attack(tmp_path)


def test_settings_and_keywords_do_not_mix(run):
    with pytest.raises(
        UserError, match="only one of settings, keywords, got settings and keywords"
    ):
        attack(run, AttackSettings(), target="0")
    with pytest.raises(UserError, match="unknown setting 'tarket'; did you mean 'target'"):
        attack(run, tarket="0")


def test_the_same_seed_gives_the_same_bits(run):
    one, again = (
        attack(run, method=("dlg", "heatmap"), max_iterations=20, grid_cells=50, finest_m=100.0)
        for _ in range(2)
    )
    for name in ("dlg", "heatmap"):
        for a, b in zip(one.found[name], again.found[name], strict=True):
            assert (a.xy_m == b.xy_m).all()
            assert (a.cloud.weights == b.cloud.weights).all()


def test_training_again_removes_the_attack_on_the_run_before(campus_file, tmp_path):
    measurements = read(campus_file)
    train(measurements, out=tmp_path / "run", **SMALL)
    attack(tmp_path / "run", method=("first_layer",), out=tmp_path / "run" / "attack")
    train(measurements, out=tmp_path / "run", overwrite=True, **SMALL)
    assert not (tmp_path / "run" / "attack" / "results.json").exists()


def test_a_run_from_before_there_were_defences_is_read(run, tmp_path):
    old = tmp_path / "old"
    shutil.copytree(run, old, ignore=shutil.ignore_patterns("attack"))
    record = json.loads((old / "settings.json").read_text())
    del record["protection"]
    (old / "settings.json").write_text(json.dumps(record))
    result = attack(old, method="first_layer")
    assert result.scores == replace_seconds(attack(run, method="first_layer").scores, result.scores)


def test_a_foreign_attack_runs_among_ours(run, tmp_path):
    out, mine = tmp_path / "out", Corner(depth=0.0, knows=True)
    result = attack(run, out=out, method=["first_layer", mine])
    assert list(result.scores) == ["first_layer", "corner:depth=0,knows=True"]
    alone = attack(run, method="first_layer")
    assert result.scores["first_layer"].emd_m == alone.scores["first_layer"].emd_m
    scores = result.scores["corner:depth=0,knows=True"]
    corner_m = [result.area.x_min_m, result.area.y_min_m]
    assert scores.places[0].xy_m == pytest.approx(corner_m)
    assert scores.diverged_share == 0
    assert "what corner:depth=0,knows=True knows" in result.oracle
    content = json.loads((out / "results.json").read_text())
    assert [row["attack"] for row in content["rows"]] == list(result.scores)
    assert content["settings"]["who"]["method"] == list(result.scores)
    assert {line["cosine"] for line in content["history"] if "corner" in line["attack"]} == {None}
    features = json.loads((out / "found.geojson").read_text())["features"]
    assert (
        sum("corner" in each["properties"]["attack"] for each in features) == len(result.norms) + 1
    )
    drawn = attack_pictures(result)
    assert set(drawn) == {"whereabouts.png", "rounds.png", "heatmap-first_layer.png"}


def test_the_path_the_distribution_and_the_oracle_of_a_foreign_attack_are_reported(run, tmp_path):
    result = attack(run, method=[Drift(2), Drift(3)])
    assert "the wind" in result.oracle
    assert {"path.png", "heatmap-drift-steps=2.png", "heatmap-drift-steps=3.png"} < set(
        attack_pictures(result)
    )
    (tmp_path / "heatmap-drift-steps=3.png").touch()
    attack(run, method="first_layer", out=tmp_path)
    assert not (tmp_path / "heatmap-drift-steps=3.png").exists()


@pytest.mark.parametrize("joint", [False, True])
def test_an_attack_gets_a_long_series_in_one_call_if_it_asks_for_that(run, monkeypatch, joint):
    monkeypatch.setitem(UPDATES_AT_ONCE, "cpu", 3)
    monkeypatch.setattr(Corner, "all_at_once", joint, raising=False)
    calls, attacks = [], Corner.attack
    monkeypatch.setattr(
        Corner, "attack", lambda self, g: calls.append(len(g.observations)) or attacks(self, g)
    )
    rounds = len(attack(run, method=[Corner()]).norms)
    assert rounds > 3
    assert calls == ([rounds] if joint else [3] * (rounds // 3) + [rounds % 3] * (rounds % 3 > 0))


class Closed(Corner):
    """Reads no map at all."""

    name = "closed"

    def reads(self, header):
        return False


def test_an_attack_that_cannot_read_the_map_is_left_out(run):
    result = attack(run, method=["first_layer", Closed()])
    assert result.unread == ("closed:depth=10",)
    assert list(result.scores) == ["first_layer"]
    with pytest.raises(
        UserError, match="can read the map network: closed:depth=10; add to --method"
    ):
        attack(run, method=[Closed()])


@pytest.fixture(scope="module")
def run_of_sums(campus_file, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "sums"
    train(read(campus_file), map=Mean(), interval="1w", out=folder)
    return folder


def test_only_an_attack_that_reads_the_map_is_advised(run_of_sums):
    with pytest.raises(
        UserError,
        match=r"map mean: dlg, search, first_layer, heatmap, rows, joint, .*; write an att",
    ):
        attack(run_of_sums, map=Mean())
    with pytest.raises(UserError, match="can read the map mean: dlg; give the object in Python, m"):
        attack(run_of_sums, method="dlg")
    assert attack(run_of_sums, method=Corner()).scores["corner:depth=10"]


def test_a_secure_sum_is_of_weights_alone(run_of_sums):
    with pytest.raises(
        UserError, match="weights alone, got messages of count, sum; leave out --se"
    ):
        attack(run_of_sums, method=Corner(), secure_aggregation=True)


@pytest.fixture(scope="module")
def run_of_squares(campus_file, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "squares"
    train(read(campus_file), interval="1d", out=folder)
    return folder


def test_the_visited_squares_are_attacked_and_nothing_else_reads_them(run_of_squares):
    """By default only what reads a map attacks it; no point is outside the squares found."""
    result = attack(run_of_squares)
    assert list(result.scores) == ["squares", "frequency", "medoid", "posterior", "zone_centre"]
    assert result.unread == ()
    assert result.oracle == attack(run_of_squares, method="squares").oracle
    side_m = result.header.map.grid(result.area).side_m
    for found in result.found["squares"]:
        away_m = cdist(result.truth[found.round].xy_m, found.cloud.xy_m)
        assert away_m.min(axis=1).max() <= side_m / np.sqrt(2)
    assert {len(norms) for norms in result.norms.values()} == {1}
    assert attack(run_of_squares, theory=True).predicted == dict.fromkeys(result.norms)


def test_an_attack_on_updates_names_the_one_that_reads_squares(run_of_squares):
    with pytest.raises(
        UserError,
        match=r"asked for can read the map kriging: dlg; add to --method one of: squares, freq",
    ):
        attack(run_of_squares, method="dlg")


def test_squares_of_a_network_are_nothing_to_report_unless_asked_for(run):
    assert attack(run, max_iterations=5, grid_cells=20, finest_m=200.0).unread == ()
    assert attack(run, method="first_layer,squares").unread == ("squares",)
    with pytest.raises(UserError, match="can read the map network: squares; add to --method one"):
        attack(run, method="squares")


def test_the_sum_of_all_squares_is_attacked_under_secure_aggregation(run_of_squares):
    result = attack(run_of_squares, secure_aggregation=True)
    assert result.target == SUM
    observed = list(Transcript(RunFolder(run_of_squares).transcript))
    for found in result.found["squares"]:
        assert found.n == sum(each.n for each in observed if each.round == found.round)


def test_of_sums_it_can_be_asked_what_they_tell_about_one_user(run_of_squares):
    """The truth and the rounds are the user's, the messages are of all."""
    everyone = list(Transcript(RunFolder(run_of_squares).transcript))
    mine = [each for each in everyone if each.user == "2"]
    result = attack(run_of_squares, method="squares", secure_aggregation=True, target="2")
    alone = attack(run_of_squares, method="squares", target="2")
    assert result.target == "2"
    assert [each.round for each in result.found["squares"]] == [each.round for each in mine]
    for found in result.found["squares"]:
        assert found.n == sum(each.n for each in everyone if each.round == found.round)
        assert np.array_equal(result.truth[found.round].xy_m, alone.truth[found.round].xy_m)


def test_who_knows_the_other_messages_finds_in_sums_what_the_single_ones_tell(run_of_squares):
    sums = attack(run_of_squares, method="differencing", secure_aggregation=True, target="2")
    alone = attack(run_of_squares, method="posterior", target="2")
    assert sums.scores["differencing"].home_error_m == alone.scores["posterior"].home_error_m
    assert "everybody else's messages, for differencing" in sums.oracle
    with pytest.raises(UserError, match="needs to know from whom; name a user with --target"):
        attack(run_of_squares, method="differencing", secure_aggregation=True)


def test_attacks_without_options_of_their_own_have_settings_in_their_text(run_of_squares):
    result = attack(run_of_squares, method="posterior:home_temper=0.5,home_chance=0.4,frequency")
    assert list(result.scores) == ["posterior", "frequency"]
    with pytest.raises(UserError, match="home_temper must be above 0 and at most 1, got 2"):
        attack(run_of_squares, method="posterior:home_temper=2")


def replace_seconds(scores, like):
    return {name: replace(each, seconds=like[name].seconds) for name, each in scores.items()}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"settings.json is not what a run has written \(.* at line 1, column 2\); fetch it"),
        ("{}", "settings.json is not what a run has written: .*"),
        ('{"data": 5}', "settings.json is not what a run has written: .*"),
        ('{"campaign": {}}', "cell is missing; add it"),
    ],
)
def test_a_damaged_record_of_a_run_is_one_line(tmp_path, content, message):
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(UserError, match=message):
        attack(tmp_path)


def test_a_folder_that_another_process_filled_meanwhile_is_refused_when_it_is_held(tmp_path):
    folder = AttackFolder(tmp_path)
    folder.refuse_taken(overwrite=False)
    folder.results.write_text("{}")
    with pytest.raises(UserError, match="holds results already"), folder.held(overwrite=False):
        pytest.fail("the folder was taken")
    with folder.held(overwrite=True), pytest.raises(UserError, match="in use by another"):
        AttackFolder(tmp_path).held(overwrite=True).__enter__()
