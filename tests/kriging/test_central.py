import numpy as np
import pytest

from tests.conftest import make_local_data
from veilmap.kriging import central
from veilmap.kriging.central import central_kriging
from veilmap.local_data import LocalData, Round


def resting(xy_m, rsrp_dbm):
    """One user's points of a round at one place."""
    n = len(rsrp_dbm)
    return LocalData(np.tile(np.array(xy_m, float), (n, 1)), np.array(rsrp_dbm), np.zeros(n))


def test_a_users_rows_of_a_round_at_a_place_count_once():
    """Medians -80 of 'a' in rounds 1 and 2 and -92 of 'b': k = 3 and mean -84, not that of rows."""
    rounds = [
        Round(1, 0.0, {"a": resting((5, 5), [-80.0] * 99 + [-40.0])}),
        Round(2, 1.0, {"a": resting((5, 5), [-80.0]), "b": resting((5, 5), [-92.0])}),
    ]
    observed = central_kriging(rounds).observed
    assert observed.k.tolist() == [3.0]
    assert observed.mean_db == pytest.approx([-84.0])
    assert observed.xy_m.tolist() == [[5.0, 5.0]]


def test_where_there_are_too_many_places_they_grow(monkeypatch):
    rounds = [Round(1, 0.0, {"a": make_local_data(400)})]
    many = central_kriging(rounds)
    monkeypatch.setattr(central, "_MOST_PLACES", 20)
    few = central_kriging(rounds)
    assert len(few.observed) <= 20 < len(many.observed)
    assert few.observed.k.sum() == many.observed.k.sum()
