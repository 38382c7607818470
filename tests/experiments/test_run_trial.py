import json
from dataclasses import dataclass, replace
from math import hypot
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.experiments.making import make_trial, run
from tests.study.foreign_attacks import Corner
from tests.sweeping.making import TINY, make_data
from veilmap.area import Area
from veilmap.attacks.reconstruction import Outcome
from veilmap.experiments import run_trial
from veilmap.experiments.trial import SameRound
from veilmap.metrics.transport import emd_paper
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.settings import RunSettings

DATA = make_data()
KEPT = ("found", "chosen", "path", "gradient", "past", "history")


def ran(*keep, data=DATA, **changes):
    result = run(make_trial(data, keep=frozenset(keep), **changes), data)
    flat = [row.as_dict() for row in (*result.rows, *result.rounds, *result.training)]
    json.dumps(flat, allow_nan=False)
    return result


def dlg(**changes):
    return AttackSettings.of(method="dlg", max_iterations=5, **changes)


def test_a_run_gives_a_row_for_every_attack_and_a_line_for_every_round():
    result = ran(attacks=AttackSettings.of(method="first_layer,search"))
    assert result.failed is None
    assert [row.attack for row in result.rows] == ["first_layer", "search"]
    assert [(line.attack, line.round) for line in result.rounds] == [
        (name, t) for name in ("first_layer", "search") for t in (1, 2, 3)
    ]
    assert [line.round for line in result.training] == [1, 2, 3]
    assert result.seconds > 0
    first = result.rounds[0]
    layers = [first.figure(f"norm_layer_{i}") for i in (1, 2)]
    assert first.norm == pytest.approx(hypot(*layers))
    assert first.as_dict()["norm_layer_2"] == layers[1]


def test_the_figures_of_a_round_are_means_over_its_starts():
    result = ran("found", attacks=dlg(starts=3, start="random"), same_round=SameRound(1))
    (line,), (row,) = result.rounds, result.rows
    found = result.positions.tried["dlg", "u0"]
    assert found.rounds.tolist() == [1, 1, 1]
    assert line.iterations == 5
    assert line.distance_m < line.distance_most_m == row.starts.distance_most_m
    assert row.starts.cosine_least <= line.cosine <= 1
    assert result.positions.area.contains(found.xy_m).any()


@pytest.mark.parametrize("asked", KEPT)
def test_only_what_is_asked_for_is_kept(asked):
    result = ran(asked, attacks=dlg())
    assert result.kept == (asked,)
    assert {
        "found": bool(result.positions and result.positions.tried),
        "chosen": bool(result.positions and result.positions.chosen),
        "path": bool(result.positions and len(result.positions.path_m)),
        "gradient": bool(result.gradient),
        "past": result.rows[0].map.rmse_past_gap_db is not None,
        "history": bool(result.history),
    } == {name: name == asked for name in KEPT}
    assert ("small_share" in result.rows[0].as_dict()) == (asked == "gradient")


def test_what_is_kept_does_not_change_the_figures():
    bare, full = ran(attacks=dlg()), ran(*KEPT, attacks=dlg())
    own = {"small_share", "rmse_past_gap_db", "seconds"}
    for one, other in zip(bare.rows, full.rows, strict=True):
        assert {k: v for k, v in other.as_dict().items() if k not in own} == {
            k: v for k, v in one.as_dict().items() if k not in own
        }


def test_the_path_is_that_of_the_first_start_in_the_first_round():
    result = ran("path", "found", attacks=dlg(starts=2))
    path_m, found = result.positions.path_m, result.positions.tried["dlg", "u0"]
    assert path_m[-1].tolist() == found.xy_m[0].tolist() != path_m[0].tolist()


def test_a_step_to_nowhere_is_left_out_of_the_path(monkeypatch):
    real = run_trial.attack

    def lost(*args, **keywords):
        attacked = real(*args, **keywords)
        first, *rest = attacked.every["dlg"]
        nowhere = np.full(2, np.nan)
        path_m = np.array([[1.0, 2.0], [np.nan, 3.0], [np.inf, 3.0]])
        first = replace(
            first, path_m=path_m, xy_m=nowhere, cosine=np.nan, outcome=Outcome.NOT_FINITE
        )
        return replace(attacked, every={"dlg": [first, *rest]})

    monkeypatch.setattr(run_trial, "attack", lost)
    result = ran("path", "found", attacks=dlg())
    assert result.failed is None
    assert result.positions.path_m.tolist() == [[1.0, 2.0]]
    assert result.positions.tried["dlg", "u0"].xy_m[0].tolist() == [1e12, 1e12]
    assert result.rounds[0].distance_m is result.rounds[0].cosine is None
    assert result.rows[0].starts.distance_most_m is not None


