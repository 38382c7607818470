import stat

import numpy as np
import pytest

from tests.flower.making import SMALL, make_campaign
from veilmap.errors import UserError
from veilmap.flower.ledger import Entry, Ledger, entry_of

WEIGHTS = SMALL.initialise(0)


def entry(t=1, weights=WEIGHTS, how=("farthest",), mu=None, **changes):
    return entry_of(make_campaign(**changes), t, weights, how, mu)


def test_the_same_request_may_come_again_and_costs_nothing():
    ledger = Ledger(0).with_(entry(mu=0.5))
    assert ledger.has(entry(mu=0.5))
    assert list(ledger.objections(entry(mu=0.5), again=True)) == []
    assert ledger.with_(entry(mu=0.5)).spent_mu == 0.5


def test_under_secure_aggregation_not_even_the_same_request_comes_again():
    ledger = Ledger(0).with_(entry())
    assert list(ledger.objections(entry(), again=False)) != []


@pytest.mark.parametrize(
    "other",
    [
        {"weights": WEIGHTS + np.float32(1)},
        {"how": ("farthest", "dp")},
        {"label_offset_dbm": -90.0},
        {"seed": 5},
        {"first_s": make_campaign().first_s + 3600},
    ],
    ids=lambda other: next(iter(other)),
)
def test_the_same_measurements_in_another_guise_are_kept_back(other):
    ledger = Ledger(0).with_(entry())
    assert list(ledger.objections(entry(**other), again=True)) == [
        "has answered for these measurements before"
    ]


def test_other_rounds_and_other_cells_are_free():
    ledger = Ledger(0).with_(entry())
    assert list(ledger.objections(entry(t=2), again=True)) == []
    assert list(ledger.objections(entry(cell="b"), again=True)) == []


def test_noise_adds_by_squares_over_all_cells():
    ledger = Ledger(0).with_(entry(mu=3.0)).with_(entry(cell="b", mu=4.0)).with_(entry(t=3))
    assert ledger.spent_mu == pytest.approx(5.0)


def test_it_survives_on_the_disk_and_is_the_owners_alone(tmp_path):
    path = tmp_path / "node" / "ledger.json"
    ledger = Ledger.open(path, None).with_(entry(mu=1.0))
    ledger.save(path)
    assert Ledger.open(path, None) == ledger
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_node_has_a_secret_seed_of_its_own(tmp_path):
    seeds = {Ledger.open(tmp_path / "none.json", None).seed for _ in range(3)}
    assert len(seeds) == 3
    assert max(seeds) > 2**100


def test_a_study_keeps_its_seed(tmp_path):
    path = tmp_path / "ledger.json"
    Ledger.open(path, 7).save(path)
    assert Ledger.open(path, 7).seed == 7
    with pytest.raises(UserError, match="begun with another seed; leave out seed = 8"):
        Ledger.open(path, 8)


@pytest.mark.parametrize("content", ["", "[]", '{"seed": 1}', '{"schema": 9, "seed": 1}'])
def test_a_broken_ledger_is_named_and_never_begun_anew(tmp_path, content):
    path = tmp_path / "ledger.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"ledger\.json"):
        Ledger.open(path, None)


def test_an_entry_says_nothing_of_the_data():
    assert set(Entry.__annotations__) == {"cell", "start_s", "end_s", "request", "mu"}
