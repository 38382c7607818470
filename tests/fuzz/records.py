"""A small valid file of every kind that veilmap itself writes, or reads settings from."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from safetensors.numpy import save

from tests.conftest import make_measurements
from tests.flower.secure.playing import Play
from tests.fuzz.measurement_files import same
from tests.map_figures import map_figures
from tests.test_transcript import HEADER as TRANSCRIPT_HEADER
from tests.test_transcript import NETWORK
from veilmap import transcript
from veilmap.area import Area
from veilmap.cli.config import flat_settings
from veilmap.experiments.packed_arrays import pack, unpack
from veilmap.experiments.result import TrialResult
from veilmap.experiments.store import TrialStore
from veilmap.experiments.trial import Trial
from veilmap.flower.journal import finished_rounds
from veilmap.flower.ledger import Ledger
from veilmap.flower.machines.admission import read_names
from veilmap.flower.node_file import load_node_file
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.stage_file import StageFile
from veilmap.geo import Projection
from veilmap.local_data import Scaler
from veilmap.maps.network_map import NetworkMap
from veilmap.measurements import Measurements
from veilmap.metrics.rows import TrialRow
from veilmap.reproduction.reproduce import findings_of
from veilmap.signal_map.signal_map import SCHEMA, MapFacts, SignalMap
from veilmap.study.compare import compare
from veilmap.study.evidence.opening import open_evidence
from veilmap.study.prepare import prepare
from veilmap.study.results import settings_record
from veilmap.study.settings import RunSettings
from veilmap.sweeping.spec import read_spec
from veilmap.transcript import Transcript

EXAMPLES = Path(__file__).parents[2] / "examples"
LAYERS = {"hidden": (3,), "activations": ("relu",), "dropout": (0.0,)}
TINY = {"map": "network", "interval": "1w", **LAYERS}
RESULTS = {
    "schema": 1,
    "settings": {"data": "campus", "task": {"cell": "a", "seed": 0}, "training": {"epochs": 1}},
    "rows": [
        {
            "configuration": "fedsgd",
            "attack": "dlg",
            "target": "u0",
            "seed": 0,
            "rmse_db": 4.5,
            "home_error_m": 120.0,
            "outcome": "converged",
        }
    ],
    "rounds": [],
}
BOARD = {
    "schema": 1,
    "settings": {"data": "campus"},
    "claims": [
        {
            "label": "tab:a",
            "says": "more hides more",
            "paper": "so",
            "outcome": "HOLDS",
            "values": "1, 2",
            "effect": "0.5",
            "under": {"search": "HOLDS"},
        }
    ],
}


@dataclass(frozen=True)
class Record:
    """What is inside, how it is packed, what stands beside it, and who reads it."""

    inside: bytes
    read: Callable[[Path], object]
    pack: Callable[[bytes], bytes] = same
    beside: Callable[[Path], None] = lambda folder: None


def _model(facts: bytes) -> bytes:
    weights = np.linspace(-1, 1, NETWORK.size, dtype=np.float32)
    return save({"weights": weights}, {"veilmap_model": _text(facts)})


def _part(facts: bytes) -> bytes:
    weights = np.linspace(-1, 1, NETWORK.size, dtype=np.float32)
    tensors = {"state.weights": weights, "message.weights": np.stack([weights, weights])}
    return save(tensors, {"observations": _text(facts)})


def _checkpoint(facts: bytes) -> bytes:
    return save({"weights": np.zeros(NETWORK.size, np.float32)}, {"checkpoint": _text(facts)})


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


def _json(content: object) -> bytes:
    return json.dumps(content, indent=1).encode()


@cache
def _header() -> bytes:
    return transcript.header_bytes(TRANSCRIPT_HEADER)


def _with_header(folder: Path) -> None:
    (folder / transcript.HEADER).write_bytes(_header())


def _read_part(path: Path) -> None:
    seen = Transcript(path.parent)
    list(seen.entries())
    list(seen)
    list(seen.of_user("u1"))


def _with_other(folder: Path) -> None:
    (folder / "other.json").write_bytes(_json(RESULTS))


def _settings() -> bytes:
    run = RunSettings.of(**TINY)
    return _json(settings_record(prepare(make_measurements(20), run)))


def _with_run(folder: Path) -> None:
    (folder / "transcript").mkdir(exist_ok=True)
    _with_header(folder / "transcript")


def _stage() -> bytes:
    """A node's place after the shares are out: the stage with most in it."""
    state = next(iter(Play(5, 3).advertise().share().states.values()))
    with TemporaryDirectory() as folder:
        file = StageFile(Path(folder) / "secure.json")
        file.write(state)
        return file.path.read_bytes()


