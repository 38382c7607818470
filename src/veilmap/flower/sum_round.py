"""One secure sum as the server conducts it: who is in, what each is sent, what comes of it."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np
from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

from veilmap.flower.campaign import Campaign
from veilmap.flower.messages import ARRAYS, messages, why_not
from veilmap.flower.secure.collector import relay, reveal
from veilmap.flower.secure.encoding import Words
from veilmap.flower.secure.roster import FEWEST, Roster
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.sum_messages import (
    ADVERTISE,
    MASKED,
    SHARE,
    UNMASK,
    keys_of,
    keys_row,
    names_round,
    rows_of,
    rows_record,
)

# How many of those who begin must stay to the end; fewer, and the round gives no update.
STAYING = 2 / 3
T = TypeVar("T")


class SecureRound:
    """The steps in their order; ``left_out`` says of each node that fell out of them why.

    Raises:
        RoundError: at any step, if too few are left.
    """

    def __init__(
        self, campaign: Campaign, t: int, grid: Grid, timeout_s: float, fewest: int = FEWEST
    ) -> None:
        self._campaign, self._t, self._grid = campaign, t, grid
        self._timeout_s, self._fewest = timeout_s, fewest
        self._roster: Roster | None = None
        self._shared: frozenset[int] = frozenset()
        self.left_out: dict[int, str] = {}

    def letters(self, request: RecordDict, nodes: Iterable[int]) -> dict[int, dict[int, bytes]]:
        """Steps 1 and 2: by node, what the others sealed for it."""
        keys = self._read(
            self._exchange(ADVERTISE, dict.fromkeys(nodes, request)),
            lambda node, content: keys_of(rows_of(content)[node]),
        )
        threshold = max(self._fewest, len(keys) // 2 + 1, math.ceil(STAYING * len(keys)))
        roster = Roster(names_round(self._campaign, self._t), keys, threshold)
        told = rows_record({node: keys_row(each) for node, each in keys.items()}, threshold)

        def sealed(node: int, content: RecordDict) -> dict[int, bytes]:
            rows = rows_of(content)
            if set(rows) != set(keys) - {node}:
                raise RoundError("shares for others than those who take part")
            return rows

        shared = self._read(self._exchange(SHARE, dict.fromkeys(keys, told)), sealed)
        self._roster, self._shared = roster, frozenset(shared)
        return relay(roster, shared)

    def total(self, replies: Iterable[Message]) -> Words:
        """Step 4, from the masked vectors of step 3 to their sum."""
        if self._roster is None:
            raise RoundError("too few nodes began this round")
        length = self._campaign.network.size + 1

        def vector(node: int, content: RecordDict) -> Words:
            words = content.array_records[ARRAYS][MASKED].numpy()
            if words.dtype != np.uint64 or words.shape != (length,):
                raise RoundError(f"a masked vector of shape {words.shape} and type {words.dtype}")
            return words

        masked = self._read(self._answers(replies, self._shared), vector)
        self._roster.check_enough(masked, "the list of masked vectors")
        stayed = rows_record(dict.fromkeys(masked, b""))
        answers = self._read(
            self._exchange(UNMASK, dict.fromkeys(masked, stayed)),
            lambda _, content: rows_of(content),
        )
        return reveal(self._roster, self._shared, masked, answers)

    def _exchange(self, step: str, contents: Mapping[int, RecordDict]) -> dict[int, RecordDict]:
        sent = messages(contents, step, self._t)
        return self._answers(
            self._grid.send_and_receive(sent, timeout=self._timeout_s), frozenset(contents)
        )

    def _answers(self, replies: Iterable[Message], asked: frozenset[int]) -> dict[int, RecordDict]:
        """What came, by node; of the others, why not."""
        found, why = {}, dict.fromkeys(asked, "no answer in time")
        for message in replies:
            node = message.metadata.src_node_id
            said = message.error.reason if message.has_error() else why_not(message.content)
            if said is None and node in asked:
                found[node] = message.content
            else:
                why[node] = str(said)
        self.left_out |= {node: why[node] for node in asked - set(found)}
        return found

    def _read(
        self, contents: Mapping[int, RecordDict], part: Callable[[int, RecordDict], T]
    ) -> dict[int, T]:
        """The wanted part of each answer; who sent none falls out, and the others go on."""
        read = {}
        for node, content in contents.items():
            try:
                read[node] = part(node, content)
            except Exception as error:  # whatever a stranger packed must not end the run
                self.left_out[node] = f"an answer that is none ({error!r})"
        return read
