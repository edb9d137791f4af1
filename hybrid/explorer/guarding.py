"""What every request must be before it is looked at: from this page, to this server, small and soon."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "TOKEN_HEADER", "RequestGuard"]

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


@attrs.frozen
class _Refused:
    status: int
    reason: str


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
        answer = JSONResponse({"error": {"kind": "refused", "message": refused.reason}}, status_code=refused.status)
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> _Refused | None:
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:
            name = raw.decode("latin-1").lower()
            if name in _ONCE and name in headers:
                return _Refused(400, f"the header {name} stands there twice")
            headers[name] = value.decode("latin-1")
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return _Refused(403, "this server does not go by that name")
        if headers.get("origin", f"http://{host}").lower() != f"http://{host}":
            return _Refused(403, "another page asks")
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return _Refused(403, "another page asks")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _Refused(405, "only GET, HEAD and POST are answered")
        return self._refused_question(headers) if scope["method"] == "POST" else None

    def _refused_question(self, headers: Mapping[str, str]) -> _Refused | None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return _Refused(415, "a question is application/json")
        if not hmac.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self.token.encode()):
            return _Refused(401, "open the address that the command printed: it has the token of this session")
        return None
