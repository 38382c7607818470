"""The whole thing as real processes on the loopback address, by the commands that people type."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from tests.conftest import make_measurements
from tests.flower.machines.loopback import ROOT, SITE, Machine, wait
from tests.flower.making import SMALL, largest_difference
from veilmap.attacks.secure_sum import SUM
from veilmap.defences.defence import Defence
from veilmap.federation.server import federate
from veilmap.flower.asking import campaign_for
from veilmap.flower.machines import admission
from veilmap.flower.machines.ports import free_port
from veilmap.local_data import Round
from veilmap.rounds import cut
from veilmap.settings import plain, toml
from veilmap.signal_map.signal_map import SignalMap
from veilmap.study.protection import Protection
from veilmap.study.settings import RunSettings
from veilmap.transcript import Transcript

pytestmark = pytest.mark.machines

DAY_S = 86_400.0
DATA = make_measurements(rows=1250, users=3)  # nine days
AREA = ("-0.12", "51.49", "-0.08", "51.51")
USERS = ("u0", "u1", "u2")
DIVERSE = "diverse:eps_m=50"
MAIN = "import json, sys; from veilmap.cli import main; main(json.loads(sys.argv[1]))"
# In round t: not finite, of a wrong shape, huge.
HOSTILE = """
import numpy as np
from flwr.app import Array, ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from veilmap.flower.messages import request_of
NODE_FILE = "node-file"
app = ClientApp()
@app.train()
def train(message, context):
    request = request_of(message.content)
    bad = [request.weights * np.nan, request.weights[1:], request.weights + np.float32(1e5)]
    arrays = ArrayRecord({"weights": Array(bad[request.t - 1])})
    answer = RecordDict({"arrays": arrays, "metrics": MetricRecord({"num-examples": 30})})
    return Message(answer, reply_to=message)
"""


class Federation:
    """A server and its nodes, each in a folder and a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder, folder / "server"
        self._ports = free_port(), free_port()
        self.machines: dict[str, Machine] = {}
        DATA.write_parquet(folder / "all.parquet")
        (folder / "network.toml").write_text(toml({"model": plain(SMALL)}))

    def serve(self) -> None:
        inside, outside = map(str, self._ports)
        where = ["--port", inside, "--listen", f"127.0.0.1:{outside}"]
        self._start("server", ["flower", "serve", str(self.state), *where])
        self.machines["server"].wait_for("ready: nodes join at")

    def join(self, user: str, name: str, environment: dict[str, str] | None = None) -> None:
        place = self.folder / name
        place.mkdir()
        (place / "node.toml").write_text(
            f'[node]\ndata = "../all.parquet"\nuser = "{user}"\nseed = 0\n'
            f'server = "127.0.0.1:{self._ports[1]}"\ncertificate = "../server/keys/ca.pem"\n'
            "[minimum]\ndefence = []\npoints = 1\n"
        )
        self._start(name, ["flower", "join", str(place / "node.toml")], environment)
        key = place / "node.key.pub"
        wait(key.exists, 60, lambda: self.machines[name].said())
        admission.admit(self.state, key, name)

    def wait_online(self, *names: str) -> None:
        def online() -> bool:
            there = {n.name for n in admission.nodes(self.state) if n.status == "online"}
            return set(names) <= there

        wait(online, 90, lambda: str(admission.nodes(self.state)))

    def run(self, out: str, first_day: int, rounds: int, *more: str) -> "subprocess.Popen[str]":
        options = {
            "--out": str(self.folder / out),
            "--cell": "a",
            "--label-offset": "-96",
            "--interval": "1d",
            "--first": moment(first_day),
            "--rounds": str(rounds),
            "--learning-rate": "0.01",
            "--defence": DIVERSE,
            "--config": str(self.folder / "network.toml"),
        }
        told = [part for pair in options.items() for part in pair]
        words = ["flower", "run", str(self.state), *told, "--area", *AREA, *more]
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, json.dumps(words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def hostile(self) -> dict[str, str]:
        """The environment of a node whose owner changed its app."""
        place = self.folder / "changed"
        place.mkdir()
        (place / "sitecustomize.py").write_text(SITE)
        (place / "small_client_app.py").write_text(HOSTILE)
        return {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), str(ROOT / "src")])}

    def done(self, out: str) -> int:
        """How many rounds of a run are on the disk."""
        files = (self.folder / out).glob("transcript/round-*.safetensors")
        return len({file.name for file in files})

    def history(self, out: str) -> list[dict]:
        return json.loads((self.folder / out / "results.json").read_bytes())["history"]

    def _start(
        self, name: str, words: list[str], environment: dict[str, str] | None = None
    ) -> None:
        log = self.folder / f"{name}.txt"
        self.machines[name] = Machine(MAIN, words, environment or dict(os.environ), log)


@pytest.fixture(scope="module")
def federation(tmp_path_factory):
    made = Federation(tmp_path_factory.mktemp("federation"))
    try:
        made.serve()
        for user in USERS:
            made.join(user, user)
        made.wait_online(*USERS)
        yield made
    finally:
        for machine in made.machines.values():
            machine.end()


