"""Kernels where compiled code cannot be kept: they are compiled all the same."""

import os
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest

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


def test_with_the_switch_off_nothing_is_kept(tmp_path):
    assert answered(tmp_path, PAINLEVE_CACHE="off", NUMBA_CACHE_DIR=str(tmp_path / "own")).startswith("None 42.0")
    assert not list(tmp_path.rglob("*.nb?"))


def test_a_folder_of_somebody_else_is_not_used(monkeypatch):
    from lcp.kernels import compiled

    owners = {"source": 1000, "folder": 1001}

    class Told:
        def __init__(self, path):
            self.path, self.parent = path, self

        def __str__(self):
            return self.path

        def iterdir(self):
            return ["what is kept"]

        def stat(self):
            return SimpleNamespace(st_uid=owners[self.path], st_mode=0o755)

    monkeypatch.setattr(compiled, "Path", Told)
    monkeypatch.setattr(compiled, "FunctionCache", lambda function: SimpleNamespace(cache_path="folder"))
    monkeypatch.setattr(compiled.os, "getuid", lambda: 1002)
    monkeypatch.setattr(compiled, "_REFUSED", [])
    with pytest.warns(UserWarning, match="not kept in folder, because it belongs to somebody else"):
        assert compiled._place(compiled.compiled, Told("source")) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        assert compiled._place(compiled.compiled, Told("source")) is None
    for owner in (1000, 1002):  # of the source, which is run as well, and the user
        owners["folder"] = owner
        assert compiled._place(compiled.compiled, Told("source")) == "folder"


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_in_which_others_may_write_is_not_used(tmp_path, monkeypatch, mode):
    from lcp.kernels import compiled

    source, place = tmp_path / "source" / "file.py", tmp_path / "kept"
    source.parent.mkdir(mode=0o755)
    source.touch()
    place.mkdir()
    monkeypatch.setattr(compiled, "FunctionCache", lambda function: SimpleNamespace(cache_path=str(place)))
    monkeypatch.setattr(compiled, "_REFUSED", [])
    place.chmod(0o755)
    assert compiled._place(compiled.compiled, source) == str(place)
    assert place.stat().st_mode & 0o777 == 0o700
    place.chmod(mode)
    assert compiled._place(compiled.compiled, source) == str(place)  # nothing is in it yet
    assert place.stat().st_mode & 0o777 == 0o700
    (place / "planted.nbc").touch()
    place.chmod(mode)
    with pytest.warns(UserWarning, match="because others may write there"):
        assert compiled._place(compiled.compiled, source) is None
    source.parent.chmod(mode)  # who may write there changes the source itself
    assert compiled._place(compiled.compiled, source) == str(place)


INNER = """
from lcp.kernels.compiled import compiled
FACTOR = {factor}
@compiled
def scaled(x):
    return x * FACTOR + {offset}
"""
OUTER = """
from inner import scaled
from lcp.kernels.compiled import compiled
@compiled
def answer(x):
    return scaled(x)
print(answer(2.0), sum(answer.stats.cache_hits.values()))
"""


def test_code_is_made_anew_where_what_it_calls_has_changed(tmp_path):
    """Numba asks the file of the function alone, and inner functions are part of its code."""
    (tmp_path / "outer.py").write_text(OUTER)

    def answer(factor, offset):
        (tmp_path / "inner.py").write_text(INNER.format(factor=factor, offset=offset))
        # bytecode goes by the size of a file and the second in which it was written, which may both be alike here
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "outer.py"], capture_output=True, text=True, cwd=tmp_path, env=variables)
        assert done.returncode == 0, done.stderr
        return tuple(float(word) for word in done.stdout.split())

    assert answer(3.0, 1) == (7, 0)  # the value, and how often kept code was used
    assert answer(3.0, 1) == (7, 1)
    assert answer(5.0, 1) == (11, 0)
    assert answer(5.0, 2) == (12, 0)
    assert answer(5.0, 2) == (12, 1)


def test_what_was_kept_of_a_function_at_another_line_is_removed(tmp_path):
    """Its own file has three lines more at the second run; the other function and another Python keep theirs."""
    place, functions = tmp_path / "own", "def {}(number):\n    return 2 * number\n"
    program = "from lcp.kernels.compiled import compiled\n{}" + functions.format("doubled") + functions.format("two")
    file = tmp_path / "program.py"
    for line in range(2):
        file.write_text(program.format("\n" * 3 * line) + "print(compiled(doubled)(21.0), compiled(two)(1.0))\n")
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(place)}
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=100, env=variables)
        assert done.stdout == "42.0 2.0\n", done.stderr
        kept = [path.name for path in place.rglob("*.nb?")]
        for name, begin in (("doubled", 2 + 3 * line), ("two", 4 + 3 * line)):
            own = [item for item in kept if item.startswith(f"program.{name}-{begin}.py")]
            others = [item for item in kept if item.startswith(f"program.{name}-") and ".py39." not in item]
            assert sorted(own) == sorted(others)
            assert len(own) == 2  # the index and the code
        next(place.rglob("*.nbi")).with_name("program.doubled-1.py39.nbi").touch()
    assert "program.doubled-1.py39.nbi" in kept
