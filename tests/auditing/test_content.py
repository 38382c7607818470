import numpy as np
import pytest

from tests.auditing.making import make_line, ranked, ranking
from veilmap.area import Area
from veilmap.auditing.content import configurations, ground
from veilmap.experiments.positions import Points, Positions
from veilmap.experiments.result import TrialResult
from veilmap.geo import Projection
from veilmap.metrics.panel_row import StepCost
from veilmap.study.phones import StepSummary

CORNER_M = np.array([500_000.0, 4_000_000.0])
AREA = Area(500_000.0, 4_000_000.0, 501_000.0, 4_001_000.0)
UTM = Projection(32631)


def points(*rows):
    """(round, metres east, metres north, weight) from the area's corner."""
    return Points.of(
        [(t, CORNER_M + np.array([[x, y]], float), np.array([w], float)) for t, x, y, w in rows]
    )


def make_positions(**given):
    return Positions(
        **{
            "epsg": 32631,
            "area": AREA,
            "truth": {"0": points((1, 10, 10, 1), (1, 20, 20, 1), (3, 30, 30, 1))},
            "chosen": {"0": points((1, 20, 20, 1))},
            "locations": {("dlg", "0"): points((1, 50, 50, 1), (3, -500, 50, 1))},
            "clouds": {("dlg", "0"): points((1, 50, 50, 0.25), (1, 60, 60, 0.75))},
            "homes": {"0": tuple(CORNER_M + 10.0)},
            "named_homes": {("dlg", "0"): tuple(CORNER_M + 50.0)},
            "signal_dbm": np.full((2, 3), -90, np.float32),
            "box_deg": (2.9, 36.1, 3.1, 36.2),
            **given,
        }
    )


def make_result(name="fedavg", **given):
    history = tuple(make_line(t, start_s=86_400.0 * t) for t in (1, 3))
    return TrialResult(name, 0, history=history, positions=make_positions(**given))


def test_metres_become_degrees():
    found = ground([make_result()], "Europe/Athens", (36.15, 3.0))
    lat_deg, lon_deg = UTM.degrees((CORNER_M + 10.0).reshape(1, 2))
    assert found.truth["0"].lat_deg[0] == pytest.approx(lat_deg[0])
    assert found.truth["0"].lon_deg[0] == pytest.approx(lon_deg[0])
    assert found.truth["0"].rounds.tolist() == [1, 1, 3]
    assert found.tower_deg == (36.15, 3.0)
    assert len(found.area_deg) == 4


def test_homes_become_degrees():
    others = make_result("fedavg + centre", named_homes={})
    found = ground([make_result(), others], "UTC", None)
    true, named = (UTM.degrees((CORNER_M + off_m).reshape(1, 2)) for off_m in (10.0, 50.0))
    assert found.homes == {"0": pytest.approx(np.ravel(true))}
    assert found.named_homes == {("fedavg", "dlg", "0"): pytest.approx(np.ravel(named))}


def test_rounds_begin_by_the_clock_of_the_place():
    """Midnight in Greenwich is two o'clock in Athens."""
    found = ground([make_result()], "Europe/Athens", None)
    assert found.rounds == (1, 3)
    assert found.starts == ("1970-01-02 02:00", "1970-01-04 02:00")


def test_what_left_the_area_is_marked_and_weights_stay():
    found = ground([make_result()], "UTC", None).found["fedavg", "dlg", "0"]
    assert found.inside.tolist() == [True, False]
    assert found.weights.tolist() == [0.25, 0.75]


def test_what_has_no_place_on_earth_is_left_out():
    far = {("dlg", "0"): points((1, 1e9, 1e9, 1), (3, 5, 5, 1))}
    found = ground([make_result(locations=far)], "UTC", None).found["fedavg", "dlg", "0"]
    assert found.locations.rounds.tolist() == [3]
    assert np.isfinite(found.locations.lat_deg).all()
    nothing = {("dlg", "0"): points()}
    empty = ground([make_result(locations=nothing)], "UTC", None).found["fedavg", "dlg", "0"]
    assert len(empty.locations.rounds) == len(empty.inside) == 0


def test_without_positions_there_is_no_ground():
    assert ground([TrialResult("fedavg", 0)], "UTC", None) is None


def step(seconds, spent):
    usual = {"turns": 1, "points_before": 9.0, "points": 9.0, "kept_share": 1.0, "kept_whole": 0}
    return StepSummary(
        step="dp:epsilon=100", **usual, centroid_moved_m=None, seconds=seconds,
        seconds_max=seconds, peak_mb=100 * seconds, learned=0, learning_seconds=0.0,
        spent={"epsilon": spent},
    )  # fmt: skip


def test_costs_are_means_and_budgets_the_most_spent():
    """0.1 s and 0.3 s are 200 ms; the most memory is 30 MB, the most spent 9."""
    results = [
        TrialResult("fedavg", 0),
        TrialResult("fedavg + dp:epsilon=100", 0, steps=(step(0.1, 9.0),)),
        TrialResult("fedavg + dp:epsilon=100", 1, steps=(step(0.3, 5.0),)),
    ]
    beaten = ranked("fedavg + dp:epsilon=100", 7.0, 10.0, dominated_by="fedavg")
    plain, noisy = configurations(
        ranking(ranked("fedavg", 5.0, 40.0), beaten), results, "fedavg + dp:epsilon=100"
    )
    assert noisy.costs == (
        StepCost("dp:epsilon=100", pytest.approx(200), pytest.approx(30), 0.0, {"epsilon": 9.0}),
    )
    assert plain.costs == ()
    assert (plain.is_baseline, plain.is_on_frontier, plain.is_recommended) == (True, True, False)
    assert (noisy.is_baseline, noisy.is_on_frontier, noisy.is_recommended) == (False, False, True)
    assert noisy.dominated_by == "fedavg"
