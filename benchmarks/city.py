"""A city's phones, made up: where they were, and the updates that they send."""

from collections.abc import Iterator

import numpy as np
import torch

from veilmap.area import Area
from veilmap.attacks.tangent import blocks_of, factors
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Plan, Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import LocalData, Scaler
from veilmap.maps.network_map import NetworkMap

AREA = Area(0.0, 0.0, 3000.0, 3000.0)
POINTS, PLACES, SPREAD_M = 25, 3, 60.0
LEARNING_RATE = 1e-3
AT_ONCE = 512


def make_header() -> Header:
    """The paper's network and raw labels; a step of FedSGD per round."""
    training = Training(epochs=1, batch_size="inf", learning_rate=LEARNING_RATE)
    known = SideKnowledge(Scaler.of_area(AREA), AREA, 32634, 0.0, training, 604_800.0)
    return Header(NetworkMap(dropout=(0.0, 0.0)), known)


def make_plan() -> Plan:
    """FedAvg with the paper's B and E, dropout on."""
    return Plan(NetworkMap(), Scaler.of_area(AREA), AREA, Training(), label_offset_dbm=-95.0)


def make_clients(count: int, points: int) -> list[tuple[str, LocalData]]:
    """Phones with so many points each."""
    clients = []
    for xy_m, rsrp_dbm in _phones(count, points):
        for one_xy_m, one_rsrp_dbm in zip(xy_m, rsrp_dbm, strict=True):
            data = LocalData(one_xy_m, one_rsrp_dbm, np.arange(points) * 60.0)
            clients.append((str(len(clients)), data))
    return clients


@torch.inference_mode()
def make_updates(header: Header, count: int, device: torch.device) -> list[Observation]:
    """What the phones send of one round: w less η (2/N) Σ r_i J(x_i), many at a time."""
    network, before = header.network, header.network.initialise(0)
    weights = torch.from_numpy(before).to(device)
    blocks, updates = blocks_of(network, weights[None]), []
    for xy_m, rsrp_dbm in _phones(count, POINTS):
        x = torch.from_numpy(header.side_knowledge.scaler.standardise(xy_m)).to(device)
        found = factors(network, blocks, x)
        labels = torch.from_numpy(rsrp_dbm.astype(np.float32)).to(device)
        parts = found.combine(2 / POINTS * (found.signal - labels))
        flat = torch.cat([part.flatten(1) for part in parts], 1)
        for after in (weights - LEARNING_RATE * flat).cpu().numpy():
            updates.append(Observation.of_weights(1, str(len(updates)), before, after, POINTS, 0.0))
    return updates


def _phones(count: int, points: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions and signals of some phones at a time, each at one to three places."""
    draw = np.random.default_rng(0)
    for start in range(0, count, AT_ONCE):
        phones = min(AT_ONCE, count - start)
        places_m = draw.uniform(0, 3000, (phones, PLACES, 2))
        which = draw.integers(0, draw.integers(1, PLACES + 1, (phones, 1)), (phones, points))
        xy_m = np.take_along_axis(places_m, which[..., None], 1)
        yield xy_m + draw.normal(0, SPREAD_M, xy_m.shape), draw.normal(-95, 8, (phones, points))
