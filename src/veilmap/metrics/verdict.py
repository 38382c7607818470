"""What the figures of an audit say, in words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Advice:
    """A configuration for the reader's bounds, ready to run; the nearest, where none meets them."""

    configuration: str
    words: str
    command: str
    toml: str
    is_met: bool = True


@dataclass(frozen=True)
class Verdict:
    """The answer, the most important sentence first.

    ``knows`` is what the attacker was allowed to know; ``oracle`` what no real server has.
    """

    headline: str
    sentences: tuple[str, ...]
    knows: tuple[str, ...]
    oracle: tuple[str, ...]
    advice: Advice | None = None
