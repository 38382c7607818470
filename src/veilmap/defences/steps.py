"""The steps by name."""

from veilmap.defences.diverse import DiverseBatch
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.defences.farthest import FarthestBatch
from veilmap.defences.gan import GanObfuscation
from veilmap.defences.geoind import GeoIndistinguishability
from veilmap.defences.random_points import RandomPoints
from veilmap.defences.step import Step

STEPS: dict[str, type[Step]] = {
    "diverse": DiverseBatch,
    "farthest": FarthestBatch,
    "random": RandomPoints,
    "dp": DifferentialPrivacy,
    "geoind": GeoIndistinguishability,
    "gan": GanObfuscation,
}
