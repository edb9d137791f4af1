"""The explorer as it runs: a process that serves, workers that compute, clients that come and go."""

import contextlib
import http.client
import json
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

import mechanisms
from tests.explorers import Explorer

ROD = mechanisms.path("rod_on_incline").read_text(encoding="utf-8")
PINS = {"phi": "pi/3", "phi_dot": "1/2", "slip.tip": "-1"}
SLOW = {
    "kind": "look",
    "text": mechanisms.path("slider_crank").read_text(encoding="utf-8"),
    "pins": {
        "gap.upper_rear": "0",
        "gap.upper_front": "0",
        "theta1": "1",
        "gap_dot.upper_rear": "0",
        "gap_dot.upper_front": "0",
        "theta1_dot": "0",
    },
    "cells": 400,
}
"""A map of seconds."""


@pytest.fixture(scope="module")
def explorer():
    found = Explorer("--port", "0")
    yield found
    found.stop()


def test_a_page_is_told_the_catalogue_and_what_comes_first(explorer):
    connection, response = explorer.request({}, "somebody-1", path="/begin")
    with contextlib.closing(connection):
        said = json.loads(response.read())
    assert set(mechanisms.names()) <= set(said["catalogue"])
    assert said["first"] == {"name": "rod_on_incline", "text": ROD}


def test_a_state_is_answered_as_by_the_command(explorer, capsys):
    from hybrid.cli import main

    question = {
        "kind": "look",
        "text": ROD,
        "pins": PINS,
        "parameters": {"mu": "3/2"},
        "axes": ["phi=0:pi", "phi_dot=-3:3"],
    }
    first, *maps = explorer.ask({**question, "cells": 60})
    pins = [f"--pin={name}={value}" for name, value in PINS.items()]
    assert main(["verdict", "rod_on_incline", "--param=mu=3/2", *pins, "--json"]) == 0
    command = json.loads(capsys.readouterr().out)
    assert {key: first["state"][key] for key in command} == command
    assert first["state"]["verdict"] == "INCONSISTENT"
    axes = ["--axis=phi=0:pi:60", "--axis=phi_dot=-3:3:60", "--pin=slip.tip=-1"]
    assert main(["map", "rod_on_incline", "--param=mu=3/2", *axes, "--json"]) == 0
    shares = json.loads(capsys.readouterr().out)["verdict_fractions"]
    found = maps[-1]["map"]
    cells = [0] * len(found["regions"])
    for length, number in zip(found["runs"][::2], found["runs"][1::2], strict=True):
        cells[number] += length
    assert sum(cells) == 3600
    for verdict, share in shares.items():
        own = sum(count for count, region in zip(cells, found["regions"], strict=True) if region["verdict"] == verdict)
        assert own / 3600 == pytest.approx(share, abs=1e-12)


def test_errors_of_a_declaration_come_with_their_lines(explorer):
    (answer,) = explorer.ask({"kind": "declaration", "text": ROD.replace('"y - l*sin(phi)"', '"y - l*sin(phy)"', 1)})
    line = ROD.splitlines().index(next(row for row in ROD.splitlines() if '"y - l*sin(phi)"' in row)) + 1
    assert answer["error"]["kind"] == "declaration"
    assert (answer["error"]["problems"][0]["line"], "phi" in answer["error"]["problems"][0]["hint"]) == (line, True)


def test_a_newer_question_replaces_the_older_one(explorer):
    with ThreadPoolExecutor(1) as pool:
        older = pool.submit(explorer.ask, SLOW, "somebody-2")
        time.sleep(0.7)
        begun = time.perf_counter()
        newer = explorer.ask({"kind": "declaration", "text": ROD}, "somebody-2")
        assert "declaration" in newer[-1]
        assert older.result()[-1]["error"]["kind"] == "replaced"
        assert time.perf_counter() - begun < 3


def test_work_for_a_tab_that_was_closed_ends(explorer):
    for client in ("somebody-3", "somebody-4"):  # as many as there are processes
        connection, response = explorer.request(SLOW, client)
        response.read1(100)
        connection.sock.close()
        response.close()
    begun = time.perf_counter()
    assert "declaration" in explorer.ask({"kind": "declaration", "text": ROD})[-1]
    assert time.perf_counter() - begun < 3


