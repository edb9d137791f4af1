"""Notebooks of ``examples/``, executed in kernels of their own: ``python -m tests.notebooks`` keeps what they show."""

import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))


def read(name):
    return nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)


def execute(name, folder):
    """A notebook with what it shows today; nothing in it says when or where it was executed."""
    notebook = read(name)
    environment = {**os.environ, "IPYTHONDIR": str(folder)}
    client = NotebookClient(notebook, timeout=120, record_timing=False, coalesce_streams=True)
    client.execute(cwd=str(EXAMPLES), env=environment)
    notebook.metadata.pop("language_info", None)  # the version of Python
    return notebook


def shown(notebook, kind):
    """What the cells show of one kind, by the names of the cells; what they print is ``text/plain``."""
    found = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text", "")})
            if kind in data:
                found.setdefault(cell.id, []).append(data[kind])
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in NOTEBOOKS:
            nbformat.write(execute(name, folder), EXAMPLES / f"{name}.ipynb")


if __name__ == "__main__":
    main()
