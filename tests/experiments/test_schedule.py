from dataclasses import replace

import pytest
from torch import nn

from tests.experiments.making import make_trial
from tests.sweeping.making import make_data
from veilmap import TorchMap
from veilmap.experiments.schedule import Progress, run_trials
from veilmap.experiments.store import TrialStore
from veilmap.experiments.trial import Trial
from veilmap.study import code_fingerprint

DATA = make_data()
ONE, TWO = make_trial(DATA, seed=0), make_trial(DATA, seed=1)


class Heard:
    """What was said, and what was run."""

    def __init__(self):
        self.begun, self.ran, self.messages, self.results = [], [], [], []
        self.progress = Progress(
            lambda *counts: self.begun.append(counts),
            lambda trial, _: self.ran.append(trial),
            self.messages.append,
        )


@pytest.fixture
def store(tmp_path):
    return TrialStore(tmp_path / "runs")


def run(trials, store=None, **given):
    heard = Heard()
    results = run_trials(
        trials,
        {"": DATA},
        store,
        1,
        heard.progress,
        on_result=lambda trial, result: heard.results.append(trial.seed),
        **given,
    )
    return results, heard


def test_results_come_in_the_order_of_the_trials_and_equal_trials_are_run_once():
    results, heard = run([TWO, ONE, TWO])
    assert [each.seed for each in results] == [1, 0, 1]
    assert results[0] is results[2]
    assert heard.begun == [(2, 0)]
    assert len(heard.ran) == 2


def test_equal_trials_keep_what_either_asks_for():
    _, heard = run([replace(ONE, keep=frozenset({k})) for k in ("found", "past")])
    assert [trial.keep for trial in heard.ran] == [{"found", "past"}]


def test_cached_results_are_reused_and_come_first(store):
    (first,), _ = run([ONE], store)
    (second, again), heard = run([TWO, ONE], store)
    assert again == first
    assert (heard.begun, heard.ran, heard.results) == ([(2, 1)], [TWO], [0, 1])
    assert second.seed == 1


def test_fresh_computes_again_what_is_cached(store):
    run([ONE], store)
    before = {file: file.stat().st_mtime_ns for file in store.path.iterdir()}
    _, heard = run([ONE], store, fresh=True)
    assert (heard.begun, heard.ran, heard.messages) == ([(1, 0)], [ONE], [])
    after = {file: file.stat().st_mtime_ns for file in store.path.iterdir()}
    assert before.keys() == after.keys()
    assert before != after


def test_what_is_revised_is_stored(store):
    run([ONE], store, revise=lambda result: replace(result, oracle=("revised",)))
    ((found,), _) = run([ONE], store)
    assert found.oracle == ("revised",)


def test_results_in_an_older_layout_are_left_alone_in_one_line(store):
    store.path.mkdir()
    old = store.path / "fedsgd-centre-seed0-0123456789abcdef.json"
    old.write_text('{"rows": []}')
    _, heard = run([ONE], store)
    assert heard.begun == [(1, 0)]
    assert heard.messages == [
        f"{store.path} holds 1 result in an older layout; all are recomputed, and the old "
        "files stay until you delete them"
    ]
    assert old.read_text() == '{"rows": []}'


def test_results_of_other_code_are_computed_again_in_one_line(store, monkeypatch):
    run([ONE, TWO], store)
    monkeypatch.setattr(code_fingerprint, "package_fingerprint", lambda: "other")
    _, heard = run([ONE, TWO], store)
    assert heard.begun == [(2, 0)]
    assert heard.messages == [
        "2 cached results were computed with other code; recomputed and replaced"
    ]
    assert run([ONE, TWO], store)[1].begun == [(2, 2)]


def test_what_has_no_code_is_not_cached_in_one_line(store, monkeypatch):
    run([ONE], store)
    monkeypatch.setattr(Trial, "code", None)
    for _ in range(2):
        _, heard = run([ONE], store)
        assert heard.begun == [(1, 0)]
        assert heard.messages == [
            "not cached, because the code behind them cannot be identified: fedsgd + centre; "
            "define classes and functions at the top level of a module, with unique names"
        ]


def test_functions_of_one_name_share_no_result(store):
    def by(width):
        family = TorchMap(lambda: nn.Sequential(nn.Linear(2, width), nn.Linear(width, 1)))
        return make_trial(DATA, (family,), attacks=None, targets=())

    trials = [by(width) for width in (2, 4, 8)]
    results, _ = run([*trials, trials[0]], store)
    assert len({result.rows[0].map.rmse_db for result in results}) == 3
    assert results[0] is results[3]
    (again,), heard = run([by(2)], store)
    assert heard.begun == [(1, 0)]
    assert again.rows[0].map.rmse_db == results[0].rows[0].map.rmse_db
