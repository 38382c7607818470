"""Groups of options that several commands share, flattened into plain options."""

from typing import Annotated

from cyclopts import Group, Parameter

from veilmap.federation.plan import Training
from veilmap.model.network import Network
from veilmap.rounds import Split
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.study.protection import Protection
from veilmap.study.settings import Task


def grouped(title: str, order: int) -> Parameter:
    """The fields of a dataclass as plain options, under a title in the help."""
    return Parameter(name="*", group=Group(title, sort_key=order))


TaskOptions = Annotated[Task, grouped("What is learned", 1)]
TrainingOptions = Annotated[Training, grouped("Federated training", 2)]
ProtectionOptions = Annotated[Protection, grouped("Defences on the phone", 3)]
TestOptions = Annotated[Split, grouped("Test data", 4)]
NetworkOptions = Annotated[Network, grouped("Network", 5)]
ColumnOptions = Annotated[Columns, grouped("Columns of the file (default: guessed)", 6)]
ReadingOptions = Annotated[Reading, grouped("Reading", 7)]
