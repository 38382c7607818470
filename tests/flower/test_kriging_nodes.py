"""What a node demands of a kriging campaign, and what it gives only once."""

import json

import pytest
from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict

from tests.flower.kriging_making import (
    KINDS,
    SIDE_M,
    make,
    same,
)
from tests.flower.making import (
    DATA,
    federated,
    make_campaign,
    make_grid,
)
from tests.maps.making import Bumps
from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.federation.plan import Training
from veilmap.flower.campaign import Campaign
from veilmap.flower.ledger import Ledger
from veilmap.flower.messages import ARRAYS, CAMPAIGN, CONFIG, ROUND
from veilmap.flower.minimum import Minimum
from veilmap.flower.node import Request, respond, steps_for
from veilmap.flower.own_data import own_rounds
from veilmap.flower.refusal import RefusalError
from veilmap.flower.sum_messages import STEPS
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap

# What a node demands of a campaign of this kind.
OWN = own_rounds(DATA, "u0", make())
FREE_NODE = Minimum(defence=(), points=1)
LATER_S = make().start_s(100)
SECRET = Ledger(2**100)


def node_answers(campaign, minimum=FREE_NODE, ledger=SECRET, own=OWN):
    return respond(Request(campaign, 1, {}), minimum, ledger, own, "u0", LATER_S)


def test_the_usual_minimum_of_a_node_is_kept():
    """Of E, B and η there is nothing to demand: nothing is trained."""
    sent, _ = node_answers(make(), Minimum(points=1))
    assert sent is not None
    assert sent.n == 20  # of Farthest Batch
    sent, _ = node_answers(make(), Minimum(points=1, epochs=900, batch_size=1, learning_rate=9.0))
    assert sent.n == 20
    assert node_answers(make(), Minimum(points=len(OWN[1]) + 1))[0] is None


@pytest.mark.parametrize(
    ("minimum", "why"),
    [
        ({"defence": ("dp:epsilon=1",)}, "sends nothing without dp, which the map kriging cannot"),
        ({"defence": ("diverse:eps_m=50", "dp:epsilon=1"), "epsilon": 8}, "without dp, which"),
        ({"epsilon": 8}, "spends at most ε = 8 in all, which needs dp"),
        ({"secure_aggregation": True}, "answers only under secure aggregation"),
        ({"interval": "2d"}, "shorter than 2d"),
        ({"maps": ("network",)}, "takes part in maps of the kind network only"),
    ],
)
def test_a_demand_that_the_map_cannot_meet_is_a_refusal_with_a_sentence(minimum, why):
    with pytest.raises(RefusalError, match=why):
        node_answers(make(), Minimum(points=1, **minimum))


def test_a_message_longer_than_a_proxy_takes_is_not_sent():
    """2 million weights of eight bytes; the most squares that a grid has just fit."""
    many = make(NetworkMap((2000, 1000)))
    assert list(FREE_NODE.objections(many)) == ["sends messages of 2,000,000 numbers at most"]
    assert list(FREE_NODE.objections(make(KrigingMap(1.0), area=Area(0, 0, 998, 998)))) == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"defence": ("dp:epsilon=1",)}, "dp alters updates"),
        ({"training": Training(aggregation="median")}, "does not follow aggregation median"),
        ({"training": Training(cumulative=True)}, "forgets no round"),
        ({"map": KrigingMap(0.1)}, "more than 1,000,000 that fit into memory"),
        ({"map": Bumps()}, "nodes make the maps of veilmap alone, got map bumps:width=6"),
    ],
)
def test_a_campaign_that_the_map_cannot_follow_is_none(changes, why):
    with pytest.raises(UserError, match=why):
        make_campaign(**{"map": KINDS[0], **changes})


@pytest.mark.parametrize("kind", [*KINDS, NetworkMap((4, 4))])
def test_a_campaign_travels_as_text_with_its_map(kind):
    campaign = make(kind)
    assert Campaign.of_text(campaign.text) == campaign
    assert Campaign.of_text(campaign.text).text == campaign.text
    assert json.loads(campaign.text)["map"]["name"] == kind.name


@pytest.mark.parametrize("name", ["bumps", "os:system", "torch"])
def test_a_node_makes_no_map_that_it_does_not_know(tmp_path, name):
    """And imports nothing that a server names."""
    content = json.loads(make().text) | {"map": {"name": name, "width": 6}}
    config = ConfigRecord({CAMPAIGN: json.dumps(content), ROUND: 1})
    request = RecordDict({ARRAYS: ArrayRecord(), CONFIG: config})
    for kind in ("train", f"train.{STEPS[0]}"):
        message = Message(request, dst_node_id=10, message_type=kind)
        (reply,) = make_grid(tmp_path).send_and_receive([message])
        assert reply.content[CONFIG]["why"] == f"makes the maps network, kriging, not '{name}'"


NO_MAPS = [
    7,
    "kriging",
    {"square_m": 5},
    {"name": ["kriging"]},
    *(
        {"name": "kriging", **settings}
        for settings in (
            {"square_m": -1}, {"square_m": 1e-300}, {"square": 5}, {"bits": 8}, {"most_squares": 0}
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("record", NO_MAPS)
def test_a_map_that_is_none_is_no_campaign(record):
    content = json.loads(make().text) | {"map": record}
    with pytest.raises(UserError):
        Campaign.of_text(json.dumps(content))


def test_no_second_draw_of_squares_is_to_be_had(tmp_path):
    """Neither by the same request nor by any other for the same time."""
    kind = KrigingMap(SIDE_M, most_squares=2)
    first, ledger = node_answers(make(kind))
    again, after = node_answers(make(kind), ledger=ledger)
    assert same(first.message, again.message)
    assert after == ledger
    for changes in ({"seed": 5}, {"label_offset_dbm": -95.0}, {"first_s": make().first_s - 60.0}):
        other = make(kind, **changes)
        with pytest.raises(RefusalError, match="has already answered for these measurements"):
            node_answers(other, ledger=ledger, own=own_rounds(DATA, "u0", other))
    for more in (KrigingMap(SIDE_M, most_squares=3), KrigingMap(SIDE_M), NetworkMap((4, 4))):
        with pytest.raises(RefusalError, match="has already answered"):
            steps_for(Request(make(more), 1, {}), FREE_NODE, ledger, LATER_S)


def test_squares_are_drawn_by_the_nodes_own_secret():
    """Not by the campaign's seed, which the server knows."""
    campaign = make(KrigingMap(SIDE_M, most_squares=2))
    drawn = {
        node_answers(campaign, ledger=Ledger(seed))[0].message["visited"].tobytes()
        for seed in range(2**100, 2**100 + 8)
    }
    assert len(drawn) > 4


def test_under_secure_sums_a_round_is_answered_once(tmp_path):
    campaign, grid = make(KINDS[1], secure_aggregation=True), make_grid(tmp_path)
    federated(campaign, grid, tmp_path / "out")
    again = federated(campaign, grid, tmp_path / "again")
    assert again.history[0].left_out["u0"] == "has already answered for these measurements"
    assert not again.state["visits"].any()
