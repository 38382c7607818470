"""``veilmap flower simulate``: many nodes on a Ray cluster."""

import logging
import shlex
from pathlib import Path

from veilmap.cli.console import say
from veilmap.cli.data import read_and_say
from veilmap.cli.file_options import FileOptions
from veilmap.cli.options import (
    KrigingOptions,
    NetworkOptions,
    ProtectionOptions,
    TaskOptions,
    TestOptions,
    TrainingOptions,
)
from veilmap.errors import refuse
from veilmap.federation.plan import Training
from veilmap.flower.simulation import simulate
from veilmap.maps.kriging_map import KrigingMap
from veilmap.model.network import Network
from veilmap.rounds import Split
from veilmap.study.prepare import prepare
from veilmap.study.protection import Protection
from veilmap.study.run_folder import RunFolder
from veilmap.study.settings import RunSettings, Task, unused_settings
from veilmap.wording import counted


def simulate_(
    data: str = "campus",
    *,
    out: Path,
    cluster: str | None = None,
    cpus: int | None = None,
    secure_aggregation: bool = False,
    config: Path | None = None,
    model: Path | None = None,
    task: TaskOptions = Task(),
    kriging: KrigingOptions = KrigingMap(),
    training: TrainingOptions = Training(),
    protection: ProtectionOptions = Protection(),
    test: TestOptions = Split(),
    network: NetworkOptions = Network(),
    source: FileOptions = FileOptions(),
) -> None:
    """Train as "veilmap train" does, with a Flower node per user on a Ray cluster.

    It gives the same map at a higher cost (see docs/flower.md).

    Args:
        data: a measurement file, or a simulated world: campus or london.
        out: folder for the model, the transcript, the settings and the results.
        cluster: the address of a Ray cluster, such as auto; by default a cluster is started on
            this machine for the run.
        cpus: number of cores for a cluster that is started; by default all.
        secure_aggregation: let the server see sums only.
        config: settings file (TOML); options on the command line override it.
        model: settings file that "veilmap tune" wrote.
    """
    settings = RunSettings(task, test, kriging, network, training, protection)
    refuse(unused_settings(settings))
    RunFolder(out).refuse_finished(way_out="")
    measurements = read_and_say(data, source.columns, source.reading)
    prepared = prepare(measurements, settings)
    say(
        f"{counted(len(prepared.users), 'node')}, {counted(len(prepared.rounds), 'round')}; "
        "starting Ray takes some seconds"
    )
    logging.getLogger("flwr").setLevel(logging.ERROR)
    journal = simulate(
        prepared, out, cluster=cluster, cpus=cpus, secure_aggregation=secure_aggregation
    )
    rmse_db, constant_db = journal.history[-1].rmse_db, prepared.rmse_constant_db
    say(f"RMSE on the test data {rmse_db:.2f} dB; the constant baseline has {constant_db:.2f} dB")
    say(f"\nwritten to {out}; the map as a file: veilmap map {shlex.quote(str(out))} --format png")
