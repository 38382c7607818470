"""A grid without sockets: messages go straight to the apps of the nodes."""

from collections.abc import Iterable, Mapping

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

RUN = 1


class LoopGrid(Grid):
    """Every node has its app and its context, which lasts from message to message."""

    def __init__(self, apps: Mapping[int, ClientApp], configs: Mapping[int, dict]) -> None:
        self._apps = apps
        self._contexts = {
            node: Context(RUN, node, configs[node], RecordDict(), {}) for node in apps
        }
        TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = RUN, 1, 0
        self.sent: list[Message] = []

    def get_node_ids(self) -> Iterable[int]:
        return list(self._apps)

    def send_and_receive(self, messages, *, timeout=None) -> list[Message]:
        return [answer for message in messages if (answer := self._deliver(message)) is not None]

    def _deliver(self, message: Message) -> Message | None:
        node = message.metadata.dst_node_id
        self.sent.append(message)
        try:
            return self._apps[node](message, self._contexts[node])
        except KeyboardInterrupt:
            return None

    @property
    def run(self):
        raise NotImplementedError

    def set_run(self, run) -> None:
        raise NotImplementedError

    def create_message(self, *arguments, **options):
        raise NotImplementedError

    def push_messages(self, messages):
        raise NotImplementedError

    def pull_messages(self, message_ids):
        raise NotImplementedError
