"""The command where another distribution's package `hybrid` is found in place of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

from mechanisms.launch import foreign_hybrid

ROOT = Path(__file__).parents[2]


# The child sends itself a true SIGINT where a module is looked for; what runs in the background may ignore it.
AT_IMPORT = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""


def launched(folder, before=""):
    program = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT)!r}]; sys.argv[1:] = ['--version']\n{before}\n"
    program += "from mechanisms.launch import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=500, check=False)


def test_a_foreign_package_is_named_in_one_sentence(tmp_path):
    (tmp_path / "hybrid").mkdir()
    (tmp_path / "hybrid" / "__init__.py").write_text('"""A framework for quantum annealing."""\nimport dwave\n')
    done = launched(tmp_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert str(tmp_path / "hybrid") in done.stderr
    assert "environment of its own" in done.stderr


def test_our_own_is_run(tmp_path):
    done = launched(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("painleve ")
    assert foreign_hybrid() == ""


@pytest.mark.parametrize("module", ["importlib.metadata", "hybrid.cli", "click"])
def test_an_interrupt_while_loading_takes_one_line(module, tmp_path):
    done = launched(tmp_path, AT_IMPORT.format(module))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
