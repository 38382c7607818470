"""``sparse_fit`` for many updates at once, on a GPU.

Every update takes the steps that ``sparse_fit`` takes, in the same order. A step solves for the
active columns of all updates; then each update drops columns that changed their sign, or adds the
steepest column, or has finished with its penalty and proceeds to the next. An update that has
finished with all penalties leaves the batch.
"""

import torch
from torch import Tensor

from veilmap.attacks.heatmap.normal_equations import Equations
from veilmap.attacks.heatmap.sparse_fit import FLAT, JITTER

# Steps between two checks for finished updates, which synchronise with the device.
_STEPS_AT_ONCE = 8
# A factorisation costs the cube of its slots, and the largest update has nearly twice the mean. In
# at most so many groups of similar updates, each of at least so many, 128 updates take 0.6 of the
# operations.
_GROUPS, LEAST_GROUP = 4, 64
# Solves per candidate and penalty before a fit that cycles is stopped.
_MOST_STEPS = 6


def sparse_fits(
    equations: Equations, penalties: Tensor, *, signed: bool, start: Tensor | None = None
) -> Tensor:
    """The minimisers for several penalties, each started from the previous one.

    Args:
        equations: K and b of each update.
        penalties: λ, (updates, penalties).
        signed: allow negative coefficients.
        start: the solution of a similar problem, (updates, candidates).

    Returns:
        (updates, penalties, candidates).
    """
    found = equations.b.new_zeros(*penalties.shape, equations.b.shape[1])
    fits = _Fits(equations, penalties, signed, start)
    for _ in range(0, _MOST_STEPS * found[0].numel() + 1, _STEPS_AT_ONCE):
        for _ in range(_STEPS_AT_ONCE):
            fits.step(found)
        going = (fits.level < penalties.shape[1]).nonzero()[:, 0]
        if not len(going):
            break
        if 2 * len(going) <= len(fits.level):
            fits.keep(going)
        fits.regroup()
    return found


