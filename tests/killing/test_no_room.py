"""Where nothing can be written: one line, and what was there stays."""

import os
import re
import shutil
import signal

import pytest

from tests.killing.commands import TINY, arguments, contents

# What turns a command into one that replaces results, or adds to them.
MORE = {
    "attack": ("--method first_layer", "--method first_layer --overwrite --seed 1"),
    "sweep": ("--seeds 2", "--seeds 3"),
    "audit": ("--seeds 2", "--seeds 3"),
    "tune": ("--trials 4", "--trials 5"),
}
NOBODY = 65534
LITTLE = ("train", "data.parquet", *TINY)

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("name", ["train --overwrite", "attack", "sweep", "audit", "tune"])
def test_a_full_disk_leaves_the_old_results(forks, name):
    place = forks.new_place()
    if name in MORE:
        assert forks.run(name, place) == (0, "")
    before = contents(place)
    words = " ".join(arguments(name, jobs=1)).replace(*MORE.get(name, ("", ""))).split()
    shutil.rmtree(forks.compiled, ignore_errors=True)  # what numba cannot keep must not matter
    code, said = forks.run(words, place, largest_bytes=200)
    assert (code, len(said.splitlines())) == (2, 1), said
    wanted = (
        "veilmap: error: cannot write (out|run)/.+: File too large; choose another place for it"
    )
    assert re.fullmatch(wanted, said.strip())
    assert contents(place) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("mode", "name", "what"),
    [
        (0o555, "sweep", "write out"),
        (0o555, "tune", "write out/tuned.toml.journal"),
        (0o000, "attack", "read or write out/settings.json"),
    ],
)
def test_a_folder_that_is_closed_is_one_line(forks, name, mode, what):
    place = forks.new_place()
    (place / "out").mkdir(mode)
    code, said = forks.run(name, place, user=NOBODY)
    way_out = "choose another place for it|check its permissions and the disk"
    wanted = f"veilmap: error: cannot {what}: Permission denied; ({way_out})"
    assert (code, len(said.splitlines())) == (2, 1), said
    assert re.fullmatch(wanted, said.strip())


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("data.parquet", "data.parquet is a file; choose a folder"),
        ("data.parquet/below", "Not a directory"),
        ("dangling", "dangling is a link to nowhere, which does not exist; make that"),
    ],
)
def test_a_place_that_is_no_folder_is_one_line(forks, out, says):
    place = forks.new_place()
    (place / "dangling").symlink_to("nowhere")
    for words in (LITTLE, AUDIT_LITTLE):
        code, said = forks.run([*words, "--out", out], place)
        assert (code, len(said.splitlines())) == (2, 1), said
        assert says in said


AUDIT_LITTLE = ("audit", "data.parquet", *TINY)


@pytest.mark.parametrize("name", ["train --overwrite", "attack", "tune"])
def test_an_interrupt_leaves_the_old_results_and_is_one_line(forks, name):
    place = forks.new_place()
    before = contents(place)
    code, said = forks.run(name, place, signal_at=4, number=signal.SIGINT)
    assert (code, len(said.splitlines())) == (130, 1), said
    assert contents(place) == before
