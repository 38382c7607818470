from dataclasses import replace

import polars as pl
import pytest

import veilmap
from tests.maps.making import Mean
from tests.study.foreign_attacks import Corner
from tests.study.foreign_steps import First
from tests.sweeping.making import TINY, make_data, make_given, make_places, make_runs, make_spec
from veilmap.errors import RenamedWarning, UserError
from veilmap.experiments import run_trial
from veilmap.experiments.schedule import Progress
from veilmap.experiments.store import TrialStore
from veilmap.sweeping import sweep as sweeping
from veilmap.sweeping.cohort import Given
from veilmap.sweeping.spec import Data
from veilmap.sweeping.sweep import Sweep
from veilmap.sweeping.sweep_result import sweep

GIVEN = make_given()


class Told:
    """Remembers what the callbacks were given."""

    def __init__(self):
        self.began, self.trials, self.messages = [], [], []

    @property
    def progress(self):
        return Progress(
            on_begin=lambda trials, cached: self.began.append((trials, cached)),
            on_trial=lambda trial, result: self.trials.append(trial),
            on_message=self.messages.append,
        )


def timeless(figures):
    """All rows of all tables but for the seconds."""
    tables = ("runs", "rounds", "training", "gradient")
    return {
        table: [{**row.row.as_dict(), **row.keys, "seconds": 0} for row in figures.rows(table)]
        for table in tables
    }


def swept(*specs, out=None, jobs=1, seeds=(0, 1), given=GIVEN):
    told = Told()
    figures = Sweep(specs, seeds, given).run(out, jobs, told.progress)
    return figures, told


def test_a_sweep_runs_every_combination_with_every_seed():
    spec = make_spec(make_runs(over={"T": ["1d", "1w"]}, settings={**TINY, "interval": "{T}"}))
    figures, told = swept(spec)
    rows = figures["spec"].rows()
    assert [(row.value("T"), row.value("seed")) for row in rows] == [
        ("1d", 0),
        ("1d", 1),
        ("1w", 0),
        ("1w", 1),
    ]
    assert told.began == [(4, 0)]
    assert len(told.trials) == 4


def test_two_specs_share_a_run_which_keeps_what_either_wants(tmp_path):
    one = make_spec(make_runs(name="mine", keep=("found",)), label="one")
    other = make_spec(make_runs(name="yours", keep=("past",)), label="other")
    figures, told = swept(one, other, out=tmp_path, seeds=(0,))
    assert told.began == [(1, 0)]
    assert [trial.keep for trial in told.trials] == [{"found", "past"}]
    ((mine, result),), ((yours, same),) = figures["one"].runs, figures["other"].runs
    assert result is same
    assert (mine["name"], yours["name"]) == ("mine", "yours")
    assert len(list(tmp_path.glob("*.json"))) == 1


def test_a_run_made_again_to_keep_more_keeps_what_it_kept_before(tmp_path):
    one = make_spec(make_runs(keep=("found",)), label="one")
    other = make_spec(make_runs(keep=("past",)), label="other")
    swept(one, out=tmp_path, seeds=(0,))
    _, told = swept(other, out=tmp_path, seeds=(0,))
    assert [trial.keep for trial in told.trials] == [{"found", "past"}]
    _, told = swept(one, out=tmp_path, seeds=(0,))
    assert told.began == [(1, 1)]


def test_the_clock_of_the_data_decides_where_days_are_cut_and_so_the_run(tmp_path):
    elsewhere = Given(replace(GIVEN.data, timezone="Asia/Tokyo"))
    swept(make_spec(), out=tmp_path, seeds=(0,))
    _, told = swept(make_spec(), out=tmp_path, seeds=(0,), given=elsewhere)
    assert told.began == [(1, 0)]


def test_other_companions_are_other_runs():
    together = make_runs(name="b", users=("target", "similar"))
    _, told = swept(make_spec(make_runs(name="a"), together), seeds=(0,))
    assert told.began == [(2, 0)]


