"""What Gaussian noise guarantees: ε, δ and μ of the Gaussian mechanism, each from the other two.

μ is the sensitivity divided by the noise's standard deviation; it says all there is to say.
"""

import math
from collections.abc import Callable, Iterator

from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtri

from veilmap.errors import UserError, out_of_range, refuse, too_low

MAX = 1e12  # beyond, the 16 digits of ε no longer say what δ is
_TINY = 1e-300
_ALL = 40.0  # Φ(40) is 1


def delta_of(mu: float, epsilon: float) -> float:
    """δ = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), exact for every ε (Balle & Wang 2018, Theorem 8)."""
    refuse([*_faults("mu", mu), *(_faults("epsilon", epsilon) if epsilon != 0 else ())])
    return math.exp(_log_delta(mu / 2 - epsilon / mu, mu))


def epsilon_of(mu: float, delta: float) -> float:
    """The smallest ε for this δ; 0 where no ε is needed."""
    refuse([*_faults("mu", mu), *delta_faults(delta)])
    if _log_delta(mu / 2, mu) <= math.log(delta):
        return 0.0
    low, high = float(ndtri(delta)) - 1, min(mu / 2, _ALL)
    a = _root(lambda a: _log_delta(a, mu) - math.log(delta), low, high)
    return mu * (mu / 2 - a)


def mu_of(epsilon: float, delta: float) -> float:
    """The largest μ, that is the least noise, that keeps (ε, δ)."""
    refuse([*_faults("epsilon", epsilon), *delta_faults(delta)])

    def missing(a: float) -> float:
        return _log_delta(a, mu_at(a, epsilon)) - math.log(delta)

    low, step = float(ndtri(delta)) - 1, 1.0
    while missing(low + step) < 0:
        step *= 2
    return mu_at(_root(missing, low, low + step), epsilon)


def composed(mu: float, rounds: int) -> float:
    """μ of several rounds together, exactly: μ√T (Dong, Roth & Su 2022)."""
    refuse(too_low(1, rounds=rounds))
    return mu * math.sqrt(rounds)


def delta_faults(delta: float) -> Iterator[UserError]:
    """What is wrong with a δ."""
    if not 0 < delta < 1:
        yield out_of_range("delta", "above 0 and below 1", delta)


def _faults(what: str, value: float) -> Iterator[UserError]:
    if not 0 < value <= MAX:
        yield out_of_range(what, f"above 0 and at most {MAX:g}", value)


def _log_delta(a: float, mu: float) -> float:
    """The logarithm of δ where ε is given by a = μ/2 − ε/μ.

    b² − a² = 2ε for b = μ/2 + ε/μ = μ − a, so that e^ε Φ(−b) / Φ(a) is a ratio of two scaled error
    functions: e^ε, which has no number beyond ε = 709, never appears. Where erfcx(−a/√2) overflows
    the ratio is 0, as it should be.
    """
    ratio = float(erfcx((mu - a) / math.sqrt(2)) / erfcx(-a / math.sqrt(2)))
    return float(log_ndtr(a)) + math.log(max(_TINY, 1 - ratio))


def mu_at(a: float, epsilon: float) -> float:
    """The positive root of μ/2 − ε/μ = a, without cancellation."""
    half = math.hypot(a, math.sqrt(2 * epsilon))
    return 2 * epsilon / (half - a) if a < 0 else half + a


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high, xtol=1e-14, rtol=1e-15))
