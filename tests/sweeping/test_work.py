import json
from dataclasses import replace
from math import hypot

import numpy as np
import polars as pl
import pytest

from tests.sweeping.making import TINY, make_case, make_data
from veilmap.area import Area
from veilmap.attacks.reconstruction import Outcome
from veilmap.metrics.transport import emd_paper
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.settings import RunSettings
from veilmap.study.trial import SameRound
from veilmap.sweeping import work
from veilmap.sweeping.work import run_case

DATA = make_data()
KEPT = ("found", "path", "gradient", "past")


def ran(*keep, data=DATA, **changes):
    record = run_case(make_case(data, keep=frozenset(keep), **changes), {"here": data})
    json.dumps(record.as_dict(), allow_nan=False)
    return record


def dlg(**changes):
    return AttackSettings.of(method="dlg", target="u0", max_iterations=5, **changes)


def test_a_run_gives_a_row_for_every_attack_and_a_line_for_every_round():
    record = ran(attacks=AttackSettings.of(method="first_layer,search", target="u0"))
    assert record.failed is None
    assert [row["attack"] for row in record.rows] == ["first_layer", "search"]
    assert [(line["attack"], line["round"]) for line in record.rounds] == [
        (name, t) for name in ("first_layer", "search") for t in (1, 2, 3)
    ]
    assert [line["round"] for line in record.training] == [1, 2, 3]
    assert record.seconds > 0
    first = record.rounds[0]
    assert first["norm"] == pytest.approx(hypot(first["norm_layer_1"], first["norm_layer_2"]))


def test_the_figures_of_a_round_are_means_over_its_starts():
    record = ran("found", attacks=dlg(starts=3, start="random"), same_round=SameRound(1))
    (line,), (row,) = record.rounds, record.rows
    area = make_case(DATA).area
    assert [place[:2] for place in record.found["dlg"]] == [[1, 0], [1, 1], [1, 2]]
    assert line["iterations"] == 5
    assert line["distance_m"] < line["distance_most_m"] == row["distance_most_m"]
    assert row["cosine_least"] <= line["cosine"] <= 1
    assert area.contains(np.array([place[2:] for place in record.found["dlg"]])).any()


@pytest.mark.parametrize("asked", KEPT)
def test_only_what_is_asked_for_is_kept(asked):
    record = ran(asked, attacks=dlg())
    assert record.kept == (asked,)
    assert {
        "found": bool(record.found),
        "path": bool(record.path),
        "gradient": bool(record.gradient),
        "past": record.rows[0]["rmse_past_gap_db"] is not None,
    } == {name: name == asked for name in KEPT}
    assert ("small_share" in record.rows[0]) == (asked == "gradient")


def test_what_is_kept_does_not_change_the_figures():
    bare, full = ran(attacks=dlg()), ran(*KEPT, attacks=dlg())
    own = {"small_share", "rmse_past_gap_db", "seconds"}
    for one, other in zip(bare.rows, full.rows, strict=True):
        assert {k: v for k, v in other.items() if k not in own} == {
            k: v for k, v in one.items() if k not in own
        }


def test_the_path_is_that_of_the_first_start_in_the_first_round():
    record = ran("path", "found", attacks=dlg(starts=2))
    assert record.path[-1] == record.found["dlg"][0][2:]
    assert record.path[0] != record.path[-1]


def test_a_step_to_nowhere_is_left_out_of_the_path(monkeypatch):
    real = work.trial

    def lost(*args, **keywords):
        done = real(*args, **keywords)
        first, *rest = done.attacked.every["dlg"]
        nowhere = np.full(2, np.nan)
        path_m = np.array([[1.0, 2.0], [np.nan, 3.0], [np.inf, 3.0]])
        first = replace(
            first, path_m=path_m, xy_m=nowhere, cosine=np.nan, outcome=Outcome.NOT_FINITE
        )
        every = {"dlg": [first, *rest]}
        return replace(done, attacked=replace(done.attacked, every=every))

    monkeypatch.setattr(work, "trial", lost)
    record = ran("path", "found", attacks=dlg())
    assert record.failed is None
    assert record.path == [[1.0, 2.0]]
    assert record.found["dlg"][0] == [1, 0, 1e12, 1e12]
    assert record.rounds[0]["distance_m"] is record.rounds[0]["cosine"] is None
    assert record.rows[0]["distance_most_m"] is not None


def test_the_spread_of_an_update_is_a_share_for_every_power_of_ten():
    record = ran("gradient", attacks=None)
    shares = [line["share_below"] for line in record.gradient]
    assert [line["decade"] for line in record.gradient] == list(range(-12, 2))
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    by_decade = {line["decade"]: line["share_below"] for line in record.gradient}
    assert record.rows[0]["small_share"] == pytest.approx(by_decade[-4])


def test_a_run_without_attacks_has_one_row_of_none():
    record = ran(attacks=None)
    assert [row["attack"] for row in record.rows] == ["none"]
    assert record.rounds == ()
    assert record.rows[0]["rmse_db"] > 0


def test_counted_data_have_rounds_points_and_the_distance_to_the_others():
    """160 rows of two users over three weeks: 80 of the target, in 3 rounds of a week."""
    record = ran(counted=True, attacks=None)
    (row,) = record.rows
    mine, others = (DATA.keep(pl.col("user") == user).xy_m for user in ("u0", "u1"))
    assert (row["measurements"], row["rounds"]) == (80, 3)
    assert row["points"] == pytest.approx(80 / 3)
    assert row["user_emd"] == pytest.approx(emd_paper(mine, others))
    assert (row["attack"], row["target"]) == ("none", "u0")


def test_counted_data_of_the_target_alone_have_no_distance():
    alone = DATA.keep(pl.col("user") == "u0")
    (row,) = ran(data=alone, counted=True, attacks=None).rows
    assert (row["user_emd"], row["measurements"]) == (None, 80)


def test_a_target_who_does_not_take_part_is_a_failure_for_good():
    alone = DATA.keep(pl.col("user") == "u0")
    record = ran(data=alone, counted=True, attacks=None, target="u1")
    assert record.failed == "u1 is counted and does not take part; add it to the users"
    assert not record.again


def test_training_that_diverges_is_a_failure_for_good():
    settings = RunSettings.of(**TINY, learning_rate=1e3, epochs=50, label_offset_dbm="none")
    record = ran("found", settings=settings)
    assert "training diverged" in record.failed
    assert (record.again, record.rows, record.kept) == (False, (), ("found",))


def test_an_error_of_ours_is_a_failure_to_be_tried_again(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("no good")

    monkeypatch.setattr(work, "trial", broken)
    record = ran()
    assert (record.failed, record.again) == ("ZeroDivisionError: no good", True)


def test_an_interrupt_is_no_failure(monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(work, "trial", stopped)
    with pytest.raises(KeyboardInterrupt):
        ran()


def test_the_area_of_the_case_is_where_the_attacker_looks():
    """In an area of ten metres square, whatever is found lies outside."""
    near, settings = Area(0.0, 0.0, 10.0, 10.0), RunSettings.of(**TINY, scaler="fitted")
    (row,), (usual,) = ran(area=near, settings=settings).rows, ran(settings=settings).rows
    assert row["diverged_share"] == 1
    assert usual["diverged_share"] < 1
