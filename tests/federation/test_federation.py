import numpy as np
import pytest

from tests.conftest import UNIT_SCALER, make_local_data
from veilmap.area import Area
from veilmap.defences.defence import Defence
from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.defences.farthest import FarthestBatch
from veilmap.defences.geoind import GeoIndistinguishability
from veilmap.errors import UserError
from veilmap.federation.client import mini_batches, user_update
from veilmap.federation.evaluation import Evaluation, joint_rmse_db
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.observation import Recorder
from veilmap.federation.plan import Plan, Training
from veilmap.federation.reference import server_executes
from veilmap.federation.server import federate, sample_users
from veilmap.local_data import Round
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.model.prediction import predict
from veilmap.model.training import gradient

AREA = Area(-500, -500, 500, 500)
USERS = ("a", "b", "c")
SMALL = Network(hidden=(16, 12), activations=("relu", "sigmoid"), dropout=(0.05, 0.05))
NO_DROPOUT = Network(hidden=(16,), activations=("tanh",), dropout=(0.0,))


def make_plan(network=SMALL, seed=0, offset=-96.0, defence=(), **knobs) -> Plan:
    return Plan(
        NetworkMap.of(network), UNIT_SCALER, AREA, Training(**knobs), offset, seed, Defence(defence)
    )


def make_rounds(count=4) -> list[Round]:
    """User b has no data in even rounds, user c only a single point."""
    return [
        Round(
            t,
            1000.0 * t,
            {
                "a": make_local_data(53, seed=t),
                **({"b": make_local_data(31, seed=10 + t)} if t % 2 else {}),
                "c": make_local_data(1, seed=20 + t),
            },
        )
        for t in range(1, count + 1)
    ]


@pytest.mark.parametrize(
    "knobs",
    [
        {},
        {"fraction": 0.67},
        {"batch_size": "inf", "epochs": 1},
        {"defence": (FarthestBatch(30.0, 12), DifferentialPrivacy(epsilon=1000.0))},
        {"defence": (GeoIndistinguishability(0.02), DiverseBatch(40.0))},
    ],
)
def test_the_engine_equals_algorithm_1_line_by_line(knobs):
    plan, rounds = make_plan(learning_rate=0.01, **knobs), make_rounds()
    fast = [result.weights for result in federate(plan, rounds, USERS)]
    slow = list(server_executes(plan, rounds, USERS))
    assert len(fast) == len(slow) == 4
    for mine, reference in zip(fast, slow, strict=True):
        np.testing.assert_allclose(mine, reference, atol=2e-6)


def test_fedsgd_with_one_user_is_one_plain_sgd_step():
    plan = make_plan(NO_DROPOUT, batch_size="inf", epochs=1, learning_rate=0.05)
    data = make_local_data(40)
    (result,) = federate(plan, [Round(1, 0.0, {"a": data})], ["a"])
    weights = NO_DROPOUT.initialise(0)
    batch = (UNIT_SCALER.standardise(data.xy_m), (data.rsrp_dbm + 96).astype(np.float32))
    np.testing.assert_allclose(
        result.weights, weights - 0.05 * gradient(NO_DROPOUT, weights, batch), atol=1e-6
    )


def test_the_average_of_equal_users_is_any_of_them():
    """Without dropout and with B = ∞ the users differ in nothing but their name."""
    plan = make_plan(NO_DROPOUT, batch_size="inf", epochs=1, learning_rate=0.05)
    data = make_local_data(40)
    (alone,) = federate(plan, [Round(1, 0.0, {"a": data})], ["a"])
    (three,) = federate(plan, [Round(1, 0.0, dict.fromkeys(USERS, data))], USERS)
    np.testing.assert_allclose(three.weights, alone.weights, atol=1e-7)


def test_the_average_weighs_users_by_their_points():
    plan = make_plan(learning_rate=0.01)
    watch = Recorder()
    (result,) = federate(plan, make_rounds(1), USERS, watch)
    assert result.users == USERS
    assert result.n == (53, 31, 1)
    expected = sum(o.n / 85 * o.weights_after.astype(np.float64) for o in watch.observations)
    np.testing.assert_allclose(result.weights, expected, atol=1e-7)


