"""The server of the explorer: bound to one address of this machine, ended by Ctrl-C."""

from __future__ import annotations

import ipaddress
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import attrs

from hybrid.errors import ComputationError, StateError
from hybrid.explorer.application import application
from hybrid.explorer.jobs import Jobs

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Server

__all__ = ["LOOPBACK", "Served", "serve"]

LOOPBACK = "127.0.0.1"
_PORTS = 20  # that are tried from the first one on
_GRACE = 2  # seconds that streams have after Ctrl-C


@attrs.frozen
class Served:
    """A mechanism file under the name that the page shows.

    Attributes
    ----------
    name, text : str
    """

    name: str
    text: str


def serve(
    catalogue: Mapping[str, str],
    first: Served,
    *,
    host: str = LOOPBACK,
    port: int = 8640,
    allow_remote: bool = False,
    ready: Callable[[str, int], None] | None = None,
) -> None:
    """Serve the explorer until it is interrupted.

    Parameters
    ----------
    catalogue : mapping of str to str
        Declarations that can be chosen, by name.
    first : Served
        What is shown at first.
    host : str, optional
        An address of this machine.
    port : int, optional
        If it is taken, one of the next; 0 for any.
    allow_remote : bool, optional
        Needed for an address that other machines reach.
    ready : callable, optional
        Called with the address to be opened, which has the token of this session, and the port.

    Returns
    -------
    None
        After Ctrl-C.

    Raises
    ------
    StateError
        No address, all addresses at once, or one that other machines reach without `allow_remote`.
    ComputationError
        No port is free.
    """
    import uvicorn

    name = _checked(host, allow_remote=allow_remote)
    with _bound(host, port) as bound:
        own = int(bound.getsockname()[1])
        token = secrets.token_urlsafe(24)
        served = f"{name}:{own}"
        app = _application(catalogue, first, served, own, token)
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=_GRACE,
            timeout_keep_alive=30,
            limit_concurrency=1000,
        )
        server = uvicorn.Server(config)
        with _ended_by_interrupts(server):
            if ready is not None:
                ready(f"http://{served}/#token={token}", own)
            server.run(sockets=[bound])


@contextmanager
def _ended_by_interrupts(server: Server) -> Iterator[None]:
    """Ctrl-C ends the server in order, also before it listens to signals itself and after it has stopped to."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_: int, __: FrameType | None) -> None:
        server.should_exit = True

    usual = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _application(catalogue: Mapping[str, str], first: Served, served: str, port: int, token: str) -> ASGIApp:
    hosts = {served, f"localhost:{port}"}
    hosts |= {item.removesuffix(":80") for item in hosts}
    start = {"catalogue": dict(catalogue), "first": {"name": first.name, "text": first.text}}
    return application(Jobs(), hosts=frozenset(hosts), token=token, start=start)


def _checked(host: str, *, allow_remote: bool) -> str:
    """The address as it stands in a URL."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError as error:
        raise StateError(f"host: expected an address of this machine as {LOOPBACK}, not {host!r}") from error
    if address.is_unspecified:
        raise StateError("host: all addresses at once have no name that could be checked; give one of them")
    if not address.is_loopback and not allow_remote:
        raise StateError(f"host: other machines reach {host}; add --allow-remote if they are meant to")
    return f"[{address}]" if address.version == 6 else str(address)


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens, on the port or one of those after it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for own in range(port, min(port + _PORTS, 65536)) if port else (0,):
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, own))
            found.listen(256)
        except OSError as error:
            found.close()
            reason = error
            continue
        return found
    raise ComputationError(f"no port from {port} on is free at {host}: {reason.strerror}") from reason
