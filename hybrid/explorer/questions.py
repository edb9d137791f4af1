"""What a page asks: checked for shape and size before anything is computed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from hybrid.errors import StateError

__all__ = ["KINDS", "MAX_BODY", "Question", "read_question"]

KINDS = ("declaration", "look", "automaton", "critical", "motion", "comparison", "film")
MAX_BODY = 256 * 1024
"""Bytes of a question; a declaration that describes a mechanism has a few thousand."""

_LAWS = ("newton", "poisson", "energetic", "kelvin-voigt")
_MAX_NAMES, _MAX_NAME, _MAX_VALUE, _MAX_CELLS = 200, 120, 400, 400


def _texts(value: Any, name: str) -> dict[str, str]:
    """Names and expressions, as the command line takes them by ``--pin`` and ``--param``."""
    is_table = isinstance(value, dict) and len(value) <= _MAX_NAMES
    if not is_table or any(not isinstance(item, str) or len(item) > _MAX_VALUE for item in value.values()):
        raise StateError(f"{name} must be at most {_MAX_NAMES} names with texts of at most {_MAX_VALUE} characters")
    if any(len(key) > _MAX_NAME for key in value):
        raise StateError(f"{name}: a name has at most {_MAX_NAME} characters")
    return dict(value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise StateError(f"{name} must be text")
    return value


def _axes(value: Any, name: str) -> tuple[str, ...]:
    is_list = isinstance(value, list) and len(value) in (0, 2)
    if not is_list or any(not isinstance(item, str) or len(item) > _MAX_VALUE for item in value):
        raise StateError(f"{name} must be none or two texts as phi=0:pi")
    return tuple(value)


def _within(low: float, high: float) -> Callable[[Any, str], float]:
    def number(value: Any, name: str) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not low <= value <= high:
            raise StateError(f"{name} must be a number from {low:g} to {high:g}")
        return float(value)

    return number


def _one_of(*known: str) -> Callable[[Any, str], str]:
    def word(value: Any, name: str) -> str:
        if value not in known:
            raise StateError(f"{name} must be one of {', '.join(known)}")
        return str(value)

    return word


@attrs.frozen
class Question:
    """What a page wants to know.

    Attributes
    ----------
    kind : str
        One of ``KINDS``.
    text : str
        The declaration, as a mechanism file has it.
    pins, parameters : mapping of str to str
        Expressions, as on the command line.
    axes : tuple of str
        Of the map, as ``phi=0:pi``; empty for those that suit the state.
    cells : float
        Along either axis.
    t_end : float
        Of a motion.
    rule : str
        What a motion does where the verdict is not unique: ``branch`` or ``penalty``.
    law : str
        Of impacts.
    stiffness : float
        Of the penalty run of a comparison.
    """

    kind: str = attrs.field(metadata={"read": _one_of(*KINDS)})
    text: str = attrs.field(default="", metadata={"read": _text})
    pins: Mapping[str, str] = attrs.field(factory=dict, metadata={"read": _texts})
    parameters: Mapping[str, str] = attrs.field(factory=dict, metadata={"read": _texts})
    axes: tuple[str, ...] = attrs.field(default=(), metadata={"read": _axes})
    cells: float = attrs.field(default=300.0, metadata={"read": _within(2, _MAX_CELLS)})
    t_end: float = attrs.field(default=1.0, metadata={"read": _within(1e-9, 1e6)})
    rule: str = attrs.field(default="branch", metadata={"read": _one_of("branch", "penalty")})
    law: str = attrs.field(default="energetic", metadata={"read": _one_of(*_LAWS)})
    stiffness: float = attrs.field(default=1e6, metadata={"read": _within(1.0, 1e14)})


_READERS = {field.name: field.metadata["read"] for field in attrs.fields(Question)}


def read_question(body: bytes) -> Question:
    """A question from the body of a request.

    Parameters
    ----------
    body : bytes
        A JSON object with the names of :class:`Question`.

    Returns
    -------
    Question

    Raises
    ------
    StateError
        Not JSON, nested beyond reason, unknown names, or a value of another kind or size.

    Examples
    --------
    >>> read_question(b'{"kind": "look", "text": "", "pins": {"phi": "pi/3"}}').pins
    {'phi': 'pi/3'}
    """
    if len(body) > MAX_BODY:
        raise StateError(f"a question has at most {MAX_BODY} bytes, not {len(body)}")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise StateError("the question is not JSON") from error
    if not isinstance(found, dict) or "kind" not in found:
        raise StateError(f"a question is an object with a kind: {', '.join(KINDS)}")
    unknown = sorted(set(found) - set(_READERS))
    if unknown:
        raise StateError(f"unknown names in the question: {', '.join(unknown)[:200]}")
    return Question(**{name: _READERS[name](value, name) for name, value in found.items()})
