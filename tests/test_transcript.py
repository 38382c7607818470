import json
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

from tests.conftest import UNIT_SCALER
from veilmap import transcript
from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.maps.families import MissingMap
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.study.attack import attack
from veilmap.transcript import Transcript, TranscriptWriter

NETWORK = Network(hidden=(3,), activations=("relu",), dropout=(0.0,))
KNOWN = SideKnowledge(UNIT_SCALER, Area(0, 0, 9, 9), 32630, -96.0, Training(), 604_800.0)
HEADER = Header(NetworkMap.of(NETWORK), KNOWN)


def observations(rounds=3, users=5):
    draw = np.random.default_rng(0)
    for t in range(1, rounds + 1):
        before = draw.normal(size=NETWORK.size).astype(np.float32)
        for k in range(users):
            after = draw.normal(size=NETWORK.size).astype(np.float32)
            yield Observation.of_weights(t, f"user {k} ü", before, after, 10 * k + t, 1000.0 * t)


def write(folder, seen, header=HEADER):
    writer = TranscriptWriter(folder, header)
    for _, of_round in groupby(seen, key=lambda observation: observation.round):
        for observation in of_round:
            writer.see(observation)
        writer.end_round()


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
    for user in ("user 0 ü", "user 3 ü", "nobody"):
        alone = [each for each in seen if each.user == user]
        found = list(read.of_user(user))
        assert all(equal(one, other) for one, other in zip(found, alone, strict=True))


def test_messages_of_different_lengths_and_types_are_read_back_as_they_were(tmp_path):
    """Lists of the squares that phones visited; whole numbers must not become others' fractions."""
    family = KrigingMap(layout="sparse")
    sent = [np.array(values) for values in ([1, 2], [3, 4], [5], [], [0.5])]
    seen = [
        Observation(1, f"u{k}", {}, {"squares": np.arange(len(each)), "signal_db": each}, k, 0.0)
        for k, each in enumerate(sent)
    ]
    write(tmp_path, seen, Header(family, KNOWN))
    back = list(Transcript(tmp_path))
    assert [each.user for each in back] == [each.user for each in seen]
    for one, other in zip(back, seen, strict=True):
        for name, values in other.message.items():
            assert one.message[name].dtype == values.dtype
            assert one.message[name].tolist() == values.tolist()
    (alone,) = Transcript(tmp_path).of_user("u2")
    assert alone.message["signal_db"].tolist() == [5]
    # Lists of different lengths share a file, other types have one of their own.
    assert len(list(tmp_path.glob("round-*"))) == 2


