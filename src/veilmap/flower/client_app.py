"""The Flower app of a node on a machine: it answers from its own file."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flwr.app import Context

from veilmap.flower.exchange import Update
from veilmap.flower.ledger import Ledger
from veilmap.flower.machines.private_files import alone
from veilmap.flower.machines.supervision import REPORT_MARK
from veilmap.flower.minimum import Minimum
from veilmap.flower.node import Request, respond, steps_for
from veilmap.flower.node_app import node_app
from veilmap.flower.node_file import NodeFile, load_node_file
from veilmap.flower.own_data import own_rounds, the_user
from veilmap.flower.refusal import RefusalError
from veilmap.flower.stage_file import StageFile
from veilmap.sources.reader import read
from veilmap.wording import counted

NODE_FILE = "node-file"


@dataclass(frozen=True)
class FileNode:
    """A node whose settings, measurements and ledger are files, read again for each message.

    Flower may handle several messages at once, each in its own process. They take turns: two that
    read the same ledger would both answer.
    """

    settings: NodeFile

    @property
    def minimum(self) -> Minimum:
        return self.settings.minimum

    def consent(self, request: Request) -> None:
        """Raise ``RefusalError`` if the node will not answer, whatever its data."""
        with _telling(request), alone(self.settings.ledger):
            steps_for(request, self.minimum, self._opened(), time.time())

    def answer(self, request: Request) -> Update | None:
        """The update to send; the ledger is on the disk before the update is sent."""
        with _telling(request):
            own = self.settings.node
            data = read(own.data, self.settings.columns, self.settings.reading)
            user = the_user(data, own.user, own.data)
            rounds = own_rounds(data, user, request.campaign)
            with alone(self.settings.ledger):
                ledger = self._opened()
                sent, after = respond(request, self.minimum, ledger, rounds, user, time.time())
                after.save(self.settings.ledger)
        points = counted(sent.n, "point") if sent else ""
        report(request, f"an update of {points}" if sent else "too few points, nothing sent")
        return sent

    @contextmanager
    def stage_storage(self, context: Context) -> Iterator[StageFile]:
        """The node's own file; Flower would store it only after the answer is sent."""
        file = self.settings.node.folder / "secure.json"
        with alone(file):
            yield StageFile(file)

    def _opened(self) -> Ledger:
        return Ledger.open(self.settings.ledger, self.settings.node.seed)


@contextmanager
def _telling(request: Request) -> Iterator[None]:
    try:
        yield
    except RefusalError as why:
        report(request, f"refused: {why}")
        raise


def report(request: Request, what: str) -> None:
    """Print one line on the terminal where the node was started."""
    span = (request.campaign.start_s(t) for t in (request.t, request.t + 1))
    first, last = (f"{datetime.fromtimestamp(each, UTC):%Y-%m-%d %H:%M}" for each in span)
    asked = f"cell {request.campaign.cell}, {first} to {last} UTC"
    print(f"{REPORT_MARK}{datetime.now(UTC):%Y-%m-%d %H:%M:%S}  {asked}: {what}", flush=True)


def _node(context: Context) -> FileNode:
    """The node of the file that its owner gave at the start."""
    return FileNode(load_node_file(Path(str(context.node_config[NODE_FILE]))))


app = node_app(_node)
