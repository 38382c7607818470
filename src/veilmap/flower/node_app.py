"""A Flower app for all kinds of nodes: one message in, one answer out."""

import logging
from collections.abc import Callable

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

from veilmap.errors import UserError
from veilmap.flower.messages import refusal, reply, request_of
from veilmap.flower.node import ClientNode
from veilmap.flower.refusal import RefusalError
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.sum_messages import STEPS
from veilmap.flower.sum_node import on_advertise, on_mask, on_share, on_unmask

# Error texts may quote the node's data; they stay in its log.
FAILED = "failed; the reason is in the node's log"
Handler = Callable[[Message, Context, ClientNode], RecordDict]
HANDLERS: tuple[Handler, ...] = (on_advertise, on_share, on_mask, on_unmask)
log = logging.getLogger("flwr")


def node_app(node_of: Callable[[Context], ClientNode]) -> ClientApp:
    """The app that answers a node's messages: plain ones and those of a secure sum."""
    app = ClientApp()
    steps = {"default": _plain, **dict(zip(STEPS, HANDLERS, strict=True))}
    for action, step in steps.items():
        app.train(action)(_discreet(step, node_of))
    return app


def _plain(message: Message, context: Context, node: ClientNode) -> RecordDict:
    request = request_of(message.content)
    if request.campaign.secure_aggregation:
        raise RefusalError("the campaign promises sums, and this request is for a single update")
    return reply(node.answer(request), request.campaign.exchange)


def _discreet(
    step: Handler, node_of: Callable[[Context], ClientNode]
) -> Callable[[Message, Context], Message]:
    """The answer, or why there is none, without any of the node's data.

    Flower would send the text of any error to the server.
    """

    def handle(message: Message, context: Context) -> Message:
        content = refusal(FAILED)
        try:
            content = step(message, context, node_of(context))
        except (RefusalError, RoundError) as why:
            log.info("declined this round: %s", why)
            content = refusal(str(why))
        except UserError as error:
            log.error("cannot answer: %s", error)
        except Exception:
            log.exception("cannot answer")
        return Message(content, reply_to=message)

    return handle
