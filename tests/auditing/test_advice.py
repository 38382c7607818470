import re
import shlex
import tomllib
from dataclasses import fields, replace

import pytest

from tests.auditing.making import ranked, ranking
from tests.maps.making import Mean
from tests.study.foreign_steps import First
from veilmap.auditing.advice import advice, choose, train_command, train_toml, why_none
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings, Question
from veilmap.cli.app import make_app
from veilmap.cli.file_options import FileOptions
from veilmap.settings import parse, plain
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.study.settings import RunSettings, SettingsFile

# The baseline has 5 dB.
PLAIN = ranked("plain", 5.0, 40.0)
CHEAP = ranked("cheap", 5.2, 260.0, off=10.0)
GOOD = ranked("good", 5.4, 350.0, off=40.0)
DEAR = ranked("dear", 7.0, 900.0, skill_by_place=0.2)
ALL = ranking(PLAIN, CHEAP, GOOD, DEAR)


@pytest.mark.parametrize(
    ("bounds", "name", "words"),
    [
        ({"min_home_error_m": 300.0}, "good", r"300 m in every run\), use good: home within 350"),
        ({"max_rmse_loss_db": 0.3}, "cheap", r"^To meet the bound \(loss of at most 0.3 dB\), use"),
        ({"max_rmse_loss_db": 3.0}, "dear", "dear: home within 900 m"),
        (
            {"max_rmse_loss_db": 3.0, "min_home_error_m": 300.0},
            "good",
            r"^To meet both bounds \(home error of at least 300 m in every run, loss of at most "
            r"3 dB\), use good: home within 350 m",
        ),
        (
            {"min_home_error_m": 1000.0},
            "dear",
            r"^No configuration meets the bound \(home error of at least 1,000 m in every run\)\. "
            r"The nearest is dear: .*, at a cost of 2.00 dB; its smallest home error is 100 m "
            "below the bound",
        ),
        (
            {"max_rmse_loss_db": 0.3, "min_home_error_m": 300.0},
            "good",
            r"^No configuration meets both bounds \(.*\)\. good meets the distance bound: home "
            r".*, at a cost of 0.40 dB\. .*cheap meets the loss bound: home within .*, at a cost "
            "of 0.20 dB; its smallest home error is 50 m below the bound",
        ),
        ({"max_rmse_loss_db": 0.0}, "plain", "plain"),
    ],
)
def test_the_bounds_decide(bounds, name, words):
    choice = choose(ALL, Question(**bounds))
    assert choice.ranked.name == name
    assert re.search(words, choice.words)


def test_what_misses_a_bound_is_not_recommended():
    assert choose(ALL, Question(min_home_error_m=300.0)).is_met
    assert not choose(ALL, Question(min_home_error_m=1000.0)).is_met
    assert not choose(ALL, Question(min_home_error_m=300.0, max_rmse_loss_db=0.3)).is_met


def test_nothing_is_recommended_unasked():
    assert choose(ALL, Question()) is None


def test_a_median_that_owes_itself_to_lucky_runs_is_not_recommended():
    """307 m as the median, but 44 m at worst."""
    lucky = ranked("lucky", 5.1, 307.0, homes_at_worst_m={"0": 44.0})
    choice = choose(ranking(PLAIN, lucky, GOOD), Question(min_home_error_m=300.0))
    assert choice.ranked.name == "good"
    assert "(310 to 390)" in choice.words


def test_a_guess_is_credited_to_no_configuration():
    """A guess is at 74 m: nothing meets 300 m, and of equally private ones the cheapest is best."""
    near = [replace(each, guess_homes_m={"0": 74.0}) for each in (CHEAP, GOOD)]
    choice = choose(ranking(PLAIN, *near), Question(min_home_error_m=300.0))
    assert not choice.is_met
    assert choice.ranked.name == "cheap"
    assert "None can: a guess that sees no message is 74 m from home already." in choice.words
    assert "226 m below the bound" in choice.words
    assert choose(ranking(PLAIN, *near), Question(max_rmse_loss_db=3.0)).ranked.name == "cheap"


def test_users_to_whom_a_guess_is_nearer_than_the_bound_do_not_count():
    """User 1 lives 20 m from the middle: the bound is judged on user 0, and met there."""
    homes_m = {"0": 350.0, "1": 15.0}
    good = replace(GOOD, homes_at_worst_m=homes_m, guess_homes_m={"0": 570.0, "1": 20.0}, targets=2)
    choice = choose(ranking(PLAIN, good), Question(min_home_error_m=300.0))
    assert choice.is_met
    assert choice.ranked.name == "good"
    assert "To 1 user of 2 a guess that sees no message is nearer than the bound" in choice.words
    short = replace(good, homes_at_worst_m={"0": 250.0, "1": 900.0})
    assert not choose(ranking(PLAIN, short), Question(min_home_error_m=300.0)).is_met


