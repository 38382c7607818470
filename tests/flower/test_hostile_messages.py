"""Messages that no proper app would pack, one by one and without a federation around them."""

import io
import re

import numpy as np
import pytest
from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Context,
    Error,
    Message,
    MetricRecord,
    RecordDict,
)

from tests.flower.grids import LoopGrid
from tests.flower.making import SMALL, five_nodes, make_campaign, make_grid, name_of
from veilmap.federation.map_family import WEIGHTS
from veilmap.flower.journal import Journal
from veilmap.flower.messages import (
    ARRAYS,
    CAMPAIGN,
    CONFIG,
    METRICS,
    ROUND,
    WHY,
    N,
    ask,
    unpack,
    why_not,
)
from veilmap.flower.node import Request
from veilmap.flower.node_app import FAILED, node_app
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.strategy import Assignment, SignalMapStrategy
from veilmap.flower.sum_messages import MASKED, ROWS, SECURE, THRESHOLD, rows_of, threshold_of
from veilmap.flower.sum_round import SecureRound

SIZE = SMALL.size
ZERO = np.zeros(SIZE, np.float32)
FIVE = MetricRecord({N: 5})
EXCHANGE = make_campaign().exchange


def saved(array, header=None):
    """What ``np.save`` writes, with another shape or type declared in place of its own."""
    file = io.BytesIO()
    np.save(file, array)
    content = file.getvalue()
    if header is None:
        return content
    start = content.index(b"{")
    end = content.index(b"\n")
    return content[:start] + header.ljust(end - start)[: end - start] + content[end:]


def declared(shape, kind="<f4"):
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()


def packed(content, shape=(SIZE,), kind="float32"):
    return ArrayRecord({WEIGHTS: Array(kind, shape, "numpy.ndarray", content)})


def sent(record, metrics=FIVE):
    return RecordDict({ARRAYS: record, METRICS: metrics})


NONE = "malformed reply"
TYPE = "weights that are not (float32|real numbers)"
ARRAYS_OF_STRANGERS = {
    "more declared than there is": (packed(saved(ZERO, declared((SIZE + 9,)))), NONE),
    "terabytes declared": (packed(saved(ZERO, declared((10**13,)))), NONE),
    "more than a number holds": (packed(saved(ZERO, declared((2**40, 2**40)))), NONE),
    "less than no rows": (packed(saved(ZERO, declared((-5,)))), NONE),
    "a pickle": (packed(saved(ZERO, declared((SIZE,), "|O"))), "Object arrays cannot be loaded"),
    "texts": (packed(saved(np.full(SIZE, "1.5"))), TYPE),
    "the other byte order": (packed(saved(ZERO.astype(">f4"))), TYPE),
    "structures": (packed(saved(np.zeros(SIZE, [("a", "f4")]))), TYPE),
    "a packed archive": (packed(b"PK\x05\x06" + bytes(18)), TYPE),
    "nothing": (packed(b""), NONE),
    "no array": (packed(b"\x93NUMPY"), NONE),
    "a header without end": (packed(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b"{" * 99), NONE),
    "another kind of array": (
        ArrayRecord({WEIGHTS: Array("float32", (SIZE,), "torch", saved(ZERO))}),
        NONE,
    ),
    "another name": (ArrayRecord({"weight": Array(ZERO)}), NONE),
}
ANSWERS = {
    **{name: (sent(record), why) for name, (record, why) in ARRAYS_OF_STRANGERS.items()},
    "arrays that are metrics": (RecordDict({ARRAYS: FIVE, METRICS: FIVE}), NONE),
    "a configuration of metrics": (RecordDict({CONFIG: FIVE}), NONE),
    "a configuration of arrays": (RecordDict({CONFIG: ArrayRecord({WHY: Array(ZERO)})}), NONE),
    "no metrics": (RecordDict({ARRAYS: ArrayRecord({WEIGHTS: Array(ZERO)})}), NONE),
    "points that are no number": (
        sent(ArrayRecord({WEIGHTS: Array(ZERO)}), MetricRecord({N: float("nan")})),
        "nan points",
    ),
    "points without end": (
        sent(ArrayRecord({WEIGHTS: Array(ZERO)}), MetricRecord({N: [1] * 100_000})),
        r"\[1, 1, .*… points",
    ),
    "a reason without end": (
        RecordDict({CONFIG: ConfigRecord({WHY: "\x1b[2J\n" * 100_000})}),
        r"^ \[2J  \[2J.*…$",
    ),
    "a reason that is no text": (RecordDict({CONFIG: ConfigRecord({WHY: [1.5, 2.5]})}), "1.5"),
    "an error without end": (Error(0, "\r\n" * 100_000), r"no answer \( +…\)"),
}


@pytest.fixture(autouse=True)
def identity():
    """Without one Flower makes no message; a grid sets it."""
    LoopGrid({}, {})


def message(content, node=10):
    return Message(content, reply_to=Message(RecordDict(), dst_node_id=node, message_type="train"))


@pytest.mark.parametrize("case", ANSWERS)
def test_a_server_says_in_a_line_why_an_answer_is_malformed(case):
    content, why = ANSWERS[case]
    found = unpack(message(content), EXCHANGE)
    assert re.search(why, found), found
    assert len(found) < 600
    assert found.isprintable()


