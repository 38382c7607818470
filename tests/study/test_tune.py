import tomllib
from dataclasses import dataclass

import pytest

from tests.conftest import make_measurements
from tests.study.foreign_steps import First
from veilmap.errors import UserError
from veilmap.settings import parse
from veilmap.study.settings import RunSettings, SettingsFile
from veilmap.study.tune import tune

SETTINGS = RunSettings.of(map="network", interval="1d", epochs=1, batch_size=200)


def test_a_stopped_search_resumes_where_it_was(small_campus, tmp_path):
    numbers = []
    journal = tmp_path / "journal"

    def note(number, rmse_db, best_db):
        numbers.append(number)

    tune(small_campus, SETTINGS, trials=3, journal=journal, on_trial=note)
    tuned = tune(small_campus, SETTINGS, trials=5, journal=journal, on_trial=note)
    assert numbers == [1, 2, 3, 4, 5]
    assert tuned.trials == 5
    again = tune(small_campus, SETTINGS, trials=5, journal=journal)
    assert again == tuned


def test_a_stopped_search_finds_what_an_undisturbed_one_finds(tmp_path):
    """Also after the first ten trials, from where on the earlier ones decide what is drawn."""
    data = make_measurements(rows=100)
    tune(data, SETTINGS, trials=11, journal=tmp_path / "stopped")
    (tmp_path / ".stopped.123.part").write_bytes(b"what a killed process was writing")
    stopped = tune(data, SETTINGS, trials=13, journal=tmp_path / "stopped")
    assert stopped == tune(data, SETTINGS, trials=13, journal=tmp_path / "undisturbed")
    stopped_file, undisturbed_file = sorted(tmp_path.iterdir())
    assert stopped_file.read_bytes() == undisturbed_file.read_bytes()


def test_a_file_that_is_no_journal_is_one_line(small_campus, tmp_path):
    for text in ("", "[]", '{"op_code": 0}\n{"op_code": 2}\n', '{"schema": 2}'):
        (tmp_path / "journal").write_text(text)
        with pytest.raises(
            UserError, match=r"cannot use the journal .* remove it or choose another"
        ):
            tune(small_campus, SETTINGS, trials=1, journal=tmp_path / "journal")


def test_the_result_is_a_settings_file_for_train(small_campus, tmp_path):
    tuned = tune(small_campus, SETTINGS, trials=3, journal=tmp_path / "journal")
    settings = parse(SettingsFile, tomllib.loads(tuned.as_toml()), "tuned.toml")
    assert settings.model == tuned.settings.model
    assert settings.training == tuned.settings.training
    assert settings.task == SETTINGS.task


def test_trials_of_another_task_are_not_mixed_in(small_campus, tmp_path):
    tune(small_campus, SETTINGS, trials=1, journal=tmp_path / "journal")
    other = RunSettings.of(map="network", interval="1d", epochs=2, batch_size=200)
    with pytest.raises(UserError, match="holds trials of another task"):
        tune(small_campus, other, trials=2, journal=tmp_path / "journal")


def test_trials_of_other_code_are_not_mixed_in(small_campus, tmp_path, monkeypatch):
    tune(small_campus, SETTINGS, trials=1, journal=tmp_path / "journal")
    monkeypatch.setattr("veilmap.study.code_fingerprint.package_fingerprint", lambda: "other")
    with pytest.raises(UserError, match=r"another task \(other data, settings or code\)"):
        tune(small_campus, SETTINGS, trials=2, journal=tmp_path / "journal")


def test_code_that_cannot_be_identified_is_refused(small_campus, tmp_path):
    @dataclass(frozen=True)
    class Inner(First):
        name = "inner"

    settings = RunSettings.of(map="network", interval="1d", defence=[Inner()])
    with pytest.raises(
        UserError, match=r"of fedavg \+ inner:num=3 \+ centre cannot be identified; define"
    ):
        tune(small_campus, settings, trials=1, journal=tmp_path / "journal")


def test_bad_trials_are_stopped_early_and_divergent_ones_too(small_campus, tmp_path):
    tuned = tune(small_campus, SETTINGS, trials=15, journal=tmp_path / "journal")
    assert tuned.pruned > 0
    assert tuned.rmse_db < 10


def test_an_interrupted_trial_does_not_count(small_campus, tmp_path):
    journal = tmp_path / "new folder" / "journal"

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(small_campus, SETTINGS, trials=3, journal=journal, on_trial=interrupt)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veilmap.study.tune.Evaluation.rmse_db", interrupt)
        with pytest.raises(KeyboardInterrupt):
            tune(small_campus, SETTINGS, trials=3, journal=journal)
    further = []
    tuned = tune(
        small_campus,
        SETTINGS,
        trials=3,
        journal=journal,
        on_trial=lambda *trial: further.append(trial),
    )
    assert tuned.trials == 3
    assert len(further) == 2