def test_the_spread_of_an_update_is_a_share_for_every_power_of_ten():
    result = ran("gradient", attacks=None)
    shares = [line.share_below for line in result.gradient]
    assert [line.decade for line in result.gradient] == list(range(-12, 2))
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    by_decade = {line.decade: line.share_below for line in result.gradient}
    assert result.rows[0].updates.small_share == pytest.approx(by_decade[-4])


def test_a_run_without_attacks_has_one_row_of_none():
    result = ran(attacks=None)
    assert [row.attack for row in result.rows] == ["none"]
    assert result.rounds == ()
    assert result.rows[0].figure("rmse_db") > 0


def test_counted_data_have_rounds_points_and_the_distance_to_the_others():
    """160 rows of two users over three weeks: 80 of the target, in 3 rounds of a week."""
    result = ran(counted=True, attacks=None)
    (row,) = result.rows
    mine, others = (DATA.keep(pl.col("user") == user).xy_m for user in ("u0", "u1"))
    assert (row.data.measurements, row.data.rounds) == (80, 3)
    assert row.data.points == pytest.approx(80 / 3)
    assert row.data.user_emd == pytest.approx(emd_paper(mine, others))
    assert (row.attack, row.target) == ("none", "u0")


def test_counted_data_of_the_target_alone_have_no_distance():
    alone = DATA.keep(pl.col("user") == "u0")
    (row,) = ran(data=alone, counted=True, attacks=None).rows
    assert (row.data.user_emd, row.data.measurements) == (None, 80)


def test_a_target_that_does_not_take_part_is_a_permanent_failure():
    alone = DATA.keep(pl.col("user") == "u0")
    result = ran(data=alone, counted=True, attacks=None, targets=("u1",))
    assert result.failed == "u1 is counted and does not take part; add it to the users"
    assert not result.again


def test_training_that_diverges_is_a_failure_for_good():
    settings = RunSettings.of(**TINY, learning_rate=1e3, epochs=50, label_offset_dbm="none")
    result = ran("found", settings=settings)
    assert "training diverged" in result.failed
    assert (result.again, result.rows, result.kept) == (False, (), ("found",))


def test_an_error_of_ours_is_a_failure_to_be_tried_again(monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("no good")

    monkeypatch.setattr(run_trial, "train_prepared", broken)
    result = ran()
    assert (result.failed, result.again) == ("ZeroDivisionError: no good", True)


@dataclass(frozen=True)
class Failing(Corner):
    """Fails in a line of its own, or in one of NumPy that it calls."""

    in_numpy: bool = False
    name = "failing"

    def attack(self, given):
        if self.in_numpy:
            np.linalg.inv(np.zeros((2, 2)))  # NumPy's
        raise KeyError("gone")  # its own


@pytest.mark.parametrize(
    ("in_numpy", "what", "at"),
    [(False, "KeyError: 'gone'", "# its own"), (True, "LinAlgError: Singular matrix", "# NumPy's")],
)
def test_an_error_of_a_strangers_code_names_its_line(in_numpy, what, at):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = (place for place, line in enumerate(lines, 1) if line.endswith(f"  {at}"))
    result = ran(attacks=AttackSettings.of(method=Failing(in_numpy=in_numpy)))
    assert result.failed == f"{what} (test_run_trial.py:{number})"


def test_an_interrupt_is_no_failure(monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_trial, "train_prepared", stopped)
    with pytest.raises(KeyboardInterrupt):
        ran()


def test_the_area_of_the_trial_is_where_the_attacker_looks():
    """In an area of ten metres square, whatever is found lies outside."""
    near, settings = Area(0.0, 0.0, 10.0, 10.0), RunSettings.of(**TINY, scaler="fitted")
    (row,), (usual,) = ran(area=near, settings=settings).rows, ran(settings=settings).rows
    assert row.scores.diverged_share == 1
    assert usual.scores.diverged_share < 1