READ_WITH = {
    "path": "my data; rm -rf $HOME.csv",
    "columns": plain(Columns(user="the user's", cell_column="c")),
    "reading": plain(Reading(timezone="Europe/Athens", drop_invalid=True, max_accuracy_m=100.0)),
}
HARD = {
    "cell": "x204",
    "interval": "1d",
    "area": (-0.2, 51.4, 0.1, 51.6),
    "label_offset_dbm": -96.5,
    "defended": ("0", "</script>", "../x y"),
}
NETWORK = {
    "map": "network",
    "hidden": (16, 8),
    "activations": ("tanh", "relu"),
    "dropout": (0.1, 0.0),
    "batch_size": "inf",
    "defence": ("farthest:eps_m=50,num=20", "dp:epsilon=100"),
}
KRIGING = {
    "square_m": 47.5,
    "most_squares": 3,
    "kernel": "public",
    "layout": "sparse",
    "bits": 32,
    "defence": ("geoind", "farthest:eps_m=50,num=20"),
}


def cases():
    for name, run in panel(AuditSettings.of(gan=True)).items():
        yield pytest.param(run, {}, id=name)
    for name, given in {"network": NETWORK, "kriging": KRIGING}.items():
        yield pytest.param(RunSettings.of(**HARD, **given), READ_WITH, id=f"hard {name}")


def whole(run, read_with):
    """All tables of a settings file."""
    parts = {part.name: getattr(run, part.name) for part in fields(RunSettings)}
    columns = parse(Columns, read_with.get("columns", {}), "columns")
    reading = parse(Reading, read_with.get("reading", {}), "reading")
    return {**parts, "columns": columns, "reading": reading}


@pytest.mark.parametrize(("run", "read_with"), list(cases()))
def test_the_command_line_is_parsed_back_to_the_same_run(run, read_with):
    words = shlex.split(train_command(run, read_with))
    assert words[:2] == ["veilmap", "train"]
    _, bound, _ = make_app().parse_args(words[1:], exit_on_error=False, print_error=False)
    given = bound.arguments
    source = given.get("source", FileOptions())
    assert {
        **whole(given.get("settings", RunSettings()), {}),
        "columns": source.columns,
        "reading": source.reading,
    } == whole(run, read_with)
    assert given["data"] == read_with.get("path", "DATA")


@pytest.mark.parametrize(("run", "read_with"), list(cases()))
def test_the_settings_file_is_parsed_back_to_the_same_run(run, read_with):
    tables = tomllib.loads(train_toml(run, read_with))
    assert parse(SettingsFile, tables, "file") == SettingsFile(**whole(run, read_with))


def test_settings_of_classes_that_are_not_ours_say_what_they_need():
    """A text alone could not make the steps and the map again."""
    run = RunSettings.of(map=Mean(), defence=(First(2), "dp:epsilon=100"))
    told = advice(choose(ALL, Question(min_home_error_m=300.0)), run, {})
    for name, kind in (("map mean", "Mean of tests.maps"), ("defence first", "First of tests.st")):
        needed = f"The {name} is the class {kind}"
        assert needed in told.words
        assert f"# {needed}" in told.toml
    assert "register the class" in told.words
    assert tomllib.loads(told.toml)["protection"]["defence"] == ["first:num=2", "dp:epsilon=100"]


def test_advice_names_the_configuration():
    choice = choose(ALL, Question(min_home_error_m=300.0))
    told = advice(choice, RunSettings.of(seed=4), {})
    assert told.configuration == "good"
    assert told.command == "veilmap train DATA --seed=4 --out RUN"
    assert told.toml == "[task]\nseed = 4\n"


def test_a_map_no_better_than_a_constant_is_never_recommended():
    """The most private has no map, so a worse one is recommended; with none at all, none is."""
    empty = ranked("empty", 5.1, 900.0, skill_by_place=0.05)
    question = Question(max_rmse_loss_db=0.3)
    assert choose(ranking(PLAIN, CHEAP, empty), question).ranked is CHEAP
    assert list(why_none(ranking(PLAIN, empty), question)) == []
    worthless = ranking(replace(PLAIN, skill_by_place=None), empty)
    assert choose(worthless, question) is None
    (why,) = why_none(worthless, question)
    assert why == (
        "No configuration is recommended: no map that loses at most 0.3 dB is better than a "
        "constant; train with --map kriging, or measure in more places."
    )
    assert list(why_none(worthless, Question())) == []
