import json

from tests.auditing.making import TINY, make_data
from tests.study.foreign_attacks import Corner
from veilmap.auditing.audit import audit
from veilmap.auditing.folder import AuditFolder


def test_a_foreign_attack_is_audited_and_its_stored_runs_are_found_again(tmp_path):
    def audited(corner):
        given = {**TINY, "seeds": 1, "configurations": ("fedavg",)}
        return audit(make_data(), out=tmp_path, jobs=1, **given | {"method": ["search", corner]})

    done = audited(Corner(depth=3.0))
    assert [row.attack for row in done.results[0].rows] == ["search", "corner:depth=3"]
    again = audited(Corner(depth=3.0))
    assert again.results[0].seconds == done.results[0].seconds
    other = audited(Corner(depth=4.0))
    assert other.results[0].rows[1].attack == "corner:depth=4"
    settings = json.loads(AuditFolder(tmp_path).results.read_text())["settings"]
    assert settings["audit"]["method"] == ["search", "corner:depth=4"]
    assert "corner:depth=4" in AuditFolder(tmp_path).report.read_text()
    positions = again.results[0].positions
    assert ("corner:depth=3", "u0") in positions.clouds
    assert ("corner:depth=3", "u0") in positions.named_homes
