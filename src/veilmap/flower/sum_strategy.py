"""The strategy of a server that sees sums only."""

from collections.abc import Iterable

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid

from veilmap.attacks.secure_sum import SUM
from veilmap.federation import verbs
from veilmap.federation.map_family import Sent
from veilmap.flower.exchange import Update
from veilmap.flower.journal import RoundOutcome
from veilmap.flower.messages import NOTHING
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.strategy import SignalMapStrategy
from veilmap.flower.sum_round import SecureRound


class SecureStrategy(SignalMapStrategy):
    """The four steps of a secure sum around Flower's request and answer.

    A round that fails at any step gives no update; the next has new keys.
    """

    _round: SecureRound  # configured by Flower before its aggregation

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Steps 1 and 2, then the request with what was sealed for each node."""
        request = self._begin(server_round, grid)
        timeout_s, fewest = self._assignment.timeout_s, self._assignment.sum_of
        self._round = SecureRound(request, grid, timeout_s, fewest)
        try:
            return self._round.begin(self._asked)
        except RoundError:
            return []  # logged and recorded again when there is nothing to add up

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Step 4, and line 12 from the sum, which is combined as the only message."""
        t, before = self._after + server_round, self._journal.state
        update = self._sum(replies)
        left_out = {self._asked[node]: why for node, why in self._round.left_out.items()}
        if isinstance(update, str):
            return self._end(t, before, {}, [], {**left_out, SUM: update})
        refusal = self._exchange.sum_refusal(update, before, len(self._asked))
        seen = list(self._seen(t, SUM, update, refusal))
        if refusal is not None:
            return self._end(t, before, {}, seen, {**left_out, SUM: refusal.why})
        sent = Sent(SUM, update.message, update.n)
        return self._end(
            t, verbs.combine(self._plan, before, [sent], 1), {SUM: update.n}, seen, left_out
        )

    def _sum(self, replies: Iterable[Message]) -> Update | str:
        try:
            words = self._round.total(replies)
            update = self._exchange.total(self._journal.state, words, self._round.added)
        except RoundError as why:
            return str(why)
        return update if update.n else NOTHING

    def _what(self, outcome: RoundOutcome) -> str:
        return "a sum" if outcome.users else "no sum"
