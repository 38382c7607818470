"""The whole thing as real processes on the loopback address: what a federation comes to."""

import os
import signal

import psutil
import pytest

from tests.flower.federation import USERS, engine, in_one_process, map_in, weights_in
from tests.flower.kriging_making import same
from tests.flower.machines.loopback import LIMIT_S, wait
from tests.flower.making import largest_difference
from veilmap.attacks.secure_sum import SUM
from veilmap.transcript import Transcript

pytestmark = pytest.mark.machines


def test_the_weights_are_those_of_one_process_though_the_superlink_dies(federation):
    run = federation.run("plain", 2, 2, "--nodes", "3")
    wait(lambda: federation.done("plain") >= 1, lambda: "no first round")
    [superlink] = federation.machines["server"].children("superlink")
    os.kill(superlink, signal.SIGKILL)
    said, _ = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 0, said
    assert "round 2: 3 updates" in said
    assert largest_difference(weights_in(federation, "plain"), engine(2, 2)) < 1e-5
    seen = Transcript(federation.folder / "plain" / "transcript").entries()
    assert [entry.user for entry in seen] == [*USERS] * 2


def test_secure_sums_give_the_same_map(federation):
    run = federation.run("sums", 9, 1, "--secure-aggregation")
    said, _ = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 0, said
    assert largest_difference(weights_in(federation, "sums"), engine(9, 1)) < 1e-4
    assert federation.history("sums")[0]["users"] == [SUM]
    assert "or which nodes measured at all" in said


@pytest.mark.parametrize(("first_day", "secure"), [(4, False), (6, True)])
def test_the_kriging_map_is_that_of_one_process_to_the_bit(federation, first_day, secure):
    rounds = 1 if secure else 2
    more = ("--secure-aggregation",) if secure else ("--nodes", "3")
    run = federation.run(f"kriging {secure}", first_day, rounds, *more, kind="kriging")
    said, _ = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 0, said
    there = map_in(federation, f"kriging {secure}")
    here = in_one_process(first_day, rounds, kind="kriging")
    assert there.state["visits"].any()
    assert same(there.state, here.state)
    users = {tuple(each["users"]) for each in federation.history(f"kriging {secure}")}
    assert users == {(SUM,) if secure else USERS}
    assert "which squares" in said


def test_everything_listens_on_the_loopback_address(federation):
    heard = {
        connection.laddr.ip
        for machine in federation.machines.values()
        for process in psutil.Process(machine.pid).children(recursive=True)
        for connection in process.net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert heard == {"127.0.0.1"}
