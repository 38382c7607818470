"""A generator that obfuscates records and an adversary that sees through it, trained in turns."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor
from torch.nn.functional import cross_entropy

from veilmap.defences.obfuscation.crowd import Crowd, RecordBatch
from veilmap.defences.obfuscation.dense import Dense, DenseAdam
from veilmap.defences.obfuscation.map_distortion import MapGrid, map_distortion
from veilmap.defences.obfuscation.standard_area import StandardArea

RECORD, POSITION, NOISE, WIDTH = 3, 2, 4, 64  # inputs and outputs, and units of a hidden layer
FIRST_PULL = 0.1  # of the generator's last layer, so that it starts near the identity
WINDOW = 150  # steps
REST = 0.005  # of the loss of an adversary that guesses blindly


@dataclass(frozen=True, eq=False)
class Trained:
    """The generator, and what training took; ``rested`` says that both losses stood still."""

    generator: Dense
    steps: int
    rested: bool
    parameters: int


def train(crowd: Crowd, rho: float, max_steps: int, weights: Generator, draw: Generator) -> Trained:
    """One step of the adversary, one of the generator, until both losses rest or ``max_steps``.

    They rest when the mean of each over the last ``WINDOW`` steps differs from that over the
    ``WINDOW`` before by less than ``REST`` of what blind guessing loses.
    """
    game = Game(crowd, rho, weights)
    still = REST * (crowd.blind_user_loss + crowd.blind_position_loss)
    losses: list[Tensor] = []
    rested = False
    while len(losses) < max_steps and not rested:
        losses.append(game.step(crowd.mini_batch(draw), draw))
        rested = len(losses) % WINDOW == 0 and at_rest(losses, still)
    return Trained(game.generator, len(losses), rested, game.parameters)


def obfuscate(generator: Dense, records: Tensor, area: StandardArea, draw: Generator) -> Tensor:
    """Each record moved as the generator says to it and to fresh noise."""
    noise = torch.from_numpy(draw.standard_normal((len(records), NOISE), np.float32))
    return area.moved(records, generator(torch.cat([records, noise], dim=1)))


class Game:
    """Two networks of three layers that train against each other."""

    def __init__(self, crowd: Crowd, rho: float, draw: Generator) -> None:
        self._crowd, self._rho = crowd, rho
        self._grid = MapGrid.of_area(crowd.area)
        self.generator = Dense.drawn((RECORD + NOISE, WIDTH, WIDTH, RECORD), draw, FIRST_PULL)
        self.adversary = Dense.drawn((RECORD, WIDTH, WIDTH, crowd.users + POSITION), draw)
        self._generator_steps = DenseAdam(self.generator)
        self._adversary_steps = DenseAdam(self.adversary)

    @property
    def parameters(self) -> int:
        return len(self.generator.weights) + len(self.adversary.weights)

    def step(self, batch: RecordBatch, draw: Generator) -> Tensor:
        """Both take a step; the loss of the adversary and that of the generator before it.

        The generator minimises rho · utility loss − (1 − rho) · adversary loss.
        """
        own = obfuscate(self.generator, batch.records[: batch.own], self._crowd.area, draw)
        moved = torch.cat([own, batch.records[batch.own :]])
        adversary_loss = torch.stack(guess_losses(self.adversary(moved.detach()), batch)).sum()
        self._adversary_steps.descend(adversary_loss)
        hidden = bounded_by_blind(*guess_losses(self.adversary(moved), batch), self._crowd)
        loss = self._rho * utility_loss(moved, batch, self._grid) - (1 - self._rho) * hidden
        self._generator_steps.descend(loss)
        return torch.stack([adversary_loss, loss]).detach()


def guess_losses(guess: Tensor, batch: RecordBatch) -> tuple[Tensor, Tensor]:
    """The cross entropy of the user and the squared error of the position.

    The adversary guesses the positions of real users only. Finding the stand-ins harms no user, and
    they are not moved: a phone controls only its own records.
    """
    errors = guess[: batch.own, -POSITION:] - batch.records[: batch.own, :POSITION]
    return cross_entropy(guess[:, :-POSITION], batch.users), (errors**2).sum(1).mean()


def bounded_by_blind(user_loss: Tensor, position_loss: Tensor, crowd: Crowd) -> Tensor:
    """Both losses, each up to what blind guessing loses.

    An adversary that is worse than blind would only have to stop guessing, so there is no privacy
    behind this bound, and the generator must not pay utility for it; and at rho = 0, where utility
    is free, its objective stays bounded.
    """
    return user_loss.clamp(max=crowd.blind_user_loss) + position_loss.clamp(
        max=crowd.blind_position_loss
    )


def utility_loss(moved: Tensor, batch: RecordBatch, grid: MapGrid) -> Tensor:
    """The distortion of the real people's records, and of the signal map that they yield."""
    original, new = batch.records[: batch.own], moved[: batch.own]
    return ((new - original) ** 2).sum(1).mean() + map_distortion(original, new, grid)


def at_rest(losses: list[Tensor], still: float) -> bool:
    """Whether both losses have stood still: see ``train``."""
    if len(losses) < 2 * WINDOW:
        return False
    before, now = torch.stack(losses[-2 * WINDOW :]).view(2, WINDOW, 2).mean(1)
    return bool(((now - before).abs() < still).all())