@pytest.mark.parametrize("lengths", [[1], [1, -1], [1, 3]])
def test_lengths_that_do_not_fit_are_refused(tmp_path, lengths):
    family = KrigingMap(layout="sparse")
    lists = [{"squares": np.arange(k), "signal_db": np.zeros(k)} for k in (1, 2)]
    seen = [Observation(1, f"u{k}", {}, sent, k, 0.0) for k, sent in enumerate(lists)]
    write(tmp_path, seen, Header(family, KNOWN))
    (part,) = tmp_path.glob("round-*")
    with safe_open(part, framework="numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        facts = json.loads(file.metadata()["observations"])
    facts["lengths"]["squares"] = lengths
    part.write_bytes(transcript.save(tensors, {"observations": json.dumps(facts)}))
    with pytest.raises(UserError, match=r"has lengths|holds arrays of shapes"):
        list(Transcript(tmp_path))


def test_the_first_version_is_still_read(tmp_path):
    """It had the network in the place of the map, and one name for each vector of weights."""
    write(tmp_path, observations(rounds=1))
    path = tmp_path / "transcript.json"
    content = json.loads(path.read_text())
    network = {key: value for key, value in content.pop("map").items() if key != "name"}
    path.write_text(json.dumps({**content, "schema": 1, "network": network}))
    (part,) = tmp_path.glob("round-*")
    with safe_open(part, framework="numpy") as file:
        tensors = {
            "weights_before": file.get_tensor("state.weights"),
            "weights_after": file.get_tensor("message.weights"),
        }
        part.write_bytes(transcript.save(tensors, file.metadata()))
    read = Transcript(tmp_path)
    assert read.header == HEADER
    assert all(equal(*pair) for pair in zip(read, observations(rounds=1), strict=True))


def test_a_transcript_of_the_first_version_gives_the_figures_of_its_time():
    """The code before commit aff2506 wrote it, of a simulated campus, and found these places."""
    folder = Path(__file__).parent / "first_transcript"
    read = Transcript(folder)
    assert read.header.map == NetworkMap((3,), ("tanh",), (0.0,))
    assert read.header.side_knowledge.epsg == 32611
    seen = [(each.round, each.user, each.n, each.weights_after.sum()) for each in read]
    assert [each[:3] for each in seen] == [(1, "0", 471), (1, "2", 97), (2, "0", 524), (2, "2", 80)]
    assert [each[3] for each in seen] == pytest.approx([6.923378, 6.470141, 8.772601, 8.155502])
    found = attack(folder, method="search,first_layer").found
    for name, xy_m in {
        "search": [(416446.9147, 3724890.0717), (420917.8035, 3723290.3513)],
        "first_layer": [(419565.8445, 3723485.1578), (422319.4548, 3722858.2410)],
    }.items():
        np.testing.assert_allclose([each.xy_m for each in found[name]], xy_m, rtol=0, atol=0.1)


def test_messages_of_another_family_are_named_arrays(tmp_path):
    """Of a family whose class is not installed, which then can be named and not be run."""
    header = Header(MissingMap("sums", {"side_m": 25}), HEADER.side_knowledge)
    state = {"visits": np.zeros(4, np.int32), "sums": np.zeros(4)}
    sent = {"visits": np.eye(4, dtype=np.int32), "sums": np.arange(16.0).reshape(4, 4)}
    writer = TranscriptWriter(tmp_path, header)
    for k in range(4):
        message = {name: values[k] for name, values in sent.items()}
        writer.see(Observation(1, f"u{k}", state, message, 5, 0.0))
    writer.end_round()
    read = Transcript(tmp_path)
    assert read.header == header
    for k, seen in enumerate(read):
        assert seen.message.keys() == {"visits", "sums"}
        assert all((seen.message[name] == sent[name][k]).all() for name in sent)
        assert seen.message["visits"].dtype == np.int32
    with pytest.raises(UserError, match="'sums' is of a family that is not installed; install the"):
        read.header.map.predict(None, state, np.zeros((1, 2)))


@pytest.mark.parametrize("per_file", [64, 2])
def test_an_interrupted_round_leaves_nothing_and_the_finished_ones_stay(
    tmp_path, monkeypatch, per_file
):
    monkeypatch.setattr(transcript, "OBSERVATIONS_PER_FILE", per_file)
    writer = TranscriptWriter(tmp_path, HEADER)
    for observation in observations(rounds=2):
        if observation.round == 2 and observation.user == "user 4 ü":
            break
        writer.see(observation)
        if observation.round == 1 and observation.user == "user 4 ü":
            writer.end_round()
    assert [observation.round for observation in Transcript(tmp_path)] == [1] * 5
    TranscriptWriter(tmp_path, HEADER)
    assert [path.name for path in tmp_path.iterdir()] == ["transcript.json"]


def test_parts_count_from_one_in_every_round(tmp_path, monkeypatch):
    monkeypatch.setattr(transcript, "OBSERVATIONS_PER_FILE", 5)
    write(tmp_path, observations(rounds=2))
    names = sorted(path.name for path in tmp_path.glob("round-*"))
    assert names == ["round-000001-0001.safetensors", "round-000002-0001.safetensors"]


def test_rounds_come_in_the_order_of_their_numbers(tmp_path):
    (first,) = observations(rounds=1, users=1)
    writer = TranscriptWriter(tmp_path, HEADER)
    for t in (999_999, 1_000_000):
        writer.see(replace(first, round=t))
        writer.end_round()
    assert [observation.round for observation in Transcript(tmp_path)] == [999_999, 1_000_000]


def test_users_that_started_from_different_weights_are_refused(tmp_path):
    one, other = observations(rounds=1, users=2)
    with pytest.raises(UserError, match="did not start from the same state"):
        write(tmp_path, [one, replace(other, state=other.message)])


def test_weights_of_a_wrong_shape_are_refused(tmp_path):
    (one,) = observations(rounds=1, users=1)
    with pytest.raises(UserError, match=r"sent arrays of shapes \{'weights': \(12,\)\} in round 1"):
        write(tmp_path, [replace(one, message={"weights": one.weights_after[:-1]})])


def test_a_folder_that_is_no_transcript(tmp_path):
    with pytest.raises(UserError, match=r"is not a transcript: transcript.json is missing"):
        Transcript(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c | {"schema": 99}, "has schema 99; this veilmap reads 1 and 2"),
        (lambda c: {"schema": 1}, "not a transcript's header"),
        (lambda c: {"schema": 2}, "not a transcript's header"),
        (lambda c: c | {"map": {"hidden": [3]}}, "map must be an object with a name"),
        (lambda c: c | {"map": {"name": "network", "hidden": ["x"]}}, "not a transcript's header"),
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
    content["map"]["hidden"] = [4]
    path.write_text(json.dumps(content))
    with pytest.raises(
        UserError, match=r"but for 5 users of the map in transcript.json they must be .*\[17\]"
    ):
        list(Transcript(tmp_path))


def test_a_truncated_file_is_refused(tmp_path):
    write(tmp_path, observations())
    path = next(iter(sorted(tmp_path.glob("round-*"))))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(UserError, match="is not a part of a transcript"):
        list(Transcript(tmp_path))


def test_the_entries_are_the_observations_without_their_weights(tmp_path):
    write(tmp_path, observations())
    entries = [(e.round, e.start_s, e.user, e.n) for e in Transcript(tmp_path).entries()]
    assert entries == [(o.round, o.start_s, o.user, o.n) for o in observations()]


def test_a_user_sends_one_update_a_round(tmp_path):
    (one,) = observations(rounds=1, users=1)
    with pytest.raises(UserError, match="round 1 names a user twice; keep one update of each"):
        write(tmp_path, [one, one])


def test_users_and_their_points_must_agree_in_number():
    with pytest.raises(UserError, match="has 2 users but 1 point count"):
        transcript.PartFacts(1, 0.0, ("a", "b"), (5,))


@pytest.mark.parametrize("field", ["state", "message"])
def test_weights_that_are_not_finite_are_refused(tmp_path, field):
    (one,) = observations(rounds=1, users=1)
    broken = getattr(one, field)["weights"].copy()
    broken[3] = np.nan
    write(tmp_path, [replace(one, **{field: {"weights": broken}})])
    with pytest.raises(UserError, match="user 'user 0 ü' has numbers that are not finite in round"):
        list(Transcript(tmp_path))


def changed_header(folder, change):
    write(folder, observations(1, 1))
    path = folder / "transcript.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


@pytest.mark.parametrize(
    ("fact", "value", "message"),
    [
        ("interval_s", 0.0, "interval_s must be a number of seconds above 0, got 0.0"),
        ("interval_s", float("inf"), "interval_s must be"),
        ("label_offset_dbm", float("nan"), "label_offset_dbm must be a finite number"),
        ("epsg", -1, "EPSG:-1 is not a known projection in metres"),
        ("epsg", 4326, "EPSG:4326 is not a known projection in metres"),
        ("epsg", 10**30, "not a known projection in metres"),
        ("scaler", {"mean_m": [0, 0], "scale_m": [0, 1]}, "scales from 1e-06"),
        ("scaler", {"mean_m": [0, 0], "scale_m": [5e-324, 1]}, "scales from 1e-06"),
        ("scaler", {"mean_m": [0, 0], "scale_m": [1, 1e300]}, "must have metres up to 1e"),
        ("scaler", {"mean_m": [1e300, 0], "scale_m": [1, 1]}, "must have metres up to 1e"),
        ("scaler", {"mean_m": [0, float("nan")], "scale_m": [1, 1]}, "must have metres up to 1e"),
        ("scaler", {"mean_m": [0, 0], "scale_m": [float("nan"), 1]}, "must have metres up to 1e"),
        ("training", {"epochs": 10**9}, "epochs must be from 1 to 100,000, got 1000000000"),
        ("training", {"epochs": 10**300}, "epochs must be from 1 to 100,000, got 1000"),
        ("training", {"batch_size": 10**13}, "batch_size must be a whole number from 1 to 1,000"),
        (
            "area",
            {"x_min_m": 0, "y_min_m": 0, "x_max_m": 1e300, "y_max_m": 1},
            "the area is not on the earth",
        ),
    ],
)
def test_a_header_with_impossible_numbers_is_refused(tmp_path, fact, value, message):
    changed_header(tmp_path, lambda c: c | {"side_knowledge": c["side_knowledge"] | {fact: value}})
    with pytest.raises(UserError, match=message):
        Transcript(tmp_path)


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        ((1,) * 20_000, "the number of hidden layers must be at most 32, got 20000"),
        ((200_000,), "the width of a hidden layer must be from 1 to 10,000, got 200000"),
        ((10**300,), "the width of a hidden layer must be from 1 to 10,000, got 1000"),
        ((9000, 9000), "a network of .* weights is too large for a phone"),
    ],
)
def test_a_header_with_an_implausible_network_is_refused(tmp_path, hidden, message):
    """What settings refuse too; attacks on the first two, files of 160 KB and 3 MB, would hang."""
    layers = len(hidden)
    network = {"hidden": hidden, "activations": ["relu"] * layers, "dropout": [0.0] * layers}
    changed_header(tmp_path, lambda c: c | {"map": {"name": "network", **network}})
    with pytest.raises(UserError, match=message) as caught:
        Transcript(tmp_path)
    assert len(str(caught.value)) < 2000
    with pytest.raises(UserError, match=message):
        Network(hidden, ("relu",) * layers, (0.0,) * layers)


