import json

from tests.auditing.making import TINY, make_data
from tests.study.foreign_steps import First
from veilmap.auditing.advice import train_command, train_toml
from veilmap.auditing.audit import audit
from veilmap.auditing.folder import AuditFolder
from veilmap.study.settings import RunSettings


def test_a_foreign_step_is_audited_and_its_stored_runs_are_found_again(tmp_path):
    def audited(step):
        given = {**TINY, "seeds": 1, "method": "search", "configurations": ("fedavg", step)}
        return audit(make_data(), out=tmp_path, jobs=1, **given)

    done = audited(First(2))
    assert [result.configuration for result in done.results] == ["fedavg", "fedavg + first:num=2"]
    assert done.results[1].steps[0].step == "first:num=2"
    assert ("u0" in done.results[1].positions.chosen) is True
    again = audited(First(2))
    assert again.results[1].seconds == done.results[1].seconds
    settings = json.loads(AuditFolder(tmp_path).results.read_text())["settings"]
    assert settings["audit"]["configurations"] == ["fedavg", "first:num=2"]
    assert "first:num=2" in AuditFolder(tmp_path).report.read_text()


def test_its_advice_names_it_as_a_package_would():
    run = RunSettings.of(defence=First(2))
    assert "--defence first:num=2" in train_command(run, {})
    assert 'defence = ["first:num=2"]' in train_toml(run, {})
