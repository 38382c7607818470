import time

from veilmap.cli.timing import RunTimer


def test_runs_that_took_twice_the_time_kept_two_cores_at_work(monkeypatch):
    monkeypatch.setattr(time, "perf_counter", iter([100.0, 162.4]).__next__)
    timer = RunTimer()
    for _ in range(31):
        timer.add(4.0)
    assert timer.words() == "31 runs in 0:01:02, 2.0 cores busy"
