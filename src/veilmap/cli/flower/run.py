"""``veilmap flower run``: a campaign over the nodes of a server."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from rich.table import Table

from veilmap.cli.console import say, stderr, stdout, table
from veilmap.cli.interrupts import INTERRUPTED
from veilmap.cli.options import (
    KrigingOptions,
    NetworkOptions,
    ProtectionOptions,
    TaskOptions,
    TrainingOptions,
)
from veilmap.errors import UserError, refuse
from veilmap.federation.plan import Training
from veilmap.flower.asking import campaign_for
from veilmap.flower.campaign import Campaign
from veilmap.flower.machines.server_folder import ServerFolder
from veilmap.flower.operating import operate
from veilmap.flower.strategy import Assignment
from veilmap.maps.kriging_map import KrigingMap
from veilmap.model.network import Network
from veilmap.study.protection import Protection
from veilmap.study.run_folder import RunFolder
from veilmap.study.settings import RunSettings, Task, unused_settings


def run_(
    state: Path,
    *,
    out: Path,
    first: str,
    rounds: int,
    secure_aggregation: bool = False,
    nodes: int = 2,
    sum_of: int = Assignment.sum_of,
    timeout: float = Assignment.timeout_s,
    most_norm: float | None = None,
    test: Path | None = None,
    config: Path | None = None,
    model: Path | None = None,
    task: TaskOptions = Task(),
    kriging: KrigingOptions = KrigingMap(),
    training: TrainingOptions = Training(),
    protection: ProtectionOptions = Protection(),
    network: NetworkOptions = Network(),
) -> None:
    """Make one cell's map with the nodes of a server, round by round.

    A round is requested when its interval is over. Rerun the command to resume an interrupted run.
    The server has no data, so --cell, --area and --label-offset must be given.

    Args:
        state: the folder of a running server.
        out: folder for the model, the transcript, the settings and the results.
        first: when round 1 begins, such as 2024-01-01; in UTC unless it has an offset.
        rounds: the number of rounds.
        secure_aggregation: let the server see sums only.
        nodes: number of connected nodes that a round waits for.
        sum_of: smallest number of nodes in a secure sum.
        timeout: how long a round waits for answers, in seconds.
        most_norm: the largest norm of an accepted update of a network; by default 100 plus what the
            noise of a proposed dp adds.
        test: the operator's own measurements, for the RMSE after each round.
        config: settings file (TOML); options on the command line override it.
        model: settings file that "veilmap tune" wrote.
    """
    RunFolder(out).refuse_finished(way_out="")
    settings = RunSettings(
        task=task, kriging=kriging, model=network, training=training, protection=protection
    )
    refuse(unused_settings(settings))
    campaign = campaign_for(
        settings, first=first, rounds=rounds, secure_aggregation=secure_aggregation
    )
    assignment = Assignment(
        campaign=campaign.text,
        out=str(out.resolve()),
        names=str(ServerFolder(state).nodes.resolve()),
        nodes=max(nodes, sum_of) if secure_aggregation else nodes,
        sum_of=sum_of,
        timeout_s=timeout,
        most_norm=campaign.exchange.most_norm(most_norm, protection.steps),
        test=str(test.resolve()) if test else "",
    )
    try:
        operate(state, assignment, say)
    except KeyboardInterrupt:
        stderr.print(f"stopped; rerun the command to resume from {out}", soft_wrap=True)
        sys.exit(INTERRUPTED)
    _conclude(out, campaign)


def _conclude(out: Path, campaign: Campaign) -> None:
    results = json.loads(RunFolder(out).results.read_bytes())
    stdout.print()
    stdout.print(_rounds(results["history"], campaign))
    say("\nwhat the server saw")
    for sentence in results["server_sees"]:
        say(f"  - {sentence}")
    if not any(each["n"] for each in results["history"]):
        raise UserError(
            "no node sent anything in any round, and the map is untrained; is the cell spelt as in "
            f"the nodes' files? {RunFolder(out).results} has each node's reason"
        )
    folder = shlex.quote(str(out))
    say(f"\nwritten to {out}; the map as a file: veilmap map {folder} --format geotiff")
    say(f"what the updates gave away: veilmap attack {folder} --data MEASUREMENTS")


def _rounds(history: list[dict[str, Any]], campaign: Campaign) -> Table:
    secure, counts = campaign.secure_aggregation, f"{campaign.exchange.counts}s"
    rows = table(None, "round", "nodes asked", "sent", counts, "RMSE dB", left=0)
    for each in history:
        rmse = "-" if each["rmse_db"] is None else f"{each['rmse_db']:.2f}"
        sent = "sum" if secure and each["users"] else str(len(each["users"]))
        rows.add_row(str(each["round"]), str(each["asked"]), sent, f"{each['n']:,}", rmse)
    return rows
