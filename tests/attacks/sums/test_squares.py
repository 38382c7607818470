from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.worlds import make_header as network_header
from tests.maps.walks import AREA, SQUARE_M, USERS, last_of, make_plan, points, walk, walks
from veilmap.attacks.attack import AttackInput, attacked
from veilmap.attacks.reconstruction import Outcome
from veilmap.attacks.secure_sum import SUM, secure_sum
from veilmap.attacks.sums.squares import Squares
from veilmap.errors import UserError
from veilmap.federation.observation import Recorder
from veilmap.federation.plan import Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import Round, Scaler


def header_of(plan):
    known = SideKnowledge(Scaler.of_area(AREA), AREA, 32634, -90.0, Training(), 100.0)
    return Header(plan.map, known)


def seen_of(plan, rounds, users=USERS):
    recorder = Recorder()
    last_of(plan, rounds, users, recorder)
    return recorder.observations


def found_in(plan, seen):
    return attacked(Squares(), "squares", AttackInput(header_of(plan), list(seen)))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_it_names_the_centres_of_the_visited_squares_and_their_mean(layout):
    """Centres (25, 25), (75, 25) and (25, 175): mean (41.7, 75); rows in a square count once."""
    plan = make_plan(layout=layout)
    batch = points(*[(1, 1, -80)] * 9, (60, 49, -90), (30, 160, -95), (2000, 0, -80))
    (found,) = found_in(plan, seen_of(plan, [Round(1, 0.0, {"a": batch})]))
    assert found.cloud.xy_m.tolist() == [[25, 25], [75, 25], [25, 175]]
    assert found.cloud.weights == pytest.approx([1 / 3] * 3)
    assert found.xy_m == pytest.approx([125 / 3, 75])
    assert (found.user, found.round, found.n) == ("a", 1, 3)
    assert found.outcome is Outcome.SOLVED


def test_every_point_lies_within_half_a_diagonal_of_a_place_found():
    """And without a bound on squares there is no place where nobody was."""
    plan, batch = make_plan(), walk()
    (found,) = found_in(plan, seen_of(plan, [Round(1, 0.0, {"a": batch})]))
    away_m = np.linalg.norm(batch.xy_m[:, None] - found.cloud.xy_m, axis=2)
    assert away_m.min(axis=1).max() <= SQUARE_M / np.sqrt(2)
    assert away_m.min(axis=0).max() <= SQUARE_M / np.sqrt(2)


def test_of_a_sum_a_square_weighs_as_many_phones_as_visited_it():
    """Two phones in the first square, one in the second: 2/3 and 1/3."""
    plan = make_plan()
    data = {"a": points((10, 10, -80)), "b": points((20, 20, -90), (60, 10, -90))}
    seen = seen_of(plan, [Round(1, 0.0, data), Round(2, 100.0, {"b": data["b"]})])
    sums = list(secure_sum(header_of(plan), seen))
    assert [(each.round, each.user, each.n) for each in sums] == [(1, SUM, 3), (2, SUM, 2)]
    first, second = found_in(plan, sums)
    assert first.cloud.xy_m.tolist() == [[25, 25], [75, 25]]
    assert first.cloud.weights == pytest.approx([2 / 3, 1 / 3])
    assert second.cloud.weights == pytest.approx([1 / 2, 1 / 2])


def test_a_sum_of_one_phone_is_what_it_sent():
    plan = make_plan()
    seen = seen_of(plan, walks(1, ("a",)), ("a",))
    (alone,), (summed,) = (
        found_in(plan, each) for each in (seen, list(secure_sum(header_of(plan), seen)))
    )
    assert (alone.cloud.xy_m == summed.cloud.xy_m).all()
    assert (alone.cloud.weights == summed.cloud.weights).all()


def test_a_message_that_names_no_square_names_no_location():
    plan = make_plan()
    (found,) = found_in(plan, seen_of(plan, [Round(1, 0.0, {"a": points((-900, 0, -80))})]))
    assert found.outcome is Outcome.NO_SIGNAL
    assert np.isnan(found.xy_m).all()


def test_it_reports_each_message_when_it_is_done():
    plan, done = make_plan(), []
    seen = seen_of(plan, walks(2))
    Squares().attack(AttackInput(header_of(plan), seen, done.append))
    assert done == [1] * len(seen) == [1] * 8


def test_it_reads_the_kriging_map_alone():
    assert Squares().reads(header_of(make_plan()))
    assert not Squares().reads(network_header())
    assert not Squares.oracle


def test_messages_of_another_kind_are_refused():
    plan = make_plan()
    (seen,) = seen_of(plan, walks(1, ("a",)), ("a",))
    other = replace(seen, message={"weights": np.zeros(3)})
    with pytest.raises(UserError, match="hold weights, and not the squares and signals that the"):
        found_in(plan, [other])