class _Fits:
    """The active columns of each update in slots, some of which are free; all tensors by update."""

    def __init__(
        self, equations: Equations, penalties: Tensor, signed: bool, start: Tensor | None
    ) -> None:
        b = equations.b
        self.equations, self.penalties, self.signed = equations, penalties, signed
        self.number = torch.arange(len(b), device=b.device)  # of the update, among all
        self.level = torch.zeros_like(self.number)  # the index of the current penalty
        self.jitter, self.flat = JITTER * equations.mean_diagonal(), FLAT * b.abs().amax(1)
        start = torch.zeros_like(b) if start is None else start
        most = int((start != 0).sum(1).max()) if b.numel() else 0
        self.columns = start.abs().topk(most, 1).indices  # (updates, slots), as are the next three
        self.c = start.gather(1, self.columns)
        self.signs, self.taken = self.c.sign(), self.c != 0
        self.rows = equations.rows(self.columns)  # of K, (updates, slots, candidates)
        # (updates, candidates): columns that depend on others
        self.refused = torch.zeros_like(b, dtype=torch.bool)
        self.regroup()

    def keep(self, some: Tensor) -> None:
        """Drop all other updates."""
        self.equations = self.equations.keep(some)
        tensors = {name: each for name, each in vars(self).items() if isinstance(each, Tensor)}
        for name, each in tensors.items():
            setattr(self, name, each[some])

    def regroup(self) -> None:
        """Group the updates, and add free slots for the steps until the next check.

        A group is the numbers of its updates, and how many slots they use.
        """
        slots = self.taken.shape[1]
        place = torch.arange(1, slots + 1, device=self.taken.device)
        reach = torch.nn.functional.pad(self.taken * place, (0, 1)).amax(1).cpu()
        parts = reach.argsort().chunk(max(min(_GROUPS, len(reach) // LEAST_GROUP), 1))
        self.groups = [
            (part.to(self.taken.device), int(reach[part].max()) + _STEPS_AT_ONCE + 1)
            for part in parts
        ]
        more = self.groups[-1][1] - slots
        if more > 0:
            more += _STEPS_AT_ONCE
            for name in ("columns", "c", "signs", "taken"):
                setattr(self, name, torch.nn.functional.pad(getattr(self, name), (0, more)))
            self.rows = torch.nn.functional.pad(self.rows, (0, 0, 0, more))

    def step(self, found: Tensor) -> None:
        """One solve for each update, and its consequences."""
        level = self.level.clamp_max(self.penalties.shape[1] - 1)
        penalty = self.penalties.gather(1, level[:, None])
        settled = self._settle(penalty)
        slope = self.equations.b - (self.c[:, None] @ self.rows)[:, 0]
        gain = (slope.abs() if self.signed else slope) - penalty
        gain = gain.masked_fill(self._active() | self.refused, -torch.inf)
        steepest, entering = gain.max(1)
        enters = settled & (steepest > self.flat)
        self._record(settled & ~enters, found)
        self._enter(enters, entering, slope)

    def _settle(self, penalty: Tensor) -> Tensor:
        """Solve for the active columns; drop those that would change their sign.

        Returns:
            For each update whether no column was dropped.
        """
        new, dependent = self._solve(penalty)
        moved, out = self._towards(new)
        failed = dependent.any(1, keepdim=True)
        out = torch.where(failed, dependent, out)
        # If the solve failed, only the column that made it fail is dropped, permanently.
        slot = dependent.to(torch.uint8).argmax(1, keepdim=True)
        column = self.columns.gather(1, slot)
        self.refused.scatter_(1, column, self.refused.gather(1, column) | failed)
        self.c = torch.where(failed, self.c, moved).masked_fill(out, 0.0)
        self.taken = self.taken & ~out
        return ~out.any(1)

    def _towards(self, new: Tensor) -> tuple[Tensor, Tensor]:
        """Move towards the new coefficients until a sign would change; which of them become 0."""
        old, signs = self.c, self.signs
        wrong = self.taken & (new * signs <= 0)
        shares = torch.where(wrong, old / (old - new + 1e-300 * signs), torch.inf)
        share = shares.amin(1, keepdim=True)
        moved = torch.where(share.isinf(), new, old + share * (new - old))
        size = torch.where(wrong, moved.abs(), torch.inf)
        out = size <= 1e-12 * new.abs().amax(1, keepdim=True)
        nearest = torch.zeros_like(out).scatter_(1, size.argmin(1, keepdim=True), value=True)
        return moved, torch.where(out.any(1, keepdim=True), out, wrong & nearest)

    def _solve(self, penalty: Tensor) -> tuple[Tensor, Tensor]:
        """The coefficients regardless of signs, and any column that makes the system singular."""
        right = (self.equations.b.gather(1, self.columns) - penalty * self.signs) * self.taken
        solved, dependent = torch.zeros_like(right), torch.zeros_like(self.taken)
        slot = torch.arange(right.shape[1], device=right.device)
        for some, reach in self.groups:
            factor, order = torch.linalg.cholesky_ex(self._block(some, slot[:reach]))
            found = torch.cholesky_solve(right[some, :reach, None], factor)
            solved[some, :reach] = found[..., 0]
            # The leading minor of that order is not positive: its last column is dependent.
            dependent[some] = slot == order[:, None] - 1
        return solved, dependent

    def _block(self, some: Tensor, slot: Tensor) -> Tensor:
        """K over the active columns of some updates, with 1 on the diagonal of free slots."""
        columns, taken = self.columns[some][:, slot], self.taken[some][:, slot]
        block = self.rows[some[:, None, None], slot[:, None], columns[:, None]]
        block = block * (taken[:, None] & taken[..., None])
        block.diagonal(dim1=1, dim2=2).add_(torch.where(taken, self.jitter[some, None], 1.0))
        return block

    def _active(self) -> Tensor:
        """Which candidates are active, (updates, candidates)."""
        updates, count = self.equations.b.shape
        beyond = torch.where(self.taken, self.columns, count)
        mask = torch.zeros(updates, count + 1, dtype=torch.bool, device=beyond.device)
        return mask.scatter_(1, beyond, value=True)[:, :count]

    def _record(self, finished: Tensor, found: Tensor) -> None:
        """Store the solutions of updates that finished, and proceed to the next penalty."""
        working = finished & (self.level < found.shape[1])
        level = self.level.clamp_max(found.shape[1] - 1)
        solution = torch.zeros_like(self.equations.b).scatter_add_(1, self.columns, self.c)
        earlier = found[self.number, level]
        found[self.number, level] = torch.where(working[:, None], solution, earlier)
        self.level = self.level + working

    def _enter(self, enters: Tensor, entering: Tensor, slope: Tensor) -> None:
        """Fill a free slot of every update; it becomes active only where ``enters``."""
        updates = torch.arange(len(enters), device=enters.device)
        slot = self.taken.to(torch.uint8).argmin(1)
        self.columns[updates, slot] = entering
        self.c[updates, slot] = 0.0
        self.signs[updates, slot] = slope.gather(1, entering[:, None])[:, 0].sign()
        self.rows[updates, slot] = self.equations.rows(entering[:, None])[:, 0]
        self.taken[updates, slot] = enters
