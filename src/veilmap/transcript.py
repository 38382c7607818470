"""What the server saw, on disk: written round by round, read back one file at a time.

The format is described in docs/transcript.md; ``SCHEMA`` is its version. A folder holds
``transcript.json`` and one safetensors file per round (or per 64 observations of a round): the
arrays of the server's state, and those of all messages, one row per observation. The first version,
which knew weights alone, is still read.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import PlainValidator
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from veilmap.area import FARTHEST_M
from veilmap.errors import Checked, UserError, fault_of, out_of_range, shown, together
from veilmap.federation.map_family import WEIGHTS, Arrays, MapFamily
from veilmap.federation.observation import Observation
from veilmap.federation.plan import MOST_POINTS
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.files import PRIVATE, remove, remove_parts, rename, write_whole
from veilmap.geo import Projection
from veilmap.maps.families import map_of_file, map_of_record, map_record
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.settings import load_json, parse
from veilmap.wording import counted

SCHEMA = 2
_FIRST = 1
HEADER = "transcript.json"
ROUND_FILE = re.compile(r"round-(\d+)-(\d+)\.safetensors")
# 64 updates of the paper's network are 37 MB, held in memory at once.
OBSERVATIONS_PER_FILE = 64
_WHOLE = "fetch the transcript again, or write it again"
_STATE, _MESSAGE = "state.", "message."
# What the first version called the arrays of the paper's network.
_OLD_NAMES = {"weights_before": _STATE + WEIGHTS, "weights_after": _MESSAGE + WEIGHTS}


class TranscriptWriter:
    """An observer that writes every round at its end; an interrupted round leaves nothing.

    A resumed transcript keeps its rounds up to ``after``; later ones are removed.
    """

    def __init__(self, folder: str | Path, header: Header, after: int = 0) -> None:
        self._folder = Path(folder)
        self._shapes = _known_shapes(header.map)
        self._waiting: list[Observation] = []
        self._unfinished: list[Path] = []
        clear(self._folder, after)
        write_whole(self._folder / HEADER, header_bytes(header), PRIVATE)

    def see(self, observation: Observation) -> None:
        """Take one observation; 64 of them become a file."""
        for arrays in (observation.state, observation.message):
            shapes = {name: values.shape for name, values in arrays.items()}
            if self._shapes is not None and shapes != self._shapes:
                raise UserError(
                    f"user {shown(observation.user)} sent arrays of shapes {shapes} in round "
                    f"{observation.round}; the map has {self._shapes}"
                )
        if self._waiting and _kinds(observation) != _kinds(self._waiting[0]):
            self._write_part()  # a file has arrays of one kind
        self._waiting.append(observation)
        if len(self._waiting) == OBSERVATIONS_PER_FILE:
            self._write_part()

    def end_round(self) -> None:
        """Give the round's files their names."""
        self._write_part()
        rename({path: path.with_name(path.name.removeprefix(".")) for path in self._unfinished})
        self._unfinished = []

    def _write_part(self) -> None:
        if not self._waiting:
            return
        first = self._waiting[0]
        name = f".round-{first.round:06d}-{len(self._unfinished) + 1:04d}.safetensors"
        self._unfinished.append(self._folder / name)
        write_whole(self._unfinished[-1], _pack(self._waiting), PRIVATE)
        self._waiting = []


@dataclass(frozen=True)
class Entry:
    """One observation without its weights."""

    round: int
    start_s: float
    user: str
    n: int


def header_bytes(header: Header) -> bytes:
    """The content of ``transcript.json``."""
    known = asdict(header.side_knowledge)
    content = {"schema": SCHEMA, "map": map_record(header.map), "side_knowledge": known}
    return json.dumps(content, indent=2).encode()


class Transcript:
    """A transcript on disk; iterating reads one file at a time."""

    def __init__(self, folder: str | Path, map: MapFamily | None = None) -> None:
        """Open it; ``map`` is the family where no installed package has it."""
        self._folder = Path(folder)
        header = _read_header(self._folder / HEADER)
        self.header = replace(header, map=map_of_file(header.map, map))

    def __iter__(self) -> Iterator[Observation]:
        for path in _round_files(self._folder):
            yield from _unpack(path, self.header.map)

    def of_user(self, user: str) -> Iterator[Observation]:
        """What one user sent, without reading the others' messages."""
        for path in _round_files(self._folder):
            yield from _unpack(path, self.header.map, user)

    def entries(self) -> Iterator[Entry]:
        """Who took part when with how many points, without reading any messages."""
        for path in _round_files(self._folder):
            with _part(path) as (_, facts):
                for user, n in zip(facts.users, facts.n, strict=True):
                    yield Entry(facts.round, facts.start_s, user, n)


def clear(folder: Path, after: int = 0) -> None:
    """Remove a transcript's files of the rounds after one, finished or not, and nothing else."""
    late = _round_files(folder, after)
    remove((folder / HEADER, *late, *folder.glob(".round-*.safetensors")))
    remove_parts(folder)


