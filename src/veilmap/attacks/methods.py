"""Our attacks by name, and the guesses that stand beside them."""

from veilmap.attacks.attack import Attack
from veilmap.attacks.blind import Blind
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.prior import Prior
from veilmap.attacks.squares import Squares

ATTACKS: dict[str, type[Attack]] = {
    "dlg": Dlg,
    "search": Search,
    "first_layer": FirstLayer,
    "heatmap": Heatmap,
    "squares": Squares,
}
METHODS = tuple(ATTACKS)
# Made in every run and never asked for.
GUESSES = (Blind.name, Prior.name)
