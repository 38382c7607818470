import pytest

from veilmap.auditing.settings import AuditFile, AuditSettings, Question
from veilmap.cli.config import flat_settings
from veilmap.errors import RenamedWarning, UserError
from veilmap.settings import parse, plain
from veilmap.study.settings import RunSettings


def test_the_base_stands_under_what_is_given():
    settings = AuditSettings.of(interval="1d", epochs=2)
    assert settings.task.interval == "1d"
    assert settings.task.label_offset_dbm == "none"
    assert (settings.training.epochs, settings.training.learning_rate) == (2, 2e-4)
    assert AuditSettings.of(label_offset_dbm="mean").task.label_offset_dbm == "mean"


def test_a_run_of_an_audit_is_a_run_like_any_other():
    assert AuditSettings() == AuditSettings.of()
    assert AuditSettings().run == RunSettings.of(
        map="network", label_offset_dbm="none", split="random", learning_rate=2e-4
    )


def test_what_is_written_is_read_back():
    settings = AuditSettings.of(seeds=5, target=["0"], max_rmse_loss_db=0.3, tower=(51.5, -0.1))
    assert parse(AuditSettings, plain(settings), "file") == settings


def test_a_settings_file_of_an_audit_may_hold_the_tables_of_a_run():
    tables = {"audit": {"seeds": 2}, "task": {"cell": 5}, "dlg": {"starts": 2}, "reading": {}}
    assert parse(AuditFile, tables, "audit.toml").audit.seeds == 2


def test_seeds_follow_the_seed_of_the_task():
    assert AuditSettings.of(seed=7, seeds=3).seeds == (7, 8, 9)


def test_a_user_may_be_one_text_or_a_number():
    assert AuditSettings.of(target="a").audit.target == ("a",)
    assert AuditSettings.of(target=4).audit.target == ("4",)


def test_old_names_in_a_file_are_read_with_a_warning(tmp_path):
    file = tmp_path / "old.toml"
    file.write_text("[heatmap]\ncells = 7\n[audit]\nmethod = 'neurons'\n")
    with pytest.warns(RenamedWarning) as said:
        flat = flat_settings(file)
    assert flat["grid-cells"] == 7
    assert {str(each.message) for each in said} == {
        "the setting cells is deprecated; use grid_cells",
        "the method neurons is deprecated; use first_layer",
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"targets": 0}, "targets must be at least 1, got 0"),
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"method": ()}, "method is empty"),
        ({"method": ("searhc",)}, "unknown attack 'searhc'"),
        ({"max_rmse_loss_db": -1.0}, "max_rmse_loss_db must be a number of at least 0, got -1.0"),
        ({"min_home_error_m": float("nan")}, "min_home_error_m must be"),
        ({"target": ("a", "a")}, "target names a user twice; name each once"),
        ({"target": ("a",), "targets": 2}, "give target or targets, not both"),
        ({"gan": True, "configurations": ("fedavg",)}, "gan adds to the panel"),
        ({"tower": (100.0, 0.0)}, r"tower must be latitude and longitude .* got \(100.0, 0.0\)"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, message):
    with pytest.raises(UserError, match=message):
        Question(**given)
