"""Where torch computes."""

from typing import Literal, get_args

import torch

from veilmap.errors import UserError, unknown_choice

DeviceName = Literal["cpu", "cuda"]


def torch_device(name: DeviceName) -> torch.device:
    """The device of that name.

    Raises:
        UserError: there is no such device, or torch sees none.
    """
    if name not in get_args(DeviceName):
        raise unknown_choice("device", name, get_args(DeviceName))
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError(
            f"device 'cuda' needs a GPU that torch can use, and torch {torch.__version__} sees "
            "none; leave out --device, or install torch with CUDA"
        )
    return torch.device(name)
