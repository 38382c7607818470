"""A server and nodes as processes on the loopback address, with small apps in place of ours."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[3]
LIMIT_S = 300.0  # only what hangs takes as long, however busy the machine is

SERVE = """
import json, sys
from pathlib import Path
from veilmap.flower.machines.ports import Address
from veilmap.flower.machines.server import serve
folder, port, listen = json.loads(sys.argv[1])
say = lambda line: print(line, flush=True)
serve(Path(folder), say, port=port, listen=Address("127.0.0.1", listen))
"""

JOIN = """
import json, sys
from pathlib import Path
from veilmap.flower.machines.node import join
from veilmap.flower.node_file import NodeSettings
folder, ca, port = json.loads(sys.argv[1])
own = NodeSettings(Path("none.csv"), server=f"localhost:{port}", certificate=Path(ca),
                   key=Path(folder) / "node.key", folder=Path(folder))
join(own, {"data": 'its "own" file.csv'}, lambda line: print(line, flush=True))
"""

# Imported by every Python of the test before anything else: our two apps are these small ones.
SITE = """
import importlib.util, pathlib, sys
class Small:
    def find_spec(self, name, path=None, target=None):
        if name in ("veilmap.flower.client_app", "veilmap.flower.server_app"):
            place = pathlib.Path(__file__).with_name("small_" + name.rpartition(".")[2] + ".py")
            return importlib.util.spec_from_file_location(name, place)
sys.meta_path.insert(0, Small())
"""

CLIENT_APP = """
import time
from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp
app = ClientApp()
@app.train()
def train(message, context):
    time.sleep(context.run_config["sleep_s"])
    seen = ConfigRecord({"data": context.node_config["data"]})
    answer = RecordDict({"seen": seen, "arrays": message.content["arrays"]})
    return Message(answer, reply_to=message)
"""

SERVER_APP = """
import time
import numpy as np
from flwr.app import ArrayRecord, Message, RecordDict
from flwr.serverapp import ServerApp
app = ServerApp()
@app.main()
def main(grid, context):
    while len(nodes := sorted(grid.get_node_ids())) < context.run_config["nodes"]:
        time.sleep(0.2)
    arrays = ArrayRecord([np.arange(200_000, dtype=np.float32)])
    ask = [Message(RecordDict({"arrays": arrays}), node, "train") for node in nodes]
    print("SENT", flush=True)
    for reply in grid.send_and_receive(ask, timeout=300):
        if reply.has_error():
            print("ERROR", reply.error.reason, flush=True)
        else:
            same = (reply.content["arrays"].to_numpy_ndarrays()[0] == np.arange(200_000)).all()
            print("REPLY", same, reply.content["seen"]["data"], flush=True)
"""


def write_apps(folder: Path) -> dict[str, str]:
    """Write the small apps; gives the environment in which they stand for ours."""
    (folder / "sitecustomize.py").write_text(SITE)
    (folder / "small_client_app.py").write_text(CLIENT_APP)
    (folder / "small_server_app.py").write_text(SERVER_APP)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src")])}


class Machine:
    """A process that says one line per event."""

    def __init__(self, code: str, values: list[object], environment: dict[str, str], log: Path):
        self._log = log
        with log.open("w") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, json.dumps(values)],
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def said(self) -> str:
        return self._log.read_text()

    def wait_for(self, text: str) -> None:
        wait(lambda: text in self.said(), lambda: f"{text!r} not in {self.said()}")

    def children(self, name: str) -> list[int]:
        """The numbers of the processes that it started under this name."""
        start = f"veilmap.flower.machines.child\0{self._process.pid}\0{name}"
        return [pid for pid, command in commands().items() if start in command]

    def end(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(LIMIT_S)

    def lose_power(self) -> None:
        """It and all that it started end at once, without a word."""
        doomed = [psutil.Process(self.pid), *psutil.Process(self.pid).children(recursive=True)]
        for process in doomed:
            process.kill()
        self._process.wait(LIMIT_S)


def commands() -> dict[int, str]:
    """The command lines of all processes."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                found[int(entry.name)] = (entry / "cmdline").read_text()
            except OSError:
                continue
    return found


def wait(condition: Callable[[], bool], complaint: Callable[[], str]) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, complaint()
        time.sleep(0.1)
