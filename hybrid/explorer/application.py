"""The web application of the explorer: a static page, one place that answers questions, and the server of both.

What every request must be before it is looked at: from this page, to this server, small and soon. The server is bound
to one address of this machine and ended by Ctrl-C.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib import resources
from types import FrameType
from typing import TYPE_CHECKING

import attrs
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from hybrid.arguments import checks_arguments
from hybrid.errors import ComputationError, StateError
from hybrid.explorer.jobs import Jobs
from hybrid.explorer.questions import MAX_BODY, read_question

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn import Server


__all__ = [
    "HEADERS",
    "LOOPBACK",
    "SCRIPTS",
    "STYLES",
    "TOKEN_HEADER",
    "RequestGuard",
    "Served",
    "application",
    "page_file",
    "serve",
]


TOKEN_HEADER = "x-painleve-token"
HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_ONCE = ("host", "origin", "content-type", "content-length", "sec-fetch-site", TOKEN_HEADER)


@attrs.frozen(eq=False)
class RequestGuard:
    """An application behind the rules for requests.

    Attributes
    ----------
    app : ASGI application
    hosts : frozenset of str
        Values of the header Host under which the server is asked: a foreign name that resolves to this machine is not
        among them.
    token : str
        Of this session; whoever computes shows it.
    """

    app: ASGIApp
    hosts: frozenset[str]
    token: str = attrs.field(repr=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            await send(message)

        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refused = self._refusal(scope)
        if refused is None:
            await self.app(scope, receive, send_with_headers)
            return
        status, reason = refused
        answer = JSONResponse({"error": {"kind": "refused", "message": reason}}, status_code=status)
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:
            name = raw.decode("latin-1").lower()
            if name in _ONCE and name in headers:
                return (400, f"the header {name} stands there twice")
            headers[name] = value.decode("latin-1")
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return (403, "this server does not go by that name")
        if headers.get("origin", f"http://{host}").lower() != f"http://{host}":
            return (403, "another page asks")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return (403, "another page asks")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return (405, "only GET, HEAD and POST are answered")
        return self._refused_question(headers) if scope["method"] == "POST" else None

    def _refused_question(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return (415, "a question is application/json")
        if not hmac.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self.token.encode()):
            return (401, "open the address that the command printed: it has the token of this session")
        return None


SCRIPTS = (
    "offline.js",
    "backend.js",
    "numbers.js",
    "state.js",
    "drawing.js",
    "map.js",
    "curves.js",
    "verdict.js",
    "automaton.js",
    "motion.js",
    "comparison.js",
    "editor.js",
    "exports.js",
    "gif.js",
    "explorer.js",
)
"""In the order in which the page loads them."""
STYLES = ("explorer.css",)

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_BODY_SECONDS = 10.0  # for the whole of a question
_CLIENT = re.compile(r"[A-Za-z0-9_-]{8,64}")


def page_file(name: str) -> str:
    """The text of a file of the page.

    Parameters
    ----------
    name : str
        One of ``SCRIPTS``, ``STYLES`` or ``explorer.html``.

    Returns
    -------
    str
    """
    return (resources.files("hybrid.explorer") / "page" / name).read_text(encoding="utf-8")


def application(jobs: Jobs, *, hosts: frozenset[str], token: str, start: Mapping[str, object]) -> ASGIApp:
    """The application behind its guard.

    Parameters
    ----------
    jobs : Jobs
        Started and stopped with the application.
    hosts : frozenset of str
    token : str
    start : mapping
        What the page is told first: ``catalogue`` of names and titles with their declarations, and ``first``.

    Returns
    -------
    ASGI application
    """
    scripts = "\n".join(f'<script src="{name}"></script>' for name in SCRIPTS)
    files = {"/": ("explorer.html", page_file("explorer.html").replace("<!-- scripts -->", scripts).encode())}
    files |= {f"/{name}": (name, page_file(name).encode()) for name in (*SCRIPTS, *STYLES)}

    async def static(request: Request) -> Response:
        name, content = files[request.url.path]
        kind = _TYPES[name[name.rindex(".") :]]
        return Response(content, media_type=kind)

    async def begin(_: Request) -> Response:
        return JSONResponse(start)

    async def compute(request: Request) -> Response:
        client = request.query_params.get("client", "")
        if not _CLIENT.fullmatch(client):
            raise HTTPException(400, "a client has a name of 8 to 64 letters and digits")
        body = await _body(request)
        try:
            read_question(body)
        except StateError as error:
            raise HTTPException(400, str(error)) from error
        return StreamingResponse(jobs.answer(client, body), media_type="application/x-ndjson")

    async def refused(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        reason = error.detail if isinstance(error, HTTPException) else "a defect"
        return JSONResponse({"error": {"kind": "refused", "message": reason}}, status_code=status)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        jobs.start()
        try:
            yield
        finally:
            jobs.stop()

    routes = [Route(path, static, methods=["GET"]) for path in files]
    routes += [Route("/begin", begin, methods=["POST"]), Route("/compute", compute, methods=["POST"])]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: refused})
    return RequestGuard(app, hosts, token)


async def _body(request: Request) -> bytes:
    """The body of a request that comes soon and is not too long."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced[:12]) > MAX_BODY:
        raise HTTPException(413, f"a question has at most {MAX_BODY} bytes")
    found = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for piece in request.stream():
                found += piece
                if len(found) > MAX_BODY:
                    raise HTTPException(413, f"a question has at most {MAX_BODY} bytes")
    except TimeoutError as error:
        raise HTTPException(408, f"a question comes within {_BODY_SECONDS:g} s") from error
    except ClientDisconnect as error:
        raise HTTPException(400, "the client has gone") from error
    return bytes(found)


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


@checks_arguments
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
