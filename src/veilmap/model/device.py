"""Which device the large products run on."""

from typing import Literal

import torch

from veilmap.errors import UserError

DeviceName = Literal["cpu", "cuda"]


def torch_device(name: DeviceName) -> torch.device:
    """The device of this name, if torch sees it."""
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError("device is 'cuda', but torch sees no GPU here; use device 'cpu'")
    return torch.device(name)
