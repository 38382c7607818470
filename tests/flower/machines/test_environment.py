import inspect
import shutil
import sys
from pathlib import Path

import pytest
from flwr.common import constant as common
from flwr.supercore import constant, telemetry

from veilmap.flower.machines.environment import flower_environment


@pytest.fixture
def made(tmp_path):
    return flower_environment(
        tmp_path / "home", tmp_path / "commands", {"HOME": "/h", "PATH": "/p"}
    )


def test_telemetry_update_check_and_installations_are_off(made):
    assert made[constant.FLWR_DISABLE_UPDATE_CHECK] == "1"
    assert made[common.FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION] == "1"
    assert made["FLWR_TELEMETRY_ENABLED"] == "0"
    assert 'os.getenv("FLWR_TELEMETRY_ENABLED"' in inspect.getsource(telemetry)


def test_flower_lives_in_our_folder(made, tmp_path):
    assert made["FLWR_HOME"] == str(tmp_path / "home")
    assert made["HOME"] == "/h"


def test_flowers_own_commands_are_not_found(made):
    """The guard's stand-ins come first; without them there must be nothing."""
    assert (Path(sys.executable).parent / "flwr-clientapp").exists()
    assert shutil.which("flwr-clientapp", path=made["PATH"]) is None


def test_our_commands_come_first(made, tmp_path):
    (tmp_path / "commands").mkdir()
    for name in ("flwr-clientapp", "sh"):
        (tmp_path / "commands" / name).touch(0o700)
        assert shutil.which(name, path=made["PATH"]) == str(tmp_path / "commands" / name)


def test_inherited_settings_of_flower_are_dropped(tmp_path):
    inherited = {common.FLWR_INTERNAL_GRPC_CONTROL_API: "1", "FLWR_OIDC_ENABLED": "1"}
    made = flower_environment(tmp_path, tmp_path, inherited)
    assert not inherited.keys() & made.keys()


@pytest.mark.parametrize(("inherited", "threads"), [({}, "1"), ({"OMP_NUM_THREADS": "4"}, "4")])
def test_one_thread_unless_said_otherwise(tmp_path, inherited, threads):
    assert flower_environment(tmp_path, tmp_path, inherited)["OMP_NUM_THREADS"] == threads


def test_a_proxy_does_not_get_what_stays_on_the_machine(tmp_path):
    made = flower_environment(tmp_path, tmp_path, {"HTTPS_PROXY": "p", "NO_PROXY": "a.example"})
    assert made["NO_PROXY"].split(",") == ["a.example", "localhost", "127.0.0.1", "::1"]
    assert made["HTTPS_PROXY"] == "p"
