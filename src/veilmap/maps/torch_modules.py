"""Torch modules as maps: how all sides make the same one, and what phones can train together."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from veilmap.errors import UserError, shown
from veilmap.federation.map_family import Differentiable

_CPU = torch.device("cpu")
# Standardised positions that a module is tried on.
_PLACES = ((-1.0, 0.5), (0.0, 0.0), (0.5, 1.0))
# Of what a module gives for a place alone and among others; rounding is far smaller.
_TOLERANCE = 1e-4
# Characters of torch's messages that ours repeat.
_LONGEST = 160


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Torch draws by the seed while the block runs; then its generator is as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def outputs(module: nn.Module, x: Tensor) -> Tensor:
    """F(x; w) as a vector."""
    # A copy, because a module may write into its input, which the next epoch needs as it was.
    found: Tensor = module(x.clone())
    return found.reshape(len(x))


def made_module(family: Differentiable, seed: int = 0) -> nn.Module:
    """A new module; what it draws is drawn by ``seed``.

    The server, phones and attacks send parameters alone. By the same seed all of them make the same
    constants, such as the frequencies of Fourier features.

    Raises:
        UserError: it cannot be made, is not a module, takes no positions, or gives several numbers.
    """
    with torch.inference_mode(False), torch.no_grad(), seeded(seed):
        way_out = "what makes it must take no arguments and return a torch.nn.Module"
        with refusing("the map's module cannot be made", way_out):
            module = family.module()
        if not isinstance(module, nn.Module):
            raise UserError(f"make_module must return a torch.nn.Module, got {shown(module)}")
        _refuse_other_parameters(module)
        # This first call also gives lazy layers their parameters.
        _refuse_wrong_shape(module)
    return module


@lru_cache(maxsize=4)
def shared_module(family: Differentiable, device: torch.device = _CPU) -> nn.Module:
    """One for all rounds and updates: whoever uses it gives it weights and a mode first.

    Raises:
        UserError: phones cannot train it together.
    """
    module, again = made_module(family), made_module(family)
    with torch.inference_mode(False), torch.enable_grad(), seeded(0):
        _refuse_untrainable(module.train())
        _refuse_changing(module)
        _refuse_batch_statistics(module)
        _refuse_more_than_a_place(module.eval())
        _refuse_different(module, again.eval())
    return module.to(device)


def _refuse_other_parameters(module: nn.Module) -> None:
    kinds = {str(each.dtype) for each in module.parameters()}
    if kinds != {"torch.float32"}:
        got = ", ".join(sorted(kinds)) or "no parameters"
        raise UserError(f"the module must have float32 parameters, got {got}; use module.float()")


def _refuse_wrong_shape(module: nn.Module) -> None:
    count = len(_PLACES)
    what = f"the module must take positions of shape (n, 2), and failed on {count} of them"
    with refusing(what, "begin it with torch.nn.Linear(2, …)"):
        shape = tuple(module(torch.tensor(_PLACES)).shape)
    if shape not in ((count,), (count, 1)):
        raise UserError(
            f"the module must give one number for each position, got shape {shape} for {count} of "
            "them; end it with torch.nn.Linear(…, 1)"
        )


def _refuse_untrainable(module: nn.Module) -> None:
    trained = [each for each in module.parameters() if each.requires_grad]
    found = outputs(module, torch.tensor(_PLACES))
    if not trained or not found.requires_grad:
        raise UserError(
            "what the module gives must depend on parameters that can be trained, and it depends "
            "on none; leave requires_grad on, and compute in torch without detach()"
        )
    way_out = "write into new tensors instead of into those that it has computed with"
    with refusing("the module cannot be differentiated", way_out):
        torch.autograd.grad(found.sum(), trained, allow_unused=True)


def _refuse_changing(module: nn.Module) -> None:
    """Phones send parameters; whatever else training changes would be lost."""
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    outputs(module, torch.tensor(_PLACES))
    changed = [name for name, now in module.named_buffers() if not torch.equal(now, before[name])]
    if changed:
        raise UserError(
            f"the module changes {', '.join(changed[:3])} while it trains, and phones send "
            "parameters alone; use layers without running statistics, such as LayerNorm instead of "
            "BatchNorm"
        )


def _refuse_batch_statistics(module: nn.Module) -> None:
    way_out = "use layers without statistics of a batch, such as LayerNorm instead of BatchNorm"
    with refusing("the module must take a single position, and failed on it", way_out):
        outputs(module, torch.tensor(_PLACES[:1]))


def _refuse_more_than_a_place(module: nn.Module) -> None:
    x = torch.tensor(_PLACES)
    with torch.no_grad():
        together = outputs(module, x)
        alone = torch.cat([outputs(module, row) for row in x[:, None]])
    if (together - alone).abs().max() > _TOLERANCE * (1 + together.abs().max()):
        raise UserError(
            "what the module gives for a position must depend on it alone, and in evaluation mode "
            "it also depends on the other positions or on chance; treat rows one by one, and drop "
            "units with torch.nn.Dropout"
        )


def _refuse_different(module: nn.Module, again: nn.Module) -> None:
    if any(one is other for one in module.parameters() for other in again.parameters()):
        raise UserError(
            "make_module must return a new module each time, got one with the same parameters "
            "twice; make the layers inside the function"
        )
    x = torch.tensor(_PLACES)
    with torch.no_grad():
        same = torch.equal(outputs(module, x), outputs(again, x))
        weights = [parameters_to_vector(each.parameters()) for each in (module, again)]
    if not (same and torch.equal(*weights)):
        raise UserError(
            "make_module must make the same module each time, got two that differ under one seed "
            "of torch; draw with torch, or with a generator that has a seed of its own"
        )


@contextmanager
def refusing(what: str, way_out: str) -> Iterator[None]:
    """A ``UserError`` for whatever torch raises, which is what the first layer that fails raises.

    An error of ours stays as it is.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"{what} ({cause(error)}); {way_out}") from error


def cause(error: Exception) -> str:
    """The type, and the beginning of the first line; torch explains at length."""
    line = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {line if len(line) <= _LONGEST else line[:_LONGEST] + '…'}"
