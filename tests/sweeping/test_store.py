from dataclasses import replace

import pytest

from tests.sweeping.making import make_case, make_data
from veilmap.sweeping.record import Record
from veilmap.sweeping.store import Store

CASE = make_case(make_data())
RECORD = Record(
    "fedsgd",
    0,
    rows=({"attack": "first_layer", "emd": None, "n": 3},),
    rounds=({"round": 1},),
    training=({"rmse_db": 5.5},),
    found={"first_layer": [[1, 0, 2.5, 3.5]]},
    path=[[0.0, 1.0]],
    gradient=({"decade": -3},),
    kept=("found", "past"),
    seconds=1.5,
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


def file_of(store):
    (path,) = store.path.iterdir()
    return path


def test_what_was_saved_is_loaded(store):
    assert store.load(CASE, "data") is None
    store.save(CASE, "data", RECORD)
    assert store.load(CASE, "data") == RECORD


def test_a_file_is_named_after_its_run(store):
    store.save(CASE, "data", RECORD)
    assert file_of(store).name.startswith("fedsgd-centre-seed0-")
    store.save(replace(CASE, counted=True), "data", RECORD)
    assert any(path.name.startswith("data-seed0-") for path in store.path.iterdir())


def test_another_case_or_other_data_are_not_found(store):
    store.save(CASE, "data", RECORD)
    assert store.load(CASE, "other data") is None
    assert store.load(replace(CASE, target="u1"), "data") is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b'{"rows": 3}', b"\xff\xfe"])
def test_a_damaged_file_is_not_reused(store, content):
    store.save(CASE, "data", RECORD)
    file_of(store).write_bytes(content)
    assert store.load(CASE, "data") is None


def test_a_file_cut_short_is_not_reused(store):
    store.save(CASE, "data", RECORD)
    whole = file_of(store).read_bytes()
    file_of(store).write_bytes(whole[: len(whole) // 2])
    assert store.load(CASE, "data") is None


def test_a_record_that_lacks_what_is_to_be_kept_is_not_reused(store):
    store.save(CASE, "data", RECORD)
    assert store.load(replace(CASE, keep=frozenset({"found"})), "data") == RECORD
    assert store.load(replace(CASE, keep=frozenset({"found", "path"})), "data") is None


def test_a_failure_is_reused_unless_another_try_may_not_meet_it(store):
    failed = Record("fedsgd", 0, failed="training diverged")
    store.save(CASE, "data", failed)
    assert store.load(CASE, "data") == failed
    store.save(CASE, "data", replace(failed, again=True))
    assert store.load(CASE, "data") is None


def test_a_folder_in_place_of_the_file_is_not_reused(store):
    store.save(CASE, "data", RECORD)
    path = file_of(store)
    path.unlink()
    path.mkdir()
    assert store.load(CASE, "data") is None