@pytest.mark.long
def test_a_process_that_dies_is_replaced(explorer):
    server = psutil.Process(explorer.process.pid)
    for client in ("somebody-5", "somebody-6"):
        connection, response = explorer.request(SLOW, client)
        with contextlib.closing(connection):
            response.readline()  # the first line of an answer: a process works on it
            workers = [child for child in server.children() if "spawn_main" in " ".join(child.cmdline())]
            assert len(workers) == 2
            for worker in workers:
                worker.kill()
            assert json.loads(response.read().splitlines()[-1])["error"]["kind"] == "memory"
        while any(psutil.pid_exists(worker.pid) for worker in workers):  # until the server has noticed that they died
            time.sleep(0.01)
    assert "declaration" in explorer.ask({"kind": "declaration", "text": ROD})[-1]


def test_two_hundred_clients_are_all_answered(explorer):
    question = {"kind": "declaration", "text": ROD}
    with ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda number: explorer.ask(question, f"one-of-many-{number}"), range(200)))
    assert all("declaration" in answer[-1] for answer in answers)


def test_many_questions_of_one_client_starve_no_other(explorer):
    stop = threading.Event()

    def flood():
        while not stop.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                explorer.ask({**SLOW, "cells": 40}, "greedy-client")

    floods = [threading.Thread(target=flood) for _ in range(4)]
    for thread in floods:
        thread.start()
    try:
        for _ in range(5):
            assert "declaration" in explorer.ask({"kind": "declaration", "text": ROD}, "patient-client")[-1]
    finally:
        stop.set()
        for thread in floods:
            thread.join()


def test_requests_that_trickle_in_hold_up_nobody(explorer):
    open_ones = []
    for _ in range(20):
        found = socket.create_connection(("127.0.0.1", explorer.port))
        found.sendall(b"POST /compute HTTP/1.1\r\nHost: 127.0.0.1:")
        open_ones.append(found)
    try:
        assert "declaration" in explorer.ask({"kind": "declaration", "text": ROD})[-1]
    finally:
        for found in open_ones:
            found.close()


def test_a_declaration_of_ten_megabytes_is_refused(explorer):
    found = socket.create_connection(("127.0.0.1", explorer.port))
    head = (
        f"POST /compute?client=somebody-7 HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\n"
        f"content-type: application/json\r\nx-painleve-token: {explorer.token}\r\ncontent-length: 10000000\r\n\r\n"
    )
    with contextlib.closing(found):
        found.sendall(head.encode())
        assert found.recv(1000).startswith(b"HTTP/1.1 413")


def test_ctrl_c_ends_it_within_five_seconds_with_streams_open():
    own = Explorer("--port", "0", "ball_on_vibrating_table")
    server = psutil.Process(own.process.pid)
    connection, response = own.request(SLOW, "somebody-8")
    response.read1(100)
    idle = socket.create_connection(("127.0.0.1", own.port))
    children = server.children(recursive=True)
    begun = time.perf_counter()
    assert own.stop() == 0
    assert time.perf_counter() - begun < 5
    assert own.said == "ended\n"
    _, alive = psutil.wait_procs(children, timeout=3)
    assert not alive
    connection.close()
    idle.close()


def test_a_server_that_is_killed_leaves_no_process_behind():
    own = Explorer("--port", "0")
    own.ask({"kind": "declaration", "text": ROD})  # the processes are there
    children = psutil.Process(own.process.pid).children(recursive=True)
    assert len(children) >= 2
    own.end(signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=5)
    assert not alive


def test_a_busy_port_is_passed_over_and_said(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        own = Explorer("--port", str(port))
        assert own.port > port
        assert own.stop() == 0
    assert f"port {port} is taken; this is {own.port}" in own.said


def test_a_file_that_does_not_parse_is_served_with_its_errors(tmp_path):
    (tmp_path / "broken.toml").write_text('name = "broken"\ncoordinates = ["x"\n', encoding="utf-8")
    own = Explorer("--port", "0", str(tmp_path / "broken.toml"))
    (answer,) = own.ask({"kind": "declaration", "text": (tmp_path / "broken.toml").read_text(encoding="utf-8")})
    assert own.stop() == 0
    assert answer["error"]["problems"][0]["line"] in (2, 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "::"], "all addresses at once"),
        (["--host", "2001:db8::7"], "--allow-remote"),
        (["--host", "example"], "expected an address"),
        (["--port", "70000"], "70000"),
        (["no_such_mechanism"], "no mechanism is called"),
        (["--pin", "phi=1"], "--offline"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(arguments, words, capsys):
    from hybrid.cli import main

    assert main(["explore", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_page_without_a_server_is_told_where_it_lies(monkeypatch, tmp_path, capsys):
    from hybrid.cli import main

    monkeypatch.setattr("hybrid.explorer.offline_page", lambda *_, **__: "a page")
    page = tmp_path / "page.html"
    assert main(["explore", "rod_on_incline", "--offline", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == "a page"
    assert capsys.readouterr().out == f"The page is in {page}.\n"
