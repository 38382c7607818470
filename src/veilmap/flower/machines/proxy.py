"""The proxy: forwards what nodes need of the SuperLink, and nothing else.

The SuperLink serves three interfaces at one port. Control starts any code for any client that
reaches it, and Runtime is for processes on the same machine; so the SuperLink stays on the loopback
address and this proxy forwards the requests of nodes.
"""

import asyncio
import ssl
import sys
from collections.abc import Iterable

import httpx
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from veilmap.flower.machines.ports import Address

_NODE_CALLS = (
    "activate-node",
    "deactivate-node",
    "send-node-heartbeat",
    "pull-messages",
    "push-messages",
    "get-run",
    "get-fab",
    "push-object",
    "pull-object",
    "confirm-message-received",
)
# Compared with the raw bytes of the request, before anything decodes or normalises them: no
# spelling of another path can be equal. Left out: nodes neither register nor unregister themselves;
# the operator admits and expels them.
PATHS = frozenset(f"/v1/fleet/{call}".encode() for call in _NODE_CALLS)

# Flower sends arrays in pieces of 5 MB; other records are small and sent whole.
LARGEST_BODY = 32 * 2**20
# Longer than Flower's own 30 s, so that a node gives up first and tries again.
LONGEST_REQUEST_S = 60.0
# Every node keeps one connection open, and one more for its heartbeat.
_MOST_CONNECTIONS = 4096

# They concern one connection, not the message (RFC 9110, 7.6.1); httpx writes its own.
_OF_THE_CONNECTION = frozenset(
    b"connection content-length host keep-alive proxy-authenticate proxy-authorization te "
    b"trailer transfer-encoding upgrade expect".split()
)


def main() -> None:
    """Run the proxy: HOST PORT SUPERLINK_PORT CA CERTIFICATE KEY."""
    host, port, superlink_port, ca, certificate, key = sys.argv[1:]
    upstream = f"https://{Address('127.0.0.1', int(superlink_port))}"
    uvicorn.run(
        make_proxy(upstream, ssl.create_default_context(cafile=ca)),
        host=host,
        port=int(port),
        ssl_certfile=certificate,
        ssl_keyfile=key,
        limit_concurrency=_MOST_CONNECTIONS,
        access_log=False,
        ws="none",
        # Strict, and written in Python: no other parser sees requests from outside.
        http="h11",
        server_header=False,
        timeout_graceful_shutdown=5,
    )


def make_proxy(
    upstream: str, trust: ssl.SSLContext | bool, largest_body: int = LARGEST_BODY
) -> ASGIApp:
    """The proxy in front of ``upstream``, which must prove itself to ``trust``."""
    client = httpx.AsyncClient(verify=trust, timeout=LONGEST_REQUEST_S, trust_env=False)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _close_at_the_end(client, receive, send)
        else:
            response = await _answer(client, upstream, Request(scope, receive), largest_body)
            await response(scope, receive, send)

    return answer


async def _close_at_the_end(client: httpx.AsyncClient, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await client.aclose()
    await send({"type": "lifespan.shutdown.complete"})


async def _answer(
    client: httpx.AsyncClient, upstream: str, request: Request, largest_body: int
) -> Response:
    path: bytes = request.scope["raw_path"]
    if request.method != "POST" or path not in PATHS or request.scope["query_string"]:
        return PlainTextResponse("not found", 404)
    try:
        async with asyncio.timeout(LONGEST_REQUEST_S):
            return await _forward(client, upstream + path.decode(), request, largest_body)
    except _TooLargeError:
        return PlainTextResponse(f"a body may have at most {largest_body} bytes", 413)
    except TimeoutError:
        return PlainTextResponse("too slow", 504)
    except httpx.TransportError:
        # Nodes try again after 503: the SuperLink is about to be started again.
        return PlainTextResponse("the SuperLink does not answer", 503)


async def _forward(
    client: httpx.AsyncClient, url: str, request: Request, largest_body: int
) -> Response:
    body = await _body(request, largest_body)
    headers = _of_the_message(request.headers.raw)
    outgoing = client.build_request("POST", url, content=body, headers=headers)
    incoming = await client.send(outgoing, stream=True)
    try:
        # Raw: compressed bodies are passed on as they are.
        content = b"".join([piece async for piece in incoming.aiter_raw()])
    finally:
        await incoming.aclose()
    response = Response(content, incoming.status_code)
    response.raw_headers += _of_the_message(incoming.headers.raw)
    return response


async def _body(request: Request, largest: int) -> bytes:
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > largest:
        raise _TooLargeError
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > largest:
            raise _TooLargeError
    return bytes(body)


def _of_the_message(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.lower() not in _OF_THE_CONNECTION]


class _TooLargeError(Exception):
    """The body is larger than the proxy forwards."""
