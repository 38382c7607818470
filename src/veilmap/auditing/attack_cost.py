"""What an audit costs by its counts alone, without a clock."""

from collections.abc import Mapping
from dataclasses import replace

from veilmap.attacks.attack import can_read
from veilmap.auditing.settings import AuditSettings
from veilmap.federation.side_knowledge import Header
from veilmap.study.settings import RunSettings

# An attack on one update, on one core, as measured on the campus with numba.
COSTS_MS: Mapping[str, float] = {
    "dlg": 5.0,
    "search": 15.0,
    "first_layer": 1.0,
    "heatmap": 180.0,
    "rows": 180.0,
    "joint": 100.0,  # beside rows and first_layer, whose readings it takes
    "squares": 1.0,
    "frequency": 1.0,
    "medoid": 1.0,
    "posterior": 1.0,
    "zone_centre": 10.0,
}
# Nobody has measured those of other packages.
COST_OF_OTHERS_MS = 180.0


def cost_per_round_ms(
    settings: AuditSettings, runs: Mapping[str, RunSettings], header: Header
) -> float:
    """Of attacking one update in every configuration with every seed.

    Σ over configurations, seeds and attacks that can read the configuration's map.

    Args:
        settings: with the attacks and the seeds.
        runs: the configurations by name.
        header: what the server knows under one of them.
    """
    attacks = settings.attacks(settings.seeds[0]).make({}, keep_path=False)
    costs_ms = (
        COSTS_MS.get(name, COST_OF_OTHERS_MS)
        for run in runs.values()
        for name, attack in attacks.items()
        if can_read(attack, name, replace(header, map=run.map))
    )
    return len(settings.seeds) * sum(costs_ms)
