"""One thread for the small products of local training."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block numpy and torch compute on one thread: bits do not depend on the cores."""
    with threadpool_limits(1, user_api="blas"), _one_thread_of_torch():
        yield


@contextmanager
def _one_thread_of_torch() -> Iterator[None]:
    try:
        # Also where nobody has imported it yet: the block may do so.
        import torch
    except ModuleNotFoundError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
