import json

import numpy as np
import pytest

from tests.conftest import UNIT_SCALER
from veilmap import transcript
from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Training
from veilmap.model.network import Network
from veilmap.transcript import Header, SideKnowledge, Transcript, TranscriptWriter

NETWORK = Network(hidden=(3,), activations=("relu",), dropout=(0.0,))
HEADER = Header(
    NETWORK, SideKnowledge(UNIT_SCALER, Area(0, 0, 9, 9), 32630, -96.0, Training(), 604_800.0)
)


def observations(rounds=3, users=5):
    draw = np.random.default_rng(0)
    for t in range(1, rounds + 1):
        before = draw.normal(size=NETWORK.size).astype(np.float32)
        for k in range(users):
            after = draw.normal(size=NETWORK.size).astype(np.float32)
            yield Observation(t, f"user {k} ü", before, after, 10 * k + t, 1000.0 * t)


def write(folder, seen):
    with TranscriptWriter(folder, HEADER) as writer:
        for observation in seen:
            writer.write(observation)


def equal(one, other):
    return (one.round, one.user, one.n, one.start_s) == (
        other.round, other.user, other.n, other.start_s,
    ) and (one.weights_before == other.weights_before).all() and (
        one.weights_after == other.weights_after
    ).all()  # fmt: skip


@pytest.mark.parametrize("per_file", [64, 2])
def test_what_was_written_is_read_back_to_the_bit(tmp_path, monkeypatch, per_file):
    monkeypatch.setattr(transcript, "OBSERVATIONS_PER_FILE", per_file)
    seen = list(observations())
    write(tmp_path, seen)
    read = Transcript(tmp_path)
    assert read.header == HEADER
    back = list(read)
    assert len(back) == len(seen)
    assert all(equal(one, other) for one, other in zip(back, seen, strict=True))


def test_a_round_that_was_interrupted_is_not_written(tmp_path):
    def broken():
        for observation in observations():
            if observation.round == 2:
                raise KeyboardInterrupt
            yield observation

    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, broken())
    assert list(Transcript(tmp_path)) == []


def test_a_folder_that_is_no_transcript(tmp_path):
    with pytest.raises(UserError, match=r"is no transcript: transcript.json is missing"):
        Transcript(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"schema": 99}, "has schema 99; this veilmap reads schema 1"),
        (lambda c: {"schema": 1}, "not a transcript's header"),
        (lambda c: c | {"network": {"hidden": ["x"]}}, "not a transcript's header"),
    ],
)
def test_a_header_of_another_kind_is_refused(tmp_path, change, message):
    write(tmp_path, [])
    path = tmp_path / "transcript.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(UserError, match=message):
        Transcript(tmp_path)


def test_weights_of_another_network_are_refused(tmp_path):
    write(tmp_path, observations())
    path = tmp_path / "transcript.json"
    content = json.loads(path.read_text())
    content["network"]["hidden"] = [4]
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"but the network in transcript.json has 17 weights"):
        list(Transcript(tmp_path))


def test_a_truncated_file_is_refused(tmp_path):
    write(tmp_path, observations())
    path = next(iter(sorted(tmp_path.glob("round-*"))))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(UserError, match="is not a part of a transcript"):
        list(Transcript(tmp_path))