def test_every_update_is_observed_with_the_weights_it_started_from():
    plan, watch = make_plan(), Recorder()
    results = list(federate(plan, make_rounds(3), USERS, watch))
    seen = watch.observations
    assert [(o.round, o.user, o.n) for o in seen] == [
        (1, "a", 53), (1, "b", 31), (1, "c", 1), (2, "a", 53), (2, "c", 1),
        (3, "a", 53), (3, "b", 31), (3, "c", 1),
    ]  # fmt: skip
    assert (seen[0].weights_before == SMALL.initialise(0)).all()
    assert (seen[3].weights_before == results[0].weights).all()
    again = user_update(plan, seen[3].weights_before, make_rounds(2)[1].data["a"], "a", 2)
    assert (seen[3].weights_after == again).all()


def test_a_round_without_any_participant_changes_nothing():
    plan = make_plan()
    (result,) = federate(plan, [Round(1, 0.0, {"a": make_local_data(5)})], ["z"])
    assert result.users == ()
    assert (result.weights == SMALL.initialise(0)).all()


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    runs = [
        [result.weights for result in federate(make_plan(seed=seed), make_rounds(), USERS)]
        for seed in (0, 0, 1)
    ]
    assert all((a == b).all() for a, b in zip(runs[0], runs[1], strict=True))
    assert all((a != b).any() for a, b in zip(runs[0], runs[2], strict=True))


def test_one_more_user_changes_no_other_users_update():
    few, many = Recorder(), Recorder()
    rounds = make_rounds(1)
    list(federate(make_plan(), rounds, ("a", "b"), few))
    list(federate(make_plan(), rounds, USERS, many))
    for one, other in zip(few.observations, many.observations[:2], strict=True):
        assert (one.weights_after == other.weights_after).all()


@pytest.mark.parametrize(
    ("fraction", "total", "count"),
    [(1.0, 10, 10), (0.5, 10, 5), (0.25, 10, 2), (0.01, 10, 1), (0.29, 100, 29), (0.58, 100, 58)],
)
def test_a_fraction_c_of_the_users_is_asked(fraction, total, count):
    users = [f"u{k}" for k in range(total)]
    asked = [sample_users(make_plan(fraction=fraction), users, t) for t in range(1, 9)]
    assert all(len(set(names)) == count for names in asked)
    assert count == total or len({tuple(names) for names in asked}) > 1


def test_mini_batches_are_a_partition_of_the_local_batch():
    data = make_local_data(53)
    batches = mini_batches(make_plan(), data, "a", 1)
    assert [len(y) for _, y in batches] == [20, 20, 13]
    labels = np.concatenate([y for _, y in batches])
    assert sorted(labels) == pytest.approx(sorted(data.rsrp_dbm + 96))
    assert labels.tolist() != (data.rsrp_dbm + 96).tolist()


def test_the_rmse_of_several_sets_is_that_of_all_their_points():
    plan, state = make_plan(), {WEIGHTS: SMALL.initialise(5)}
    sets = [make_local_data(30, seed=1), make_local_data(50, seed=2)]
    together = Evaluation(plan, type(sets[0]).join(sets)).rmse_db(state)
    apart = joint_rmse_db([Evaluation(plan, each) for each in sets], state)
    assert apart == pytest.approx(together)


def test_rmse_on_distinct_positions_equals_the_plain_sum():
    plan, data = make_plan(), make_local_data(300)
    data = type(data)(data.xy_m.round(-2), data.rsrp_dbm, data.time_s)  # many share a position
    weights = SMALL.initialise(5)
    plain = predict(SMALL, weights, UNIT_SCALER.standardise(data.xy_m)) - 96 - data.rsrp_dbm
    rmse_db = Evaluation(plan, data).rmse_db({WEIGHTS: weights})
    assert rmse_db == pytest.approx(np.sqrt((plain**2).mean()))


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"epochs": 0}, "epochs must be from 1 to 100,000, got 0"),
        ({"batch_size": 0}, "batch_size must be a whole number from 1 to .*, or 'inf', got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a number above 0, got nan"),
        ({"fraction": 1.5}, "fraction must be above 0 and at most 1, got 1.5"),
    ],
)
def test_wrong_knobs_are_refused(knobs, message):
    with pytest.raises(UserError, match=message):
        Training(**knobs)
