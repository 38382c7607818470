import errno
import os
import subprocess
import sys
from contextlib import ExitStack, suppress

import pytest

from veilmap.cli import main
from veilmap.cli.standard_output import checked_output
from veilmap.errors import UserError

FULL = "/dev/full"
CANNOT = "cannot write standard output: No space left on device; redirect it elsewhere"

pytestmark = pytest.mark.skipif(not os.path.exists(FULL), reason=f"no {FULL} on this system")


@pytest.fixture
def on(monkeypatch):
    """Make a file one of the standard streams."""
    with suppress(OSError), ExitStack() as opened:  # what is left in it cannot be written either
        yield lambda stream, file: monkeypatch.setattr(
            sys, stream, opened.enter_context(open(file, "w"))
        )


@pytest.mark.parametrize("text", ["", "a line", "a" * 1_000_000])
def test_what_is_printed_to_a_full_disk_is_one_error(on, text):
    on("stdout", FULL)
    with pytest.raises(UserError, match=CANNOT), checked_output():
        print(text)


@pytest.mark.parametrize("words", [["--help"], ["simulate", "campus", "--help"], ["--version"]])
def test_a_command_on_a_full_disk_is_exit_code_2_and_one_line(on, capsys, words):
    on("stdout", FULL)
    with pytest.raises(SystemExit) as end:
        main(words)
    assert (end.value.code, capsys.readouterr().err) == (2, f"veilmap: error: {CANNOT}\n")


@pytest.mark.parametrize(
    ("words", "full", "says"),
    [("--help", "stdout", f"veilmap: error: {CANNOT}\n"), ("trian", "stderr", "")],
)
def test_python_has_nothing_more_to_say_at_its_exit(words, full, says):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open(FULL, "w") as disk:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, full: disk}
        done = subprocess.run(
            [sys.executable, "-m", "veilmap", words], env=buffered, text=True, **pipes
        )
    assert (done.returncode, "".join(filter(None, (done.stdout, done.stderr)))) == (2, says)


def test_a_reader_that_has_gone_is_no_error(on, capsys):
    """As in ``veilmap --help | head -1``."""
    reader, writer = os.pipe()
    os.close(reader)
    on("stdout", writer)
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert (end.value.code, capsys.readouterr().err) == (1, "")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS])
def test_a_temporary_file_of_a_library_is_one_line(monkeypatch, capsys, number):
    wanted = (
        f"veilmap: error: cannot write a temporary file: {os.strerror(number)}; make room, or set "
        "TMPDIR to a place with room\n"
    )
    assert said_after(OSError(number, os.strerror(number)), monkeypatch, capsys) == wanted


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_another_failure_at_a_librarys_file_is_one_line_with_a_way_out(monkeypatch, capsys, number):
    error = OSError(number, os.strerror(number), "cache/index")
    assert said_after(error, monkeypatch, capsys) == (
        f"veilmap: error: cannot read or write cache/index: {os.strerror(number)}; check its "
        "permissions and the disk\n"
    )


def said_after(error, monkeypatch, capsys):
    """What a command prints whose library ends in this error."""

    def compare(*_runs: str):
        raise error

    monkeypatch.setattr("veilmap.cli.compare.compare_", compare)
    with pytest.raises(SystemExit) as end:
        main(["compare", "a", "b"])
    assert end.value.code == 2
    return capsys.readouterr().err
