"""What is said of one configuration: what it hides, what it costs, what speaks against it."""

from veilmap.auditing.ranking import Ranked
from veilmap.metrics.baselines import GUESS_NAMES, is_near, is_no_better
from veilmap.metrics.figure_names import HOME_ERROR, figure_name
from veilmap.metrics.spread import Spread, Strongest

# A found place so near is a place where the user was.
NEAR_M = 50.0


def hidden(ranked: Ranked, privacy: str) -> str:
    """What a server is left with: that of the strongest attack, or no more than a guess has.

    ``home within 43 m (38 to 50) by search, where a blind guess has 570 m``; or ``home in most runs
    no nearer than a blind guess, 570 m: 1,126 m by search``.
    """
    best, guess = ranked.strongest.get(privacy), ranked.guess(privacy)
    is_home, name = privacy == HOME_ERROR, figure_name(privacy)
    if best is None:
        found = whole = "no attack names a place in most runs"
    else:
        found = _by(ranked, best, privacy)
        whole = f"{ranked.place} within {found}" if is_home else f"EMD {found}"
    if guess is None:
        return whole
    figure = figure_text(guess.figure, name.spec, name.unit)
    if best is None or is_no_better(best.figure.median, guess.figure.median):
        less = f"{ranked.place} in most runs no nearer than" if is_home else "EMD no less than for"
        return f"{less} a {GUESS_NAMES[guess.attack]}, {figure}: {found}"
    return f"{whole}, where a {GUESS_NAMES[guess.attack]} has {figure}"


def _by(ranked: Ranked, best: Strongest, privacy: str) -> str:
    """``43 m (38 to 50) by search, at worst 9 m by another attack``."""
    name = figure_name(privacy)
    worst_m = ranked.home_at_worst_m if privacy == HOME_ERROR else None
    worse = worst_m is not None and round(worst_m) < round(best.figure.least)
    other = f", at worst {worst_m:,.0f} m by another attack" if worse else ""
    return f"{figure_text(best.figure, name.spec, name.unit)} by {best.attack}{other}"


def cost(ranked: Ranked) -> str:
    """``at a cost of 0.21 dB``."""
    loss_db = round(ranked.rmse_loss_db, 2)
    if loss_db < 0:
        return f"and the RMSE falls by {-loss_db:.2f} dB"
    return f"at a cost of {loss_db:.2f} dB" if loss_db else "at no cost"


def but(ranked: Ranked) -> str:
    """The remaining weaknesses of a configuration."""
    against = []
    if _points_at_a_place(ranked):
        near = ranked.strongest["nearest_m"]
        where = f"{metres(near.figure)} of a place where the user was"
        against.append(f"{near.attack} still points to within {where}")
    home = ranked.strongest.get(HOME_ERROR)
    later = home.hindsight if home else None
    if home and later and is_near(later.figure.median, home.figure.median):
        against.append(f"hindsight would choose {later.attack}, with {metres(later.figure)}")
    if not ranked.beats_constant:
        against.append("its map is no better than the constant baseline")
    if ranked.unread:
        attacks = " and ".join(ranked.unread)
        against.append(f"{attacks} cannot read this kind of map and did not attack it")
    return f" But {', and '.join(against)}." if against else ""


def _points_at_a_place(ranked: Ranked) -> bool:
    near, guess = ranked.strongest.get("nearest_m"), ranked.guess("nearest_m")
    if near is None or near.figure.median > NEAR_M:
        return False
    return guess is None or is_near(near.figure.median, guess.figure.median)


def metres(figure: Spread) -> str:
    """``43 m (38 to 50)``; without the range where there is one run."""
    return figure_text(figure, ",.0f", "m")


def decibels(figure: Spread) -> str:
    """``4.99 dB (4.94 to 5.04)``."""
    return figure_text(figure, ".2f", "dB")


def figure_text(figure: Spread, spec: str, unit: str) -> str:
    """The median and its unit, with the range where it shows."""
    median, least, most = (format(v, spec) for v in (figure.median, figure.least, figure.most))
    span = f" ({least} to {most})" if least != most else ""
    return f"{median} {unit}{span}"
