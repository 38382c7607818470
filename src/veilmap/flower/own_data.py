"""A node's own measurements of a campaign's cell, cut into the campaign's rounds."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from veilmap.errors import UserError, shown
from veilmap.flower.campaign import Campaign
from veilmap.flower.refusal import RefusalError
from veilmap.local_data import LocalData
from veilmap.measurements import Measurements
from veilmap.rounds import cumulative, cut_from
from veilmap.wording import counted, listed

UTM = (326, 327)  # the hundreds of their EPSG codes, north and south; the rest is the zone
OwnRounds = Mapping[int, LocalData]  # the training data of each round, by t


def own_rounds(data: Measurements, user: str, campaign: Campaign) -> OwnRounds:
    """D_t^k of all rounds in which user k measured the cell; under cumulative training, up to t."""
    # Before the cell is looked up: who refuses must not show who measured it.
    _refuse_strange(data.projection.epsg, campaign.epsg)
    mine = data.keep((pl.col("user") == user) & (pl.col("cell") == campaign.cell))
    if not len(mine):
        return {}
    placed = mine.projected(campaign.projection)
    rounds = cut_from(placed, campaign.interval_s, campaign.first_s)
    theirs = tuple(this for this in rounds if 1 <= this.number <= campaign.rounds)
    kept = cumulative(theirs) if campaign.training.cumulative else theirs
    return {this.number: this.data[user] for this in kept}


def _refuse_strange(own: int, asked: int) -> None:
    """By EPSG codes: metres must be metres on the ground for a defence's 50 m to hold.

    The campaign's zone is that of its area, which may begin where the user's zone ends.
    """
    zones = {(own + step) % 100 for step in (-1, 0, 1)}
    near = asked // 100 in UTM and own // 100 in UTM and asked % 100 in zones
    if asked != own and not near:
        raise RefusalError("measures in the UTM zone of its own measurements, or the next")


def the_user(data: Measurements, wanted: str | None, source: Path) -> str:
    """The user of a node's measurements: one person, never several."""
    if wanted is None and len(data.users) == 1:
        return data.users[0]
    if wanted not in data.users:
        has = f"{source} has measurements of {counted(len(data.users), 'user')}"
        which = "" if wanted is None else f", not of {shown(wanted)}"
        raise UserError(f"{has}{which}; set [node] user to one of: {listed(sorted(data.users))}")
    return wanted
