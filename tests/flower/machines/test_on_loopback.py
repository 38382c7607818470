"""Server and nodes as real processes: admitted, guarded, killed, and going on."""

import hashlib
import os
import signal
import ssl
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from flwr.cli.build import build_fab_from_files
from flwr.common.serde import fab_to_proto
from flwr.proto.control_pb2 import StartRunRequest
from flwr.supercore.fab import Fab
from flwr.supercore.protobuf.constants import PROTOBUF_MEDIA_TYPE
from flwr.supercore.run import RunStatus

from tests.flower.machines.loopback import (
    JOIN,
    LIMIT_S,
    SERVE,
    Machine,
    commands,
    wait,
    write_apps,
)
from veilmap.errors import UserError
from veilmap.flower.machines import admission, node_key, runs
from veilmap.flower.machines.bundle import project
from veilmap.flower.machines.control import control
from veilmap.flower.machines.ports import free_port
from veilmap.flower.machines.server_folder import ServerFolder

pytestmark = pytest.mark.machines

FOREIGN_SERVER = """
from flwr.app import Message, RecordDict
from flwr.serverapp import ServerApp
app = ServerApp()
@app.main()
def main(grid, context):
    for reply in grid.send_and_receive(
        [Message(RecordDict(), node, "train") for node in grid.get_node_ids()], timeout=300
    ):
        print("ERROR", reply.error.reason if reply.has_error() else None, flush=True)
"""

FOREIGN_CLIENT = """
from pathlib import Path
from flwr.clientapp import ClientApp
Path({marker!r}).touch()
app = ClientApp()
"""


class House(NamedTuple):
    """A server with two admitted nodes."""

    state: Path
    outside: int
    server: Machine
    nodes: dict[str, Machine]
    environment: dict[str, str]


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("house")
    environment = write_apps(folder)
    state, port, outside = folder / "state", free_port(), free_port()
    server = Machine(SERVE, [str(state), port, outside], environment, folder / "server.txt")
    machines = [server]
    try:
        server.wait_for("ready: nodes join at")
        nodes = {}
        for name in ("alice", "bob"):
            place = folder / name
            node_key.obtain(place / "node.key")
            admission.admit(state, place / "node.key.pub", name)
            values = [str(place), str(state / "keys" / "ca.pem"), outside]
            nodes[name] = Machine(JOIN, values, environment, folder / f"{name}.txt")
            machines.append(nodes[name])
        wait(lambda: online(state) == {"alice", "bob"}, lambda: str(admission.nodes(state)))
        yield House(state, outside, server, nodes, environment)
    finally:
        pids = [pid for machine in machines for pid in machine.children("")]
        codes = [machine.end() for machine in reversed(machines)]
    assert codes == [0, 0, 0]
    assert not set(pids) & commands().keys()


def online(state: Path) -> set[str]:
    return {node.name for node in admission.nodes(state) if node.status == "online"}


def finish(house: House, run_id: int) -> tuple[RunStatus, list[str]]:
    lines = list(runs.follow(house.state, run_id))
    return runs.status(house.state, run_id), lines


def submit_foreign(house: House, marker: Path) -> int:
    text = project({}).replace("veilmap.flower.", "foreign_")
    files = {
        "pyproject.toml": text.encode(),
        "foreign_server_app.py": FOREIGN_SERVER.encode(),
        "foreign_client_app.py": FOREIGN_CLIENT.format(marker=str(marker)).encode(),
    }
    content, _ = build_fab_from_files(files)
    fab = Fab(hashlib.sha256(content).hexdigest(), content, {})
    with control(ServerFolder(house.state)) as client:
        return client.StartRun(StartRunRequest(fab=fab_to_proto(fab))).run_id


def test_a_run_survives_the_death_of_the_superlink(house):
    """Killed while both nodes work: their answers arrive at the new one, nothing is asked twice."""
    run_id = runs.submit(house.state, {"nodes": 2, "sleep_s": 4.0})
    log = house.state.parent / "alice" / "logs" / "supernode.log"
    # A node is online when it is let in; its SuperNode, and the log, begin after that.
    wait(log.exists, house.nodes["alice"].said)
    wait(lambda: "Received successfully" in log.read_text(), log.read_text)
    [superlink] = house.server.children("superlink")
    os.kill(superlink, signal.SIGKILL)
    status, lines = finish(house, run_id)
    assert status == RunStatus("finished", "completed", "")
    assert [line for line in lines if "REPLY" in line] == ['REPLY True its "own" file.csv'] * 2
    assert "superlink ended with code -9" in house.server.said()


