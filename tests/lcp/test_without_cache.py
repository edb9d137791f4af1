"""Kernels where compiled code cannot be kept: they are compiled all the same."""

import os
import subprocess
import sys
from types import SimpleNamespace

PROGRAM = """
import lcp.kernels  # every kernel is decorated here
from lcp.kernels.compiled import compiled, kept_in
from hybrid.cli.doctor import _kernel
def doubled(number):
    return 2 * number
print(kept_in(lcp.kernels.compiled.compiled), compiled(doubled)(21.0))
found = _kernel()
print(found.ok, found.detail, "|", found.advice)
"""


def answered(tmp_path, **variables):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=500, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_place_for_them_kernels_are_compiled_anew(tmp_path):
    # numba's own switch: no folder beside the source, none in a home
    said = answered(tmp_path, NUMBA_CACHE_LOCATOR_CLASSES="ZipCacheLocator")
    assert said.splitlines()[0] == "None 42.0"
    assert "True compiled, and kept nowhere | set NUMBA_CACHE_DIR" in said


def test_they_are_kept_in_a_folder_of_the_user(tmp_path):
    place = tmp_path / "own"
    assert answered(tmp_path, NUMBA_CACHE_DIR=str(place)).startswith(str(place))


def test_a_folder_of_somebody_else_is_not_used(monkeypatch):
    from lcp.kernels import compiled

    owners = {"source": 1000, "folder": 1001}

    class Told:
        def __init__(self, path):
            self.path = path

        def stat(self):
            return SimpleNamespace(st_uid=owners[self.path])

    monkeypatch.setattr(compiled, "Path", Told)
    monkeypatch.setattr(compiled, "FunctionCache", lambda function: SimpleNamespace(cache_path="folder"))
    monkeypatch.setattr(compiled.os, "getuid", lambda: 1002)
    assert compiled._place(compiled.compiled, Told("source")) is None
    for owner in (1000, 1002):  # of the source, which is run as well, and the user
        owners["folder"] = owner
        assert compiled._place(compiled.compiled, Told("source")) == "folder"
