"""What the server knows besides the updates."""

from dataclasses import dataclass

from veilmap.area import Area
from veilmap.federation.plan import Training
from veilmap.local_data import Scaler
from veilmap.model.network import Network


@dataclass(frozen=True)
class SideKnowledge:
    """What the server knows besides the updates: because it set it, or because it is public.

    ``oracle`` names those of these facts that a simulation took from the users' own data, which
    no real server has: ``area``, ``scaler``, ``label_offset_dbm``. ``defence`` are the steps that
    phones take before they send, which are no secret: a defence must not rest on being unknown.
    """

    scaler: Scaler
    area: Area
    epsg: int
    label_offset_dbm: float
    training: Training
    interval_s: float
    oracle: tuple[str, ...] = ()
    defence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """The network that was trained, and the side knowledge."""

    network: Network
    side_knowledge: SideKnowledge