def test_a_message_does_not_repeat_megabytes(tmp_path):
    changed_header(tmp_path, lambda c: c | {"schema": "x" * 1_000_000})
    with pytest.raises(UserError, match="has schema") as caught:
        Transcript(tmp_path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("text", ["[" * 100_000, '{"round":' + "9" * 5000 + "}", "null", "x"])
def test_metadata_that_is_no_json_of_ours_is_refused(tmp_path, text):
    write(tmp_path, [])
    weights = np.zeros(NETWORK.size, np.float32)
    tensors = {"weights_before": weights, "weights_after": weights[None]}
    packed = transcript.save(tensors, {"observations": text})
    (tmp_path / "round-000001-0001.safetensors").write_bytes(packed)
    with pytest.raises(UserError, match="is not a part of a transcript"):
        list(Transcript(tmp_path).entries())
    (tmp_path / "transcript.json").write_text(text)
    with pytest.raises(UserError, match="is not a transcript's header"):
        Transcript(tmp_path)


@pytest.mark.parametrize(
    "facts", [(1, 0.0, ("a",), (-5,)), (1, 0.0, ("a",), (10**30,)), (-1, 0.0, ("a",), (1,)),
              (1, float("nan"), ("a",), (1,)), (1, 0.0, ("\ud800",), (1,))]
)  # fmt: skip
def test_facts_that_cannot_be_are_refused(facts):
    with pytest.raises(UserError, match=r"n must be|begins at|must be strings"):
        transcript.PartFacts(*facts)


def test_a_header_that_is_nested_without_end_is_refused(tmp_path):
    (tmp_path / "transcript.json").write_text(
        '{"a":' * 200_000
    )  # Python 3.13 reads some thousand levels
    with pytest.raises(UserError, match=r"not a transcript's header \(maximum recursion .*; fetch"):
        Transcript(tmp_path)
