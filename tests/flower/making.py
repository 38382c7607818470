"""A small federation for the tests: three people's rows in one file, a node file for each."""

import numpy as np

from tests.conftest import make_measurements
from tests.flower.grids import LoopGrid
from veilmap.area import Area
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.plan import Training
from veilmap.flower.campaign import Campaign
from veilmap.flower.client_app import NODE_FILE, app
from veilmap.flower.server_app import carry_out
from veilmap.flower.strategy import Assignment
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.rounds import cut

DAY_S = 86_400.0
SMALL = Network(hidden=(16, 12), activations=("relu", "sigmoid"), dropout=(0.05, 0.05))
DATA = make_measurements(rows=420, users=3)  # three days
USERS = ("u0", "u1", "u2")
ROUNDS = cut(DATA, DAY_S)
FREE = '[minimum]\ndefence = []\nepochs = 1\nbatch_size = "inf"\npoints = 1\ncumulative = true\n'


def make_campaign(**changes) -> Campaign:
    first_s = ROUNDS[0].start_s - (ROUNDS[0].number - 1) * DAY_S
    settings = {
        "cell": "a",
        "area": Area.around(DATA.xy_m),
        "epsg": DATA.projection.epsg,
        "interval_s": DAY_S,
        "first_s": first_s,
        "rounds": ROUNDS[-1].number,
        "label_offset_dbm": -96.0,
        "map": NetworkMap.of(SMALL),
        "training": Training(learning_rate=0.01),
    }
    return Campaign(**{**settings, **changes})


def state_of(seed=0):
    """What nodes get before the first round."""
    return {WEIGHTS: SMALL.initialise(seed)}


def make_node(folder, user="u0", minimum=FREE, seed=0):
    """A node's file; all of them read the same measurements."""
    folder.mkdir(exist_ok=True)
    if not (folder / "all.parquet").exists():
        DATA.write_parquet(folder / "all.parquet")
    path = folder / f"{user}.toml"
    seeded = "" if seed is None else f"seed = {seed}\n"
    path.write_text(
        f'[node]\ndata = "all.parquet"\nuser = "{user}"\nfolder = "{user}"\n{seeded}{minimum}'
    )
    return path


def make_grid(folder, minimum=FREE, apps=None, seed=0) -> LoopGrid:
    """One node per user, numbered from 10; ``apps`` are other apps than ours, by node."""
    configs = {
        10 + k: {NODE_FILE: str(make_node(folder, user, minimum, seed))}
        for k, user in enumerate(USERS)
    }
    return LoopGrid({node: (apps or {}).get(node, app) for node in configs}, configs)


def five_nodes(folder, apps=None, count=5) -> LoopGrid:
    """So many nodes, two of them of the same user as two others."""
    folder.mkdir(exist_ok=True)
    users = ("u0", "u1", "u2", "u0", "u1")[:count]
    configs = {
        10 + k: {NODE_FILE: str(make_node(folder / str(k), user))} for k, user in enumerate(users)
    }
    return LoopGrid({node: (apps or {}).get(node, app) for node in configs}, configs)


def name_of(node: int) -> str:
    return USERS[node - 10]


def federated(campaign, grid, out, **changes):
    """The journal of a finished run."""
    assignment = Assignment(campaign.text, str(out), nodes=len(USERS), **changes)
    return carry_out(assignment, grid, name_of)


def largest_difference(one, other) -> float:
    return float(np.abs(np.asarray(one) - np.asarray(other)).max())
