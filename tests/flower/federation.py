"""A server and its nodes as real processes on the loopback address, by the commands people type."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from tests.conftest import make_measurements
from tests.flower.machines.loopback import ROOT, SITE, Machine, wait
from tests.flower.making import SMALL
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
    weights = request.state["weights"]
    bad = [weights * np.nan, weights[1:], weights + np.float32(1e5)]
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
        wait(key.exists, lambda: self.machines[name].said())
        admission.admit(self.state, key, name)

    def wait_online(self, *names: str) -> None:
        def online() -> bool:
            there = {n.name for n in admission.nodes(self.state) if n.status == "online"}
            return set(names) <= there

        wait(online, lambda: str(admission.nodes(self.state)))

    def run(
        self, out: str, first_day: int, rounds: int, *more: str, kind: str = "network"
    ) -> "subprocess.Popen[str]":
        options = {
            "--out": str(self.folder / out),
            "--cell": "a",
            "--label-offset": "-96",
            "--interval": "1d",
            "--first": moment(first_day),
            "--rounds": str(rounds),
            "--defence": DIVERSE,
            "--map": kind,
        }
        if kind == "network":
            options |= {
                "--learning-rate": "0.01",
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


@contextmanager
def running(folder: Path) -> Iterator[Federation]:
    """A server with the nodes of all users, online."""
    made = Federation(folder)
    try:
        made.serve()
        for user in USERS:
            made.join(user, user)
        made.wait_online(*USERS)
        yield made
    finally:
        for machine in made.machines.values():
            machine.end()


def campaign_of(first_day: int, rounds: int, kind: str = "network"):
    """What the options of ``Federation.run`` say."""
    settings = RunSettings.of(
        map=kind,
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
    return in_one_process(first_day, rounds, left_out).weights


def in_one_process(first_day, rounds, left_out=(), kind="network"):
    """The last round of the engine."""
    campaign = campaign_of(first_day, rounds, kind)
    own = [
        Round(t, this.start_s, {u: d for u, d in this.data.items() if (t, u) not in left_out})
        for this in cut(DATA.projected(campaign.projection), DAY_S)
        if 1 <= (t := this.number - first_day + 1) <= rounds
    ]
    steps = Protection((DIVERSE,)).steps
    *_, last = federate(campaign.plan(campaign.training, Defence(steps), 0), own, USERS)
    return last


def map_in(federation, out):
    return SignalMap.load(federation.folder / out / "model.safetensors")


def weights_in(federation, out):
    return map_in(federation, out).weights
