"""The settings of a run as options, a group for each part."""

from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Parameter

from veilmap.cli.file_options import grouped
from veilmap.federation.plan import Training
from veilmap.maps.kriging_map import KrigingMap
from veilmap.model.network import Network
from veilmap.rounds import Split
from veilmap.study.protection import Protection
from veilmap.study.robustness import Robustness
from veilmap.study.settings import NetworkTask, RunSettings, Task

TaskOptions = Annotated[Task, grouped("Task", 1)]
NetworkTaskOptions = Annotated[NetworkTask, grouped("Task", 1)]
TrainingOptions = Annotated[Training, grouped("Federated training (of kriging only --fraction)", 2)]
ProtectionOptions = Annotated[Protection, grouped("Defences on the phone", 3)]
TestOptions = Annotated[Split, grouped("Test data", 4)]
KrigingOptions = Annotated[KrigingMap, grouped("Kriging", 2)]
NetworkOptions = Annotated[Network, grouped("Network", 5)]
RobustnessOptions = Annotated[Robustness, grouped("Broken phones", 5)]


@Parameter(name="*")
@dataclass(frozen=True)
class RunSettingsOptions(RunSettings):
    """All of them."""

    task: TaskOptions = field(default_factory=Task)
    test: TestOptions = field(default_factory=Split)
    kriging: KrigingOptions = field(default_factory=KrigingMap)
    model: NetworkOptions = field(default_factory=Network)
    training: TrainingOptions = field(default_factory=Training)
    protection: ProtectionOptions = field(default_factory=Protection)
    robustness: RobustnessOptions = field(default_factory=Robustness)
