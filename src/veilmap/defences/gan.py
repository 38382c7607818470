"""Generative adversarial obfuscation, learned on the phone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
import torch

from veilmap.area import Area
from veilmap.defences.obfuscation.adversarial import obfuscate, train
from veilmap.defences.obfuscation.crowd import Crowd
from veilmap.defences.obfuscation.dense import Dense
from veilmap.defences.obfuscation.ground import Ground
from veilmap.defences.obfuscation.records import RecordScale
from veilmap.defences.step import Figures, Source, Turn
from veilmap.errors import UserError, out_of_range, refuse, unknown_choice
from veilmap.local_data import LocalData
from veilmap.model.threads import one_thread


@dataclass(frozen=True)
class GanObfuscation:
    """Move positions and labels so that neither user nor position can be guessed from them.

    After Zhang et al. 2022, "Privacy-Utility Trades in Crowdsourced Signal Map Obfuscation". A
    generator moves the records, an adversary guesses from a moved record who measured it and where;
    both learn in turns. It promises no more than that this kind of adversary fails on average.

    Differs: it is learned from what one phone has, its own past, or from a public sample. With one
    person in the data the adversary tells that person from a stand-in crowd (``Crowd``). The cost
    of learning does not depend on the number of points, as each step draws 256 records.

    The price of distance and the gain of privacy are both squared standardised distances, so for
    the position alone rho = 0.5 is the point of indifference; the user's guess draws the balance to
    privacy, the map's distortion to utility. With one person the user's guess is spoiled by
    records that look as if they came from anywhere in the area. Between places far apart there is
    little to gain by small moves: at a small rho it depends on the start whether they are mixed or
    each is blurred by itself.

    Attributes:
        rho: the weight of utility; 1 leaves the records almost as they are, 0 is most private.
        learns_from: ``past``, the phone's own data of earlier rounds, or ``public``, a sample.
        max_steps: where learning ends if the losses have not come to rest.
    """

    rho: float = 0.5
    learns_from: Source = "past"
    max_steps: int = 2000
    name = "gan"

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        if not 0 <= self.rho <= 1:
            yield out_of_range("rho", "from 0 (private) to 1 (useful)", self.rho)
        if self.learns_from not in get_args(Source):
            yield unknown_choice("learns_from", self.learns_from, get_args(Source))
        if self.max_steps < 1:
            yield out_of_range("max_steps", "at least 1", self.max_steps)

    @one_thread()
    def learn(self, people: Mapping[str, LocalData], turn: Turn) -> tuple["Obfuscator", Figures]:
        """Train both networks; ``gan_rested`` is 1 if their losses came to rest in time."""
        known = [people[user] for user in sorted(people) if len(people[user])]
        if not known:
            raise UserError(
                "gan must have points to learn from, got none; "
                "let it learn after the first round with data, or from a public sample"
            )
        scale = RecordScale.fitted(known, turn.scaler)
        crowd = Crowd([scale.records(data) for data in known], _ground(turn.area, scale))
        streams = turn.stream("gan weights"), turn.stream("gan mini-batches")
        trained = train(crowd, self.rho, self.max_steps, *streams)
        return Obfuscator(trained.generator, scale), {
            "gan_steps": trained.steps,
            "gan_parameters": trained.parameters,
            "gan_rested": float(trained.rested),
            "gan_points": sum(len(data) for data in known),
        }


@dataclass(frozen=True)
class Obfuscator:
    """A trained generator, and the scale in which it sees points."""

    generator: Dense
    scale: RecordScale
    name = GanObfuscation.name

    @one_thread()
    @torch.no_grad()
    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, Figures]:
        """As many points at the same times, with new positions and labels; means of both moves."""
        if not len(batch):
            return batch, {"moved_m": 0.0, "label_moved_db": 0.0}
        records, ground = self.scale.records(batch), _ground(turn.area, self.scale)
        moved = obfuscate(self.generator, records, ground, turn.stream("gan noise"))
        new = self.scale.points(moved, batch.time_s, turn.area)
        return new, {
            "moved_m": float(np.linalg.norm(new.xy_m - batch.xy_m, axis=1).mean()),
            "label_moved_db": float(np.abs(new.rsrp_dbm - batch.rsrp_dbm).mean()),
        }


def _ground(area: Area, scale: RecordScale) -> Ground:
    return Ground.of_area(area, scale.scaler)
