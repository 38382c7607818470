"""Killed before any single write, a command that is run again comes to the same bits."""

import shutil

import pytest

from tests.killing.commands import COMMANDS, DRAWN, contents, differing, is_done
from veilmap.streams import stream

KILLED = -9

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_before_some_write_it_comes_to_the_same_bits(forks, name):
    check(forks, name, lambda writes: [int(stream(0, "kill", name).integers(1, writes + 1))])


@pytest.mark.faults
@pytest.mark.parametrize("name", COMMANDS | DRAWN)
def test_killed_before_any_write_it_comes_to_the_same_bits(forks, name):
    writes = check(forks, name, lambda writes: range(1, writes + 1))
    print(f"\n{name}: killed before each of its {writes} writes")


def check(forks, name, chosen):
    """Compare with an undisturbed run; how many writes that had."""
    undisturbed = forks.new_place()
    assert forks.run(name, undisturbed) == (0, "")
    wanted, writes = contents(undisturbed), forks.writes
    for moment in chosen(writes):
        place = forks.new_place()
        code, said = forks.run(name, place, signal_at=moment)
        assert code == KILLED, said
        code, said = forks.run(name, place)
        assert is_done(code, said), said
        assert differing(contents(place), wanted) == [], f"killed before write {moment}"
        shutil.rmtree(place)
    return writes