def move(old: Path, new: Path) -> None:
    """Put a finished transcript in the place of an earlier one."""
    clear(new)
    new.mkdir(parents=True, exist_ok=True)
    rename({path: new / path.name for path in (*_round_files(old), old / HEADER)})
    old.rmdir()


def _round_files(folder: Path, after: int = 0) -> list[Path]:
    """In the order of rounds and parts, by number: round 1,000,000 comes after 999,999."""
    found = [
        (int(match[1]), int(match[2]), path)
        for path in folder.glob("round-*.safetensors")
        if (match := ROUND_FILE.fullmatch(path.name)) and int(match[1]) > after
    ]
    return [path for _, _, path in sorted(found)]


@dataclass(frozen=True)
class PartFacts(Checked):
    """The metadata of a file.

    Attributes:
        round: t.
        start_s: when it began.
        users: who sent the messages.
        n: from how many points, as far as the server learns.
        lengths: by array, how long it is in each message, where they differ; the messages' arrays
            then stand one after the other.
    """

    round: int
    start_s: float
    users: tuple[str, ...]
    n: tuple[int, ...]
    lengths: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def _faults(self) -> Iterator[UserError]:
        if len(self.users) != len(self.n):
            yield UserError(
                f"round {self.round} has {counted(len(self.users), 'user')} but "
                f"{counted(len(self.n), 'point count')}; give one n per user"
            )
        for name, own in self.lengths.items():
            if len(own) != len(self.users) or min(own, default=0) < 0:
                yield UserError(
                    f"round {self.round} has lengths {shown(own)} of {name} for "
                    f"{counted(len(self.users), 'user')}; give one from 0 for each"
                )
        if self.round < 0 or not np.isfinite(self.start_s):
            yield UserError(
                f"round {shown(self.round)} begins at {self.start_s}; give a number from 0 and a "
                "finite time"
            )
        if any(not 0 <= n <= MOST_POINTS for n in self.n):
            yield out_of_range("n", f"from 0 to {MOST_POINTS:,}", (min(self.n), max(self.n)))
        if not all(_is_text(user) for user in self.users):
            yield UserError(f"round {self.round}: user names must be strings; fix the name")
        if len(set(self.users)) < len(self.users):
            yield UserError(f"round {self.round} names a user twice; keep one update of each")


def _is_text(name: str) -> bool:
    """Not so with half of a surrogate pair, which JSON allows and no file can hold."""
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _pack(observations: list[Observation]) -> bytes:
    first = observations[0]
    if not all(_same(each.state, first.state) for each in observations):
        raise UserError(
            f"the users of round {first.round} did not start from the same state; a transcript "
            "holds one per round"
        )
    tensors = {_STATE + name: values for name, values in first.state.items()}
    lengths = {}
    for name in first.message:
        own = [each.message[name] for each in observations]
        if len({each.shape for each in own}) == 1:
            tensors[_MESSAGE + name] = np.stack(own)
        else:
            tensors[_MESSAGE + name] = np.concatenate(own)
            lengths[name] = tuple(map(len, own))
    users, n = [each.user for each in observations], [each.n for each in observations]
    facts = PartFacts(first.round, first.start_s, tuple(users), tuple(n), lengths)
    return save(tensors, {"observations": json.dumps(asdict(facts))})


def _kinds(observation: Observation) -> dict[str, tuple[int, tuple[int, ...], str]]:
    """What the arrays of a file have in common: all but their lengths."""
    message = observation.message
    return {name: (each.ndim, each.shape[1:], each.dtype.str) for name, each in message.items()}


def _same(one: Arrays, other: Arrays) -> bool:
    return one is other or (
        one.keys() == other.keys()
        and all(v is other[name] or np.array_equal(v, other[name]) for name, v in one.items())
    )


def _unpack(path: Path, family: MapFamily, wanted: str | None = None) -> Iterator[Observation]:
    """The observations of a file, or that of the user ``wanted``."""
    with _part(path) as (file, facts):
        rows = [row for row, user in enumerate(facts.users) if wanted in (None, user)]
        if not rows:
            return
        names = _checked_names(file, facts, family, path)
        state = {own: file.get_tensor(there) for own, there in names[_STATE].items()}
        messages = {
            own: _rows(file.get_slice(there), rows[0], rows[-1] + 1, facts.lengths.get(own))
            for own, there in names[_MESSAGE].items()
        }
    finite = all(np.isfinite(values).all() for values in state.values())
    for row in rows:
        user, n = facts.users[row], facts.n[row]
        message = {name: values[row - rows[0]] for name, values in messages.items()}
        if not (finite and all(np.isfinite(values).all() for values in message.values())):
            raise UserError(
                f"{path.name}: user {shown(user)} has numbers that are not finite in round "
                f"{facts.round}; training diverged: lower its learning rate"
            )
        yield Observation(facts.round, user, state, message, n, facts.start_s)


