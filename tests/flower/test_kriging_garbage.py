"""Nodes that send what is no message over squares: the round goes on without them."""

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, MetricRecord, RecordDict

from tests.flower.kriging_making import KINDS, SIDE_M, SQUARES, engine, make, same
from tests.flower.making import (
    USERS,
    federated,
    make_grid,
)
from tests.flower.test_faults import node_that_sends
from veilmap.flower.messages import ARRAYS, METRICS, N
from veilmap.maps.kriging_map import KrigingMap
from veilmap.transcript import Transcript

# One bad node of three, per kind of garbage.
HONEST = {"visited": np.zeros(SQUARES, np.uint8), "signal_db": np.zeros(SQUARES, np.int16)}
FIRST = np.eye(1, SQUARES)[0]
LIST = {"squares": np.array([1, 2], np.int32), "signal_db": np.array([9, 9], np.int16)}


def garbage(base=HONEST, **changes):
    arrays = {**base, **changes}
    record = ArrayRecord({name: Array(each) for name, each in arrays.items() if each is not None})
    return RecordDict({ARRAYS: record})


DENSE = {
    "other squares": (
        garbage(visited=np.zeros(SQUARES + 1, np.uint8)),
        f"visited of shape ({SQUARES + 1},), and the map has {SQUARES:,} squares",
    ),
    "another dimension": (
        garbage(signal_db=np.zeros((SQUARES, 1), np.int16)),
        "signal_db of shape",
    ),
    "NaN": (garbage(signal_db=FIRST * np.nan), "not finite"),
    "infinite": (garbage(visited=np.where(FIRST, np.inf, 0)), "not finite"),
    "negative k": (garbage(visited=(-FIRST).astype(np.int8)), "k = -1 for a square"),
    "huge k": (garbage(visited=(200 * FIRST).astype(np.uint8)), "k = 200 for a square"),
    "half a visit": (garbage(visited=FIRST / 2), "k = 0.5 for a square"),
    "a signal where nobody was": (garbage(signal_db=FIRST.astype(np.int16)), "not visited"),
    "a huge signal": (
        garbage(visited=FIRST.astype(np.uint8), signal_db=(FIRST * -32768).astype(np.int16)),
        "256 dB from the offset",
    ),
    "dB for steps": (garbage(signal_db=np.zeros(SQUARES, np.float32)), "of type float32"),
    "the other byte order": (garbage(signal_db=np.zeros(SQUARES, ">i2")), "of type >i2"),
    "texts": (garbage(visited=np.full(SQUARES, "1")), "visited that are not real numbers"),
    "structures": (garbage(visited=np.zeros(SQUARES, [("a", "u1")])), "not real numbers"),
    "complex numbers": (garbage(visited=np.zeros(SQUARES, complex)), "not real numbers"),
    "a list in the place of all squares": (garbage(LIST), "arrays signal_db, squares"),
    "one array more": (garbage(weights=FIRST), "arrays signal_db, visited, weights"),
    "one array less": (garbage(visited=None), "arrays signal_db, and not"),
    "no array": (RecordDict({ARRAYS: ArrayRecord()}), "and not signal_db, visited"),
    "nothing": (RecordDict(), "malformed reply"),
    "metrics alone": (RecordDict({METRICS: MetricRecord({N: 5})}), "malformed reply"),
}
SPARSE = {
    "a square that is none": (garbage(LIST, squares=np.array([1, SQUARES], np.int32)), "square"),
    "a square below the first": (garbage(LIST, squares=np.array([-1, 2], np.int32)), "square"),
    "a square twice": (garbage(LIST, squares=np.array([2, 2], np.int32)), "twice"),
    "a square and a half": (garbage(LIST, squares=np.array([1.5, 2])), "by a fraction"),
    "lists of two lengths": (garbage(LIST, signal_db=np.zeros(3, np.int16)), "not of one length"),
    "a number for a list": (garbage(LIST, squares=np.array(1, np.int32)), "not of one length"),
    "all squares": (garbage(), "arrays signal_db, visited, and not"),
    "too many": (
        garbage(
            squares=np.arange(9, dtype=np.int32), signal_db=np.zeros(9, np.int16), visited=None
        ),
        "9 squares, and at most 8 are taken",
    ),
}
CASES = [
    *((KINDS[0], case, *DENSE[case]) for case in DENSE),
    *((KrigingMap(SIDE_M, 8, layout="sparse"), case, *SPARSE[case]) for case in SPARSE),
]


@pytest.mark.parametrize(("kind", "case", "content", "why"), CASES)
def test_garbage_is_refused_and_the_round_goes_on(tmp_path, kind, case, content, why):
    campaign = make(kind, rounds=2)
    journal = federated(
        campaign, make_grid(tmp_path, apps={11: node_that_sends(content)}), tmp_path / "out"
    )
    for outcome in journal.history:
        assert outcome.users == ("u0", "u2")
        assert why in outcome.left_out["u1"]
        assert outcome.left_out["u1"].isprintable()
    assert same(journal.state, engine(campaign, without=("u1",))[0])
    assert "u1" not in {entry.user for entry in Transcript(tmp_path / "out/transcript").entries()}


@pytest.mark.parametrize("n", [10**9, 0.5, "many"])
def test_a_number_of_points_sent_all_the_same_counts_for_nothing(tmp_path, n):
    content = garbage(visited=FIRST.astype(np.uint8))
    content[METRICS] = MetricRecord({N: n} if isinstance(n, float | int) else {})
    grid = make_grid(tmp_path, apps={11: node_that_sends(content)})
    journal = federated(make(rounds=1), grid, tmp_path / "out")
    (outcome,) = journal.history
    assert outcome.users == USERS
    (entry,) = Transcript(tmp_path / "out/transcript").of_user("u1")
    assert entry.n == 1
