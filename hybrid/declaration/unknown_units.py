"""Units that are not declared, found from equations between products of powers."""

from __future__ import annotations

from fractions import Fraction

from hybrid.declaration.unit_names import Exponents

__all__ = ["Unknowns", "product", "to_power"]


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
