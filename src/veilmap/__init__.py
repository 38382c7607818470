"""veilmap: federated signal maps, what they give away about people, and what stops it.

The names below are loaded when they are first used, so that ``import veilmap`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# "as" exports a name to type checkers, which cannot read the __all__ below.
if TYPE_CHECKING:
    from veilmap.area import Area as Area
    from veilmap.attacks.attack import Attack as Attack
    from veilmap.attacks.attack import AttackInput as AttackInput
    from veilmap.attacks.reconstruction import Cloud as Cloud
    from veilmap.attacks.reconstruction import Reconstruction as Reconstruction
    from veilmap.auditing.audit import audit as audit
    from veilmap.auditing.audit_result import Audit as Audit
    from veilmap.auditing.settings import AuditSettings as AuditSettings
    from veilmap.defences.step import LearnedStep as LearnedStep
    from veilmap.defences.step import PointStep as PointStep
    from veilmap.defences.step import Turn as Turn
    from veilmap.defences.step import UpdateStep as UpdateStep
    from veilmap.errors import UserError as UserError
    from veilmap.federation.map_family import MapFamily as MapFamily
    from veilmap.federation.map_family import Prediction as Prediction
    from veilmap.federation.map_family import Sent as Sent
    from veilmap.federation.observation import Observation as Observation
    from veilmap.federation.plan import Training as Training
    from veilmap.federation.side_knowledge import Header as Header
    from veilmap.federation.side_knowledge import SideKnowledge as SideKnowledge
    from veilmap.local_data import LocalData as LocalData
    from veilmap.local_data import Scaler as Scaler
    from veilmap.map_quality.quality import quality as quality
    from veilmap.map_quality.quality_result import QualityResult as QualityResult
    from veilmap.map_quality.settings import QualitySettings as QualitySettings
    from veilmap.maps.network_map import NetworkMap as NetworkMap
    from veilmap.maps.torch_map import ModuleMap as ModuleMap
    from veilmap.maps.torch_map import TorchMap as TorchMap
    from veilmap.measurements import Measurements as Measurements
    from veilmap.model.network import Network as Network
    from veilmap.reproduction.reproduce import Reproduction as Reproduction
    from veilmap.reproduction.reproduce import reproduce as reproduce
    from veilmap.signal_map.export import export as export
    from veilmap.signal_map.signal_map import SignalMap as SignalMap
    from veilmap.sources.columns import Columns as Columns
    from veilmap.sources.reader import read as read
    from veilmap.sources.reading import Reading as Reading
    from veilmap.study.attack import attack as attack
    from veilmap.study.attack_run import AttackRun as AttackRun
    from veilmap.study.attack_settings import AttackSettings as AttackSettings
    from veilmap.study.compare import compare as compare
    from veilmap.study.comparison import Comparison as Comparison
    from veilmap.study.methods import Method as Method
    from veilmap.study.methods import methods as methods
    from veilmap.study.settings import RunSettings as RunSettings
    from veilmap.study.train import Run as Run
    from veilmap.study.train import train as train
    from veilmap.sweeping.sweep_result import SweepResult as SweepResult
    from veilmap.sweeping.sweep_result import SweepResult as Swept  # noqa: F401
    from veilmap.sweeping.sweep_result import sweep as sweep
    from veilmap.transcript import Transcript as Transcript
    from veilmap.transcript import TranscriptWriter as TranscriptWriter

_NAMES_OF_MODULE = {
    "area": ("Area",),
    "attacks.attack": ("Attack", "AttackInput"),
    "attacks.reconstruction": ("Cloud", "Reconstruction"),
    "auditing.audit": ("audit",),
    "auditing.audit_result": ("Audit",),
    "auditing.settings": ("AuditSettings",),
    "defences.step": ("LearnedStep", "PointStep", "Turn", "UpdateStep"),
    "errors": ("UserError",),
    "federation.map_family": ("MapFamily", "Prediction", "Sent"),
    "federation.observation": ("Observation",),
    "federation.plan": ("Training",),
    "federation.side_knowledge": ("Header", "SideKnowledge"),
    "local_data": ("LocalData", "Scaler"),
    "map_quality.quality": ("quality",),
    "map_quality.quality_result": ("QualityResult",),
    "map_quality.settings": ("QualitySettings",),
    "maps.network_map": ("NetworkMap",),
    "maps.torch_map": ("ModuleMap", "TorchMap"),
    "measurements": ("Measurements",),
    "model.network": ("Network",),
    "reproduction.reproduce": ("Reproduction", "reproduce"),
    "signal_map.export": ("export",),
    "signal_map.signal_map": ("SignalMap",),
    "sources.columns": ("Columns",),
    "sources.reader": ("read",),
    "sources.reading": ("Reading",),
    "study.attack": ("attack",),
    "study.attack_run": ("AttackRun",),
    "study.attack_settings": ("AttackSettings",),
    "study.compare": ("compare",),
    "study.comparison": ("Comparison",),
    "study.methods": ("Method", "methods"),
    "study.settings": ("RunSettings",),
    "study.train": ("Run", "train"),
    "sweeping.sweep_result": ("SweepResult", "sweep"),
    "transcript": ("Transcript", "TranscriptWriter"),
}
_MODULES = {name: module for module, names in _NAMES_OF_MODULE.items() for name in names}
_RENAMED = {"Swept": "SweepResult"}  # for one more version
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Slow to load, and seldom asked for.
        from importlib.metadata import version

        return version("veilmap")
    if name in _RENAMED:
        from veilmap.errors import warn_renamed

        warn_renamed(f"veilmap.{name}", f"veilmap.{_RENAMED[name]}")
        name = _RENAMED[name]
    if name not in _MODULES:
        raise AttributeError(f"module 'veilmap' has no attribute {name!r}")
    return getattr(import_module(f"veilmap.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
