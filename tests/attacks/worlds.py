"""Updates of known places under networks of any size, as the server sees them."""

from math import prod

import numpy as np
import torch
from hypothesis import strategies as st

from veilmap.area import Area
from veilmap.attacks.tangent import blocks_of
from veilmap.federation.client import user_update
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Plan, Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import LocalData, Scaler
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import ACTIVATION_NAMES, Network

AREA = Area(500_000.0, 4_000_000.0, 502_000.0, 4_001_600.0)
FEDSGD = Training(epochs=1, batch_size="inf", learning_rate=1e-3)
FEDAVG = Training(epochs=5, batch_size=20, learning_rate=1e-3)
# Biases of zero, as glorot has them, put all creases through the middle, where nothing has a slope.
SMALL = Network((12, 8), ("relu", "sigmoid"), (0.0, 0.0), initialisation="pytorch")


def paper_network(initialisation="pytorch") -> Network:
    """The paper's network without dropout, so that an update says exactly what it says."""
    return Network(dropout=(0.0, 0.0), initialisation=initialisation)


def make_header(network=SMALL, training=FEDSGD, area=AREA, offset_dbm=0.0) -> Header:
    known = SideKnowledge(Scaler.of_area(area), area, 32634, offset_dbm, training, 86_400.0)
    return Header(NetworkMap.of(network), known)


def make_data(xy_m, rsrp_dbm=-96.0) -> LocalData:
    xy_m = np.atleast_2d(np.asarray(xy_m, float))
    return LocalData(xy_m, np.broadcast_to(rsrp_dbm, len(xy_m)).astype(float), np.arange(len(xy_m)))


def inside(shares, area=AREA):
    """Places in metres from shares of the area's sides."""
    sides_m = [area.width_m, area.height_m]
    return np.array([area.x_min_m, area.y_min_m]) + np.asarray(shares, float) * sides_m


def around(shares, count, spread_m=100.0, seed=0, area=AREA) -> LocalData:
    """``count`` places around one, with a spread, and signals around -96 dBm."""
    draw = np.random.default_rng(seed)
    xy_m = inside(shares, area) + draw.normal(0, spread_m, (count, 2))
    return make_data(xy_m, draw.normal(-96, 5, count).round())


def observe(header: Header, data: LocalData, seed=0, user="u", t=1, weights=None) -> Observation:
    """The update of a user who starts from ``weights``, by default those of the seed."""
    known = header.side_knowledge
    plan = Plan(header.map, known.scaler, known.area, known.training, known.label_offset_dbm, seed)
    before = header.network.initialise(seed) if weights is None else weights
    after = user_update(plan, before, data, user, t)
    return Observation.of_weights(t, user, before, after, len(data), 1000.0 * t)


def silent(header: Header, user="u", t=1) -> Observation:
    """An update of zeros."""
    weights = header.network.initialise(0)
    return Observation.of_weights(t, user, weights, weights.copy(), 3, 1000.0 * t)


def off_m(found_m, truth_m) -> float:
    return float(np.hypot(*(np.asarray(found_m) - truth_m)))


def as_blocks(network: Network, vectors):
    """Flat vectors (updates, W), or a single one (W), as float64 blocks with a leading axis."""
    return blocks_of(network, torch.from_numpy(np.atleast_2d(vectors)).double())


def flat(blocks) -> np.ndarray:
    """Blocks with a leading axis of updates as flat vectors (updates, W)."""
    parts = [block.reshape(len(block), prod(block.shape[1:])) for block in blocks]
    return np.concatenate([part.numpy() for part in parts], axis=1)


@st.composite
def networks(draw, most_layers=3, most_units=12) -> Network:
    hidden = draw(st.lists(st.integers(1, most_units), min_size=1, max_size=most_layers))
    activations = [draw(st.sampled_from(ACTIVATION_NAMES)) for _ in hidden]
    return Network(tuple(hidden), tuple(activations), (0.0,) * len(hidden))
