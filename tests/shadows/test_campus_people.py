import numpy as np

from veilmap.area import Area
from veilmap.shadows import campus_people as module
from veilmap.shadows.campus_people import AT_HOME_M, campus_people

AREA = Area(420_000.0, 3_700_000.0, 421_900.0, 3_701_580.0)
DAY_S = 86_400.0


def drawn(count=5, seed=0, first=0, interval_s=7 * DAY_S, rounds=4):
    return list(campus_people(AREA, interval_s, rounds, count, seed, first))


def test_people_live_in_the_area_and_are_at_home_in_three_rounds():
    people = drawn()
    assert len({each.user for each in people}) == 5
    for each in people:
        assert AREA.contains(each.home_m)
        at_home = [
            (np.hypot(*(data.xy_m - each.home_m).T) <= AT_HOME_M).any()
            for data in each.rounds.values()
        ]
        assert sum(at_home) >= 3


def test_rounds_hold_what_was_measured_in_them():
    for each in drawn(interval_s=DAY_S, rounds=14):
        for t, data in each.rounds.items():
            assert ((data.time_s >= (t - 1) * DAY_S) & (data.time_s < t * DAY_S)).all()
            assert (np.diff(data.time_s) > 0).all()


def test_the_next_people_are_others_and_the_same_seed_gives_the_same():
    one, same = drawn(), drawn()
    last = int(one[-1].user.split()[-1])
    assert {each.user for each in one}.isdisjoint(e.user for e in drawn(first=last + 1))
    assert [each.home_m.tolist() for each in one] == [each.home_m.tolist() for each in same]
    assert one[0].home_m.tolist() != drawn(seed=1)[0].home_m.tolist()


def test_where_homes_are_never_seen_the_search_ends(monkeypatch):
    monkeypatch.setattr(module, "AT_HOME_M", -1.0)
    monkeypatch.setattr(module, "PATIENCE", 5)
    assert drawn() == []
