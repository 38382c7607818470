"""veilmap: federated signal maps, what they give away about people, and what stops it.

The names below are loaded when they are first used, so that ``import veilmap`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veilmap.area import Area
    from veilmap.attacks.attack import Attack, AttackInput
    from veilmap.attacks.reconstruction import Cloud, Reconstruction
    from veilmap.auditing.audit import audit
    from veilmap.auditing.audit_result import Audit
    from veilmap.auditing.settings import AuditSettings
    from veilmap.defences.step import LearnedStep, PointStep, Turn, UpdateStep
    from veilmap.errors import UserError
    from veilmap.federation.map_family import MapFamily, Prediction, Sent
    from veilmap.federation.observation import Observation
    from veilmap.federation.plan import Training
    from veilmap.federation.side_knowledge import Header, SideKnowledge
    from veilmap.local_data import LocalData, Scaler
    from veilmap.maps.network_map import NetworkMap
    from veilmap.maps.torch_map import ModuleMap, TorchMap
    from veilmap.measurements import Measurements
    from veilmap.model.network import Network
    from veilmap.reproduction.reproduce import Reproduction, reproduce
    from veilmap.signal_map.export import export
    from veilmap.signal_map.signal_map import SignalMap
    from veilmap.sources.columns import Columns
    from veilmap.sources.reader import read
    from veilmap.sources.reading import Reading
    from veilmap.study.attack import attack
    from veilmap.study.attack_run import AttackRun
    from veilmap.study.attack_settings import AttackSettings
    from veilmap.study.compare import compare
    from veilmap.study.comparison import Comparison
    from veilmap.study.methods import Method, methods
    from veilmap.study.settings import RunSettings
    from veilmap.study.train import Run, train
    from veilmap.sweeping.sweep_result import SweepResult, Swept, sweep
    from veilmap.transcript import Transcript, TranscriptWriter

__all__ = [
    "Area",
    "Attack",
    "AttackInput",
    "AttackRun",
    "AttackSettings",
    "Audit",
    "AuditSettings",
    "Cloud",
    "Columns",
    "Comparison",
    "Header",
    "LearnedStep",
    "LocalData",
    "MapFamily",
    "Measurements",
    "Method",
    "ModuleMap",
    "Network",
    "NetworkMap",
    "Observation",
    "PointStep",
    "Prediction",
    "Reading",
    "Reconstruction",
    "Reproduction",
    "Run",
    "RunSettings",
    "Scaler",
    "Sent",
    "SideKnowledge",
    "SignalMap",
    "SweepResult",
    "Swept",
    "TorchMap",
    "Training",
    "Transcript",
    "TranscriptWriter",
    "Turn",
    "UpdateStep",
    "UserError",
    "attack",
    "audit",
    "compare",
    "export",
    "methods",
    "read",
    "reproduce",
    "sweep",
    "train",
]

_HOMES = {
    "Area": "veilmap.area",
    "Attack": "veilmap.attacks.attack",
    "AttackInput": "veilmap.attacks.attack",
    "AttackRun": "veilmap.study.attack_run",
    "AttackSettings": "veilmap.study.attack_settings",
    "Audit": "veilmap.auditing.audit_result",
    "AuditSettings": "veilmap.auditing.settings",
    "Cloud": "veilmap.attacks.reconstruction",
    "Columns": "veilmap.sources.columns",
    "Comparison": "veilmap.study.comparison",
    "Header": "veilmap.federation.side_knowledge",
    "LearnedStep": "veilmap.defences.step",
    "MapFamily": "veilmap.federation.map_family",
    "LocalData": "veilmap.local_data",
    "Measurements": "veilmap.measurements",
    "Method": "veilmap.study.methods",
    "ModuleMap": "veilmap.maps.torch_map",
    "Network": "veilmap.model.network",
    "NetworkMap": "veilmap.maps.network_map",
    "Observation": "veilmap.federation.observation",
    "Prediction": "veilmap.federation.map_family",
    "PointStep": "veilmap.defences.step",
    "Reading": "veilmap.sources.reading",
    "Reconstruction": "veilmap.attacks.reconstruction",
    "Reproduction": "veilmap.reproduction.reproduce",
    "Run": "veilmap.study.train",
    "RunSettings": "veilmap.study.settings",
    "Sent": "veilmap.federation.map_family",
    "Scaler": "veilmap.local_data",
    "SideKnowledge": "veilmap.federation.side_knowledge",
    "SignalMap": "veilmap.signal_map.signal_map",
    "SweepResult": "veilmap.sweeping.sweep_result",
    "Swept": "veilmap.sweeping.sweep_result",
    "TorchMap": "veilmap.maps.torch_map",
    "Training": "veilmap.federation.plan",
    "Transcript": "veilmap.transcript",
    "TranscriptWriter": "veilmap.transcript",
    "Turn": "veilmap.defences.step",
    "UpdateStep": "veilmap.defences.step",
    "UserError": "veilmap.errors",
    "attack": "veilmap.study.attack",
    "audit": "veilmap.auditing.audit",
    "compare": "veilmap.study.compare",
    "export": "veilmap.signal_map.export",
    "methods": "veilmap.study.methods",
    "read": "veilmap.sources.reader",
    "reproduce": "veilmap.reproduction.reproduce",
    "sweep": "veilmap.sweeping.sweep_result",
    "train": "veilmap.study.train",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Slow to load, and seldom asked for.
        from importlib.metadata import version

        return version("veilmap")
    if name not in _HOMES:
        raise AttributeError(f"module 'veilmap' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
