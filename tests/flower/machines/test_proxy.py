import gzip
import socket
import ssl
from typing import NamedTuple

import httpx
import pytest
from flwr.superlink.routers.fleet.router import router
from starlette.requests import Request
from starlette.responses import Response

from tests.flower.machines.loopback import LIMIT_S
from tests.flower.machines.serving import served
from veilmap.flower.machines import proxy as proxy_module
from veilmap.flower.machines.certificates import obtain
from veilmap.flower.machines.ports import LOOPBACK, free_port
from veilmap.flower.machines.proxy import PATHS, make_proxy

LARGEST = 1_000_000


class Door(NamedTuple):
    """The proxy at a socket, and the requests that came through it."""

    port: int
    trust: ssl.SSLContext
    came: list[tuple[str, str, dict[str, str], bytes]]

    def post(self, path: str, **request) -> httpx.Response:
        url = f"https://localhost:{self.port}{path}"
        return httpx.post(url, verify=self.trust, trust_env=False, timeout=LIMIT_S, **request)

    def raw(self, request: bytes) -> bytes:
        """What comes back for these very bytes; no client tidies them up."""
        with (
            socket.create_connection((LOOPBACK, self.port), timeout=LIMIT_S) as plain,
            self.trust.wrap_socket(plain, server_hostname="localhost") as line,
        ):
            line.sendall(request)
            return line.recv(65536)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return obtain(tmp_path_factory.mktemp("keys"), [])


@pytest.fixture
def door(open_door):
    open_door.came.clear()
    return open_door


@pytest.fixture(scope="module")
def open_door(keys):
    came = []

    async def superlink(scope, receive, send):
        request = Request(scope, receive)
        came.append((request.method, request.url.path, dict(request.headers), await request.body()))
        answer = Response(gzip.compress(b"answer"), 207, {"content-encoding": "gzip", "x-a": "b"})
        await answer(scope, receive, send)

    trust = ssl.create_default_context(cafile=keys.ca)
    with (
        served(superlink, keys) as port,
        served(make_proxy(f"https://127.0.0.1:{port}", trust, LARGEST), keys) as outside,
    ):
        yield Door(outside, trust, came)


def test_a_nodes_request_arrives_whole_and_the_answer_comes_back(door):
    body = bytes(range(256)) * 2000
    signed = {"flwr-signature": "abc", "content-type": "application/x-protobuf"}
    answer = door.post("/v1/fleet/push-object", content=body, headers=signed)
    assert (answer.status_code, answer.headers["x-a"], answer.content) == (207, "b", b"answer")
    [(method, path, headers, arrived)] = door.came
    assert (method, path, arrived) == ("POST", "/v1/fleet/push-object", body)
    assert signed.items() <= headers.items()


def test_every_call_of_a_node_passes_and_there_are_no_others():
    """But registering: the operator admits nodes, they do not admit themselves."""
    calls = {route.path.encode() for route in router.routes}
    assert calls - PATHS == {b"/v1/fleet/register-node", b"/v1/fleet/unregister-node"}
    assert PATHS.issubset(calls)


@pytest.mark.parametrize(
    "target",
    [
        "/v1/control/start-run",
        "/v1/runtime/acquire-task",
        "/health",
        "/",
        "/v1/fleet",
        "/v1/fleet/",
        "/v1/fleet/register-node",
        "/v1/fleet/../control/start-run",
        "/v1/fleet/pull-messages/../../control/start-run",
        "/v1/fleet/%2e%2e/control/start-run",
        "/v1/fleet/..%2fcontrol/start-run",
        "/v1/fleet/%2e%2e%2fcontrol%2fstart-run",
        "/v1/fleet/..;/control/start-run",
        "/v1/fleet/..\\control\\start-run",
        "/v1/fleet//../control/start-run",
        "//v1/fleet/pull-messages",
        "/v1//fleet/pull-messages",
        "/v1/fleet/pull-messages/",
        "/v1/fleet/pull-messages?x=1",
        "/v1/fleet/pull-messages#/../../control/start-run",
        "/v1/fleet/%70ull-messages",
        "/V1/fleet/pull-messages",
        "https://localhost/v1/control/start-run",
        "https://localhost/v1/fleet/pull-messages",
        "*",
    ],
)
def test_no_other_path_passes_however_it_is_spelled(door, target):
    request = f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    assert door.raw(request.encode()).split(b" ", 2)[1] in (b"404", b"400")
    assert door.came == []


def test_the_same_bytes_with_a_nodes_path_do_pass(door):
    request = (
        b"POST /v1/fleet/pull-messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    )
    assert door.raw(request).startswith(b"HTTP/1.1 207")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE"])
def test_no_other_method_passes(door, method):
    request = f"{method} /v1/fleet/pull-messages HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert door.raw(request.encode()).split(b" ", 2)[1] in (b"404", b"400")
    assert door.came == []


def test_a_second_request_hidden_in_the_first_does_not_pass(door):
    hidden = b"POST /v1/control/start-run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
    door.raw(
        b"POST /v1/fleet/pull-messages HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden
    )
    assert all(path.startswith("/v1/fleet/") for _, path, _, _ in door.came)


def test_a_body_that_is_announced_too_large_is_not_read(door):
    request = (
        b"POST /v1/fleet/push-object HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000001\r\n\r\n"
    )
    assert door.raw(request).startswith(b"HTTP/1.1 413")
    assert door.came == []


def test_a_body_that_turns_out_too_large_is_cut_off(door):
    pieces = (b"x" * 100_000 for _ in range(11))
    assert door.post("/v1/fleet/push-object", content=pieces).status_code == 413
    assert door.came == []


def test_a_body_of_the_largest_size_passes(door):
    assert door.post("/v1/fleet/push-object", content=b"x" * LARGEST).status_code == 207


def test_a_superlink_that_is_away_is_answered_with_try_again(keys):
    trust = ssl.create_default_context(cafile=keys.ca)
    with served(make_proxy(f"https://127.0.0.1:{free_port()}", trust), keys) as port:
        assert Door(port, trust, []).post("/v1/fleet/pull-messages").status_code == 503


def test_a_superlink_of_another_ca_gets_nothing(keys, tmp_path):
    came = []

    async def thief(scope, receive, send):
        came.append(scope["type"])

    trust = ssl.create_default_context(cafile=keys.ca)
    with (
        served(thief, obtain(tmp_path, [])) as port,
        served(make_proxy(f"https://127.0.0.1:{port}", trust), keys) as outside,
    ):
        assert Door(outside, trust, []).post("/v1/fleet/pull-messages").status_code == 503
    assert "http" not in came


def test_a_body_that_comes_too_slowly_is_given_up(door, monkeypatch):
    monkeypatch.setattr(proxy_module, "LONGEST_REQUEST_S", 0.2)
    request = (
        b"POST /v1/fleet/push-object HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx"
    )
    assert door.raw(request).startswith(b"HTTP/1.1 504")
    assert door.came == []
