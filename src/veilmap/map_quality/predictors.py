"""Predictors that hold all training data at once: what federated maps are compared with."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from veilmap.federation.map_family import Prediction
from veilmap.kriging.central import central_kriging
from veilmap.local_data import LocalData, Round
from veilmap.metrics.map_errors import mean_by_place, places
from veilmap.streams import stream

Kind = Literal["baseline", "central", "federated"]
Predict = Callable[[NDArray[np.float64]], Prediction]
Fit = Callable[[Sequence[Round], int], Predict]

CONSTANT = "constant"
_TREES, _LEAF_ROWS = 100, 5
_NEIGHBOURS = (5, 10, 20, 50, 100, 200)
_FOLDS = 5


def all_rows(rounds: Sequence[Round]) -> LocalData:
    """The rows of all rounds, round by round and user by user."""
    return LocalData.join([data for this in rounds for data in this.data.values()])


def constant(rounds: Sequence[Round], seed: int) -> Predict:
    """The mean over places, which is the best constant by place."""
    rows = all_rows(rounds)
    mean_dbm = float(mean_by_place(rows.rsrp_dbm, places(rows.xy_m)).mean())
    return lambda xy_m: Prediction(np.full(len(xy_m), mean_dbm))


def linear(rounds: Sequence[Round], seed: int) -> Predict:
    """Least squares in x and y."""
    from sklearn.linear_model import LinearRegression

    return _fitted(LinearRegression(), all_rows(rounds))


def nearest_neighbours(rounds: Sequence[Round], seed: int) -> Predict:
    """The mean of the k nearest rows, k chosen by cross-validation.

    The folds are runs of rows in the order of rounds, users and time: shuffled ones would choose
    too small a k, since rows of a session are near copies of each other.
    """
    from sklearn.model_selection import GridSearchCV, KFold
    from sklearn.neighbors import KNeighborsRegressor

    rows = all_rows(rounds)
    most = len(rows) - -(-len(rows) // _FOLDS)
    choices = [k for k in _NEIGHBOURS if k <= most] or [most]
    search = GridSearchCV(
        KNeighborsRegressor(n_jobs=cpu_count()),
        {"n_neighbors": choices},
        scoring="neg_mean_squared_error",
        cv=KFold(_FOLDS),
    )
    return _fitted(search, rows)


def random_forest(rounds: Sequence[Round], seed: int) -> Predict:
    """100 trees with at least five rows in a leaf."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(
        _TREES, min_samples_leaf=_LEAF_ROWS, random_state=_state(seed, "forest"), n_jobs=cpu_count()
    )
    predict = _fitted(forest, all_rows(rounds))
    # Threads would add up the trees in the order in which they finish, and change the last bits.
    forest.set_params(n_jobs=1)
    return predict


def gradient_boosting(rounds: Sequence[Round], seed: int) -> Predict:
    """Histogram-based, 100 trees of up to 31 leaves."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    state = _state(seed, "boosting")
    # Early stopping would judge by single rows, and by chance in large data alone.
    boosting = HistGradientBoostingRegressor(early_stopping=False, random_state=state)
    return _fitted(boosting, all_rows(rounds))


def kriging(rounds: Sequence[Round], seed: int) -> Predict:
    """Central kriging; the only one of these that knows its uncertainty, that of a median."""
    fitted = central_kriging(rounds)

    def predict(xy_m: NDArray[np.float64]) -> Prediction:
        mean_dbm, std_db = fitted.predict(xy_m)
        return Prediction(mean_dbm, np.hypot(std_db, fitted.kernel.noise_db))

    return predict


CENTRAL: Mapping[str, Fit] = {
    "linear": linear,
    "k_nn": nearest_neighbours,
    "random_forest": random_forest,
    "gradient_boosting": gradient_boosting,
    "central_kriging": kriging,
}


def _fitted(model: Any, rows: LocalData) -> Predict:
    """Positions are taken from the middle: trees hold them in single precision."""
    middle_m = rows.centroid_m
    model.fit(rows.xy_m - middle_m, rows.rsrp_dbm)
    return lambda xy_m: Prediction(np.asarray(model.predict(xy_m - middle_m), np.float64))


def _state(seed: int, name: str) -> int:
    return int(stream(seed, name).integers(2**31))
