"""Flower's simulation engine on Ray gives what the engine in one process gives."""

import json

import numpy as np
import psutil
import pytest

from tests.conftest import make_measurements
from tests.flower.kriging_making import same
from tests.flower.making import SMALL, largest_difference
from veilmap.errors import UserError
from veilmap.flower import simulation
from veilmap.flower.simulated import campaign_of, people_of
from veilmap.flower.simulation import simulate
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train_prepared


def make_prepared(data, **settings):
    return prepare(data, RunSettings.of(map="network", defence=["diverse:eps_m=50"], **settings))


@pytest.fixture
def prepared():
    """Four people, so that a sum is of enough."""
    small = {"hidden": SMALL.hidden, "activations": SMALL.activations, "dropout": SMALL.dropout}
    return make_prepared(make_measurements(rows=800, users=4), interval="1d", **small)


@pytest.mark.machines
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("secure", [False, True])
def test_simulated_nodes_give_the_weights_of_the_engine_in_one_process(
    prepared, tmp_path, monkeypatch, secure
):
    heard = listening_during(monkeypatch)
    journal = simulate(prepared, tmp_path / "out", cpus=1, secure_aggregation=secure)
    run = train_prepared(prepared)
    assert largest_difference(journal.weights, run.signal_map.weights) < (1e-4 if secure else 1e-5)
    assert journal.history[-1].rmse_db == pytest.approx(run.rmse_db, abs=0.01)
    record = json.loads((tmp_path / "out" / "settings.json").read_bytes())
    assert secure or record == json.loads(json.dumps(run.results()["settings"]))
    assert {outcome.asked for outcome in journal.history} == {len(prepared.users)}
    # Ray's own processes would listen on all interfaces.
    assert heard
    assert {
        address for address in heard if not address.startswith(("127.", "::ffff:127."))
    } == set()


@pytest.mark.machines
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    ("secure", "own"),
    [(False, {"most_squares": 3}), (False, {"layout": "sparse"}), (True, {"layout": "sparse"})],
)
def test_simulated_nodes_give_the_kriging_map_of_one_process(tmp_path, secure, own):
    data = make_measurements(rows=800, users=4)
    settings = RunSettings.of(map="kriging", interval="1d", square_m=200.0, **own)
    prepared = prepare(data, settings)
    journal = simulate(prepared, tmp_path / "out", cpus=1, secure_aggregation=secure)
    run = train_prepared(prepared)
    assert same(journal.state, run.signal_map.state)
    assert journal.history[-1].rmse_db == run.rmse_db
    record = json.loads((tmp_path / "out" / "settings.json").read_bytes())
    assert secure or record == json.loads(json.dumps(run.results()["settings"]))


def listening_during(monkeypatch):
    """The addresses at which our children listen while the rounds go on."""
    heard = set()
    carry_out = simulation.carry_out

    def listen(*arguments):
        for child in psutil.Process().children(recursive=True):
            heard.update(
                each.laddr.ip
                for each in child.net_connections("tcp")
                if each.status == psutil.CONN_LISTEN
            )
        return carry_out(*arguments)

    monkeypatch.setattr(simulation, "carry_out", listen)
    return heard


def test_the_campaign_of_a_run_asks_for_the_same(prepared):
    campaign = campaign_of(prepared)
    assert campaign.start_s(prepared.rounds[-1].number) == prepared.rounds[-1].start_s
    assert campaign.scaler == prepared.plan.scaler
    people = list(people_of(prepared))
    assert [person.user for person in people] == list(prepared.users)
    assert sum(len(data) for person in people for data in person.rounds.values()) == sum(
        len(data) for this in prepared.rounds for data in this.data.values()
    )
    assert np.isfinite(campaign.first_s)


def test_only_defended_users_take_the_steps(small_campus):
    user = small_campus.of_cell(None).users[0]
    prepared = make_prepared(small_campus, defended=[user])
    steps = {person.user: person.minimum.defence for person in people_of(prepared)}
    assert steps.pop(user) == ("diverse:eps_m=50",)
    assert set(steps.values()) == {()}


def test_what_nodes_cannot_know_is_refused(small_campus):
    with pytest.raises(UserError, match="take --scaler area"):
        campaign_of(make_prepared(small_campus, scaler="fitted"))
