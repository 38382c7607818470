import json

from tests.study.foreign_attacks import install
from veilmap import methods
from veilmap.cli.app import COMMANDS


def veilmap(capsys, *arguments):
    from veilmap.cli.app import run

    run(list(arguments))
    return capsys.readouterr().out


def test_all_of_ours_are_listed_with_what_they_do(capsys):
    lines = veilmap(capsys, "methods").splitlines()
    assert lines[0] == "Map families:"
    assert " ".join(lines[1].split()).startswith("network Algorithm 1 over a dense network")
    (farthest,) = (line for line in lines if line.startswith("  farthest "))
    assert "Keep num points of the clusters farthest from" in farthest
    assert farthest.endswith("[eps_m=50.0, num=20]")
    assert {"map", "defence", "attack", "feature"} == {each.kind for each in methods()}
    assert all(each.summary and each.package is None for each in methods())


def test_those_of_a_package_are_listed_with_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    here = "tests.study.foreign_steps"
    install(tmp_path, "veilmap.defences", first=f"{here}:First", gone=f"{here}:Gone")
    lines = veilmap(capsys, "methods").splitlines()
    (first,) = (" ".join(line.split()) for line in lines if line.startswith("  first "))
    assert first == "first Keep the first points of the round. [num=3] (from strange)"
    (gone,) = (line for line in lines if line.startswith("  gone "))
    assert "cannot import tests.study.foreign_steps:Gone" in gone
    listed = json.loads(veilmap(capsys, "methods", "--json"))
    (first,) = (each for each in listed if each["name"] == "first")
    assert first == {
        "kind": "defence", "name": "first", "summary": "Keep the first points of the round.",
        "settings": {"num": 3}, "package": "strange",
    }  # fmt: skip


def test_the_command_is_among_the_others():
    assert COMMANDS["methods"].startswith("List all map families, defences, attacks and feat")
