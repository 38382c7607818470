"""A node's four steps in a secure sum, one message each; what it remembers stays with it."""

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict

from veilmap.flower.messages import ARRAYS, request_of
from veilmap.flower.node import Node, RefusalError, Sent
from veilmap.flower.secure.encoding import encode
from veilmap.flower.secure.participant import advertise, mask, share, unmask
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.stages import Stage, from_record, to_record
from veilmap.flower.sum_messages import (
    MASKED,
    SECURE,
    keys_of,
    keys_row,
    names_round,
    rows_of,
    rows_record,
    threshold_of,
)


def on_advertise(message: Message, context: Context, node: Node) -> RecordDict:
    """Step 1, if the node takes part at all."""
    request = request_of(message.content)
    node.agree(request)
    stage, keys = advertise(names_round(request.campaign, request.t), context.node_id)
    _keep(context, stage)
    return rows_record({context.node_id: keys_row(keys)})


def on_share(message: Message, context: Context, node: Node) -> RecordDict:
    """Step 2, if the sum has as many nodes to the end as this node demands."""
    threshold = threshold_of(message.content)
    if threshold < node.minimum.nodes:
        raise RefusalError(f"takes part in sums of at least {node.minimum.nodes} nodes")
    everyone = {node: keys_of(row) for node, row in rows_of(message.content).items()}
    stage, sealed = share(_kept(context), everyone, threshold)
    _keep(context, stage)
    return rows_record(sealed)


def on_mask(message: Message, context: Context, node: Node) -> RecordDict:
    """Step 3: train, and hide the update; with nothing to send, hide a zero."""
    request, sealed = request_of(message.content), rows_of(message.content)
    sent = node.answer(request) or Sent(request.weights, 0)
    vector = encode(sent.weights - request.weights, sent.n)
    stage, masked = mask(_kept(context), vector, sealed)
    _keep(context, stage)
    return RecordDict({ARRAYS: ArrayRecord({MASKED: Array(masked)})})


def on_unmask(message: Message, context: Context) -> RecordDict:
    """Step 4: the shares that free the sum of those who stayed."""
    stage, shares = unmask(_kept(context), set(rows_of(message.content)))
    _keep(context, stage)
    return rows_record(shares)


def _keep(context: Context, stage: Stage) -> None:
    context.state[SECURE] = ConfigRecord({**to_record(stage)})


def _kept(context: Context) -> Stage:
    if SECURE not in context.state:
        raise RoundError("the node was started anew in the middle of a secure sum; it keeps out")
    return from_record(context.state.config_records[SECURE])
