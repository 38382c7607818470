"""Differential privacy: the update clipped and covered with Gaussian noise (the paper, § DP)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from veilmap.defences.gaussian import composed, delta_faults, epsilon_of, mu_of
from veilmap.defences.step import Figures, Turn
from veilmap.errors import Checked, UserError, out_of_range, too_low
from veilmap.model.network import Floats

# Where the noise is still a float32 and the accounting exact.
_LEAST, _MOST = 1e-9, 1e9


@dataclass(frozen=True)
class DifferentialPrivacy(Checked):
    """Clip w_t^k − w_{t-1} to length C, then add N(0, σ²) to every coordinate, on the phone.

    Neighbouring inputs are a round with the user's update and the same round without it (all
    zeros), at most C apart. Two updates of one user may be 2C apart, for which μ is twice as large.
    The number of points n_t^k is also sent, in the clear, and is not covered by the guarantee. Each
    phone adds its own noise, as in the paper: the server is not trusted.

    For studies, the noise comes from a seeded generator: whoever has the seed can subtract it. The
    guarantee holds for real numbers; floating-point numbers have gaps (Mironov 2012).

    Attributes:
        epsilon: the paper's ε, nominal: σ = sqrt(2 ln(1.25/δ)) · C/ε. That formula is a theorem
            for ε < 1 only; above that the true ε differs, and ``spent`` gives it.
        true_epsilon: instead, what all ``rounds`` together spend, exactly.
        rounds: in how many rounds the user takes part; only with ``true_epsilon``.
        delta: δ; the paper takes 1e-5.
        clip: C; the paper takes 1.
    """

    epsilon: float | None = None
    true_epsilon: float | None = None
    rounds: int = 1
    delta: float = 1e-5
    clip: float = 1.0

    name = "dp"

    def _faults(self) -> Iterator[UserError]:
        given = {"epsilon": self.epsilon, "true_epsilon": self.true_epsilon}
        if (self.epsilon is None) == (self.true_epsilon is None):
            yield UserError(
                f"give either epsilon, the paper's nominal one, or true_epsilon, the one to be "
                f"kept; got {self.epsilon} and {self.true_epsilon}"
            )
        for what, value in {**given, "clip": self.clip}.items():
            if value is not None and not _LEAST <= value <= _MOST:
                yield out_of_range(what, f"from {_LEAST:g} to {_MOST:g}", value)
        yield from too_low(1, int, rounds=self.rounds)
        if self.true_epsilon is None and self.rounds != 1:
            yield UserError(
                f"rounds counts only with true_epsilon, got {self.rounds}; a nominal epsilon is "
                "that of one round: leave rounds out"
            )
        yield from delta_faults(self.delta)

    @property
    def sigma(self) -> float:
        """σ, the standard deviation of the noise on each coordinate."""
        return self.clip / self.mu

    @property
    def mu(self) -> float:
        """μ by which one update is Gaussian differentially private."""
        if self.true_epsilon is not None:
            return mu_of(self.true_epsilon, self.delta) / math.sqrt(self.rounds)
        return cast(float, self.epsilon) / math.sqrt(2 * (math.log(1.25) - math.log(self.delta)))

    def on_update(self, update: Floats, turn: Turn) -> tuple[Floats, Figures]:
        """The clipped update with noise on it, and the lengths of all three."""
        short = clipped(update, self.clip)
        noise = turn.stream("dp").normal(0, self.sigma, len(update))
        return (short + noise).astype(np.float32), {
            "norm": float(np.linalg.norm(update.astype(np.float64))),
            "clipped_to": float(np.linalg.norm(short)),
            "noise_std": self.sigma,
            "noise_norm": float(np.linalg.norm(noise)),
        }

    def spent(self, turns: Sequence[Figures]) -> Figures:
        """The true ε of one round and of all the user's rounds together, at this δ.

        The last two are those between two updates of the user instead of one and none. All speak
        of one cell's map; a phone that takes part in several spends in each.
        """
        given = {"epsilon_nominal": self.epsilon, "epsilon_wanted": self.true_epsilon}
        return {
            **{name: value for name, value in given.items() if value is not None},
            "delta": self.delta,
            "rounds": len(turns),
            "epsilon_one_round": self._epsilon(1, self.mu),
            "epsilon_all_rounds": self._epsilon(len(turns), self.mu),
            "epsilon_one_round_two_updates": self._epsilon(1, 2 * self.mu),
            "epsilon_all_rounds_two_updates": self._epsilon(len(turns), 2 * self.mu),
        }

    def _epsilon(self, rounds: int, mu: float) -> float:
        return epsilon_of(composed(mu, rounds), self.delta) if rounds else 0.0


def clipped(update: Floats, clip: float) -> NDArray[np.float64]:
    """The update, shortened to length ``clip`` where it is longer.

    One that is not finite has no length and becomes NaN as a whole: its finite part must not go
    out unclipped, and training that diverged must not look as if it had not.
    """
    exact = update.astype(np.float64)
    norm = float(np.linalg.norm(exact))
    if not math.isfinite(norm):
        return np.full_like(exact, np.nan)
    return exact * (clip / norm) if norm > clip else exact