def test_a_stopped_sweep_resumes_and_gives_the_same_figures(tmp_path):
    spec = make_spec(make_runs(over={"T": ["1d", "1w"]}, settings={**TINY, "interval": "{T}"}))
    whole, _ = swept(spec)

    def stop(trial, result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Sweep([spec], (0, 1), GIVEN).run(tmp_path, 1, Progress(on_trial=stop))
    assert len(list(tmp_path.iterdir())) == 1
    figures, told = swept(spec, out=tmp_path)
    assert told.began == [(4, 1)]
    assert timeless(figures["spec"]) == timeless(whole["spec"])
    again, told = swept(spec, out=tmp_path)
    assert (told.began, told.trials) == ([(4, 4)], [])
    assert again["spec"].rows() == figures["spec"].rows()


@pytest.mark.processes
def test_the_figures_do_not_depend_on_the_number_of_jobs():
    spec = make_spec(make_runs(name="a", keep=("gradient",)), make_runs(name="b", only_round=1))
    alone, _ = swept(spec)
    at_once, told = swept(spec, jobs=2)
    assert timeless(at_once["spec"]) == timeless(alone["spec"])
    assert len(told.trials) == 4


def test_a_damaged_run_is_run_again(tmp_path):
    swept(make_spec(), out=tmp_path)
    first, *_ = sorted(tmp_path.iterdir())
    first.write_text("{")
    _, told = swept(make_spec(), out=tmp_path)
    assert told.began == [(2, 1)]


def test_a_run_that_diverges_is_recorded_and_the_rest_continues(tmp_path):
    runs = make_runs(
        configuration="fedavg:learning_rate={rate},epochs=50",
        over={"rate": [1e3, 1e-3]},
        settings={**TINY, "label_offset_dbm": "none"},
    )
    figures, _ = swept(make_spec(runs), out=tmp_path)
    found = figures["spec"]
    assert {row.value("rate") for row in found.rows()} == {1e-3}
    assert [keys["rate"] for keys, _ in found.failed] == [1e3, 1e3]
    assert all("training diverged" in why for _, why in found.failed)
    _, told = swept(make_spec(runs), out=tmp_path)
    assert told.began == [(4, 4)]
    assert told.messages == ["4 runs (4 cached)"]


def test_an_error_of_ours_is_recorded_the_rest_continues_and_it_is_tried_again(
    tmp_path, monkeypatch
):
    real = run_trial.prepare

    def broken(data, settings):
        if settings.task.seed == 0:
            raise ZeroDivisionError("no good")
        return real(data, settings)

    with monkeypatch.context() as patch:
        patch.setattr(run_trial, "prepare", broken)
        figures, _ = swept(make_spec(), out=tmp_path)
    assert [row.value("seed") for row in figures["spec"].rows()] == [1]
    assert [why for _, why in figures["spec"].failed] == ["ZeroDivisionError: no good"]
    figures, told = swept(make_spec(), out=tmp_path)
    assert told.began == [(2, 1)]
    assert figures["spec"].failed == []


def test_a_run_that_the_data_do_not_allow_is_a_failure_without_work():
    runs = make_runs(users=("target", "dissimilar"))
    figures, told = swept(make_spec(runs), seeds=(0,))
    assert told.began == [(0, 0)]
    ((keys, why),) = figures["spec"].failed
    assert keys["name"] == "part"
    assert why == "no user is dissimilar among the 2 users of the cell"


def test_what_is_counted_has_one_seed():
    figures, _ = swept(make_spec(make_runs(measures="data")), seeds=(3, 4, 5))
    assert [row.value("seed") for row in figures["spec"].rows()] == [3]


def test_nothing_is_written_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(TrialStore, "save", None)
    swept(make_spec(), seeds=(0,))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def sources(monkeypatch):
    """Sources by name, and how often each was read."""
    everybody = make_places({"t": 0.0, "b": 0.01, "c": 0.02, "d": 0.03, "e": 0.04, "f": 0.05})
    reads = []

    def read(source):
        reads.append(source)
        return everybody

    monkeypatch.setattr(sweeping, "read", read)
    return reads


def test_a_source_is_read_once(sources):
    one = make_spec(make_runs(measures="data"), label="one")
    other = make_spec(make_runs(measures="data"), label="other", data=Data(target="b"))
    Sweep([one, other], (0,))
    assert sources == ["campus"]


def test_roles_that_a_spec_gives_go_before_those_found(sources):
    found = {
        name: Sweep([spec], (0,)).cohort(spec)
        for name, spec in {
            "none": make_spec(),
            "some": make_spec(data=Data(target="t", dissimilar="d", area_of=("target",))),
            "all": make_spec(data=Data(target="b", similar=("f",), dissimilar="t", background="e")),
        }.items()
    }
    roles = {
        name: (cohort.target, cohort.similar, cohort.dissimilar, set(cohort.background))
        for name, cohort in found.items()
    }
    assert roles["none"] == ("t", ("b", "c", "d"), "f", {"e"})
    assert roles["all"] == ("b", ("f",), "t", {"e"})
    assert roles["some"][2] == "d"
    assert found["some"].area.width_m < 10 < found["none"].area.width_m


def test_a_target_that_is_not_there_is_refused(sources):
    with pytest.raises(UserError, match="target 'nobody' matches 0 users of the cell"):
        Sweep([make_spec(data=Data(target="nobody", similar=("b",)))], (0,))


def test_given_data_take_the_place_of_those_of_the_spec(sources):
    spec = make_spec(data=Data("london", cell="x455", target="3", similar=("1",)))
    cohort = Sweep([spec], (0,), GIVEN).cohort(spec)
    assert sources == []
    assert (cohort.target, cohort.similar) == ("u0", ("u1",))
    other = replace(GIVEN, target="u1")
    assert Sweep([spec], (0,), other).cohort(spec).target == "u1"


def test_given_data_have_their_own_cell_of_a_rank():
    data = make_data()
    row = pl.int_range(pl.len())
    cell = pl.when(row % 10 < 6).then(pl.lit("a")).when(row % 10 < 9).then(pl.lit("b"))
    table = data.table.with_columns(cell=cell.otherwise(pl.lit("c")))
    given = Given(replace(data, table=table))
    for rank, name in ((1, "a"), (2, "b"), (3, "c"), (9, "c")):
        spec = make_spec(data=Data(cell_rank=rank))
        assert Sweep([spec], (0,), given).cohort(spec).data.cells == [name]


def test_objects_are_swept_stored_and_drawn(tmp_path):
    runs = make_runs(configuration="fedavg + {step}", over={"step": [First(2), First(9)]})
    spec = make_spec(
        runs,
        make_runs(name="map", configuration=(Mean(), "fedsgd"), attacks={"method": [Corner()]}),
    )
    done = sweep(spec, out=tmp_path, data=GIVEN.data, quick=True, jobs=1)
    assert done.rows["key_step"].to_list() == ["first:num=2", "first:num=9", None]
    assert done.rows["trained"][2].startswith("mean + fedsgd")
    assert {"frontier.png", "results.json", "rows.parquet"} <= {f.name for f in tmp_path.iterdir()}


def test_attacks_that_cannot_read_a_map_are_named_with_it():
    attacks = {"method": ["search", Corner()]}
    figures, _ = swept(make_spec(make_runs(configuration=(Mean(), "fedsgd"), attacks=attacks)))
    assert figures["spec"].unread == {"mean + fedsgd + centre": ("search",)}


def test_the_former_name_of_a_result_works_with_a_warning():
    with pytest.warns(RenamedWarning, match=r"veilmap\.Swept .*veilmap\.SweepResult"):
        assert veilmap.Swept is veilmap.SweepResult
    assert "Swept" not in dir(veilmap)
