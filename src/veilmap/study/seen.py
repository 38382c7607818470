"""What an attack starts from: a transcript, and where the user really was, if that is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from veilmap.attacks.secure_sum import SUM
from veilmap.defences.declarations import acts_on_points
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import SideKnowledge
from veilmap.files import parse_json
from veilmap.geo import Projection
from veilmap.local_data import LocalData, Truth
from veilmap.measurements import Measurements
from veilmap.rounds import by_user, pooled
from veilmap.settings import load_json, parse
from veilmap.sources.columns import Columns
from veilmap.sources.reader import is_world, read
from veilmap.sources.reading import Reading
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.recorded import Recorded, Updates
from veilmap.study.run_folder import RunFolder
from veilmap.study.settings import RunSettings
from veilmap.transcript import HEADER, Entry, Transcript

_ANEW = "fetch it again, or train it anew"


@dataclass(frozen=True)
class Seen:
    """A transcript with what is known about it.

    ``truth`` is None where nobody can tell; ``why_no_truth`` says why. ``batches`` are the points
    that updates were made from, where they are known: a defence chooses and moves points, and may
    alter the update. ``refused`` says of users whose updates the server did not take why, as far as
    the run tells.
    """

    path: Path | None
    transcript: Updates
    configuration: str
    timezone: str
    truth: Truth | None
    why_no_truth: str = ""
    batches: Truth = field(default_factory=dict, repr=False)
    refused: Mapping[str, str] = field(default_factory=dict)


def seen_of(
    prepared: Prepared,
    observations: Sequence[Observation],
    batches: Truth | None = None,
    senders: Sequence[Entry] = (),
) -> Seen:
    """The observations of a run that was kept in memory, and the points that it trained on.

    Where they are sums, ``senders`` are those in them.
    """
    unaltered = all(map(acts_on_points, prepared.plan.defence.steps))
    return Seen(
        None,
        Recorded(prepared.header, observations, senders),
        prepared.settings.configuration,
        prepared.data.timezone,
        _truth(prepared),
        batches=batches if batches and unaltered else {},
    )


def open_seen(
    path: str | Path,
    data: Measurements | None = None,
    cell: str | None = None,
    timezone: str | None = None,
) -> Seen:
    """A run's folder, or a transcript that anybody's trainer wrote.

    Args:
        path: the folder that ``train`` made, or a transcript's own.
        data: the measurements it was trained on, to know the truth; a run says where its own are.
        cell: the cell in them, for a transcript; the densest by default.
        timezone: the clock that home and work go by, for a transcript; the data's, or UTC.
    """
    folder = RunFolder(path)
    if not folder.path.is_dir():
        found = "is a file" if folder.path.exists() else "is not there"
        raise UserError(
            f"{folder.path} {found}; give the folder that veilmap train --out made, or that of a "
            "transcript"
        )
    if (folder.path / HEADER).exists():
        return _transcript(folder.path, data, cell, timezone)
    if not folder.settings.exists():
        raise UserError(
            f"{folder.path} holds neither a finished run nor a transcript; give the folder that "
            "veilmap train --out made, or that of a transcript"
        )
    damaged = f"{folder.settings} is not what a run has written"
    record = load_json(folder.settings.read_bytes(), damaged, _ANEW)
    if "campaign" in record:
        # A run on machines has a cell, but no data of its own and no clock.
        its = parse(_OfMachines, _part(record, "campaign", _OfMachines), damaged)
        seen = _transcript(folder.transcript, data, cell or its.cell, timezone)
        return replace(seen, path=folder.path)
    if cell is not None or timezone is not None:
        raise UserError(
            f"{folder.path} is a run and knows its cell and clock; leave out --cell and --timezone"
        )
    return _run(folder, record, data)


def _transcript(
    path: Path, data: Measurements | None, cell: str | None, timezone: str | None
) -> Seen:
    transcript = Transcript(path)
    known = transcript.header.side_knowledge
    clock = timezone or (data.timezone if data else "UTC")
    if data is None:
        why = "the transcript has no positions; give the measurements with --data to know the truth"
        return Seen(path, transcript, known.configuration, clock, None, why)
    truth = _cut(data.of_cell(cell), known, transcript)
    return Seen(path, transcript, known.configuration, clock, truth)


def _cut(data: Measurements, known: SideKnowledge, transcript: Transcript) -> Truth:
    """The rows of each user between a round's start and its end."""
    data = data.projected(Projection(known.epsg))
    measured = {**by_user(data), SUM: pooled(data)}
    truth: dict[int, dict[str, LocalData]] = {}
    for entry in transcript.entries():
        if entry.user in measured:
            ends_s = entry.start_s + known.interval_s
            found = measured[entry.user].between(entry.start_s, ends_s)
            if len(found):
                truth.setdefault(entry.round, {})[entry.user] = found
    return truth