def campaign_of(first_day: int, rounds: int):
    """What the options of ``Federation.run`` say."""
    settings = RunSettings.of(
        cell="a",
        area=tuple(map(float, AREA)),
        label_offset_dbm=-96,
        interval="1d",
        learning_rate=0.01,
        hidden=SMALL.hidden,
        activations=SMALL.activations,
        dropout=SMALL.dropout,
    )
    return campaign_for(settings, first=moment(first_day), rounds=rounds)


def moment(day: int) -> str:
    return (DATA.first.replace(hour=0) + timedelta(days=day - 1)).isoformat()


def engine(first_day: int, rounds: int, left_out: tuple[tuple[int, str], ...] = ()):
    """The weights of the engine in one process; ``left_out`` are rounds and users."""
    campaign = campaign_of(first_day, rounds)
    own = [
        Round(t, this.start_s, {u: d for u, d in this.data.items() if (t, u) not in left_out})
        for this in cut(DATA.projected(campaign.projection), DAY_S)
        if 1 <= (t := this.number - first_day + 1) <= rounds
    ]
    steps = Protection((DIVERSE,)).steps
    *_, last = federate(campaign.plan(campaign.training, Defence(steps), 0), own, USERS)
    return last.weights


def weights_in(federation, out):
    return SignalMap.load(federation.folder / out / "model.safetensors").weights


def test_the_weights_are_those_of_one_process_though_the_superlink_dies(federation):
    run = federation.run("plain", 2, 2, "--nodes", "3")
    wait(lambda: federation.done("plain") == 1, 120, lambda: "no first round")
    [superlink] = federation.machines["server"].children("superlink")
    os.kill(superlink, signal.SIGKILL)
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert "round 2: 3 updates" in said
    assert largest_difference(weights_in(federation, "plain"), engine(2, 2)) < 1e-5
    seen = Transcript(federation.folder / "plain" / "transcript").entries()
    assert [entry.user for entry in seen] == [*USERS] * 2


def test_secure_sums_give_the_same_map(federation):
    run = federation.run("sums", 9, 1, "--secure-aggregation")
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert largest_difference(weights_in(federation, "sums"), engine(9, 1)) < 1e-4
    assert federation.history("sums")[0]["users"] == [SUM]
    assert "nor who measured at all" in said


def test_everything_listens_on_the_loopback_address(federation):
    heard = {
        connection.laddr.ip
        for machine in federation.machines.values()
        for process in psutil.Process(machine.pid).children(recursive=True)
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert heard == {"127.0.0.1"}


def test_broken_hostile_and_dying_nodes_do_not_end_a_run(federation):
    """Node h sends nonsense in every round; u2 loses power in the last."""
    federation.join("u0", "h", federation.hostile())
    federation.wait_online(*USERS, "h")
    # Long: a busy machine is no fault. Flower misses the dead node after a minute.
    run = federation.run("faults", 4, 3, "--nodes", "4", "--timeout", "150")
    wait(lambda: federation.done("faults") == 2, 120, lambda: "no second round")
    log = federation.folder / "u2" / "node" / "logs" / "supernode.log"
    received = log.read_text().count("Receiving")
    wait(lambda: log.read_text().count("Receiving") > received, 60, log.read_text)
    federation.machines.pop("u2").lose_power()
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0, said
    one, two, three = federation.history("faults")
    assert one["left_out"] == {"h": "weights that are not finite"}
    assert set(two["left_out"]) == {"h"}
    assert two["left_out"]["h"].startswith("weights of shape")
    assert set(three["left_out"]) == {"h", "u2"}
    assert three["left_out"]["h"].startswith("an update of length")
    assert [each["users"] for each in (one, two, three)] == [[*USERS], [*USERS], ["u0", "u1"]]
    lost = engine(4, 3, left_out=((3, "u2"),))
    assert largest_difference(weights_in(federation, "faults"), lost) < 1e-5
    assert "round 1: nothing taken of h: weights that are not finite" in said


def test_a_server_that_loses_power_goes_on_where_it_was(federation):
    """The command ends with an error; typed again after a restart it loses no finished round."""
    # u2's power failed, and the round would wait for it; h sends nothing of use.
    for name in ("u2", "h"):
        admission.expel(federation.state, name)
    again = ("resumed", 7, 2, "--timeout", "90")
    run = federation.run(*again)
    wait(lambda: federation.done("resumed") == 1, 120, lambda: "no first round")
    federation.machines.pop("server").lose_power()
    run.kill()
    run.communicate()
    federation.serve()
    federation.wait_online("u0", "u1")
    run = federation.run(*again)
    said, _ = run.communicate(timeout=300)
    assert run.returncode == 0, said
    assert "round 1:" not in said
    first, second = federation.history("resumed")
    assert (first["round"], second["round"]) == (1, 2)
    assert {"u0", "u1"} <= set(first["users"])
    assert {"u0", "u1"} <= set(second["users"])
