"""Our attacks by name."""

from veilmap.attacks.attack import Attack
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.squares import Squares

ATTACKS: dict[str, type[Attack]] = {
    "dlg": Dlg,
    "search": Search,
    "first_layer": FirstLayer,
    "heatmap": Heatmap,
    "squares": Squares,
}
METHODS = tuple(ATTACKS)
