"""The strategy of a server that sees sums only."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid

from veilmap.attacks.secure_sum import SUM
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.observation import Observation
from veilmap.federation.update_validation import Vetting
from veilmap.flower.journal import Journal, RoundOutcome
from veilmap.flower.messages import NOTHING
from veilmap.flower.node import Sent
from veilmap.flower.secure.encoding import decode
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.strategy import Conduct, SignalMapStrategy
from veilmap.flower.sum_round import SecureRound


class SecureStrategy(SignalMapStrategy):
    """The four steps of a secure sum around Flower's request and answer.

    A round that fails at any step gives no update; the next has new keys.
    """

    def __init__(self, journal: Journal, conduct: Conduct) -> None:
        super().__init__(journal, conduct)
        self._round: SecureRound | None = None

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Steps 1 and 2, then the request with what was sealed for each node."""
        request = self._begin(server_round, arrays, grid)
        self._round = SecureRound(request, grid, self._conduct.timeout_s, self._conduct.sum_of)
        try:
            return self._round.begin(self._asked)
        except RoundError:
            return []  # logged and recorded again when there is nothing to add up

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Step 4, and line 12 from the sum: w_t = w_{t-1} + Σ n_t^k/n_t (w_t^k − w_{t-1})."""
        t, before = self._after + server_round, self._journal.weights
        sent = self._sum(replies)
        left_out = {self._asked[node]: why for node, why in self._secure.left_out.items()}
        if isinstance(sent, str):
            return self._end(t, before, {}, [], {**left_out, SUM: sent})
        refusal = self._vetting.refusal({WEIGHTS: sent.weights}, sent.n, {WEIGHTS: before})
        start_s = self._journal.campaign.start_s(t)
        seen = Observation.of_weights(t, SUM, before, sent.weights, sent.n, start_s)
        if refusal is None:
            return self._end(t, sent.weights, {SUM: sent.n}, [seen], left_out)
        read = [seen] if refusal.is_seen else []
        return self._end(t, before, {}, read, {**left_out, SUM: refusal.why})

    def _sum(self, replies: Iterable[Message]) -> Sent | str:
        before = self._journal.weights.astype(np.float64)
        try:
            mean, n = decode(self._secure.total(replies))
        except RoundError as why:
            return str(why)
        return Sent((before + mean).astype(np.float32), n) if n else NOTHING

    @property
    def _vetting(self) -> Vetting:
        one = self._conduct.vetting
        return replace(one, most_points=one.most_points * len(self._asked))

    def _what(self, outcome: RoundOutcome) -> str:
        return "a sum" if outcome.users else "no sum"

    @property
    def _secure(self) -> SecureRound:
        if self._round is None:
            raise RuntimeError("a round is aggregated that was never configured")
        return self._round
