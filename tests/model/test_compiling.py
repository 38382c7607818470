import resource
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location

import pytest

pytest.importorskip("numba")

from veilmap.model.compiling import compiled


@pytest.fixture
def more(tmp_path):
    """A function of a file, ``more(by)(x) == x + by``, compiled as in a new process."""

    def more(by):
        file, source = tmp_path / "source.py", f"def more(x):\n    return x + {by}\n"
        if not file.exists() or file.read_text() != source:
            file.write_text(source)
        spec = spec_from_file_location("source", file)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return compiled(module.more)

    return more


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The files beside the source, by their ends."""
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return lambda: {path.suffix: path for path in tmp_path.glob("__pycache__/*")}


@contextmanager
def full_disk(largest_bytes):
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest_bytes, most[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)


def test_what_was_compiled_is_kept_for_the_next_process(more, kept):
    assert more(1)(1) == 2
    assert kept().keys() == {".nbi", ".nbc"}
    again = more(1)
    assert again(1) == 2
    assert sum(again.stats.cache_hits.values()) == 1


def test_on_a_full_disk_it_is_compiled_and_not_kept(more, kept):
    with full_disk(100):
        assert more(1)(1) == 2
    assert kept() == {}


def test_an_older_source_does_not_return_where_the_disk_was_full_for_a_newer(more, kept):
    """The index of the newer fits on the disk, its machine code does not; the older's is there."""
    assert more(1)(1) == 2
    files = kept()
    largest = files[".nbi"].stat().st_size + 100
    assert files[".nbc"].stat().st_size > largest
    for _ in range(2):
        with full_disk(largest):
            assert more(20)(1) == 21
    assert more(20)(1) == 21


@pytest.mark.parametrize("end", [".nbi", ".nbc"])
def test_files_that_cannot_be_read_are_replaced(more, kept, end):
    """As those that name a class which has another name since."""
    assert more(1)(1) == 2
    whole = kept()[end].read_bytes()
    kept()[end].write_bytes(whole[:9])
    for _ in range(2):
        assert more(1)(1) == 2
    assert more(1)(1) == 2
    assert kept()[end].read_bytes() != whole[:9]


def test_a_function_of_no_file_is_compiled_and_not_kept():
    """As in a read-only installation of somebody without a home."""
    made = {}
    exec("def more(x): return x + 1", made)  # noqa: S102
    assert compiled(made["more"])(1) == 2
