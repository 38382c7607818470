"""Errors of the map on a set of measurements."""

from collections.abc import Sequence
from math import sqrt

from veilmap.federation import verbs
from veilmap.federation.map_family import Arrays
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.metrics.map_errors import SquaredErrors, TestSet, Values


class Evaluation:
    """Measurements ready to be compared with the predictions of a plan's map."""

    def __init__(self, plan: Plan, data: LocalData) -> None:
        self._plan, self._test = plan, TestSet(data)

    def __len__(self) -> int:
        return len(self._test)

    def errors(self, state: Arrays) -> SquaredErrors:
        """Per row and by place."""
        return self._test.errors(self._predicted_dbm(state))

    def rmse_db(self, state: Arrays) -> float:
        """The root of the mean squared error in dB."""
        return self.errors(state).rmse_db

    def squared_error(self, state: Arrays) -> float:
        """The sum over all measurements, in dB²."""
        return self._test.squared_error(self._predicted_dbm(state))

    def _predicted_dbm(self, state: Arrays) -> Values:
        return verbs.signal_dbm(self._plan.map, self._plan, state, self._test.xy_m)


def joint_rmse_db(evaluations: Sequence[Evaluation], state: Arrays) -> float:
    """Over several sets together."""
    total = sum(each.squared_error(state) for each in evaluations)
    return sqrt(total / sum(len(each) for each in evaluations))
