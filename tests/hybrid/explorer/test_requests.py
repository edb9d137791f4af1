"""Requests that the explorer refuses before it looks at them, and those that it answers."""

import asyncio
import json

import pytest

from hybrid.explorer import application as application_module
from hybrid.explorer.application import SCRIPTS, STYLES, application
from hybrid.explorer.questions import MAX_BODY

HOST, TOKEN = "127.0.0.1:8640", "a-token-of-this-session"
START = {"catalogue": {}, "first": {"name": "nothing", "text": ""}}


class Echo:
    """Jobs that answer with what was asked; no processes."""

    def start(self):
        pass

    def stop(self):
        pass

    async def answer(self, client, question):
        yield json.dumps({"client": client, "asked": json.loads(question)["kind"]}).encode() + b"\n"


def asked(
    method="POST",
    path="/compute",
    *,
    headers=None,
    body=b'{"kind": "look"}',
    receive=None,
    query=b"client=12345678",
    extra=(),
):
    """Status, headers and body of the answer to one request."""
    headers = headers or {}
    app = application(Echo(), hosts=frozenset({HOST, "localhost:8640"}), token=TOKEN, start=START)
    given = {
        "host": HOST,
        "content-type": "application/json",
        "x-painleve-token": TOKEN,
        "content-length": str(len(body)),
    }
    given |= {name: value for name, value in headers.items() if value is not None}
    for name in [name for name, value in headers.items() if value is None]:
        del given[name]
    raw = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    raw += extra
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query}
    scope |= {"headers": raw, "http_version": "1.1", "scheme": "http", "server": None, "client": None, "root_path": ""}
    sent, incoming = [], [{"type": "http.request", "body": body, "more_body": False}]

    async def take():
        if incoming:
            return incoming.pop()
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive or take, send))
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


def test_a_question_of_the_page_is_answered_line_by_line():
    status, headers, body = asked()
    assert (status, headers["content-type"]) == (200, "application/x-ndjson")
    assert json.loads(body) == {"client": "12345678", "asked": "look"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8641"}, 403),
        ({"host": "127.0.0.1"}, 403),
        ({"host": "rebound.example:8640"}, 403),
        ({"host": None}, 403),
        ({"host": "localhost:8640"}, 200),
        ({"origin": f"http://{HOST}"}, 200),
        ({"origin": "http://localhost:8640"}, 403),  # of another name than the page's own
        ({"origin": "null"}, 403),
        ({"origin": "https://127.0.0.1:8640"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "none"}, 200),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"x-painleve-token": None}, 401),
        ({"x-painleve-token": TOKEN[:-1]}, 401),
        ({"x-painleve-token": "\xff"}, 401),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": None}, 415),
        ({"content-type": "application/json; charset=utf-8"}, 200),
        ({"content-length": str(MAX_BODY + 1)}, 413),
        ({"content-length": "-1"}, 413),
        ({"content-length": "9" * 400}, 413),
    ],
)
def test_who_asks_and_how_decides_whether_it_is_answered(headers, status):
    assert asked(headers=headers)[0] == status


def test_a_header_that_stands_there_twice_is_refused():
    status, _, body = asked(extra=[(b"host", HOST.encode())])
    assert status == 400
    assert "twice" in json.loads(body)["error"]["message"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_are_refused(method):
    assert asked(method)[0] == 405


@pytest.mark.parametrize("path", ["/compute", "/begin"])
def test_questions_are_not_asked_by_get(path):
    assert asked("GET", path)[0] == 405


@pytest.mark.parametrize(
    "path", ["/../pyproject.toml", "/etc/passwd", "/page/explorer.js", "/explorer.html", "//", "/.."]
)
def test_no_path_of_a_client_is_opened(path):
    assert asked("GET", path)[0] == 404


def test_the_page_is_static_and_needs_no_token():
    for path in ["/", *(f"/{name}" for name in (*SCRIPTS, *STYLES))]:
        status, headers, body = asked("GET", path, headers={"x-painleve-token": None, "content-type": None})
        assert status == 200
        assert len(body) > 100
        assert TOKEN.encode() not in body
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        policy = headers["content-security-policy"].split("; ")
        assert policy == [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]


def test_refusals_carry_the_same_headers():
    assert "content-security-policy" in asked(headers={"host": "rebound.example"})[1]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"kind": "shutdown"}',
        b'{"kind": "look", "path": "x"}',
        b'{"kind": "look", "pins": {"phi": 1}}',
        b'{"kind": "look", "pins": {"phi": "' + b"1" * 401 + b'"}}',
        b'{"kind": "look", "cells": 1e9}',
        b'{"kind": "look", "cells": true}',
        b'{"kind": "motion", "t_end": -1}',
        b'{"kind": "motion", "t_end": NaN}',
        b'{"kind": "motion", "law": "none"}',
        b'{"kind": "look", "axes": ["phi=0:1"]}',
        b'{"kind": "look", "text": 7}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_question_is_refused_with_the_reason(body):
    status, _, answer = asked(body=body)
    assert status == 400
    assert len(json.loads(answer)["error"]["message"]) > 10


@pytest.mark.parametrize("query", [b"", b"client=x", b"client=" + b"a" * 65, b"client=12345678/../"])
def test_a_client_without_a_proper_name_is_refused(query):
    assert asked(query=query)[0] == 400


def test_a_body_that_grows_beyond_its_announcement_is_cut():
    async def endless():
        return {"type": "http.request", "body": b" " * 65536, "more_body": True}

    assert asked(headers={"content-length": "10"}, receive=endless)[0] == 413


def test_a_body_that_trickles_in_is_given_up(monkeypatch):
    monkeypatch.setattr(application_module, "_BODY_SECONDS", 0.1)

    async def slow():
        await asyncio.sleep(0.03)
        return {"type": "http.request", "body": b" ", "more_body": True}

    assert asked(receive=slow)[0] == 408


def test_a_websocket_is_closed():
    app = application(Echo(), hosts=frozenset({HOST}), token=TOKEN, start=START)
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(app({"type": "websocket", "headers": []}, None, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
