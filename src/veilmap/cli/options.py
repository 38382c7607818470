"""Groups of options that several commands share, flattened into plain options."""

from typing import Annotated

from veilmap.cli.file_options import ColumnOptions, ReadingOptions, grouped
from veilmap.federation.plan import Training
from veilmap.model.network import Network
from veilmap.rounds import Split
from veilmap.study.protection import Protection
from veilmap.study.robustness import Robustness
from veilmap.study.settings import Task

__all__ = [
    "ColumnOptions",
    "NetworkOptions",
    "ProtectionOptions",
    "ReadingOptions",
    "RobustnessOptions",
    "TaskOptions",
    "TestOptions",
    "TrainingOptions",
    "grouped",
]

TaskOptions = Annotated[Task, grouped("What is learned", 1)]
TrainingOptions = Annotated[Training, grouped("Federated training", 2)]
ProtectionOptions = Annotated[Protection, grouped("Defences on the phone", 3)]
RobustnessOptions = Annotated[Robustness, grouped("Broken phones", 5)]
TestOptions = Annotated[Split, grouped("Test data", 4)]
NetworkOptions = Annotated[Network, grouped("Network", 5)]