def _rows(
    stored: Any, start: int, end: int, lengths: Sequence[int] | None
) -> Sequence[NDArray[Any]]:
    """The array of each message from ``start`` up to ``end``."""
    if lengths is None:
        found: NDArray[Any] = stored[start:end]
        return list(found)
    edges = [0, *accumulate(lengths)]
    return [stored[edges[row] : edges[row + 1]] for row in range(start, end)]


def _names(file: Any) -> dict[str, dict[str, str]]:
    """The names in the file of the arrays of state and messages, by the arrays' own names."""
    found: dict[str, dict[str, str]] = {_STATE: {}, _MESSAGE: {}}
    for there in file.keys():  # noqa: SIM118 - it is no dictionary
        name = _OLD_NAMES.get(there, there)
        for part, names in found.items():
            if name.startswith(part):
                names[name.removeprefix(part)] = there
    return found


@contextmanager
def _part(path: Path) -> Iterator[tuple[Any, PartFacts]]:
    """The open file and its metadata; whatever is wrong with them becomes one error."""
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {})["observations"]
            content = load_json(text, f"{path} is not a part of a transcript", _WHOLE)
            yield file, parse(PartFacts, content, f"{path.name} is not a part of a transcript")
    except (SafetensorError, KeyError, TypeError, AttributeError, OSError) as error:
        raise UserError(f"{path} is not a part of a transcript ({error}); {_WHOLE}") from error


def _checked_names(
    file: Any, facts: PartFacts, family: MapFamily, path: Path
) -> dict[str, dict[str, str]]:
    """As ``_names``. Shapes are checked before anything is read: the file is untrusted."""
    names = _names(file)
    shapes = {
        part: {own: file.get_slice(there).get_shape() for own, there in names[part].items()}
        for part in names
    }
    known, users = _known_shapes(family), len(facts.users)
    state, message = shapes[_STATE], {name: each[1:] for name, each in shapes[_MESSAGE].items()}
    if known is not None:  # else any shapes, but one row of each array for each user, or lengths
        state = message = {name: list(shape) for name, shape in known.items()}
    rows = {name: sum(facts.lengths[name]) for name in message if name in facts.lengths}
    wanted = {
        _STATE: state,
        _MESSAGE: {name: [rows.get(name, users), *shape] for name, shape in message.items()},
    }
    if shapes != wanted or not shapes[_MESSAGE]:
        raise UserError(
            f"{path.name} holds arrays of shapes {shapes}, but for "
            f"{counted(users, 'user')} of the map in {HEADER} they must be {wanted}; {_WHOLE}"
        )
    kinds = {
        file.get_slice(there).get_dtype() for part in names.values() for there in part.values()
    }
    if known is not None and kinds != {"F32"}:
        raise UserError(f"{path.name} holds weights of another type than float32; convert them")
    return names


def _known_shapes(family: MapFamily) -> dict[str, tuple[int, ...]] | None:
    """Of the arrays of a dense network; other families may have any."""
    return {WEIGHTS: (family.size,)} if isinstance(family, Network) else None


def _read_header(path: Path) -> Header:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        raise UserError(
            f"{path.parent} is not a transcript: {HEADER} is missing; give the folder that has it"
        ) from None
    content = load_json(text, f"{path} is not a transcript's header", _WHOLE)
    schema, damaged = content.pop("schema", None), f"{path} is not a transcript's header"
    if schema not in (_FIRST, SCHEMA):
        raise UserError(
            f"{path} has schema {shown(schema)}; this veilmap reads {_FIRST} and {SCHEMA}; {_WHOLE}"
        )
    if schema == _FIRST and isinstance(network := content.pop("network", None), dict):
        content["map"] = {"name": NetworkMap.name, **network}
    stored = parse(_StoredHeader, content, damaged)
    header = Header(stored.map, stored.side_knowledge)
    faults = [str(fault) for fault in _faults(header)]
    if faults:
        raise UserError(f"{path}: {together(faults)}")
    return header


@dataclass(frozen=True)
class _StoredHeader:
    """A header as it stands in the file."""

    map: Annotated[MapFamily, PlainValidator(map_of_record)]
    side_knowledge: SideKnowledge


def _faults(header: Header) -> Iterator[UserError]:
    """What the parts of a header cannot know of themselves: it may come from any trainer."""
    known = header.side_knowledge
    if not 0 < known.interval_s < np.inf:
        yield out_of_range("interval_s", "a number of seconds above 0", known.interval_s)
    if not np.isfinite(known.label_offset_dbm):
        yield out_of_range("label_offset_dbm", "a finite number", known.label_offset_dbm)
    if max(map(abs, asdict(known.area).values())) > FARTHEST_M:
        yield UserError("the area is not on the earth; give it in the metres of a projection")
    yield from fault_of(Projection, known.epsg)
