"""What the server knows besides the updates."""

from collections.abc import Sequence
from dataclasses import dataclass

from veilmap.area import Area
from veilmap.defences.step import JOINED_BY
from veilmap.federation.map_family import PAPERS, MapFamily, dense_network, papers_network
from veilmap.federation.plan import Training
from veilmap.local_data import Scaler
from veilmap.model.network import Network
from veilmap.strategy import as_text


@dataclass(frozen=True)
class SideKnowledge:
    """What the server knows besides the updates: because it set it, or because it is public.

    ``oracle`` names those of these facts that a simulation took from the users' own data, which
    no real server has: ``area``, ``scaler``, ``label_offset_dbm``. ``defence`` are the steps that
    phones take before they send, and ``defended`` the users who take them, all if it is empty.
    They are public: a defence must not rely on secrecy.
    """

    scaler: Scaler
    area: Area
    epsg: int
    label_offset_dbm: float
    training: Training
    interval_s: float
    oracle: tuple[str, ...] = ()
    defence: tuple[str, ...] = ()
    defended: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """The kind of map that was made, and the side knowledge."""

    map: MapFamily
    side_knowledge: SideKnowledge

    @property
    def network(self) -> Network:
        """The dense network, for attacks that read its layers.

        Raises:
            UserError: the map is of another family.
        """
        return dense_network(self.map)

    @property
    def configuration(self) -> str:
        """The scheme and the defences by name: ``fedavg + diverse:eps_m=50``."""
        known = self.side_knowledge
        offset = f"centre:offset_dbm={known.label_offset_dbm:g}"
        parts = [*known.defence, *([offset] if known.label_offset_dbm else [])]
        return configuration_name(scheme_text(self.map, known.training), parts, known.defended)


def scheme_text(
    family: MapFamily,
    training: Training,
    base: Training = Training(),
    network: Network | None = None,
) -> str:
    """How the map is made: ``fedavg``; another family by its own name, with what is unusual.

    Where several runs share a ``base`` and the layers of a ``network``, those are the usual ones.
    """
    scheme, layers = training.as_text(base), papers_network(family)
    name = as_text(family) if layers is None else _other_layers(layers, network or layers)
    if not name:
        return scheme
    return name if training == base else JOINED_BY.join([name, scheme])


def _other_layers(network: Network, usual: Network) -> str:
    """``network:hidden=8 8``: what differs from the usual, as a configuration may begin with it."""
    own = [
        f"{key}={' '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for key, value in vars(network).items()
        if value != getattr(usual, key)
    ]
    return f"{PAPERS}:{','.join(own)}" if own else ""


def configuration_name(scheme: str, parts: Sequence[str], defended: Sequence[str]) -> str:
    """The scheme and what is added to it; defences on some phones only name their users."""
    text = JOINED_BY.join([scheme, *parts])
    return f"{text} (on {', '.join(defended)})" if defended else text
