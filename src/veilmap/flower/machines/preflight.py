"""Ask a server whether it admits a node, before Flower's SuperNode connects.

A refused SuperNode ends with the same message for a key that was not admitted, a wrong clock and a
node still considered online. Asking first distinguishes them.
"""

import ssl
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from flwr.common.constant import HEARTBEAT_DEFAULT_INTERVAL
from flwr.proto.fleet_pb2 import ActivateNodeRequest, DeactivateNodeRequest
from flwr.supercore.error import ApiErrorCode, FlowerError
from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor
from flwr.supercore.primitives.asymmetric import public_key_to_bytes
from flwr.supernode.fleet_http_client import FleetHttpClient
from flwr.supernode.node_auth_http_interceptor import NodeAuthHttpInterceptor

from veilmap.flower.machines.ports import Address


class PreflightResult(Enum):
    """How the server answered, and what to do about it."""

    ADMITTED = "the server lets this node in"
    SIGNED_OFF = (
        "the server still counted this node as online, and expected an answer that is lost; the "
        "node has signed off and joins again in a moment"
    )
    NOT_ADMITTED = (
        "the server does not know this node's key yet, or has expelled it; send the .pub file to "
        "its operator, who runs: veilmap flower admit STATE FILE.pub --name NAME"
    )
    REFUSED = (
        "the server refuses this node's signature; set its clock (5 s ahead or 5 min behind is "
        "too much)"
    )
    NOT_TRUSTED = (
        "the server's certificate is not signed by this node's CA, or is made out to another "
        "name; ask the operator for ca.pem and the name, and do not connect without"
    )
    UNREACHABLE = "the server does not answer; check the address, the port and the network"
    BROKEN = "the server answers, but not as a veilmap server does; check the address and port"


@dataclass(frozen=True)
class ServerAccess:
    """A server as a node sees it: its address, the CA that vouches for it, and our key."""

    address: Address
    ca: Path
    key: ec.EllipticCurvePrivateKey


def ask_admission(
    access: ServerAccess, last_node_id: int | None = None
) -> tuple[PreflightResult, int | None]:
    """Ask once; the second value is the node's id if it is let in.

    Args:
        access: where.
        last_node_id: the id of the last time. A killed node counts as online for another minute, in
            which it is not admitted again; with its id it first signs off. The server app looks for
            answers every 3 s: a node that came back sooner would leave it waiting for an answer
            that died with the node.
    """
    try:
        with _client(access) as client:
            try:
                return PreflightResult.ADMITTED, _in_and_out(client, access)
            except httpx.HTTPStatusError as error:
                if last_node_id is None or _answer(error) is not PreflightResult.NOT_ADMITTED:
                    raise
            try:
                client.DeactivateNode(DeactivateNodeRequest(node_id=last_node_id))
            except httpx.HTTPStatusError:
                # The id belongs to another key, or to none.
                return PreflightResult.NOT_ADMITTED, None
            return PreflightResult.SIGNED_OFF, None
    except httpx.HTTPStatusError as error:
        return _answer(error), None
    except httpx.TransportError as error:
        in_tls = isinstance(error.__cause__ or error, ssl.SSLError)
        untrusted = in_tls or "CERTIFICATE" in str(error)
        return (PreflightResult.NOT_TRUSTED if untrusted else PreflightResult.UNREACHABLE), None
    except ValueError:
        return PreflightResult.BROKEN, None


def _client(access: ServerAccess) -> FleetHttpClient:
    return FleetHttpClient.from_server_address(
        str(access.address),
        insecure=False,
        root_certificates=access.ca.read_bytes(),
        interceptors=[
            RuntimeVersionHttpInterceptor(component_name="SuperNode"),
            NodeAuthHttpInterceptor(access.key, access.key.public_key()),
        ],
    )


def _in_and_out(client: FleetHttpClient, access: ServerAccess) -> int:
    request = ActivateNodeRequest(
        public_key=public_key_to_bytes(access.key.public_key()),
        heartbeat_interval=HEARTBEAT_DEFAULT_INTERVAL,
    )
    node_id: int = client.ActivateNode(request).node_id
    client.DeactivateNode(DeactivateNodeRequest(node_id=node_id))
    return node_id


def _answer(error: httpx.HTTPStatusError) -> PreflightResult:
    if error.response.status_code == httpx.codes.UNAUTHORIZED:
        return PreflightResult.REFUSED
    if error.response.status_code in (502, 503, 504):
        return PreflightResult.UNREACHABLE
    fault = FlowerError.from_json(error.response.text)
    known = fault is not None and fault.code == ApiErrorCode.FLEET_NODE_ACTIVATION_FAILED
    return PreflightResult.NOT_ADMITTED if known else PreflightResult.BROKEN
