"""The Flower app of a node on a machine: it answers from its own file."""

from pathlib import Path

from flwr.app import Context

from veilmap.flower.ledger import Ledger
from veilmap.flower.minimum import Minimum
from veilmap.flower.node import Request, Sent, agree, respond
from veilmap.flower.node_app import node_app
from veilmap.flower.node_file import NodeFile, load_node_file
from veilmap.flower.own_data import own_rounds, the_user
from veilmap.sources.reader import read

NODE_FILE = "node-file"


class FileNode:
    """A node whose settings, measurements and ledger are files; all are read anew each time."""

    def __init__(self, settings: NodeFile) -> None:
        self._settings = settings

    @property
    def minimum(self) -> Minimum:
        return self._settings.minimum

    def agree(self, request: Request) -> None:
        """Raise ``RefusalError`` if the node will not answer, whatever its data."""
        agree(request, self.minimum, self._ledger())

    def answer(self, request: Request) -> Sent | None:
        """The update to send; the ledger is on the disk before it goes out."""
        place = self._settings.node
        data = read(place.data, self._settings.columns, self._settings.reading)
        user = the_user(data, place.user, place.data)
        rounds = own_rounds(data, user, request.campaign)
        sent, after = respond(request, self.minimum, self._ledger(), rounds, user)
        after.save(self._settings.ledger)
        return sent

    def _ledger(self) -> Ledger:
        return Ledger.open(self._settings.ledger, self._settings.node.seed)


def _node(context: Context) -> FileNode:
    """By the file that its owner named when the node was started."""
    return FileNode(load_node_file(Path(str(context.node_config[NODE_FILE]))))


app = node_app(_node)
