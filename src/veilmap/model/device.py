"""Where tensors live: this machine's processor, or its GPU."""

from typing import TYPE_CHECKING, Literal, get_args

from veilmap.errors import UserError, unknown_choice
from veilmap.model.network import Network

if TYPE_CHECKING:
    import torch

DeviceName = Literal["cpu", "cuda"]
DEVICES: tuple[DeviceName, ...] = get_args(DeviceName)


def torch_device(name: DeviceName = "cpu") -> "torch.device":
    """The device by its name, if it is there; where torch is missing, how to get it."""
    if name not in DEVICES:
        raise unknown_choice("device", name, DEVICES)
    try:
        import torch
    except ModuleNotFoundError as error:
        raise UserError(
            "the network and the attacks on it need torch, which is not installed; get it with: "
            "pip install 'veilmap[network]'"
        ) from error
    if name == "cuda" and not torch.cuda.is_available():
        raise UserError(
            f"device 'cuda' needs a GPU that torch can use, and torch {torch.__version__} sees "
            "none; leave out --device, or install torch with CUDA"
        )
    return torch.device(name)


def torch_for(family: object, name: DeviceName = "cpu") -> None:
    """Refuse early what a kind of map could not compute for want of torch or of a GPU."""
    if name != "cpu" or isinstance(family, Network):
        torch_device(name)


def free_bytes(device: "torch.device") -> int:
    """Of a GPU's memory, with what torch keeps of it for later."""
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
