"""Generative adversarial obfuscation, learned on the phone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from veilmap.defences.step import Figures, PointStep, Source, Turn
from veilmap.errors import Checked, UserError, not_among, out_of_range, too_low
from veilmap.local_data import LocalData


@dataclass(frozen=True)
class GanObfuscation(Checked):
    """Learn to move positions and labels so that an adversary cannot guess user or position.

    After Zhang et al. 2022, "Privacy-Utility Trades in Crowdsourced Signal Map Obfuscation". A
    generator moves the records, an adversary guesses from a moved record who measured it and where;
    both learn in turns. It promises no more than that this kind of adversary fails on average.

    Differs: it is learned from what one phone has, its own past, or from a public sample. With one
    person in the data the adversary distinguishes them from a stand-in crowd (``Crowd``). The
    cost of learning does not depend on the number of points, as each step draws 256 records.

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
    looks_at = "positions"
    moves = "at random"

    def _faults(self) -> Iterator[UserError]:
        if not 0 <= self.rho <= 1:
            yield out_of_range("rho", "from 0 (private) to 1 (useful)", self.rho)
        yield from not_among("learns_from", self.learns_from, get_args(Source))
        yield from too_low(1, max_steps=self.max_steps)

    def learn(self, people: Mapping[str, LocalData], turn: Turn) -> tuple[PointStep, Figures]:
        """Train both networks; ``gan_rested`` is 1 if their losses came to rest in time."""
        known = [people[user] for user in sorted(people) if len(people[user])]
        if not known:
            raise UserError(
                "gan must have points to learn from, got none; "
                "let it learn after the first round with data, or from a public sample"
            )
        from veilmap.defences.obfuscation.obfuscator import learned

        return learned(known, turn, self.rho, self.max_steps)
