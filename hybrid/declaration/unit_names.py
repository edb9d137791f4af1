"""Units as products of powers of SI units: their texts, read into exact exponents, and those found from equations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from hybrid.declaration.names import nearest
from hybrid.tolerances import ROUNDING

__all__ = ["BASES", "SCALES", "Exponents", "UnitError", "Unknowns", "product", "read_unit", "to_power", "unit_text"]

Exponents = Mapping[str, Fraction]
"""Exponents of the base units, and of the numbers 2, 3, 5 and pi that make a scale; those that are 0 are left out."""

BASES = ("kg", "m", "s", "A", "K", "mol", "cd")
SCALES = ("2", "3", "5", "pi")


def _of(scale: Mapping[str, int] | None = None, **bases: int) -> Exponents:
    return {name: Fraction(power) for name, power in {**bases, **(scale or {})}.items()}


_MINUTE = {"2": 2, "3": 1, "5": 1}
_UNITS: Mapping[str, Exponents] = {
    **{name: {name: Fraction(1)} for name in BASES},
    "g": _of({"2": -3, "5": -3}, kg=1),
    "t": _of({"2": 3, "5": 3}, kg=1),
    "N": _of(kg=1, m=1, s=-2),
    "J": _of(kg=1, m=2, s=-2),
    "W": _of(kg=1, m=2, s=-3),
    "Pa": _of(kg=1, m=-1, s=-2),
    "bar": _of({"2": 5, "5": 5}, kg=1, m=-1, s=-2),
    "Hz": _of(s=-1),
    "C": _of(A=1, s=1),
    "V": _of(kg=1, m=2, s=-3, A=-1),
    "Ohm": _of(kg=1, m=2, s=-3, A=-2),
    "Ω": _of(kg=1, m=2, s=-3, A=-2),
    "F": _of(kg=-1, m=-2, s=4, A=2),
    "H": _of(kg=1, m=2, s=-2, A=-2),
    "Wb": _of(kg=1, m=2, s=-2, A=-1),
    "T": _of(kg=1, s=-2, A=-1),
    "L": _of({"2": -3, "5": -3}, m=3),
    "min": _of(_MINUTE, s=1),
    "h": _of({"2": 4, "3": 2, "5": 2}, s=1),
    "rpm": _of({"pi": 1, "2": -1, "3": -1, "5": -1}, s=-1),
    "rad": _of(),
    "deg": _of({"pi": 1, "2": -2, "3": -2, "5": -1}),
    "°": _of({"pi": 1, "2": -2, "3": -2, "5": -1}),
    "%": _of({"2": -2, "5": -2}),
    "1": _of(),
    "-": _of(),
}
_PREFIXED = ("m", "g", "s", "A", "K", "mol", "N", "J", "W", "Pa", "Hz", "C", "V", "Ohm", "Ω", "F", "H", "T", "L", "bar")
_PREFIXES = {"n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9}

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_TOKEN = re.compile(
    r"(?P<name>[A-Za-zµμΩ°%]+|1(?![0-9])|(?<![^\s(])-(?![0-9]))"
    r"(?:\s*(?:\^|\*\*)\s*(?P<power>-?[0-9]+|\(\s*-?[0-9]+(?:\s*/\s*[0-9]+)?\s*\))|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?"
    r"|(?P<sign>[*·/()])|(?P<space>\s+)"
)


class UnitError(ValueError):
    """A text that is no unit: what is wrong, and what may have been meant."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def read_unit(text: str) -> Exponents:
    """The exponents of a unit.

    Parameters
    ----------
    text : str
        As ``kg m^2``, ``m/s^2``, ``N/(m s)`` or ``kg^(1/2)``. After ``/`` stands one unit, a bracket, or what follows
        without a sign; ``1`` and ``-`` are pure numbers.

    Returns
    -------
    mapping of str to Fraction
        Exponents of ``BASES`` and ``SCALES``, without those that are 0; empty for a pure number.

    Raises
    ------
    UnitError
        With the nearest unit for a name that is none.

    Examples
    --------
    >>> {name: str(power) for name, power in read_unit("N/m").items()}
    {'kg': '1', 's': '-2'}
    >>> read_unit("kgs")
    Traceback (most recent call last):
    hybrid.declaration.unit_names.UnitError: unknown unit 'kgs'
    """
    total: dict[str, Fraction] = {}
    signs = [1]  # of the brackets around
    sign, place = 1, 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise UnitError(f"'{text[:40]}' is no unit", "write a unit as kg m^2 or m/s^2")
        place = token.end()
        match token["sign"]:
            case "/":
                sign = -signs[-1]
            case "*" | "·":
                sign = signs[-1]
            case "(":
                signs.append(sign)
            case ")" if len(signs) > 1:
                signs.pop()
                sign = signs[-1]
            case ")":
                raise UnitError(f"')' closes no bracket in '{text[:40]}'")
        if token["name"]:
            power = sign * _power(token, text)
            for name, own in _named(token["name"]).items():
                total[name] = total.get(name, Fraction(0)) + power * own
    if len(signs) > 1:
        raise UnitError(f"a bracket is not closed in '{text[:40]}'")
    return {name: power for name, power in total.items() if power}


