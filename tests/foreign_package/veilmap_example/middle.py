from dataclasses import dataclass

from veilmap import AttackInput, Header, Reconstruction


@dataclass(frozen=True)
class Middle:
    """Guess the middle of the area, without looking at any update."""

    east_m: float = 0.0

    name = "middle"
    oracle = False

    def reads(self, header: Header) -> bool:
        return True

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        x_m, y_m = given.header.side_knowledge.area.centre_m
        found = []
        for update in given.observations:
            found.append(Reconstruction.of(update, (x_m + self.east_m, y_m)))
            given.on_done(1)
        return found