def test_the_operator_sees_his_nodes_by_their_names(house):
    seen = admission.nodes(house.state)
    assert [(node.name, node.status) for node in seen] == [("alice", "online"), ("bob", "online")]
    assert admission.read_names(house.state) == {node.node_id: node.name for node in seen}


def test_a_key_and_a_name_are_admitted_once(house):
    key = house.state.parent / "bob" / "node.key.pub"
    with pytest.raises(UserError, match=r"already admitted as 'bob'"):
        admission.admit(house.state, key, "carol")
    with pytest.raises(UserError, match=r"a node is already called 'bob'"):
        admission.admit(house.state, key, "bob")
    with pytest.raises(UserError, match=r"1 to 64 letters"):
        admission.admit(house.state, key, "no/name")


def test_a_node_waits_until_it_is_admitted_and_goes_when_it_is_expelled(house, tmp_path):
    values = [str(tmp_path), str(house.state / "keys" / "ca.pem"), house.outside]
    carol = Machine(JOIN, values, house.environment, tmp_path / "carol.txt")
    try:
        carol.wait_for("does not know this node's key yet")
        assert carol.children("supernode") == []
        admission.admit(house.state, tmp_path / "node.key.pub", "carol")
        carol.wait_for("joined localhost")
        admission.expel(house.state, "carol")
        assert "carol" not in admission.read_names(house.state).values()
        with pytest.raises(UserError, match="was expelled"):
            admission.admit(house.state, tmp_path / "node.key.pub", "carol")
    finally:
        assert carol.end() == 0
    with pytest.raises(UserError, match="no node is called 'carol'"):
        admission.expel(house.state, "carol")


def test_from_outside_only_nodes_are_heard(house):
    trust = ssl.create_default_context(cafile=house.state / "keys" / "ca.pem")
    door = f"https://localhost:{house.outside}"
    with httpx.Client(verify=trust, trust_env=False, timeout=LIMIT_S) as outsider:
        assert outsider.post(f"{door}/v1/control/list-runs").status_code == 404
        assert outsider.post(f"{door}/v1/fleet/register-node").status_code == 404
        unsigned = outsider.post(
            f"{door}/v1/fleet/pull-messages", headers={"content-type": PROTOBUF_MEDIA_TYPE}
        )
        assert unsigned.status_code == 401


def test_neither_server_nor_nodes_run_foreign_code(house, tmp_path):
    """First a run by somebody on the server's machine; then a server that sends it on."""
    marker = tmp_path / "ran"
    status, lines = finish(house, submit_foreign(house, marker))
    assert status.sub_status == "failed"
    assert any("refused a foreign bundle: it holds" in line for line in lines)
    # A server of the attacker: it runs whatever it likes.
    command = house.state / "commands" / "flwr-serverapp"
    own = command.read_text()
    command.write_text(own.split("exec ")[0] + f"exec {own.split()[2]} -c '{UNGUARDED}' \"$@\"\n")
    try:
        status, lines = finish(house, submit_foreign(house, marker))
    finally:
        command.write_text(own)
    assert status.sub_status == "completed"
    refused = [line for line in lines if line.startswith("ERROR") and "ForeignBundleError" in line]
    assert len(refused) == 2
    for node in house.nodes.values():
        assert "refused a foreign bundle: it holds" in node.said()
    assert not marker.exists()


UNGUARDED = "from flwr.superlink.cli import flwr_serverapp as run; run()"


def test_a_run_that_is_stopped_ends(house):
    run_id = runs.submit(house.state, {"nodes": 99, "sleep_s": 0.0})
    runs.stop(house.state, run_id)
    status, _ = finish(house, run_id)
    assert (status.status, status.sub_status) == ("finished", "stopped")


def test_two_servers_do_not_share_a_folder(house, tmp_path):
    values = [str(house.state), free_port(), free_port()]
    second = Machine(SERVE, values, house.environment, tmp_path / "second.txt")
    second.wait_for("in use by another veilmap flower serve")
    assert second.end() != 0
