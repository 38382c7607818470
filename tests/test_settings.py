import tomllib
from dataclasses import fields
from typing import get_type_hints

import pytest

from veilmap.errors import UserError
from veilmap.settings import load_json, load_toml, parse, plain, toml
from veilmap.study.settings import RunSettings, SettingsFile


def test_keywords_find_their_table():
    settings = RunSettings.of(cell="x204", epochs=1, batch_size="inf", hidden=[8], seed=3,
                              activations=["tanh"], dropout=[0.1])  # fmt: skip
    assert settings.task.cell == "x204"
    assert settings.training.name == "fedsgd"
    assert settings.model.hidden == (8,)


def test_a_cell_may_be_written_as_a_number():
    assert RunSettings.of(cell=60561).task.cell == "60561"


def test_what_is_written_as_toml_is_read_back_the_same():
    settings = RunSettings.of(cell='strange "name" \\ ü', label_offset_dbm=-96.5)
    assert parse(RunSettings, tomllib.loads(toml(plain(settings))), "x") == settings


def test_all_errors_of_a_file_come_at_once():
    values = {"training": {"epochs": 0, "fraction": 2}, "task": {"scaler": "no"},
              "reading": {"zone": "UTC"}}  # fmt: skip
    with pytest.raises(UserError) as caught:
        parse(SettingsFile, values, "my.toml")
    message = str(caught.value)
    assert message.startswith("my.toml: ")
    assert "epochs must be from 1 to 100,000, got 0" in message
    assert "fraction must be above 0 and at most 1, got 2" in message
    assert "task.scaler" in message
    assert "unknown setting 'reading.zone'" in message


def test_no_two_settings_share_a_name():
    """On the command line the tables are one list of options."""
    parts = get_type_hints(SettingsFile).values()
    names = [field.name for part in parts for field in fields(part)]
    assert len(names) == len(set(names))


def test_an_unknown_setting_gets_a_suggestion():
    with pytest.raises(
        UserError, match=r"unknown setting 'training.epoch'; did you mean 'training.e"
    ):
        parse(SettingsFile, {"training": {"epoch": 3}}, "my.toml")
    with pytest.raises(UserError, match="unknown setting 'epoch'; did you mean 'epochs'"):
        RunSettings.of(epoch=3)


def test_a_file_that_is_no_toml(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text("epochs = = 3")
    with pytest.raises(UserError, match=r"my.toml is not TOML"):
        load_toml(path)
    with pytest.raises(UserError, match=r"cannot read .*nothing.toml"):
        load_toml(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"interval": "soon"}, "cannot read the interval 'soon'"),
        ({"area": [2, 0, 1, 1]}, "west south east north"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"label_offset_dbm": float("inf")}, "label_offset_dbm must be a finite number"),
    ],
)
def test_wrong_values_are_refused(keywords, message):
    with pytest.raises(UserError, match=message):
        RunSettings.of(**keywords)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = " + b"[" * 3000, "x.toml is not TOML: maximum recursion depth.*; fix it there"),
        (b"a = " + b"1" * 5000, "x.toml is not TOML: Exceeds the limit.*; fix it there"),
        (b"a = 1\nb = \xff", "x.toml is not TOML: it is not UTF-8 .byte 10, line 2.; convert it"),
    ],
    ids=["deep", "long", "bytes"],
)
def test_toml_that_no_library_reads_is_one_line(tmp_path, content, message):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        load_toml(path)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("[" * 200_000, "maximum recursion depth"),
        ("1" * 5000, "Exceeds the limit"),
        (b"\xff", "not UTF-8 at byte 0, line 1"),
        ("[1]", r"it must be an object, got \[1\]"),
        ('{"a":\n 1', r"Expecting ',' delimiter at line 2, column 3"),
    ],
)
def test_json_that_is_no_object_is_one_line(content, why):
    with pytest.raises(UserError, match=rf"^x is no record \({why}.*\); restore it$"):
        load_json(content, "x is no record", "restore it")


def test_a_file_that_is_wrong_throughout_is_reported_by_its_first_faults():
    with pytest.raises(UserError, match=r"and 32 more$") as caught:
        parse(RunSettings, {"x" * 9000: 0, **{f"x{k}": 0 for k in range(39)}}, "settings")
    assert len(str(caught.value)) < 1500
