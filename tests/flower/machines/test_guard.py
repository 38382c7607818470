"""The guard around Flower's own code: these tests fail when an update of flwr goes round it."""

import hashlib
import os
import subprocess
import sys
import types
from importlib import import_module

import pytest
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.cli.build import build_fab_from_files
from flwr.clientapp import ClientApp
from flwr.supercore.constant import TASK_TYPE_TO_COMMAND
from flwr.supercore.fab import Fab
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity

from tests.flower.machines.loopback import LIMIT_S
from veilmap.flower.machines import guard
from veilmap.flower.machines.bundle import ForeignBundleError, build, project, refuse_foreign
from veilmap.flower.machines.guard import CLIENT_COMMAND, SERVER_COMMAND, write_commands

FOREIGN_CODE = b"""
import os
os.environ["VEILMAP_TEST_FOREIGN_CODE_RAN"] = "1"
from flwr.clientapp import ClientApp
app = ClientApp()
"""


@pytest.fixture
def foreign() -> bytes:
    text = project({}).replace("veilmap.flower.client_app:app", "foreign_client:app")
    files = {"pyproject.toml": text.encode(), "foreign_client.py": FOREIGN_CODE}
    return build_fab_from_files(files)[0]


@pytest.fixture
def flower_client(monkeypatch, tmp_path):
    """Flower's own run of a client app, cut off from its net; gives the answer to a bundle."""
    module = import_module(guard.CLIENT_PATH)
    answers = []
    for name in ("install_from_fab", "get_load_client_app_fn"):
        monkeypatch.setattr(module, name, getattr(module, name))  # put back what the guard replaces
    monkeypatch.setenv("FLWR_HOME", str(tmp_path))
    monkeypatch.setenv("VEILMAP_TEST_FOREIGN_CODE_RAN", "0")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("task_id", "run_id", "node_id"):
        monkeypatch.setattr(TaskIdentity, f"_{name}", 1)
    monkeypatch.setattr(module, "event", lambda *_: None)
    monkeypatch.setattr(module, "log", lambda *_, **__: None)
    monkeypatch.setattr(module, "register_signal_handlers", lambda **_: None)
    monkeypatch.setattr(
        module, "HeartbeatSender", lambda _: types.SimpleNamespace(start=lambda: None)
    )
    monkeypatch.setattr(module, "push_message", lambda _, answer, __: answers.append(answer))
    monkeypatch.setattr(module, "flwr_exit", lambda **_: None)

    def run(content: bytes) -> Message:
        given = _given(content)
        monkeypatch.setattr(module, "pull_task_input", lambda _: given)
        module.run_clientapp("127.0.0.1:1", "token", insecure=True)
        return answers.pop()

    yield run
    sys.modules.pop("foreign_client", None)


@pytest.fixture
def our_app(monkeypatch):
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        return Message(RecordDict({"by": ConfigRecord({"by": "veilmap"})}), reply_to=message)

    module = types.ModuleType("veilmap.flower.client_app")
    module.app = app
    monkeypatch.setitem(sys.modules, "veilmap.flower.client_app", module)


def _given(content: bytes):
    message = Message(RecordDict(), 7, "train")
    message.metadata.__dict__["_message_id"] = "1"
    context = Context(1, 7, {}, RecordDict(), {})
    run = Run.create_empty(1)
    run.fab_id, run.fab_version = "veilmap/veilmap-run", "1.0.0"
    return message, context, run, Fab(hashlib.sha256(content).hexdigest(), content, {})


def test_without_the_guard_a_node_runs_foreign_code(flower_client, foreign):
    """Why there is a guard, and the proof that the other tests can fail."""
    flower_client(foreign)
    assert os.environ["VEILMAP_TEST_FOREIGN_CODE_RAN"] == "1"


def test_a_node_answers_a_foreign_bundle_with_an_error(
    flower_client, our_app, foreign, tmp_path, capsys
):
    guard.guard_client(import_module(guard.CLIENT_PATH), refuse_foreign)
    answer = flower_client(foreign)
    assert answer.has_error()
    assert "ForeignBundleError" in answer.error.reason
    assert os.environ["VEILMAP_TEST_FOREIGN_CODE_RAN"] == "0"
    assert "veilmap: refused a foreign bundle: it holds" in capsys.readouterr().out
    assert not any(tmp_path.iterdir())


def test_a_node_takes_the_app_from_the_installed_veilmap(flower_client, our_app, tmp_path):
    guard.guard_client(import_module(guard.CLIENT_PATH), refuse_foreign)
    answer = flower_client(build({"rounds": 1}))
    assert answer.content["by"]["by"] == "veilmap"
    assert not any(tmp_path.iterdir())


def test_even_a_bundle_that_slips_through_gets_our_app(flower_client, our_app, foreign):
    guard.guard_client(import_module(guard.CLIENT_PATH), lambda _: None)
    assert flower_client(foreign).content["by"]["by"] == "veilmap"
    assert os.environ["VEILMAP_TEST_FOREIGN_CODE_RAN"] == "0"


def test_another_kind_of_task_on_a_node_is_answered_with_an_error(flower_client, our_app):
    guard.guard_client(import_module(guard.CLIENT_PATH), guard.refuse_all)
    assert "only client apps run on a node" in flower_client(build({})).error.reason


def test_the_server_unpacks_our_bundle_only(monkeypatch, foreign, tmp_path):
    module = import_module(guard.SERVER_PATH)
    monkeypatch.setattr(module, "install_from_fab", module.install_from_fab)
    monkeypatch.setenv("FLWR_HOME", str(tmp_path))
    guard.guard_server(module, refuse_foreign)
    with pytest.raises(ForeignBundleError):
        module.install_from_fab(foreign, skip_prompt=True)
    assert not any(tmp_path.iterdir())
    folder = module.install_from_fab(build({}), skip_prompt=True)
    assert [path.name for path in folder.iterdir()] == ["pyproject.toml"]


def test_a_flower_without_the_guarded_place_is_not_run(monkeypatch):
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    guard.guard_client(types.ModuleType("moved"), refuse_foreign)
    assert ended[0] == 1


@pytest.mark.parametrize("allowed", [CLIENT_COMMAND, SERVER_COMMAND])
def test_every_command_that_flower_starts_has_a_stand_in(tmp_path, allowed):
    write_commands(tmp_path, allowed)
    assert {path.name for path in tmp_path.iterdir()} == set(TASK_TYPE_TO_COMMAND.values())
    roles = {path.name: path.read_text().split()[-2] for path in tmp_path.iterdir()}
    assert roles.pop(allowed) == allowed
    assert set(roles.values()) == {f"not-{allowed}"}
    assert all(os.access(path, os.X_OK) for path in tmp_path.iterdir())


def test_a_stand_in_on_the_server_refuses_and_says_so(tmp_path):
    write_commands(tmp_path / "with space", SERVER_COMMAND)
    command = [tmp_path / "with space" / "flwr-agentapp", "--token", "x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 1
    assert done.stdout == "veilmap: refused to start another kind of task than a run of veilmap\n"