@cache
def _trial() -> tuple[Trial, Measurements]:
    run = RunSettings.of(**TINY)
    return Trial("fedavg", run, ()), make_measurements(20)


@cache
def _trial_file() -> tuple[str, bytes]:
    """The name and the content that a store gives a trial."""
    row = TrialRow("fedavg", "dlg", "u0", 0, map_figures(4.5))
    with TemporaryDirectory() as folder:
        store = TrialStore(Path(folder))
        store.save(*_trial(), TrialResult("fedavg", 0, (row,)))
        (file,) = Path(folder).iterdir()
        return file.name, file.read_bytes()


def _load_trial(path: Path) -> None:
    """A store ignores a file that is damaged."""
    path.replace(path.with_name(_trial_file()[0]))
    TrialStore(path.parent).load(*_trial())


def _giving_up(read: Callable[[Path], object], *errors: type[Exception]) -> Callable[[Path], None]:
    """A reader inside of a command, which goes on without the file after these."""

    def reading(path: Path) -> None:
        with suppress(*errors):
            read(path)

    return reading


def _read_header(path: Path) -> None:
    Transcript(path.parent)


def _facts() -> MapFacts:
    scaler, area = Scaler((0.0, 0.0), (9.0, 9.0)), Area(0, 0, 9, 9)
    return MapFacts("a", NetworkMap.of(NETWORK), scaler, -96.0, area, Projection(32630))


RECORDS = {
    "model.safetensors": Record(
        _json({"schema": SCHEMA, "facts": _facts().as_dict()}), SignalMap.load, _model
    ),
    "transcript.json": Record(_header(), _read_header),
    "round-000001-0001.safetensors": Record(
        _json({"round": 1, "start_s": 0.0, "users": ["u0", "u1"], "n": [3, 4]}),
        _read_part,
        _part,
        _with_header,
    ),
    "checkpoint.safetensors": Record(
        _json({"campaign": "{}", "history": []}),
        lambda path: finished_rounds(path.parent),
        _checkpoint,
    ),
    "ledger.json": Record(
        _json({"schema": 1, **asdict(Ledger(7))}), lambda path: Ledger.open(path, None)
    ),
    "results.json": Record(
        _json(RESULTS), lambda path: compare(path, path.with_name("other.json")), beside=_with_other
    ),
    "board/results.json": Record(_json(BOARD), lambda path: findings_of(path.parent)),
    "settings.json": Record(_settings(), lambda path: open_evidence(path.parent), beside=_with_run),
    "places.npz": Record(
        np.arange(48.0).tobytes(),
        _giving_up(lambda path: unpack(path.read_bytes()), ValueError),
        lambda content: pack({"a": np.frombuffer(content, np.uint8)}),
    ),
    "run.json": Record(
        _trial_file()[1],
        _load_trial,
    ),
    "secure.json": Record(_stage(), _giving_up(lambda path: StageFile(path).read(), RoundError)),
    "nodes.json": Record(_json({"7": "a", "8": "b"}), lambda path: read_names(path.parent)),
    "audit.toml": Record(
        b"""[task]\ncell = "a"\ninterval = "1w"\nseed = 0\narea = [-0.2, 51.4, 0.0, 51.6]\n
[training]\nepochs = 1\nbatch_size = 20\nlearning_rate = 1e-3\n
[protection]\ndefence = ["farthest:eps_m=50,num=20"]\n
[model]\nhidden = [16, 12]\nactivations = ["relu", "sigmoid"]\ndropout = [0.0, 0.1]\n
[reading]\ntimezone = "Europe/Athens"\nsince = "2024-01-01"\nmax_accuracy_m = 50.0\n
[columns]\nuser = "uid"\n
[audit]\nconfigurations = ["fedsgd", "fedavg"]\nseeds = 3\ntower = [51.5, -0.1]\n
[dlg]\nmax_iterations = 10\n""",
        flat_settings,
    ),
    "node.toml": Record((EXAMPLES / "flower" / "node.toml").read_bytes(), load_node_file),
    "sweep.toml": Record((EXAMPLES / "sweep.toml").read_bytes(), read_spec),
}
