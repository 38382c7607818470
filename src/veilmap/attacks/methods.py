"""Our attacks by name."""

from veilmap.attacks.attack import Attack
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap

ATTACKS: dict[str, type[Attack]] = {
    "dlg": Dlg,
    "search": Search,
    "first_layer": FirstLayer,
    "heatmap": Heatmap,
}
METHODS = tuple(ATTACKS)
