"""Our attacks by name, and the guesses that stand beside them."""

from veilmap.attacks.attack import Attack
from veilmap.attacks.blind import Blind
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.joint.joint import Joint
from veilmap.attacks.prior import Prior
from veilmap.attacks.rows.rows import Rows
from veilmap.attacks.sums.differencing import Differencing
from veilmap.attacks.sums.frequency import Frequency
from veilmap.attacks.sums.medoid import Medoid
from veilmap.attacks.sums.posterior import Posterior
from veilmap.attacks.sums.squares import Squares
from veilmap.attacks.sums.zone_centre import ZoneCentre

ATTACKS: dict[str, type[Attack]] = {
    "dlg": Dlg,
    "search": Search,
    "first_layer": FirstLayer,
    "heatmap": Heatmap,
    "rows": Rows,
    "joint": Joint,
    "squares": Squares,
    "frequency": Frequency,
    "medoid": Medoid,
    "posterior": Posterior,
    "zone_centre": ZoneCentre,
    "differencing": Differencing,
}
# Those that run where none is named: all that use nothing but what a server has.
METHODS = tuple(name for name, kind in ATTACKS.items() if not kind().oracle)
# Made in every run and never asked for.
GUESSES = (Blind.name, Prior.name)
