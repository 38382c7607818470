"""One posterior from all rounds, from messages to places."""

from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.worlds import (
    AREA,
    FEDAVG,
    FEDSGD,
    inside,
    make_data,
    make_header,
    observe,
    off_m,
    silent,
)
from veilmap.area import Area
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.joint.joint import Joint
from veilmap.attacks.joint.readings import read_messages
from veilmap.attacks.reconstruction import Outcome
from veilmap.attacks.rows.rows import Rows
from veilmap.metrics.clouds import pool
from veilmap.metrics.places import find_places
from veilmap.metrics.transport import emd_m
from veilmap.model.network import Network

NETWORK = Network((96, 320), ("relu", "sigmoid"), (0.05, 0.05), "pytorch")
HOME_M, WORK_M = inside([0.3, 0.6]), inside([0.7, 0.35])


def week(seed, at_home=200, at_work=80, at_friends=20):
    """Most points at home, some at work; every third week a few with friends elsewhere."""
    draw = np.random.default_rng(seed)
    friends_m = draw.uniform(*AREA.corners_m)
    counts = [at_home, at_work, at_friends * (seed % 3 == 2)]
    places_m = np.repeat([HOME_M, WORK_M, friends_m], counts, axis=0)
    xy_m = draw.permutation(places_m + draw.normal(0, 12, places_m.shape))
    return make_data(xy_m, draw.normal(-96, 5, len(xy_m)).round())


def weeks(header, count=5, **how):
    """Updates of successive rounds, and the points behind them."""
    weights, seen, data = None, [], []
    for t in range(count):
        data.append(week(t, **how))
        seen.append(observe(header, data[-1], seed=3, t=t, weights=weights))
        weights = seen[-1].weights_after
    return seen, data


def pooled_error_m(found, data):
    clouds = pool([(each.cloud.xy_m, each.cloud.weights) for each in found], [e.n for e in found])
    true_m = np.concatenate([each.xy_m for each in data])
    return emd_m(true_m, clouds.xy_m, b_weights=clouds.weights)


@pytest.mark.parametrize("offset_dbm", [0.0, -95.0], ids=["raw labels", "centred labels"])
def test_all_rounds_together_are_within_a_tenth_of_the_best_attack_on_each(offset_dbm):
    header = make_header(NETWORK, FEDAVG, offset_dbm=offset_dbm)
    seen, data = weeks(header)
    given = AttackInput(header, seen)
    joint, *alone = (each.attack(given) for each in (Joint(), Rows(), FirstLayer()))
    assert pooled_error_m(joint, data) < 1.1 * min(pooled_error_m(each, data) for each in alone)
    clouds = pool([(each.cloud.xy_m, each.cloud.weights) for each in joint], [e.n for e in joint])
    home = find_places(clouds.xy_m, clouds.weights)[0]
    assert off_m(home.xy_m, HOME_M) < 30


def test_the_first_layer_alone_is_read_of_a_network_with_one_hidden_layer():
    header = make_header(Network((96,), ("relu",), (0.0,), "pytorch"), FEDSGD)
    seen, _ = weeks(header, at_work=0, at_friends=0)
    found = Joint().attack(AttackInput(header, seen))
    assert max(off_m(each.xy_m, HOME_M) for each in found) < 60


def test_an_update_of_zeros_says_nothing_and_leaves_the_others():
    header = make_header(NETWORK, FEDAVG)
    seen, _ = weeks(header, 2)
    nothing, *found = Joint().attack(AttackInput(header, [silent(header, t=7), *seen]))
    assert nothing.outcome is Outcome.NO_SIGNAL
    assert [each.round for each in found] == [0, 1]
    assert all(each.outcome is Outcome.SOLVED for each in found)
    (alone,) = Joint().attack(AttackInput(header, [silent(header)]))
    assert alone.outcome is Outcome.NO_SIGNAL


