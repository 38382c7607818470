"""An attack as a stranger writes it, and as an installer leaves it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from veilmap import AttackInput, Cloud, Header, Reconstruction


@dataclass(frozen=True)
class Corner:
    """Says that everybody is so deep in the area's lower left corner."""

    depth: float = 10.0
    knows: bool = False
    name = "corner"

    @property
    def oracle(self) -> bool:
        return self.knows

    def reads(self, header: Header) -> bool:
        return True

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        area = given.header.side_knowledge.area
        xy_m = [area.x_min_m + self.depth, area.y_min_m + self.depth]
        return [Reconstruction.of(each, xy_m) for each in given.observations]


@dataclass(frozen=True)
class Drift:
    """Goes east from the middle step by step, and keeps its way; it finds two places."""

    steps: int = 3
    name = "drift"
    oracle = True
    oracle_text = "the wind"

    def reads(self, header: Header) -> bool:
        return True

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        middle_m = np.array(given.header.side_knowledge.area.centre_m)
        way_m = middle_m + np.stack([np.arange(self.steps + 1.0), np.zeros(self.steps + 1)], 1)
        cloud = Cloud(way_m[[0, -1]], np.full(2, 0.5))
        facts = {"iterations": self.steps, "path_m": way_m, "cloud": cloud}
        return [Reconstruction.of(each, way_m[-1], **facts) for each in given.observations]


def install(folder: Path, group: str = "veilmap.attacks", /, **classes: str) -> None:
    """A package in a folder of the path, which registers classes by name."""
    info = folder / "strange-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1.0\n")
    lines = [f"{name} = {where}" for name, where in classes.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))
