import os
import threading
import time
from contextlib import closing

import joblib
import numpy as np
import psutil
import pytest
import torch
from distributed import Client, LocalCluster
from joblib.parallel import ThreadingBackend, get_active_backend

from tests.conftest import make_measurements
from veilmap.experiments.pool import BATCH_PER_JOB, _lost_work_ignored, all_jobs, run_all

pytestmark = pytest.mark.processes


class NoGenerators(ThreadingBackend):
    """Gives nothing back before the last item is finished, as Ray's backend does."""

    supports_return_generator = False


@pytest.fixture(scope="module")
def dask():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def dot(item, shared):
    """Something whose bits tell of the order of additions."""
    draw = np.random.default_rng(item)
    row = torch.from_numpy(draw.normal(size=300))
    return float(row @ torch.from_numpy(shared) @ row)


def who(item, shared):
    return os.getpid(), threading.get_ident(), torch.get_num_threads()


def mark(item, shared):
    """Leaves a mark, so that one sees which were begun."""
    (shared / str(item)).touch()
    return item


def wait(item, shared):
    """Leaves a mark; all but the first wait for another one."""
    mark(item, shared)
    while item and not (shared / GO_ON).exists():
        time.sleep(0.01)
    return item


def fail(item, shared):
    raise LookupError(f"no {item}")


def count_rows(item, shared):
    return shared.table.height + item


GO_ON = "go on"
SHARED = np.random.default_rng(0).normal(size=(300, 300))


def results(jobs, items=tuple(range(12))):
    return dict(run_all(dot, items, SHARED, jobs))


def test_one_job_runs_here_in_order():
    assert [item for item, _ in run_all(who, (3, 1, 2), None, 1)] == [3, 1, 2]
    assert dict(run_all(who, (0, 1), None, 1))[0][0] == os.getpid()
    assert dict(run_all(who, (0,), None, 8))[0][0] == os.getpid()
    assert list(run_all(who, (), None, 8)) == []


def test_the_way_changes_no_bit(dask):
    alone = results(1)
    assert results(2) == alone
    with joblib.parallel_config(backend="dask"):
        assert results(2) == alone
    with joblib.parallel_config(backend=NoGenerators()):
        assert results(2) == alone


def test_two_jobs_are_two_other_processes_of_one_thread_each():
    found = [result for _, result in run_all(who, range(20), None, 2)]
    assert os.getpid() not in {pid for pid, _, _ in found}
    assert {threads for _, _, threads in found} == {1}


def test_the_callers_joblib_settings_are_untouched():
    running = run_all(dot, range(12), SHARED, 2)
    next(running)
    backend, jobs = get_active_backend()
    assert (backend.inner_max_num_threads, jobs) == (None, None)
    assert len(list(running)) == 11


def test_the_callers_backend_takes_the_place_of_ours(dask):
    with joblib.parallel_config(backend="dask"):
        found = [result for _, result in run_all(who, range(20), None, 2)]
        assert all_jobs() == 2
    workers = set(dask.run(os.getpid).values())
    assert {pid for pid, _, _ in found} <= workers
    assert {threads for _, _, threads in found} == {1}


def test_dask_gets_the_shared_data_once(dask, monkeypatch):
    data, sent = make_measurements(), []
    scatter = Client.scatter
    monkeypatch.setattr(
        Client, "scatter", lambda self, *a, **k: (sent.append(a), scatter(self, *a, **k))[1]
    )
    with joblib.parallel_config(backend="dask"):
        found = dict(run_all(count_rows, range(8), data, 2))
    assert found == {item: 200 + item for item in range(8)}
    assert len(sent) == 1


def our_workers():
    children = psutil.Process().children(recursive=True)
    return [each for each in children if "LokyProcess" in " ".join(each.cmdline())]


def test_closing_ends_our_workers(tmp_path):
    with closing(run_all(wait, range(60), tmp_path, 2)) as running:
        assert next(running) == (0, 0)
        assert our_workers()
    assert our_workers() == []
    assert len(list(tmp_path.iterdir())) <= 3


def test_only_lokys_thread_may_look_for_work_that_was_thrown_away(monkeypatch):
    said = []
    monkeypatch.setattr(threading, "excepthook", lambda args: said.append(args.thread.name))
    with _lost_work_ignored():
        for name, work in (
            ("ExecutorManagerThread", {}),
            ("ours", {}),
            ("ExecutorManagerThread", []),
        ):
            thread = threading.Thread(target=work.__getitem__, args=(45,), name=name)
            thread.start()
            thread.join()
    assert said == ["ours", "ExecutorManagerThread"]


def test_closing_stops_dask_and_leaves_it_usable(dask, tmp_path):
    with joblib.parallel_config(backend="dask"):
        with closing(run_all(wait, range(60), tmp_path, 2)) as running:
            assert next(running) == (0, 0)
        mark(GO_ON, tmp_path)
        # After what was handed out, which may end: two per core, and one more for the result.
        assert results(2) == results(1)
        begun = {path.name for path in tmp_path.iterdir()} - {GO_ON}
        assert begun <= {str(item) for item in range(5)}


def test_a_backend_without_generators_gives_batch_by_batch(tmp_path):
    size = 2 * BATCH_PER_JOB
    with (
        joblib.parallel_config(backend=NoGenerators()),
        closing(run_all(mark, range(3 * size), tmp_path, 2)) as running,
    ):
        assert next(running) == (0, 0)
        assert len(list(tmp_path.iterdir())) == size


def test_what_fails_in_a_worker_is_raised_here(dask):
    for backend in ("dask", NoGenerators()):
        with joblib.parallel_config(backend=backend), pytest.raises(LookupError, match="no "):
            list(run_all(fail, range(4), None, 2))