def test_no_updates_are_no_error():
    assert Joint().attack(AttackInput(make_header(NETWORK), [])) == []


def test_the_same_updates_give_the_same_bits():
    header = make_header(NETWORK, FEDAVG)
    given = AttackInput(header, weeks(header, 2)[0])
    for one, other in zip(*(Joint().attack(given) for _ in range(2)), strict=True):
        np.testing.assert_array_equal(one.cloud.xy_m, other.cloud.xy_m)
        np.testing.assert_array_equal(one.cloud.weights, other.cloud.weights)


def test_what_was_found_before_is_not_searched_again(monkeypatch):
    header = make_header(NETWORK, FEDAVG)
    given = AttackInput(header, weeks(header, 2)[0])
    found = {each.name: each.attack(given) for each in (Rows(), FirstLayer())}
    wanted = Joint().attack(given)

    def again(attack, given):
        pytest.fail(f"{attack.name} was run again")

    for kind in (Rows, FirstLayer):
        monkeypatch.setattr(kind, "attack", again)
    for one, other in zip(Joint().attack(replace(given, found=found)), wanted, strict=True):
        np.testing.assert_array_equal(one.cloud.weights, other.cloud.weights)


def test_messages_to_other_towers_tell_of_the_same_places():
    """Small steps from a public mean blur one tower's messages; the other covers another area."""
    blurred = make_header(NETWORK, replace(FEDAVG, learning_rate=1e-5), offset_dbm=-95.0)
    corners = AREA.x_min_m - 300.0, AREA.y_min_m - 200.0, AREA.x_max_m + 200.0, AREA.y_max_m
    other = make_header(NETWORK, FEDAVG, area=Area(*corners))
    (seen, data), (elsewhere, _) = weeks(blurred, 2), weeks(other, 4)
    given = AttackInput(blurred, seen)
    alone, together = (
        Joint().attack(each) for each in (given, replace(given, elsewhere=[(other, elsewhere)]))
    )
    assert [each.round for each in together] == [0, 1]
    assert pooled_error_m(together, data) < 0.9 * pooled_error_m(alone, data)


def test_every_update_is_reported_once():
    header, done = make_header(NETWORK, FEDAVG), []
    Joint().attack(AttackInput(header, weeks(header, 2)[0], done.append))
    assert sum(done) == 2


def test_a_reading_is_expected_to_be_farther_off_the_less_it_explains():
    header = make_header(NETWORK, FEDAVG)
    given = AttackInput(header, weeks(header, 1)[0])
    found = {each.name: each.attack(given) for each in (Rows(), FirstLayer())}

    def errors_m(cosine):
        changed = {name: [replace(own[0], cosine=cosine)] for name, own in found.items()}
        (message,) = read_messages(replace(given, found=changed))
        return {each.by: each.error_m for each in message.readings}

    sharp, blurred = errors_m(0.999), errors_m(0.9)
    assert all(sharp[kind] < blurred[kind] for kind in (Rows, FirstLayer))
    assert sharp[Rows] < sharp[FirstLayer]
    assert errors_m(1.0) == {Rows: 0.0, FirstLayer: 0.0}


def test_rows_lead_where_they_say_clearly_more():
    header = make_header(NETWORK, FEDAVG)
    given = AttackInput(header, weeks(header, 1)[0])
    rows, first = Rows().attack(given)[0], FirstLayer().attack(given)[0]

    def message(of_rows, of_first):
        found = {
            "rows": [replace(rows, cosine=of_rows)],
            "first_layer": [replace(first, cosine=of_first)],
        }
        return read_messages(replace(given, found=found))[0]

    assert message(0.99, 0.9).rows_lead
    assert not message(0.9, 0.9999).rows_lead
    assert not message(0.99, 0.999).rows_lead
    assert message(0.9, 0.9999).best.by is FirstLayer
    assert [each.by for each in message(0.999, 0.5).useful] == [Rows]
