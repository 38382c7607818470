"""The operator's client of the SuperLink on the same machine.

Flower's HTTP client instead of its command line: the same requests without a process per request,
and errors as values instead of text.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.error import FlowerError
from flwr.supercore.interceptors import RuntimeVersionHttpInterceptor

from veilmap.errors import UserError
from veilmap.flower.machines.server_folder import ServerFolder


@contextmanager
def control(folder: ServerFolder) -> Iterator[ControlHttpClient]:
    """A client of the folder's SuperLink; its failures become errors with a way out."""
    address = folder.superlink()
    client = _LocalClient(f"https://{address}", folder)
    try:
        yield client
    except httpx.HTTPStatusError as error:
        fault = FlowerError.from_json(error.response.text)
        said = fault.message if fault is not None else str(error)
        raise UserError(f"the server says: {said}") from error
    except httpx.TransportError as error:
        raise UserError(
            f"the server of {folder.path} does not answer at {address} ({error}); start it with: "
            f"veilmap flower serve {folder.path}"
        ) from error
    finally:
        client.close()


class _LocalClient(ControlHttpClient):
    """Flower's client without the environment's proxies: it only talks to this machine."""

    def __init__(self, base_url: str, folder: ServerFolder) -> None:
        trust = ssl.create_default_context(cafile=folder.certificates.ca)
        version = RuntimeVersionHttpInterceptor(component_name="flwr CLI")
        super().__init__(base_url, interceptors=[version], verify=trust)
        self._client.close()
        self._client = httpx.Client(verify=trust, timeout=30.0, trust_env=False)
