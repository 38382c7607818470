import numpy as np
import pytest

from veilmap.attacks.gradient_matching.trajectory import StoppingCriteria, Trajectory
from veilmap.attacks.reconstruction import Outcome


def make_criteria(**changes) -> StoppingCriteria:
    """Never at rest, never far, 1 m per standardised unit; 25 iterations."""
    knobs = {
        "scale_m": (1.0, 1.0),
        "still_m": 1e-30,
        "still_iterations": 10**6,
        "max_iterations": 25,
        "middle_std": (0.0, 0.0),
        "far_m": np.inf,
    }
    return StoppingCriteria(**{**knobs, **changes})


def scripted(steps_m, **changes):
    """The trajectory of one location from (0, 0) along x, as long as it goes on."""
    trajectory = Trajectory((0.0, 0.0), make_criteria(max_iterations=len(steps_m), **changes))
    for step_m in steps_m:
        if trajectory.running:
            trajectory.move(trajectory.xy_std[0] + step_m, 0.0)
    assert not trajectory.running
    return trajectory.outcome, trajectory.iterations, trajectory.xy_std[0]


def test_rest_is_some_short_steps_in_a_row():
    """0.05 m counts as still below 0.1 m; the long third step restarts the count of 3."""
    steps_m = [0.05, 0.05, 1.0, 0.05, 0.05, 0.05, 7.0]
    outcome, iterations, x = scripted(steps_m, still_m=0.1, still_iterations=3)
    assert (outcome, iterations) == (Outcome.CONVERGED, 6)
    assert x == pytest.approx(1.25)


def test_a_step_of_exactly_still_m_is_a_step():
    outcome, iterations, _ = scripted([0.5] * 8, still_m=0.5, still_iterations=3)
    assert (outcome, iterations) == (Outcome.OUT_OF_ITERATIONS, 8)


def test_rest_in_the_last_iteration_is_rest():
    outcome, iterations, _ = scripted([0.1] * 3, still_m=0.5, still_iterations=3)
    assert (outcome, iterations) == (Outcome.CONVERGED, 3)


def test_a_location_beyond_far_m_from_the_middle_is_given_up():
    outcome, iterations, x = scripted([4.0] * 5, far_m=10.0, middle_std=(3.0, 0.0))
    assert (outcome, iterations, x) == (Outcome.FAR_AWAY, 4, 16.0)


@pytest.mark.parametrize("step_m", [np.nan, np.inf])
def test_a_location_that_is_no_number_ends_as_not_finite(step_m):
    outcome, iterations, _ = scripted([1.0, step_m, 1.0], far_m=10.0)
    assert (outcome, iterations) == (Outcome.NOT_FINITE, 2)


def test_steps_are_measured_in_metres_along_each_axis():
    """A step of (0.01, 0.01) is hypot(5, 4) = 6.4 m."""
    for still_m, running in ((6.3, True), (6.5, False)):
        criteria = make_criteria(scale_m=(500.0, 400.0), still_m=still_m, still_iterations=1)
        trajectory = Trajectory((1.0, 2.0), criteria)
        trajectory.move(1.01, 2.01)
        assert trajectory.running == running


def test_jumps_to_and_fro_end_as_circling_after_two_windows():
    """100 m in 50 iterations, then 3 m back and forth: the mean of the first 500 is 95 m."""
    steps_m = [2.0] * 50 + [3.0, -3.0] * 1500
    assert scripted(steps_m, circling_m=1.0)[:2] == (Outcome.CIRCLING, 1500)
    assert scripted(steps_m, circling_m=10.0)[:2] == (Outcome.CIRCLING, 1000)
    assert scripted(steps_m)[:2] == (Outcome.OUT_OF_ITERATIONS, 3050)


def test_a_location_that_creeps_on_is_no_circling_one():
    """3 m to and fro and 0.005 m per iteration on: 2.5 m from window to window."""
    steps_m = [3.005, -2.995] * 1500
    assert scripted(steps_m, circling_m=2.4)[0] == Outcome.OUT_OF_ITERATIONS
    assert scripted(steps_m, circling_m=2.6)[:2] == (Outcome.CIRCLING, 1000)


def test_a_path_has_the_start_and_every_step():
    trajectory = Trajectory((0.0, 0.0), make_criteria(), keep_path=True)
    trajectory.move(1.0, 2.0)
    trajectory.move(3.0, 4.0)
    assert trajectory.path_std == [(0.0, 0.0), (1.0, 2.0), (3.0, 4.0)]
    assert trajectory.running
