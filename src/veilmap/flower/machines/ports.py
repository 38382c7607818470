"""Addresses to listen on."""

import socket
import time
from contextlib import suppress
from dataclasses import dataclass

from veilmap.errors import UserError, out_of_range, shown

LOOPBACK = "127.0.0.1"
# A process that was just killed needs a moment to release its port.
PATIENCE_S = 5.0


@dataclass(frozen=True)
class Address:
    """An address to listen on: ``host`` is a name or an address, ``port`` a number."""

    host: str
    port: int

    def __post_init__(self) -> None:
        if not 1 <= self.port <= 65535:
            raise out_of_range("port", "between 1 and 65535", self.port)
        if not self.host or any(sign in self.host for sign in "/@[] "):
            raise UserError(
                f"host must be a name or an address, got {shown(self.host)}; write "
                "server.example:9092"
            )

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> "Address":
        """From ``host:port``; an IPv6 address stands in brackets."""
        host, _, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        if not port.isdecimal() or (":" in host and not bracketed):
            raise UserError(
                f"address must be HOST:PORT, got {shown(text)}; write for example 192.0.2.1:9092"
            )
        return cls(host[1:-1] if bracketed else host, int(port))


def refuse_taken(address: Address, option: str) -> None:
    """Raise if ``address`` is in use, or is not an address of this machine."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return _try_to_listen(address)
        except OSError as fault:
            if time.monotonic() > until:
                raise UserError(
                    f"cannot listen at {address}: {fault.strerror}; choose another with {option} "
                    "or end the program that uses it"
                ) from None
        time.sleep(0.2)


def answers(address: Address) -> bool:
    """Whether something listens at ``address``."""
    with suppress(OSError):
        socket.create_connection((address.host, address.port), timeout=5.0).close()
        return True
    return False


def free_port() -> int:
    """A port of the loopback address that nothing uses at the moment."""
    with socket.socket() as trial:
        trial.bind((LOOPBACK, 0))
        return int(trial.getsockname()[1])


def _try_to_listen(address: Address) -> None:
    family, *_, place = socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family) as trial:
        # As the servers do: a closing connection does not block a port.
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind(place)
