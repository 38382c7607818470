"""The attacks by name, and what they have in common."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, get_args

from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import DeviceName

MethodName = Literal["dlg", "search", "neurons", "heatmap"]
METHODS: tuple[MethodName, ...] = get_args(MethodName)


class Attack(Protocol):
    """One way to find where users were; its fields are its settings."""

    @property
    def oracle(self) -> bool:
        """Whether it uses the truth, which no server has."""

    def attack(
        self,
        header: Header,
        observations: Sequence[Observation],
        on_done: Callable[[int], None] = ...,
        device: DeviceName = ...,
    ) -> list[Reconstruction]:
        """The reconstructions of the updates, in their order; several if there are more starts."""
