import stat
import threading

import numpy as np
import pytest

from tests.conftest import make_local_data
from tests.flower.making import SMALL, make_campaign
from veilmap.errors import UserError
from veilmap.flower.ledger import Ledger, entry_of
from veilmap.flower.machines.private_files import alone

WEIGHTS = SMALL.initialise(0)


def entry(t=1, weights=WEIGHTS, how=("farthest",), mu=None, **changes):
    return entry_of(make_campaign(**changes), t, {"weights": weights}, how, mu)


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
        "has already answered for these measurements"
    ]


def test_other_rounds_and_other_cells_are_free():
    ledger = Ledger(0).with_(entry())
    assert list(ledger.objections(entry(t=2), again=True)) == []
    assert list(ledger.objections(entry(cell="b"), again=True)) == []


def test_noise_adds_by_squares_over_all_cells():
    ledger = Ledger(0).with_(entry(mu=3.0)).with_(entry(cell="b", mu=4.0))
    assert ledger.spent_mu == pytest.approx(5.0)
    assert ledger.with_(entry(t=3)).spent_mu == float("inf")


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
    kept = Ledger.open(path, 7)
    assert (kept.seed, kept.seed_for(entry())) == (7, 7)
    for other in (8, None):
        with pytest.raises(UserError, match="created with another seed"):
            Ledger.open(path, other)


def test_a_node_draws_again_for_every_request_and_alike_for_the_same():
    ledger = Ledger(5)
    assert ledger.seed_for(entry()) == ledger.seed_for(entry())
    assert ledger.seed_for(entry()) != ledger.seed_for(entry(t=2))
    assert ledger.seed_for(entry()) != Ledger(6).seed_for(entry())


@pytest.mark.parametrize("content", ["", "[]", '{"seed": 1}', '{"schema": 9, "seed": 1}'])
def test_a_broken_ledger_is_named_and_never_begun_again(tmp_path, content):
    path = tmp_path / "ledger.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"ledger\.json"):
        Ledger.open(path, None)


def test_the_ledger_does_not_reveal_what_was_measured():
    """The digest of the data is keyed: rows cannot be tried out."""
    data = make_local_data(3)
    assert Ledger(1).fingerprint(data) != Ledger(2).fingerprint(data)
    assert Ledger(1).fingerprint(data) != Ledger(1).fingerprint(data.take(np.array([0, 1])))


def test_messages_take_turns_at_the_ledger(tmp_path):
    """Two that read the same ledger at once would both answer."""
    path, order = tmp_path / "ledger.json", []

    def second():
        with alone(path):
            order.append("second")

    with alone(path):
        other = threading.Thread(target=second)
        other.start()
        other.join(0.2)
        order.append("first")
    other.join()
    assert order == ["first", "second"]
