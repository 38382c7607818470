import pytest

from tests.flower.secure.playing import Play
from veilmap.errors import UserError
from veilmap.flower.secure.stages import STAGES, from_record, to_record

STEPS = dict(zip(STAGES, ("advertise", "share", "mask", "unmask"), strict=True))


@pytest.fixture(scope="module")
def states_by_stage():
    play, found = Play(5, 3), {}
    for name, step in STEPS.items():
        getattr(play, step)()
        found[name] = list(play.states.values())
    return found


@pytest.fixture(params=STAGES)
def states(request, states_by_stage):
    return states_by_stage[request.param]


def test_every_stage_survives_as_a_record(states):
    for state in states:
        record = to_record(state)
        assert isinstance(state, STAGES[record["stage"]])
        assert from_record(record) == state


def test_a_record_is_flat_and_nothing_in_it_is_empty(states):
    """Flower loses the type of an empty list, and fails at counting its bytes."""
    for value in to_record(states[0]).values():
        values = value if isinstance(value, list) else [value]
        assert all(isinstance(each, str | int | bytes) and each for each in values)
        assert values


def test_flower_carries_every_stage_unchanged(states):
    flwr = pytest.importorskip("flwr.app")
    for state in states:
        record = flwr.ConfigRecord(to_record(state))
        assert record.count_bytes() > 0
        assert from_record(flwr.ConfigRecord.inflate(record.deflate())) == state


def test_no_stage_prints_its_secrets(states):
    """Public are the context, the ids, the threshold and the keys of the roster."""
    public = ("stage", "context", "me", "threshold", "keys", "survivors")
    for state in states:
        record = to_record(state)
        hidden = [value for key, value in record.items() if key not in public]
        rows = [row for value in hidden for row in (value if isinstance(value, list) else [value])]
        assert rows
        # The last 16 bytes: of a packed row, of a pair of shares, and of a key alike.
        assert not [row for row in rows if repr(row[-16:])[2:-1] in repr(state)]


def test_after_masking_the_own_secrets_are_gone_and_after_unmasking_the_other_shares():
    play = Play(5, 3).advertise().share()
    node = play.nodes[0]
    shared = play.states[node]
    masked = play.mask().states[node]
    kept = b"".join(to_record(masked)["shares"])
    assert shared.private.masking not in kept
    assert shared.seed not in kept
    unmasked = play.unmask().states[node]
    told = b"".join(to_record(unmasked)["answer"])
    assert not [pair for pair in masked.shares.values() if pair.of_key in told]


def test_an_unknown_stage_is_refused():
    with pytest.raises(UserError, match="unknown stage 'done'; choose one of: advertised, shared"):
        from_record({"stage": "done"})
