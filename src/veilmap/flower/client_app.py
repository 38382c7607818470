"""The Flower app of a node: one message in, one answer out."""

import logging
from collections.abc import Callable
from pathlib import Path

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

from veilmap.errors import UserError
from veilmap.flower.ledger import Ledger
from veilmap.flower.messages import refusal, reply, request_of
from veilmap.flower.node import RefusalError, Sent, respond
from veilmap.flower.node_file import NodeFile, load_node_file
from veilmap.flower.own_data import own_rounds, the_user
from veilmap.sources.reader import read

NODE_FILE = "node-file"
# Texts of errors may quote the node's data; they stay in its log.
FAILED = "failed; the reason is in the node's log"
log = logging.getLogger("flwr")

app = ClientApp()


@app.train()
def train(message: Message, context: Context) -> Message:
    """Round t: read the node's own file, answer, and enter the answer into the ledger."""
    return Message(discreet(lambda: _answer(message, context)), reply_to=message)


def _answer(message: Message, context: Context) -> RecordDict:
    return reply(answered(settings_of(context), message.content))


def answered(settings: NodeFile, content: RecordDict) -> Sent | None:
    """The update to send; the ledger is on the disk before it goes out."""
    request = request_of(content)
    ledger = Ledger.open(settings.ledger, settings.node.seed)
    data = read(settings.node.data, settings.columns, settings.reading)
    user = the_user(data, settings.node.user, settings.node.data)
    rounds = own_rounds(data, user, request.campaign)
    sent, after = respond(request, settings.minimum, ledger, rounds, user)
    after.save(settings.ledger)
    return sent


def settings_of(context: Context) -> NodeFile:
    """The node's file, which its owner named when the node was started."""
    return load_node_file(Path(str(context.node_config[NODE_FILE])))


def discreet(work: Callable[[], RecordDict]) -> RecordDict:
    """The result of the work, or why there is none, without a word of the node's data.

    Flower would send the text of any error to the server.
    """
    try:
        return work()
    except RefusalError as why:
        log.info("kept out of this round: %s", why)
        return refusal(str(why))
    except UserError as error:
        log.error("cannot answer: %s", error)
    except Exception:
        log.exception("cannot answer")
    return refusal(FAILED)
