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


def _group(title: str, order: int) -> Parameter:
    return Parameter(name="*", group=Group(title, sort_key=order))


TaskOptions = Annotated[Task, _group("What is learned", 1)]
TrainingOptions = Annotated[Training, _group("Federated training", 2)]
ProtectionOptions = Annotated[Protection, _group("Defences on the phone", 3)]
TestOptions = Annotated[Split, _group("Test data", 4)]
NetworkOptions = Annotated[Network, _group("Network", 5)]
ColumnOptions = Annotated[Columns, _group("Columns of the file (default: guessed)", 6)]
ReadingOptions = Annotated[Reading, _group("Reading", 7)]
