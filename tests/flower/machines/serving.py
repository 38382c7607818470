"""An ASGI app at a real socket of the loopback address, with TLS."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from veilmap.flower.machines.certificates import Certificates
from veilmap.flower.machines.ports import LOOPBACK


@contextmanager
def served(app: ASGIApp, keys: Certificates, host: str = LOOPBACK) -> Iterator[int]:
    """Serve ``app`` while the block runs; gives the port."""
    with socket.create_server((host, 0)) as listening:
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                ssl_certfile=keys.server,
                ssl_keyfile=str(keys.server_key),
                log_level="critical",
                ws="none",
                http="h11",
                loop="asyncio",
                timeout_graceful_shutdown=1,
            )
        )
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()
