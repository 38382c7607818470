import pytest
import torch

from veilmap.errors import UserError
from veilmap.model.device import torch_device


def test_the_processor_is_always_there():
    assert torch_device("cpu") == torch.device("cpu")


def test_a_gpu_that_is_not_there_is_reported(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=r"device 'cuda' needs a GPU .* sees none; leave out"):
        torch_device("cuda")


def test_a_device_we_do_not_know_is_named():
    with pytest.raises(UserError, match=r"unknown device 'tpu'; choose one of: cpu, cuda"):
        torch_device("tpu")
