"""One thread for the small products of local training."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block numpy and torch compute on one thread: bits do not depend on the cores."""
    with threadpool_limits(1, user_api="blas"), ExitStack() as afterwards:
        with suppress(ModuleNotFoundError):
            # Also where it is not imported yet: the block may do so.
            import torch

            afterwards.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        yield