def _run(folder: RunFolder, record: Mapping[str, Any], data: Measurements | None) -> Seen:
    # A run from before a table was there had its defaults. What its defence did is in the
    # transcript; that of another package need not be installed to know where users were.
    tables = {part.name: record.get(part.name, {}) for part in fields(RunSettings)}
    tables["protection"] = {}
    settings = parse(RunSettings, tables, str(folder.settings))
    damaged = f"{folder.settings} is not what a run has written"
    about = parse(_About, _part(record, "data", _About), damaged)
    name = parse(_Resolved, _part(record, "resolved", _Resolved), damaged).configuration
    transcript, clock = folder.load_transcript(), about.timezone
    if data is None:
        data = _reread(about.read_with)
    if data is None:
        why = f"{about.source} is not there to read; give it with --data to know the truth"
        return Seen(folder.path, transcript, name, clock, None, why, refused=_refused(folder))
    prepared = prepare(data, settings)
    if prepared.data.fingerprint != about.fingerprint:
        raise UserError(
            f"{prepared.data.source} is not what {folder.path} was trained on: the cell's rows "
            "differ; give the same file, read with the same options, with --data"
        )
    truth = _truth(prepared)
    return Seen(folder.path, transcript, name, clock, truth, refused=_refused(folder))


def _refused(folder: RunFolder) -> dict[str, str]:
    """From the history of a run; it has none before it is finished, and only words hang on it."""
    try:
        history = parse_json(folder.results.read_bytes())["history"]
        return {str(user): str(why) for line in history for user, why in line["refused"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _truth(prepared: Prepared) -> Truth:
    # A later round of cumulative training repeats the data; the truth of a round is its own data.
    return {this.number: this.data for this in prepared.rounds}


def _reread(how: "_ReadWith | None") -> Measurements | None:
    """The file that the run was made from, read in the same way; None if it is gone."""
    if how is None or not (is_world(how.path) or Path(how.path).exists()):
        return None
    return read(how.path, how.columns, how.reading)


@dataclass(frozen=True)
class _ReadWith:
    """How the data of a run were read."""

    path: str
    columns: Columns
    reading: Reading


@dataclass(frozen=True)
class _About:
    """What a run's settings file says of its data, as far as it matters here."""

    source: str
    timezone: str
    fingerprint: str
    read_with: Annotated[_ReadWith | None, BeforeValidator(lambda given: given or None)] = None


@dataclass(frozen=True)
class _Resolved:
    """What it says of the run."""

    configuration: str


@dataclass(frozen=True)
class _OfMachines:
    """What it says of a run on machines."""

    cell: str


def _part(record: Mapping[str, Any], name: str, kind: type) -> Any:
    """A table of the record, without what is told in it besides."""
    table, wanted = record.get(name), {part.name for part in fields(kind)}
    if not isinstance(table, Mapping):
        return table
    return {key: value for key, value in table.items() if key in wanted}
