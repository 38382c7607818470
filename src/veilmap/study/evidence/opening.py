"""Evidence on disk: the folder of a run, or a transcript alone."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from veilmap.attacks.secure_sum import SUM
from veilmap.errors import UserError
from veilmap.federation.map_family import MapFamily
from veilmap.files import parse_json
from veilmap.geo import Projection
from veilmap.local_data import LocalData, Truth
from veilmap.maps.network_map import NetworkMap
from veilmap.measurements import Measurements
from veilmap.rounds import by_user, pooled
from veilmap.settings import load_json, parse
from veilmap.sources.columns import Columns
from veilmap.sources.reader import is_world, read
from veilmap.sources.reading import Reading
from veilmap.study.evidence.evidence import Evidence, truth_of
from veilmap.study.prepare import prepare
from veilmap.study.run_folder import RunFolder
from veilmap.study.settings import RunSettings
from veilmap.transcript import HEADER, Transcript

_WAY_OUT = "fetch it again, or train again"


def open_evidence(
    path: str | Path,
    data: Measurements | None = None,
    cell: str | None = None,
    timezone: str | None = None,
    map: MapFamily | None = None,
) -> Evidence:
    """A run's folder, or a transcript that anybody's trainer wrote.

    Args:
        path: the folder that ``train`` made, or a transcript's own.
        data: the measurements it was trained on, for the ground truth; a run knows its own.
        cell: the cell in them, for a transcript; the densest by default.
        timezone: the clock that home and work go by, for a transcript; the data's, or UTC.
        map: the map family, where no installed package has that of the run.
    """
    folder = RunFolder(path)
    if (folder.path / HEADER).exists():
        return _transcript(folder.path, data, cell, timezone, map)
    _refuse_no_run(folder)
    damaged = f"{folder.settings} is not what a run has written"
    record = load_json(folder.settings.read_bytes(), damaged, _WAY_OUT)
    if "campaign" in record:
        # A run on machines has a cell, but no data of its own and no clock.
        its = parse(_OfMachines, _part(record, "campaign", _OfMachines), damaged)
        evidence = _transcript(folder.transcript, data, cell or its.cell, timezone, map)
        return replace(evidence, path=folder.path)
    if cell is not None or timezone is not None:
        raise UserError(
            f"{folder.path} is a run and knows its cell and clock; leave out --cell and --timezone"
        )
    return _run(folder, record, data, map)


def open_updates(path: str | Path) -> Transcript:
    """What the server of a run saw, or a transcript; without the truth."""
    folder = RunFolder(path)
    if (folder.path / HEADER).exists():
        return Transcript(folder.path)
    _refuse_no_run(folder)
    return Transcript(folder.transcript)


def _refuse_no_run(folder: RunFolder) -> None:
    if folder.settings.exists():
        return
    found = "is a file" if folder.path.exists() else "does not exist"
    if folder.path.is_dir():
        found = "holds neither a finished run nor a transcript"
    raise UserError(
        f"{folder.path} {found}; give the folder that veilmap train --out made, or that of a "
        "transcript"
    )


def _transcript(
    path: Path,
    data: Measurements | None,
    cell: str | None,
    timezone: str | None,
    map: MapFamily | None,
) -> Evidence:
    transcript = Transcript(path, map)
    name = transcript.header.configuration
    if data is None:
        why = "the transcript has no positions; give the measurements with --data"
        return Evidence(path, transcript, name, timezone or "UTC", None, why)
    truth = _cut(data.of_cell(cell), transcript)
    return Evidence(path, transcript, name, timezone or data.timezone, truth)


def _cut(data: Measurements, transcript: Transcript) -> Truth:
    """The rows of each user between a round's start and its end."""
    known = transcript.header.side_knowledge
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


def _run(
    folder: RunFolder, record: Mapping[str, Any], data: Measurements | None, map: MapFamily | None
) -> Evidence:
    # A run of an earlier version may lack a table; it had the defaults. What its map and its
    # defence did is in the transcript; those of other packages need not be installed to know where
    # users were. In their place stands the network, which allows every kind of training.
    tables = {part.name: record.get(part.name, {}) for part in fields(RunSettings)}
    tables["protection"] = {}
    if isinstance(tables["task"], Mapping):
        tables["task"] = {**tables["task"], "map": NetworkMap.name}
    settings = parse(RunSettings, tables, str(folder.settings))
    damaged = f"{folder.settings} is not what a run has written"
    about = parse(_About, _part(record, "data", _About), damaged)
    name = parse(_Resolved, _part(record, "resolved", _Resolved), damaged).configuration
    transcript, refused = Transcript(folder.transcript, map), _refused(folder)
    data = _reread(about.read_with) if data is None else data
    if data is None:
        why = f"{about.source} cannot be found; give it with --data"
        return Evidence(folder.path, transcript, name, about.timezone, None, why, refused=refused)
    # Rounds were cut by the run's clock, which a later version may guess otherwise.
    prepared = prepare(replace(data, timezone=about.timezone), settings)
    if prepared.data.fingerprint != about.fingerprint:
        raise UserError(
            f"{prepared.data.source} is not what {folder.path} was trained on: the cell's rows "
            "differ; give the same file, read with the same options, with --data"
        )
    truth = truth_of(prepared)
    return Evidence(folder.path, transcript, name, about.timezone, truth, refused=refused)


def _refused(folder: RunFolder) -> dict[str, str]:
    """From the history of a run. An unfinished run has none; only messages depend on it."""
    try:
        history = parse_json(folder.results.read_bytes())["history"]
        return {str(user): str(why) for line in history for user, why in line["refused"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


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
    """The data in a run's settings file, as far as it is needed here."""

    source: str
    timezone: str
    fingerprint: str
    read_with: Annotated[_ReadWith | None, BeforeValidator(lambda given: given or None)] = None


@dataclass(frozen=True)
class _Resolved:
    """The resolved settings in it."""

    configuration: str


@dataclass(frozen=True)
class _OfMachines:
    """The campaign in the settings file of a run on machines."""

    cell: str


def _part(record: Mapping[str, Any], name: str, kind: type) -> Any:
    """A table of the record, without its other entries."""
    table, wanted = record.get(name), {part.name for part in fields(kind)}
    if not isinstance(table, Mapping):
        return table
    return {key: value for key, value in table.items() if key in wanted}
