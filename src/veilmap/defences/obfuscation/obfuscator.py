"""What ``gan`` has learned, at work on points."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from veilmap.defences.obfuscation.adversarial import obfuscate, train
from veilmap.defences.obfuscation.crowd import Crowd
from veilmap.defences.obfuscation.dense import Dense
from veilmap.defences.obfuscation.records import RecordScale
from veilmap.defences.obfuscation.standard_area import StandardArea
from veilmap.defences.step import Figures, Turn
from veilmap.local_data import LocalData
from veilmap.model.threads import one_thread


@one_thread()
def learned(
    people: Sequence[LocalData], turn: Turn, rho: float, max_steps: int
) -> tuple["Obfuscator", Figures]:
    """A generator trained against its adversary on the people's points, and how that went."""
    scale = RecordScale.fitted(people, turn.scaler)
    area = StandardArea.of_area(turn.area, scale.scaler)
    crowd = Crowd([scale.records(data) for data in people], area)
    streams = turn.stream("gan weights"), turn.stream("gan mini-batches")
    trained = train(crowd, rho, max_steps, *streams)
    return Obfuscator(trained.generator, scale), {
        "gan_steps": trained.steps,
        "gan_parameters": trained.parameters,
        "gan_rested": float(trained.rested),
        "gan_points": sum(len(data) for data in people),
    }


@dataclass(frozen=True)
class Obfuscator:
    """A trained generator, and the scale in which it sees points."""

    generator: Dense
    scale: RecordScale
    name = "gan"  # that of the step that learned it

    @one_thread()
    @torch.no_grad()
    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, Figures]:
        """As many points at the same times, with new positions and labels; means of both moves."""
        if not len(batch):
            return batch, {"moved_m": 0.0, "label_moved_db": 0.0}
        area = StandardArea.of_area(turn.area, self.scale.scaler)
        records, noise = self.scale.records(batch), turn.stream("gan noise")
        moved = obfuscate(self.generator, records, area, noise)
        new = self.scale.points(moved, batch.time_s, turn.area)
        return new, {
            "moved_m": float(np.linalg.norm(new.xy_m - batch.xy_m, axis=1).mean()),
            "label_moved_db": float(np.abs(new.rsrp_dbm - batch.rsrp_dbm).mean()),
        }
