from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from veilmap.bounded_executor import map_bounded


def test_results_come_in_the_order_of_the_jobs():
    first_may_end = Event()

    def work(job):
        assert job or first_may_end.wait(10)
        if job == 2:
            first_may_end.set()
        return job * job

    with ThreadPoolExecutor(3) as pool:
        assert list(map_bounded(pool, work, range(5), most=3)) == [0, 1, 4, 9, 16]


def test_no_more_jobs_are_taken_than_may_be_ahead():
    taken = []
    with ThreadPoolExecutor(1) as pool:
        results = map_bounded(pool, abs, (taken.append(job) or job for job in range(9)), most=2)
        assert next(results) == 0
        assert taken == [0, 1]


def test_what_goes_wrong_in_a_job_is_reported_and_the_rest_is_not_begun():
    done = []

    def work(job):
        if job == 1:
            raise ValueError("no")
        done.append(job)

    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="no"):
        list(map_bounded(pool, work, range(100), most=4))
    assert len(done) < 5