def test_an_answer_that_is_sound_is_taken():
    """The table above would else prove nothing."""
    found = unpack(message(sent(packed(saved(ZERO, declared((SIZE,)))))), EXCHANGE)
    assert (found.message[WEIGHTS] == ZERO).all()
    assert found.n == 5


def test_of_two_answers_of_a_node_one_is_taken(tmp_path):
    campaign, grid = make_campaign(), make_grid(tmp_path)
    journal = Journal(tmp_path / "out", campaign)
    assignment = Assignment(campaign.text, str(tmp_path / "out"), nodes=3)
    strategy = SignalMapStrategy(journal, assignment, name_of)
    strategy.configure_train(1, ArrayRecord(), ConfigRecord(), grid)
    one = sent(ArrayRecord({WEIGHTS: Array(ZERO)}))
    strategy.aggregate_train(1, [message(one), message(one), message(RecordDict(), 11)])
    (outcome,) = journal.history
    assert outcome.users == ("u0",)
    assert re.search(NONE, outcome.left_out["u1"])


def request(**changes):
    """A sound one, with some of its records changed."""
    sound = ask(Request(make_campaign(), 1, {WEIGHTS: ZERO}))
    return RecordDict({**sound, **changes})


def config(**changes):
    return ConfigRecord({CAMPAIGN: make_campaign().text, ROUND: 1} | changes)


REQUESTS = {
    **{name: {ARRAYS: record} for name, (record, _) in ARRAYS_OF_STRANGERS.items()},
    "not finite": {ARRAYS: ArrayRecord({WEIGHTS: Array(ZERO + np.nan)})},
    "as long numbers": {ARRAYS: ArrayRecord({WEIGHTS: Array(np.zeros(SIZE))})},
    "no configuration": {CONFIG: ConfigRecord({})},
    "a configuration of metrics": {CONFIG: FIVE},
    "arrays that are metrics": {ARRAYS: FIVE},
    "no campaign": {CONFIG: ConfigRecord({ROUND: 1})},
    "a campaign that is no text": {CONFIG: config(**{CAMPAIGN: 7})},
    "a campaign of brackets": {CONFIG: config(**{CAMPAIGN: "[" * 100_000})},
    "a round that is none": {CONFIG: config(**{ROUND: [1, 2]})},
    "a round of words": {CONFIG: config(**{ROUND: "first"})},
    "a round before the first": {CONFIG: config(**{ROUND: -(10**18)})},
    "a round after the last": {CONFIG: config(**{ROUND: 10**18})},
}


class Never:
    """A node that must not be asked."""

    def answer(self, request):
        pytest.fail("a request was answered that is none")


@pytest.mark.parametrize("case", REQUESTS)
def test_a_node_answers_no_request_that_is_none(case):
    app = node_app(lambda context: Never())
    context = Context(1, 10, {}, RecordDict(), {})
    asked = Message(request(**REQUESTS[case]), dst_node_id=10, message_type="train")
    assert why_not(app(asked, context).content) == FAILED


def test_a_request_that_is_sound_reaches_the_node():
    app = node_app(lambda context: Never())
    asked = Message(request(), dst_node_id=10, message_type="train")
    with pytest.raises(pytest.fail.Exception, match="was answered"):
        app(asked, Context(1, 10, {}, RecordDict(), {}))


SUMS = {
    "no array": RecordDict(),
    "terabytes declared": RecordDict(
        {ARRAYS: ArrayRecord({MASKED: Array("uint64", (9,), "numpy.ndarray",
                                            saved(ZERO, declared((10**13,), "<u8")))})}
    ),
    "an archive": RecordDict(
        {ARRAYS: ArrayRecord({MASKED: Array("uint64", (9,), "numpy.ndarray",
                                            b"PK\x05\x06" + bytes(18))})}
    ),
    "a configuration of metrics": RecordDict({CONFIG: FIVE}),
    "a reason without end": RecordDict({CONFIG: ConfigRecord({WHY: "\x1b[2J\n" * 100_000})}),
    "an error without end": Error(0, "\r\n" * 100_000),
}  # fmt: skip


@pytest.mark.parametrize("case", SUMS)
def test_a_secure_sum_continues_without_nodes_that_sent_none(tmp_path, case):
    """Of five masked vectors four are sound, which is enough."""
    grid, campaign = five_nodes(tmp_path), make_campaign(secure_aggregation=True)
    secure = SecureRound(Request(campaign, 1, {WEIGHTS: ZERO}), grid, 1.0, 3)
    *sound, _ = grid.send_and_receive(secure.begin(grid.get_node_ids()))
    assert len(secure.total([*sound, message(SUMS[case], 14)])) == SIZE + 1
    assert set(secure.left_out) == {14}
    assert len(secure.left_out[14]) < 600
    assert secure.left_out[14].isprintable()


@pytest.mark.parametrize("record", [{}, {ROWS: 5}, {ROWS: [1, 2]}, {THRESHOLD: [1]}])
def test_rows_and_thresholds_that_are_none_are_an_error_of_the_round(record):
    content = RecordDict({SECURE: ConfigRecord(record)})
    with pytest.raises(RoundError, match=r"of a secure sum (was cut short|has no threshold)"):
        rows_of(content)
    with pytest.raises(RoundError, match=r"of a secure sum has no threshold"):
        threshold_of(content)
