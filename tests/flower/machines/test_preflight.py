import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from flwr.proto.fleet_pb2 import ActivateNodeRequest, ActivateNodeResponse
from flwr.supercore.error import ApiErrorCode
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.flower.machines.serving import served
from veilmap.flower.machines.certificates import obtain
from veilmap.flower.machines.ports import Address, free_port
from veilmap.flower.machines.preflight import PreflightResult, ServerAccess, ask_admission

NOT_ACTIVATED = JSONResponse(
    {"code": int(ApiErrorCode.FLEET_NODE_ACTIVATION_FAILED), "detail": "no"}, 403
)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return obtain(tmp_path_factory.mktemp("keys"), [])


@pytest.fixture(scope="module")
def server(keys):
    """A server that gives the prepared answers in their order, and keeps what it was asked."""
    answers, asked = [], []

    async def app(scope, receive, send):
        request = Request(scope, receive)
        asked.append((request.url.path.rpartition("/")[2], await request.body()))
        await answers.pop(0)(scope, receive, send)

    with served(app, keys) as port:
        yield port, answers, asked


@pytest.fixture
def ask(server, keys):
    port, answers, asked = server
    answers.clear()
    asked.clear()

    def ask(*prepared, last_node_id=None, ca=keys.ca):
        answers.extend(prepared)
        door = ServerAccess(Address("localhost", port), ca, ec.generate_private_key(ec.SECP384R1()))
        return ask_admission(door, last_node_id), [call for call, _ in asked]

    return ask


def activated(node_id: int) -> Response:
    return Response(ActivateNodeResponse(node_id=node_id).SerializeToString())


def test_an_admitted_node_gets_an_id_and_signs_off_again(ask):
    assert ask(activated(7), Response()) == (
        (PreflightResult.ADMITTED, 7),
        ["activate-node", "deactivate-node"],
    )


def test_the_server_is_asked_for_our_own_key(server, keys):
    port, answers, asked = server
    answers[:], asked[:] = [NOT_ACTIVATED], []
    key = ec.generate_private_key(ec.SECP384R1())
    ask_admission(ServerAccess(Address("localhost", port), keys.ca, key))
    request = ActivateNodeRequest.FromString(asked[0][1])
    assert request.public_key == public_key_to_bytes(key.public_key())


def test_an_unknown_key_is_not_admitted(ask):
    assert ask(NOT_ACTIVATED) == ((PreflightResult.NOT_ADMITTED, None), ["activate-node"])


def test_a_node_still_counted_as_online_signs_off_first(ask):
    assert ask(NOT_ACTIVATED, Response(), last_node_id=7) == (
        (PreflightResult.SIGNED_OFF, None),
        ["activate-node", "deactivate-node"],
    )


def test_an_expelled_node_is_not_admitted(ask):
    answer, _ = ask(NOT_ACTIVATED, Response(status_code=401), last_node_id=7)
    assert answer == (PreflightResult.NOT_ADMITTED, None)


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (401, PreflightResult.REFUSED),
        (503, PreflightResult.UNREACHABLE),
        (504, PreflightResult.UNREACHABLE),
        (404, PreflightResult.BROKEN),
        (500, PreflightResult.BROKEN),
    ],
)
def test_an_answer_of_the_proxy_is_distinguished(ask, status, answer):
    assert ask(Response(status_code=status))[0] == (answer, None)


def test_an_answer_that_flower_does_not_read_is_broken(ask):
    assert ask(Response(b"\xff\xff<html>"))[0] == (PreflightResult.BROKEN, None)


def test_a_server_of_another_ca_is_not_trusted_and_learns_nothing(ask, tmp_path):
    assert ask(ca=obtain(tmp_path, []).ca) == ((PreflightResult.NOT_TRUSTED, None), [])


def test_a_server_under_another_name_is_not_trusted(keys):
    async def app(scope, receive, send):
        assert scope["type"] == "lifespan"

    with served(app, keys, "127.0.0.2") as port:
        door = ServerAccess(
            Address("127.0.0.2", port), keys.ca, ec.generate_private_key(ec.SECP384R1())
        )
        assert ask_admission(door) == (PreflightResult.NOT_TRUSTED, None)


def test_a_server_that_is_away_is_unreachable(keys):
    door = ServerAccess(
        Address("localhost", free_port()), keys.ca, ec.generate_private_key(ec.SECP384R1())
    )
    assert ask_admission(door) == (PreflightResult.UNREACHABLE, None)
