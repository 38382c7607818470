import sys

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from veilmap.model.threads import one_thread


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.mark.parametrize("with_torch", [True, False])
def test_numpy_and_torch_compute_on_one_thread_and_get_theirs_back(monkeypatch, with_torch):
    before = torch.get_num_threads()
    if not with_torch:
        monkeypatch.setitem(sys.modules, "torch", None)
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            assert blas_threads() == {1}
            assert torch.get_num_threads() == (1 if with_torch else before)
        assert blas_threads() == {2}
    assert torch.get_num_threads() == before
