"""JSON schemas of the commands' answers, a file for each beside this module; what several share is in shared.json."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any

from hybrid.arguments import checks_arguments
from hybrid.errors import ArgumentError

__all__ = ["answer_schema", "answers_with_schema"]

_SHARED = "shared"
_REFERENCE = re.compile(rf"{_SHARED}\.json#/\$defs/(\w+)")


@checks_arguments
def answers_with_schema() -> tuple[str, ...]:
    """Names of the commands whose answers have a schema.

    Returns
    -------
    tuple of str
        In alphabetical order.

    Examples
    --------
    >>> "verdict" in answers_with_schema()
    True
    """
    found = (entry.name.removesuffix(".json") for entry in files(__name__).iterdir() if entry.name.endswith(".json"))
    return tuple(sorted(name for name in found if name != _SHARED))


@checks_arguments
def answer_schema(command: str) -> dict[str, Any]:
    """The JSON schema of what a command prints with ``--json``.

    Parameters
    ----------
    command : str
        One of :func:`answers_with_schema`.

    Returns
    -------
    dict
        Of draft 2020-12, whole in itself. Later versions may add keys, and take none away.

    Examples
    --------
    >>> schema = answer_schema("impact")
    >>> schema["title"], "v_after" in schema["required"], list(schema["$defs"])
    ('Answer of painleve impact', True, ['numbers', 'tangential', 'tangentials'])
    """
    if command not in answers_with_schema():
        raise ArgumentError(f"no command {command!r} has a schema: {', '.join(answers_with_schema())} have")
    text, shared = _text(command), json.loads(_text(_SHARED))["$defs"]
    needed: dict[str, str] = {}
    reached = set(_REFERENCE.findall(text))
    while reached:
        needed |= {name: json.dumps(shared[name]) for name in reached}
        reached = {name for part in needed.values() for name in _REFERENCE.findall(part)} - set(needed)
    whole = {**json.loads(text), "$defs": {name: shared[name] for name in sorted(needed)}}
    bundled: dict[str, Any] = json.loads(json.dumps(whole).replace(f"{_SHARED}.json#", "#"))
    return bundled


def _text(name: str) -> str:
    return (files(__name__) / f"{name}.json").read_text(encoding="utf-8")
