"""The server's side of one secure sum: participants, messages and result."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np
from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

from veilmap.errors import shown
from veilmap.flower.messages import ARRAYS, NO_ANSWER, ask, in_a_line, messages, why_not
from veilmap.flower.node import Request
from veilmap.flower.secure.collector import relay, reveal
from veilmap.flower.secure.encoding import Words
from veilmap.flower.secure.keys import KEY_BYTES, PublicKeys
from veilmap.flower.secure.roster import Roster
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.stages import SEED_BYTES
from veilmap.flower.sum_messages import (
    ADVERTISE,
    MASK,
    MASKED,
    SHARE,
    UNMASK,
    names_round,
    rows_of,
    rows_record,
)

# The share of the initial nodes that must stay to the end, or the round gives no update.
STAYING = 2 / 3
T = TypeVar("T")


class SecureRound:
    """The steps in order; ``left_out`` gives the reason for each node that dropped out.

    Raises:
        RoundError: at any step, if too few are left.
    """

    def __init__(self, request: Request, grid: Grid, timeout_s: float, fewest: int) -> None:
        self._request, self._grid = request, grid
        self._timeout_s, self._fewest = timeout_s, fewest
        self._roster: Roster | None = None
        self._shared: frozenset[int] = frozenset()
        self.left_out: dict[int, str] = {}
        self.added = 0  # how many vectors the sum is of

    def begin(self, nodes: Iterable[int]) -> list[Message]:
        """Steps 1 and 2, and the messages of step 3: the request with what was sealed for each."""
        request = ask(self._request)
        asked = self._exchange(ADVERTISE, dict.fromkeys(nodes, request))
        keys = self._read(asked, lambda node, content: PublicKeys.of(rows_of(content)[node]))
        threshold = max(self._fewest, len(keys) // 2 + 1, math.ceil(STAYING * len(keys)))
        roster = Roster(names_round(self._request), keys, threshold)
        everyone = rows_record({node: each.raw for node, each in keys.items()}, threshold)
        sealed = self._exchange(SHARE, dict.fromkeys(keys, everyone))
        shared = self._read(sealed, lambda node, content: _rows_for({*keys} - {node}, content))
        self._roster, self._shared = roster, frozenset(shared)
        contents = {
            node: RecordDict({**request, **rows_record(rows)})
            for node, rows in relay(roster, shared).items()
        }
        return messages(contents, MASK, self._request.t)

    def total(self, replies: Iterable[Message]) -> Words:
        """Step 4, from the masked vectors of step 3 to their sum."""
        if self._roster is None:
            raise RoundError("too few nodes began this round")
        length = self._request.campaign.exchange.length
        vectors = self._answers(replies, self._shared)
        masked = self._read(vectors, lambda _, content: _vector(length, content))
        self._roster.check_enough(masked, "the list of masked vectors")
        self.added = len(masked)
        stayed = rows_record(dict.fromkeys(masked, b""))
        sizes = {node: SEED_BYTES if node in masked else KEY_BYTES for node in self._shared}
        answered = self._exchange(UNMASK, dict.fromkeys(masked, stayed))
        shares = self._read(answered, lambda _, content: _shares(sizes, content))
        return reveal(self._roster, self._shared, masked, shares)

    def _exchange(self, step: str, contents: Mapping[int, RecordDict]) -> dict[int, RecordDict]:
        sent = messages(contents, step, self._request.t)
        replies = self._grid.send_and_receive(sent, timeout=self._timeout_s)
        return self._answers(replies, frozenset(contents))

    def _answers(self, replies: Iterable[Message], asked: frozenset[int]) -> dict[int, RecordDict]:
        """Answers by node; the reasons for the others go to ``left_out``."""
        found, why = {}, dict.fromkeys(asked, NO_ANSWER)
        for message in replies:
            node = message.metadata.src_node_id
            if message.has_error():
                why[node] = in_a_line(message.error.reason)
            elif (said := why_not(message.content)) is not None:
                why[node] = said
            elif node in asked:
                found[node] = message.content
        self.left_out |= {node: why[node] for node in asked - set(found)}
        return found

    def _read(
        self, contents: Mapping[int, RecordDict], part: Callable[[int, RecordDict], T]
    ) -> dict[int, T]:
        """The wanted part of each answer; nodes without one drop out."""
        read = {}
        for node, content in contents.items():
            try:
                read[node] = part(node, content)
            except Exception as error:  # a malformed message must not end the run
                self.left_out[node] = f"malformed reply ({shown(error)})"
        return read


def _rows_for(others: set[int], content: RecordDict) -> dict[int, bytes]:
    rows = rows_of(content)
    if set(rows) != others:
        raise RoundError("shares for nodes that do not take part")
    return rows


def _vector(length: int, content: RecordDict) -> Words:
    words = content.array_records[ARRAYS][MASKED].numpy()
    if words.dtype != np.uint64 or words.shape != (length,):
        raise RoundError(f"a masked vector of shape {words.shape} and type {words.dtype}")
    return words


def _shares(sizes: Mapping[int, int], content: RecordDict) -> dict[int, bytes]:
    rows = rows_of(content)
    if {node: len(row) for node, row in rows.items()} != sizes:
        raise RoundError("other shares than asked for")
    return rows
