"""A node's four steps in a secure sum, one message each; its state stays on the node."""

from flwr.app import Context, Message, RecordDict

from veilmap.flower.messages import ARRAYS, array_record, request_of
from veilmap.flower.node import ClientNode, StageStorage
from veilmap.flower.refusal import RefusalError
from veilmap.flower.secure.keys import PublicKeys
from veilmap.flower.secure.participant import advertise, mask, share, unmask
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.stages import Shared, Stage
from veilmap.flower.sum_messages import MASKED, names_round, rows_of, rows_record, threshold_of


def on_advertise(message: Message, context: Context, node: ClientNode) -> RecordDict:
    """Step 1, if the node takes part."""
    request = request_of(message.content)
    node.consent(request)
    stage, keys = advertise(names_round(request), context.node_id)
    with node.stage_storage(context) as storage:
        storage.write(stage)
    return rows_record({context.node_id: keys.raw})


def on_share(message: Message, context: Context, node: ClientNode) -> RecordDict:
    """Step 2, if the threshold is at least this node's minimum."""
    threshold = threshold_of(message.content)
    if threshold < node.minimum.nodes:
        raise RefusalError(f"takes part in sums of at least {node.minimum.nodes} nodes")
    everyone = {number: PublicKeys.of(row) for number, row in rows_of(message.content).items()}
    with node.stage_storage(context) as storage:
        stage, sealed = share(_kept(storage), everyone, threshold)
        storage.write(stage)
    return rows_record(sealed)


def on_mask(message: Message, context: Context, node: ClientNode) -> RecordDict:
    """Step 3: train, and hide the update; with nothing to send, hide a zero.

    The request must be the one that all nodes agreed to in step 1: if the others were asked for
    something they cannot answer, the sum would be this node's update.
    """
    request, sealed = request_of(message.content), rows_of(message.content)
    with node.stage_storage(context) as storage:
        before = _kept(storage)
        if not isinstance(before, Shared) or before.roster.context != names_round(request):
            raise RoundError("the request is not the one that this sum began with")
        vector = request.campaign.exchange.vector(request.state, node.answer(request))
        stage, masked = mask(before, vector, sealed)
        storage.write(stage)
    return RecordDict({ARRAYS: array_record({MASKED: masked})})


def on_unmask(message: Message, context: Context, node: ClientNode) -> RecordDict:
    """Step 4: the shares that unmask the survivors' sum."""
    with node.stage_storage(context) as storage:
        stage, shares = unmask(_kept(storage), set(rows_of(message.content)))
        storage.write(stage)
    return rows_record(shares)


def _kept(storage: StageStorage) -> Stage:
    stage = storage.read()
    if stage is None:
        raise RoundError("the node has not joined this secure sum; it skips this round")
    return stage
