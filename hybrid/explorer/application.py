"""The web application of the explorer: a static page, and one place that answers questions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from hybrid.errors import StateError
from hybrid.explorer.guarding import RequestGuard
from hybrid.explorer.questions import MAX_BODY, read_question

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from hybrid.explorer.jobs import Jobs

__all__ = ["SCRIPTS", "STYLES", "application", "page_file"]

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
