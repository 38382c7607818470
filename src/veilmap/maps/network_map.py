"""The paper's map: a dense network, trained on the phones, its weights averaged by the server."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.client import user_update
from veilmap.federation.map_family import PAPERS, WEIGHTS, Arrays, Footing, Prediction, Sent
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.maps.averaging import averaged
from veilmap.model.network import Network
from veilmap.model.prediction import predict


@dataclass(frozen=True)
class NetworkMap(Network):
    """Algorithm 1 over a dense network; its settings are those of the network."""

    name = PAPERS
    robust = True

    @classmethod
    def of(cls, network: Network) -> "NetworkMap":
        """A map by this network."""
        return cls(**vars(network))

    def start(self, plan: Plan) -> Arrays:
        """Line 3: w_0."""
        return {WEIGHTS: self.initialise(plan.seed)}

    def answer(self, plan: Plan, state: Arrays, batch: LocalData, user: str, t: int) -> Arrays:
        """Lines 17-22: w_t^k."""
        return {WEIGHTS: user_update(plan, state[WEIGHTS], batch, user, t)}

    def combine(self, plan: Plan, state: Arrays, messages: Iterable[Sent], senders: int) -> Arrays:
        """Line 12: the average of the weights, or another rule of ``plan.training``."""
        return averaged(plan, state, messages, senders)

    def predict(self, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]) -> Prediction:
        """F(x; w) above the labels' offset."""
        deviation = predict(self, state[WEIGHTS], footing.scaler.standardise(xy_m))
        return Prediction(deviation.astype(np.float64) + footing.label_offset_dbm)
