import json

import pytest

import veilmap
from veilmap.errors import UserError
from veilmap.study.compare import compare
from veilmap.study.comparison import Differing, Lonely, compare_results


def row(seed=0, configuration="fedavg", attack="search", target="0", **figures):
    case = {"configuration": configuration, "attack": attack, "target": target}
    return {**case, "seed": seed, **figures}


def content(*rows, **settings):
    return {"schema": 1, "settings": settings, "rows": list(rows), "history": []}


def figure(found, name):
    (matched,) = found.rows
    return matched.figures[name]


def test_settings_that_differ_or_are_missing_are_named_with_dots():
    a = content(training={"epochs": 5, "batch_size": 20}, task={"cell": "a"})
    b = content(training={"epochs": 1, "batch_size": 20}, protection={"defence": ["centre"]})
    assert compare_results(a, b).settings == (
        Differing("training.epochs", 5, 1),
        Differing("task.cell", "a", None),
        Differing("protection.defence", None, ["centre"]),
    )


def test_versions_and_data_are_distinguished_from_settings():
    a = content(versions={"torch": "2.11"}, data={"fingerprint": "x", "source": "a.csv"})
    b = content(versions={"torch": "2.13"}, data={"fingerprint": "y", "source": "a.csv"})
    found = compare_results(a, b)
    assert found.versions == (Differing("versions.torch", "2.11", "2.13"),)
    assert (found.settings, found.same_data) == ((), False)
    assert compare_results(a, a).same_data is True
    assert compare_results(a, content()).same_data is None


def test_seeds_are_paired_by_hand():
    """Differences 1, 2, 3 of the seeds 0 to 2: mean 2 ± 2.484138; seed 9 has no partner."""
    a = content(*(row(seed, rmse_db=value) for seed, value in ((0, 5.0), (1, 6.0), (2, 4.0))))
    # In another order, so that only pairing by seed gives these differences.
    theirs = ((2, 7.0), (0, 6.0), (9, 100.0), (1, 8.0))
    found = compare_results(a, content(*(row(seed, rmse_db=value) for seed, value in theirs)))
    paired = figure(found, "rmse_db")
    assert (paired.a, paired.b, paired.difference, paired.pairs) == (5.0, 7.0, 2.0, 3)
    assert (paired.interval.low, paired.interval.high) == pytest.approx((-0.484138, 4.484138))
    assert found.only == (Lonely("B", "fedavg", "search", "0", (9,)),)


def test_one_seed_has_a_difference_and_no_interval():
    paired = figure(compare_results(content(row(rmse_db=5)), content(row(rmse_db=7))), "rmse_db")
    assert (paired.difference, paired.interval, paired.pairs) == (2.0, None, 1)


def test_two_single_runs_are_a_pair_whatever_their_seeds():
    found = compare_results(content(row(0, rmse_db=5.0)), content(row(3, rmse_db=7.0)))
    assert figure(found, "rmse_db").difference == 2.0
    assert found.only == ()


def test_several_seeds_of_which_none_is_common_are_no_pair():
    a, b = (content(*(row(seed, rmse_db=1.0) for seed in seeds)) for seeds in ((0, 1), (2, 3)))
    found = compare_results(a, b)
    assert found.rows == ()
    assert [(each.side, each.seeds) for each in found.only] == [("A", (0, 1)), ("B", (2, 3))]


def test_one_configuration_on_each_side_is_matched_by_attack_and_target():
    a = content(row(emd_m=1.0), row(attack="dlg", emd_m=2.0))
    b = content(*(row(configuration="fedsgd", attack=name, emd_m=4.0) for name in ("dlg", "walk")))
    found = compare_results(a, b)
    (matched,) = found.rows
    assert (matched.configuration_a, matched.configuration_b) == ("fedavg", "fedsgd")
    assert (matched.attack, matched.figures["emd_m"].difference) == ("dlg", 2.0)
    assert [(each.side, each.attack) for each in found.only] == [("A", "search"), ("B", "walk")]


def test_of_several_configurations_only_the_same_are_matched():
    a = content(row(emd_m=1.0), row(configuration="fedsgd", emd_m=2.0))
    found = compare_results(a, content(row(configuration="fedsgd", emd_m=5.0)))
    assert [(each.configuration_a, each.figures["emd_m"].difference) for each in found.rows] == [
        ("fedsgd", 3.0)
    ]
    assert [(each.side, each.configuration) for each in found.only] == [("A", "fedavg")]


def test_targets_are_distinguished():
    a = content(row(target="0", emd_m=1.0), row(target="1", emd_m=2.0))
    b = content(row(target="1", emd_m=2.5), row(target="0", emd_m=3.0))
    found = compare_results(a, b)
    differences = {each.target: each.figures["emd_m"].difference for each in found.rows}
    assert differences == {"0": 2.0, "1": 0.5}


def test_a_figure_that_is_not_defined_makes_no_pair():
    a = content(row(0, home_error_m=None), row(1, home_error_m=10.0))
    b = content(row(0, home_error_m=500.0), row(1, home_error_m=30.0))
    paired = figure(compare_results(a, b), "home_error_m")
    assert (paired.a, paired.b, paired.difference, paired.pairs) == (10.0, 30.0, 20.0, 1)
    never = compare_results(content(row(home_error_m=None)), content(row(home_error_m=5.0)))
    paired = figure(never, "home_error_m")
    assert (paired.a, paired.b, paired.difference, paired.pairs) == (None, 5.0, None, 0)


def test_only_numbers_are_figures():
    both = content(row(emd_m=1.0, home_by="hours", work_error_m=None, inside=True))
    assert compare_results(both, both).figures == ("emd_m", "work_error_m")


def written(folder, text):
    folder.mkdir()
    text = text if isinstance(text, str) else json.dumps(text)
    (folder / "results.json").write_text(text)
    return folder


def test_folders_and_files_are_read(tmp_path):
    a = written(tmp_path / "a", content(row(rmse_db=5.0)))
    b = written(tmp_path / "b", content(row(rmse_db=7.0)))
    assert veilmap.compare is compare
    assert figure(veilmap.compare(a, str(b / "results.json")), "rmse_db").difference == 2.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": 1, "se', "is not valid JSON"),
        ('{"schema": NaN}', "NaN is not a JSON number"),
        ('{"rows": [1e999]}', "1e999 is too large for a number"),
        ('{"rows": [%s]}' % ("1" * 400), "it has a number of 400 digits"),
        ("[]", "must be of schema 1, got None"),
        ({"schema": 2}, "must be of schema 1, got 2"),
        ({"schema": 1, "settings": {}}, "must have settings, and rows with configuration"),
        (content({"seed": 0}), "must have settings, and rows with configuration"),
        (content({**row(), "seed": "0"}), "must have settings, and rows with configuration"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, text, message):
    good = written(tmp_path / "good", content(row(rmse_db=5.0)))
    bad = written(tmp_path / "bad", text)
    with pytest.raises(UserError, match=f"bad/results.json.*{message}"):
        compare(good, bad)


def test_what_is_not_there_and_what_is_the_same_is_refused(tmp_path):
    good = written(tmp_path / "good", content(row(rmse_db=5.0)))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"empty has no results\.json; give a folder that train"):
        compare(good, tmp_path / "empty")
    with pytest.raises(UserError, match=r"there is no file or folder .*nowhere"):
        compare(tmp_path / "nowhere", good)
    with pytest.raises(UserError, match="are the same results"):
        compare(good, good / "results.json")
