"""Audit defaults that differ from `train` and `attack`."""

from dataclasses import dataclass
from typing import Literal

from veilmap.attacks.gradient_matching.dlg import PrecisionName
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.federation.plan import Training
from veilmap.rounds import Split, SplitName
from veilmap.study.attack_settings import DlgSettings
from veilmap.study.settings import NetworkTask


@dataclass(frozen=True)
class AuditTask(NetworkTask):
    """The paper's map with raw labels, so that centred ones are a configuration of their own."""

    label_offset_dbm: float | Literal["mean", "none"] = "none"


@dataclass(frozen=True)
class AuditSplit(Split):
    """Single test rows, whose RMSE changes least from seed to seed."""

    split: SplitName = "random"


@dataclass(frozen=True)
class AuditTraining(Training):
    """A rate at which the campus is learned with the area's scaler."""

    learning_rate: float = 2e-4


@dataclass(frozen=True)
class AuditDlg(DlgSettings):
    """Fewer and larger steps, because there are many runs."""

    attack_rate: float | None = 0.08
    max_iterations: int = 300
    precision: PrecisionName = "single"


@dataclass(frozen=True)
class AuditHeatmap(Heatmap):
    """Coarser squares, because there are many runs."""

    grid_cells: int = 200
    finest_m: float = 35.0
    close: float = 1.0
