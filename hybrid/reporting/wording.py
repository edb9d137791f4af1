"""What a verdict means, in sentences, and the command lines that pages show for making them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from hybrid.tolerances import CANCELLED

__all__ = [
    "bilateral_sentence",
    "command_text",
    "mode_text",
    "settled",
    "sliding_sentence",
    "verdict_sentences",
]


def command_text(command: str, subject: str, options: Iterable[tuple[str, Any]]) -> str:
    """A command line of the program, quoted for a shell.

    Parameters
    ----------
    command, subject : str
        The name of the command, and what it is given.
    options : iterable of (str, value)
        In their order. A flag has the value True; an option without a value, None, is left out.

    Returns
    -------
    str

    Examples
    --------
    >>> command_text("compare", "ladder.toml", [("--pin", "phi=pi/3"), ("--damping", None), ("--json", True)])
    'painleve compare ladder.toml --pin phi=pi/3 --json'
    """
    words = ["painleve", command, subject]
    for option, value in options:
        if value is not None:
            words += [option] if value is True else [option, str(value)]
    return shlex.join(words)


_MEANINGS = {
    "UNIQUE": "The laws of rigid bodies and dry friction determine the motion.",
    "INDETERMINATE": (
        "Every one of them obeys the laws of rigid bodies and dry friction, so these laws do not say which motion "
        "follows: the paradox of indeterminacy. A selection rule, or contacts that yield, must decide."
    ),
    "INCONSISTENT": (
        "No finite contact force obeys the laws of rigid bodies and dry friction here: the paradox of inconsistency. "
        "An impact without collision, or contacts that yield, must resolve it."
    ),
    "HYPERSTATIC": "The motion is determined; how the contacts share the load is not.",
    "UNDECIDED": "The number of motions cannot be vouched for; the notes below say why.",
}


def verdict_sentences(record: Mapping[str, Any]) -> tuple[str, str]:
    """The verdict and what it means.

    Parameters
    ----------
    record : mapping
        As of :func:`hybrid.reporting.verdict_record`.

    Returns
    -------
    verdict, meaning : str

    Examples
    --------
    >>> branches = [{"mode": {"tip": "stick"}}, {"mode": {"tip": "free"}}]
    >>> sentence = "several contact modes are consistent, with different accelerations"
    >>> verdict_sentences({"verdict": "INDETERMINATE", "sentence": sentence, "branches": branches})[0]
    'Several contact modes are consistent, with different accelerations: stick; free.'
    """
    sentence = record["sentence"]
    modes = "; ".join(mode_text(branch["mode"]) for branch in record["branches"])
    found = f": {modes}" if modes else ""
    return f"{sentence[:1].upper()}{sentence[1:]}{found}.", _MEANINGS[record["verdict"]]


def sliding_sentence(mode: str, A: float | None, b: float | None) -> str:
    """What ``a_N = A lambda_N + b`` with ``a_N >= 0``, ``lambda_N >= 0`` and one of them zero allows.

    Parameters
    ----------
    mode : str
        ``slide+`` or ``slide-``.
    A, b : float or None

    Returns
    -------
    str

    Examples
    --------
    >>> sliding_sentence("slide+", -0.18, -1.0)
    'slide+: A < 0 and b < 0, neither sliding in contact nor separation is possible'
    """
    if A is None or b is None or A == 0 or b == 0:
        return f"{mode}: on the boundary between two cases"
    signs = f"{mode}: A {'>' if A > 0 else '<'} 0 and b {'>' if b > 0 else '<'} 0"
    outcome = {
        (True, True): "the contact separates",
        (True, False): "the contact stays closed",
        (False, True): "both sliding in contact and separation are possible",
        (False, False): "neither sliding in contact nor separation is possible",
    }
    return f"{signs}, {outcome[A > 0, b > 0]}"


def bilateral_sentence(mode: str, A: float | None, A_other: float | None, b: float | None) -> str:
    """What ``0 = A lambda_N + b`` allows on a rail, which never opens and pushes to either side.

    Friction goes by the size of the normal force: where that is negative, the factor of the other slide holds.

    Parameters
    ----------
    mode : str
        ``slide+`` or ``slide-``.
    A, A_other : float or None
        Factor of a positive and of a negative normal force: those of the mode and of the other slide.
    b : float or None

    Returns
    -------
    str

    Examples
    --------
    >>> bilateral_sentence("slide+", 0.8, 1.2, -3.0)
    'slide+: the normal force of the rail is positive'
    >>> bilateral_sentence("slide+", -0.2, 1.2, -3.0)
    'slide+: the rail can exert no normal force that lets it slide so'
    """
    if A is None or A_other is None or b is None or A == 0 or A_other == 0 or b == 0:
        return f"{mode}: on the boundary between two cases"
    outcome = {
        (True, False): "the normal force of the rail is positive",
        (False, True): "the normal force of the rail is negative",
        (True, True): "the normal force of the rail can be positive or negative, with different motions",
        (False, False): "the rail can exert no normal force that lets it slide so",
    }
    return f"{mode}: {outcome[A * b < 0, A_other * b > 0]}"


def mode_text(mode: Mapping[str, str]) -> str:
    """A mode as text: the label, or ``contact label`` pairs.

    Parameters
    ----------
    mode : mapping of str to str
        Labels by force element.

    Returns
    -------
    str

    Examples
    --------
    >>> mode_text({"tip": "stick"}), mode_text({"floor": "slide+", "wall": "free"})
    ('stick', 'floor slide+, wall free')
    """
    if len(mode) == 1:
        return next(iter(mode.values()))
    return ", ".join(f"{name} {label}" for name, label in mode.items())


def settled(value: Any, size: float, *, share: float = CANCELLED) -> Any:
    """A number, or a vector of numbers, with what is only rounding next to a size put to zero.

    Parameters
    ----------
    value : float, a list of them, or None
    size : float
        In the unit of the number: the largest that it was computed from.
    share : float
        Of the size, up to which a number is rounding.

    Returns
    -------
    float, list or None
        None for None.

    Examples
    --------
    >>> settled([9e-16, 1.0], 1.0)
    [0.0, 1.0]
    """
    if value is None:
        return None
    if isinstance(value, list):
        return [settled(item, size, share=share) for item in value]
    return 0.0 if abs(value) <= share * size else value
