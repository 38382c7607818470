"""What came of a run, ready for JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """The figures of one run.

    Attributes:
        configuration: as it was trained.
        seed: of the run.
        rows: one per attack, or one.
        rounds: one per attack and attacked round; means over the starts.
        training: one per round of training.
        found: by attack, the locations found: round, start, x and y in metres; if kept.
        path: of the first start of DLG in the first attacked round, x and y in metres; if kept.
        chosen: by round, the points that the target trained on, x and y in metres; if kept.
        gradient: the share of the update's elements below each power of ten; if kept.
        kept: what was asked to be kept.
        seconds: that it took.
        failed: why there are no figures, or None.
        again: a failure that another try may not meet.
    """

    configuration: str
    seed: int
    rows: tuple[Row, ...] = ()
    rounds: tuple[Row, ...] = ()
    training: tuple[Row, ...] = ()
    found: dict[str, list[list[float]]] = field(default_factory=dict)
    path: list[list[float]] = field(default_factory=list)
    chosen: dict[str, list[list[float]]] = field(default_factory=dict)
    gradient: tuple[Row, ...] = ()
    kept: tuple[str, ...] = ()
    seconds: float = 0.0
    failed: str | None = None
    again: bool = False

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, content: dict[str, Any]) -> "Record":
        """From what ``as_dict`` gave, after its way through JSON."""
        lists = ("rows", "rounds", "training", "gradient", "kept")
        return cls(**{**content, **{name: tuple(content[name]) for name in lists}})