def _power(token: re.Match[str], text: str) -> Fraction:
    written = token["power"] or (token["raised"] or "1").translate(_RAISED)
    try:
        return Fraction(written.strip("() ").replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        raise UnitError(f"'{text[:40]}' has a power that is no number") from None


def _named(name: str) -> Exponents:
    if name in _UNITS:
        return _UNITS[name]
    scale, unit = _PREFIXES.get(name[:1]), name[1:]
    if scale is None or unit not in _PREFIXED:
        meant = " or ".join(f"'{text}'" for text in _meant(name))
        raise UnitError(f"unknown unit '{name[:40]}'", f"did you mean {meant}?" if meant else "leave an own unit out")
    return {**_UNITS[unit], **{two: _UNITS[unit].get(two, Fraction(0)) + scale for two in ("2", "5")}}


def _meant(name: str) -> list[str]:
    """Units that differ from a name by case only, or two that were written as one word; else the most similar one."""
    known = [*_UNITS, *(prefix + unit for prefix in _PREFIXES for unit in _PREFIXED)]
    likely = [unit for unit in known if unit.lower() == name.lower()][:1]
    if len(name) == 2 or not name.endswith("s"):  # no plural
        pairs = ((name[:place], name[place:]) for place in range(len(name) - 1, 0, -1))
        pairs = (pair for pair in pairs if pair[0] in known and pair[1] in known)
        # a mass times a mass is a slip of the keyboard
        likely += [f"{first} {second}" for first, second in pairs if _bases(first) != _bases(second)][:1]
    return likely or [unit for unit in [nearest(name, _UNITS) or nearest(name, known)] if unit]


def _bases(name: str) -> Exponents:
    return {base: power for base, power in _named(name).items() if base in BASES}


def unit_text(exponents: Exponents, *, pure: str = "a pure number") -> str:
    """The text of a unit, as for messages.

    Parameters
    ----------
    exponents : mapping of str to Fraction
        Of ``BASES`` and ``SCALES``; others are shown by their names.
    pure : str
        What stands for a pure number.

    Returns
    -------
    str
        A scale is a decimal number of six digits in front.

    Examples
    --------
    >>> unit_text(read_unit("J/s")), unit_text(read_unit("mm")), unit_text({})
    ('kg m^2/s^3', '0.001 m', 'a pure number')
    """
    scale = 1.0
    for name, base in zip(SCALES, (2.0, 3.0, 5.0, 3.141592653589793), strict=True):
        scale *= base ** float(exponents.get(name, 0))
    above = [_written(name, power) for name, power in exponents.items() if power > 0 and name not in SCALES]
    below = [_written(name, -power) for name, power in exponents.items() if power < 0 and name not in SCALES]
    text = " ".join(above) or ("1" if below else "")
    if below:
        text += "/" + (below[0] if len(below) == 1 else f"({' '.join(below)})")
    if abs(scale - 1) > ROUNDING:
        text = f"{scale:.6g} {text}".strip()
    return text or pure


def _written(name: str, power: Fraction) -> str:
    if power == 1:
        return name
    return f"{name}^{power}" if power.denominator == 1 else f"{name}^({power})"


class Unknowns:
    """Unknown units, named ``?x``, and what is known of them by now.

    Examples
    --------
    >>> from hybrid.declaration.unit_names import read_unit, unit_text
    >>> unknowns = Unknowns()
    >>> unknowns.equal(product(read_unit("kg"), {"?x_dot": Fraction(1)}, 2), read_unit("J"))
    True
    >>> unit_text(unknowns.reduced({"?x_dot": Fraction(1)}))
    'm/s'
    """

    def __init__(self) -> None:
        self.solved: dict[str, Exponents] = {}

    def reduced(self, powers: Exponents) -> Exponents:
        """With the unknown units that are known by now."""
        total: Exponents = {}
        for name, power in powers.items():
            total = product(total, self.solved.get(name, {name: Fraction(1)}), power)
        return total

    def equal(self, first: Exponents, second: Exponents) -> bool:
        """Make two units equal by solving for an unknown one; False if they contradict each other."""
        rest = self.reduced(product(first, second, -1))
        unknown = next((name for name in rest if name.startswith("?")), None)
        if unknown is None:
            return not rest
        own = rest[unknown]
        value = {name: -power / own for name, power in rest.items() if name != unknown}
        self.solved = {name: _put(powers, unknown, value) for name, powers in self.solved.items()} | {unknown: value}
        return True

    def are_shared(self, first: Exponents, second: Exponents) -> bool:
        """Whether two units are equal, or are if two unknown ones are: x_dot**2 and y_dot**2."""
        rest = self.reduced(product(first, second, -1))
        return not rest or (len(rest) == 2 and not sum(rest.values()) and all(name[0] == "?" for name in rest))


def product(first: Exponents, second: Exponents, power: Fraction | int) -> Exponents:
    """The first unit times a power of the second.

    Parameters
    ----------
    first, second : mapping of str to Fraction
        Exponents of base units and scales, see `unit_names.Exponents`, and of unknown units.
    power : Fraction or int
        Of the second one.

    Returns
    -------
    mapping of str to Fraction
        Without exponents that are 0.
    """
    total = dict(first)
    for name, own in second.items():
        total[name] = total.get(name, Fraction(0)) + power * own
    return {name: exponent for name, exponent in total.items() if exponent}


def to_power(powers: Exponents, exponent: Fraction) -> Exponents:
    """A power of a unit.

    Parameters
    ----------
    powers : mapping of str to Fraction
        Exponents of base units, scales and unknown units.
    exponent : Fraction

    Returns
    -------
    mapping of str to Fraction
        Without exponents that are 0.
    """
    return product({}, powers, exponent)


def _put(powers: Exponents, unknown: str, value: Exponents) -> Exponents:
    if unknown not in powers:
        return powers
    return product({name: power for name, power in powers.items() if name != unknown}, value, powers[unknown])
