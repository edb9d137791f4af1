"""Whether two declarations move alike, whatever their pictures."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from hybrid.declaration.document import mechanism_from_toml
from hybrid.declaration.writing import mechanism_to_toml
from hybrid.errors import DeclarationError

if TYPE_CHECKING:
    from hybrid.declaration.mechanism import Mechanism

__all__ = ["first_difference"]

_SHOWN_ONLY = ("title", "references", "drawing")  # they change no number


def first_difference(text: str, mechanism: Mechanism) -> str | None:
    """The first entry in which a written mechanism is not a given one.

    Parameters
    ----------
    text : str
        Of a mechanism file.
    mechanism : Mechanism

    Returns
    -------
    str or None
        None where they move alike: titles, references, drawings and what is said of parameters may differ.

    Raises
    ------
    ValueError
        The text is that of no mechanism.

    Examples
    --------
    >>> import attrs, mechanisms
    >>> ball = mechanisms.load("bouncing_ball")
    >>> first_difference(mechanism_to_toml(ball), attrs.evolve(ball, title="A ball"))
    >>> moon = attrs.evolve(ball.parameters["g"], value=1.62)
    >>> first_difference(mechanism_to_toml(ball), attrs.evolve(ball, parameters={**ball.parameters, "g": moon}))
    'parameters.g.value is 9.81, not 1.62'
    """
    return _difference(_in_motion(text), _in_motion(mechanism_to_toml(mechanism)), "")


def _in_motion(text: str) -> dict[str, Any]:
    """The entries of a mechanism file on which numbers depend."""
    table = {name: item for name, item in tomllib.loads(_canonical(text)).items() if name not in _SHOWN_ONLY}
    declared = table.get("parameters", {})
    if isinstance(declared, dict):
        declared = {name: _in_numbers(item) for name, item in declared.items()}
    return {**table, "parameters": declared}


def _in_numbers(parameter: Any) -> Any:
    """A parameter without what is said of it."""
    if not isinstance(parameter, dict):
        return parameter
    kept = {name: item for name, item in parameter.items() if name != "doc"}
    return kept["value"] if kept.keys() == {"value"} else kept


def _canonical(text: str) -> str:
    """As this version writes it; friction of a class of one's own stays as it is, which no file can declare."""
    try:
        return mechanism_to_toml(mechanism_from_toml(text))
    except DeclarationError:
        return text


def _difference(known: Any, given: Any, place: str) -> str | None:
    if isinstance(known, dict) and isinstance(given, dict):
        entries = [(f"{place}.{name}" if place else name, name) for name in {**known, **given}]
        pairs = [(known.get(name), given.get(name), where) for where, name in entries]
    elif isinstance(known, list) and isinstance(given, list) and len(known) == len(given):
        pairs = [(*pair, f"{place}[{number}]") for number, pair in enumerate(zip(known, given, strict=True))]
    elif known == given:
        return None
    elif known is None or given is None:
        return f"{place} is {'there' if given is None else 'not there'}"
    else:
        return f"{place} is {known!r}, not {given!r}"
    return next((found for pair in pairs if (found := _difference(*pair)) is not None), None)
