"""Real processes on the loopback address: nodes that send nonsense or die, a server that dies."""

import pytest

from tests.flower.federation import USERS, engine, weights_in
from tests.flower.machines.loopback import LIMIT_S, wait
from tests.flower.making import largest_difference
from veilmap.flower.machines import admission

pytestmark = pytest.mark.machines


def test_broken_hostile_and_dying_nodes_do_not_end_a_run(federation):
    """Node h sends nonsense in every round; u2 loses power in the last."""
    federation.join("u0", "h", federation.hostile())
    federation.wait_online(*USERS, "h")
    # Long: a busy machine is no fault. Flower misses the dead node after a minute.
    run = federation.run("faults", 4, 3, "--nodes", "4", "--timeout", "150")
    log = federation.folder / "u2" / "node" / "logs" / "supernode.log"
    wait(log.exists, lambda: "no log")
    wait(lambda: log.read_text().count("Receiving") == 3, log.read_text)
    federation.machines.pop("u2").lose_power()
    said, _ = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 0, said
    one, two, three = federation.history("faults")
    assert one["left_out"] == {"h": "numbers that are not finite"}
    assert set(two["left_out"]) == {"h"}
    assert two["left_out"]["h"].startswith("weights of shape")
    assert set(three["left_out"]) == {"h", "u2"}
    assert three["left_out"]["h"].startswith("an update of length")
    assert [each["users"] for each in (one, two, three)] == [[*USERS], [*USERS], ["u0", "u1"]]
    lost = engine(4, 3, left_out=((3, "u2"),))
    assert largest_difference(weights_in(federation, "faults"), lost) < 1e-5
    assert "round 1: nothing taken of h: numbers that are not finite" in said


def test_a_server_that_loses_power_resumes_where_it_was(federation):
    """The command ends with an error; typed again after a restart it loses no finished round."""
    # u2's power failed, and the round would wait for it; h sends nothing of use.
    for name in ("u2", "h"):
        admission.expel(federation.state, name)
    again = ("resumed", 7, 2, "--timeout", "90")
    run = federation.run(*again)
    wait(lambda: federation.done("resumed") >= 1, lambda: "no first round")
    federation.machines.pop("server").lose_power()
    run.kill()
    run.communicate()
    federation.serve()
    federation.wait_online("u0", "u1")
    run = federation.run(*again)
    said, _ = run.communicate(timeout=LIMIT_S)
    assert run.returncode == 0, said
    assert "round 1:" not in said
    first, second = federation.history("resumed")
    assert (first["round"], second["round"]) == (1, 2)
    assert {"u0", "u1"} <= set(first["users"])
    assert {"u0", "u1"} <= set(second["users"])
