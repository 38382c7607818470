"""Runs: the operator starts, watches and stops them."""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from flwr.common.constant import Status
from flwr.common.serde import fab_to_proto
from flwr.proto import control_pb2
from flwr.supercore.fab import Fab
from flwr.supercore.run import RunStatus

from veilmap.errors import UserError
from veilmap.files import write_whole
from veilmap.flower.machines.bundle import RunConfig, build, project
from veilmap.flower.machines.control import control
from veilmap.flower.machines.server_folder import ServerFolder

_PATIENCE_S = 120.0
_PAUSE_S = 1.0


def submit(path: Path, run_config: RunConfig) -> int:
    """Start a run with these settings; returns its id."""
    folder = ServerFolder(path)
    folder.superlink()  # an error if there is no server, before anything is written
    content = build(run_config)
    # For use with Flower's own command: flwr run STATE/app.
    write_whole(folder.app / "pyproject.toml", project(run_config).encode())
    fab = Fab(hashlib.sha256(content).hexdigest(), content, {})
    with control(folder) as client:
        return client.StartRun(control_pb2.StartRunRequest(fab=fab_to_proto(fab))).run_id


def status(path: Path, run_id: int) -> RunStatus:
    """The status of the run; of a finished one ``sub_status`` says how it ended."""
    with control(ServerFolder(path)) as client:
        runs = client.ListRuns(control_pb2.ListRunsRequest(run_id=run_id)).run_dict
    if run_id not in runs:
        raise UserError(f"there is no run {run_id}; choose one of 'flwr ls'")
    found = runs[run_id].status
    return RunStatus(found.status, found.sub_status, found.details)


def stop(path: Path, run_id: int) -> None:
    """End the run; what it wrote stays."""
    with control(ServerFolder(path)) as client:
        client.StopRun(control_pb2.StopRunRequest(run_id=run_id))


def stop_all(path: Path) -> list[int]:
    """End every run that is not finished; returns their ids."""
    with control(ServerFolder(path)) as client:
        found = client.ListRuns(control_pb2.ListRunsRequest()).run_dict
        going = [run_id for run_id, run in found.items() if run.status.status != Status.FINISHED]
        for run_id in going:
            client.StopRun(control_pb2.StopRunRequest(run_id=run_id))
    return going


def follow(path: Path, run_id: int) -> Iterator[str]:
    """The log of the run, line by line, until it is finished.

    It survives a restart of the SuperLink: the log continues where it broke off.
    """
    after, unanswered_since = 0.0, time.monotonic()
    while True:
        try:
            with control(ServerFolder(path)) as client:
                request = control_pb2.StreamLogsRequest(run_id=run_id, after_timestamp=after)
                for part in client.StreamLogs(request):
                    yield from part.log_output.splitlines()
                    after, unanswered_since = part.latest_timestamp, time.monotonic()
            if status(path, run_id).status == Status.FINISHED:
                return
        except UserError as error:
            waited_s = time.monotonic() - unanswered_since
            if not isinstance(error.__cause__, httpx.TransportError) or waited_s > _PATIENCE_S:
                raise
        time.sleep(_PAUSE_S)
