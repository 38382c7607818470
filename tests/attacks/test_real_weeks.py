"""The attacks on a real person's weeks; only distances are looked at, never positions."""

import numpy as np
import polars as pl
import pytest

from veilmap.area import Area
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.federation.client import user_update
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Plan, Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import Scaler
from veilmap.maps.network_map import NetworkMap
from veilmap.metrics.transport import emd_m
from veilmap.model.network import Network
from veilmap.rounds import cut, parse_interval
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading

FEDSGD = Training(epochs=1, batch_size="inf", learning_rate=1e-3)
FEDAVG = Training(epochs=5, batch_size=20, learning_rate=1e-5)


@pytest.fixture(scope="module")
def weeks(shared_data):
    """The weeks of two people in the densest cell, and the area of that cell."""
    data = read(shared_data / "chania-gsm" / "chania.csv.gz", reading=Reading(drop_invalid=True))
    data = data.of_cell("60561")
    found = {}
    for user in ("a841f", "22223"):
        mine = data.keep(pl.col("user").str.starts_with(user))
        for this in cut(mine, parse_interval("1w"), mine.first):
            ((_, batch),) = this.data.items()
            found[user, this.number] = batch
    return found, Area.around(data.xy_m)


def observe(weeks, keys, training):
    """One update from fresh weights for each week."""
    batches, area = weeks
    network, scaler = Network(initialisation="pytorch"), Scaler.of_area(area)
    plan = Plan(NetworkMap.of(network), scaler, area, training)
    before = network.initialise(0)
    seen = [
        Observation.of_weights(
            key[1],
            key[0],
            before,
            user_update(plan, before, batches[key], *key),
            len(batches[key]),
            0.0,
        )
        for key in keys
    ]
    return Header(
        NetworkMap.of(network), SideKnowledge(scaler, area, 32634, 0.0, training, 604_800.0)
    ), seen


@pytest.mark.parametrize("training", [FEDSGD, FEDAVG], ids=["fedsgd", "fedavg"])
@pytest.mark.parametrize(("week", "most_m"), [(2, 53.0), (24, 46.0)])
def test_the_heat_map_is_far_closer_to_a_week_than_its_centroid(weeks, training, week, most_m):
    """The centroids are 661 and 160 m (EMD) from these weeks."""
    key = ("a841f", week)
    batch = weeks[0][key]
    assert emd_m(batch.xy_m, batch.centroid_m[None]) > 3 * most_m
    (found,) = Heatmap().attack(AttackInput(*observe(weeks, [key], training)))
    assert emd_m(batch.xy_m, found.cloud.xy_m, None, found.cloud.weights) < most_m


def test_dlg_finds_the_centroid_of_a_week_to_tens_of_metres(weeks):
    keys = [key for key in weeks[0] if key[0] == "22223"]
    header, seen = observe(weeks, keys, FEDSGD)
    for attack in (Dlg(), Search(), FirstLayer()):
        found = attack.attack(AttackInput(header, seen))
        away_m = [
            np.linalg.norm(each.xy_m - weeks[0][key].centroid_m)
            for key, each in zip(keys, found, strict=True)
        ]
        assert np.median(away_m) < 30
