"""Axes of maps and sweeps: a pin or a parameter over an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.declaration import evaluate, parse_expression
from hybrid.declaration.names import suggestion
from hybrid.dynamics import pin_names
from hybrid.dynamics.posture_branch import PostureBranch, follow_branch
from hybrid.errors import StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.dynamics.derive import Dynamics


def _has_ends(axis: Axis, attribute: attrs.Attribute[float], value: float) -> None:
    if not math.isfinite(value):
        raise StateError(f"axis {axis.name}: {attribute.name} must be a finite number, not {value!r}")


def _has_length(axis: Axis, _: attrs.Attribute[float], value: float) -> None:
    if not axis.low < value:
        raise StateError(f"axis {axis.name}: it must run upwards, not from {axis.low:g} to {value:g}")


def _has_cells(axis: Axis, _: attrs.Attribute[int | None], value: int | None) -> None:
    if value is not None and value < 1:
        raise StateError(f"axis {axis.name}: it needs at least one cell, not {value}")


@checks_arguments
@attrs.frozen
class Axis:
    """One quantity swept over an interval.

    Attributes
    ----------
    name : str
        A pin (``phi``, ``phi_dot``, ``gap.tip``, ``slip.tip``, ``t``) or a parameter (``mu``).
    low, high : float
        Ends, in the unit of the quantity.
    n : int or None
        Number of equal cells of a map; None where the method chooses its own points.

    Examples
    --------
    >>> Axis("phi", 0, 1, 4).values.tolist()
    [0.125, 0.375, 0.625, 0.875]
    """

    name: str
    low: float = attrs.field(converter=float, validator=_has_ends)
    high: float = attrs.field(converter=float, validator=[_has_ends, _has_length])
    n: int | None = attrs.field(default=None, validator=_has_cells)

    @classmethod
    @checks_arguments
    def parse(cls, text: str, *, values: Mapping[str, float] | None = None) -> Axis:
        """Read ``NAME=LOW:HIGH`` or ``NAME=LOW:HIGH:CELLS``.

        Parameters
        ----------
        text : str
            The ends are expressions.
        values : mapping of str to float, optional
            Parameters that the ends may use.

        Returns
        -------
        Axis

        Raises
        ------
        StateError, DeclarationError
            The text is not of that form, or an end cannot be evaluated.

        Examples
        --------
        >>> Axis.parse("phi=0:pi/2:400")
        Axis(name='phi', low=0.0, high=1.5707963267948966, n=400)
        """
        name, equals, interval = (part.strip() for part in text.partition("="))
        parts = [part.strip() for part in interval.split(":")]
        if not (name and equals and len(parts) in (2, 3) and all(parts)):
            raise StateError(f"axis {text!r}: expected NAME=LOW:HIGH or NAME=LOW:HIGH:CELLS, as phi=0:pi:400")
        known = dict(values or {})
        low, high = (
            float(evaluate(parse_expression(part, known=known.keys(), field=f"axis {name}"), known))
            for part in parts[:2]
        )
        if len(parts) == 2:
            return cls(name, low, high)
        if not parts[2].isdecimal():
            raise StateError(f"axis {name}: the number of cells must be a positive whole number, not {parts[2]!r}")
        return cls(name, low, high, int(parts[2]))

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    @property
    def values(self) -> NDArray[np.float64]:
        """Midpoints of the cells, (n,): shares of cells are areas by the midpoint rule."""
        return self.at((np.arange(self.cells) + 0.5) / self.cells)

    @property
    def cells(self) -> int:
        """Number of cells; StateError if it was left open."""
        if self.n is None:
            raise StateError(f"axis {self.name}: give a number of cells, as {self.name}={self.low:g}:{self.high:g}:400")
        return self.n

    def at(self, share: Any) -> NDArray[np.float64]:
        """Values at shares of the interval.

        Parameters
        ----------
        share : array_like, (...)
            0 at ``low``, 1 at ``high``.

        Returns
        -------
        array, (...)
            In the unit of the quantity.
        """
        share = np.asarray(share, dtype=float)
        return np.asarray(self.low * (1.0 - share) + self.high * share)


def names_of(axes: Iterable[Axis | str]) -> frozenset[str]:
    """Names of what axes sweep, those of texts before they are read.

    Parameters
    ----------
    axes : iterable of Axis or str

    Returns
    -------
    frozenset of str
    """
    return frozenset(axis.name if isinstance(axis, Axis) else str(axis).partition("=")[0].strip() for axis in axes)


def axes_of(dynamics: Dynamics, axes: Sequence[Axis | str]) -> tuple[Axis, ...]:
    """Axes as they are given, texts read by :meth:`Axis.parse`.

    Parameters
    ----------
    dynamics : Dynamics
        Its parameters may stand in the ends.
    axes : sequence of Axis or str

    Returns
    -------
    tuple of Axis

    Raises
    ------
    StateError, DeclarationError
        A text is no axis.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes_of(rod.at({"mu": "3/4"}), ["mu=0:2*mu:3"])
    (Axis(name='mu', low=0.0, high=1.5, n=3),)
    """
    if all(isinstance(axis, Axis) for axis in axes):
        return tuple(axis for axis in axes if isinstance(axis, Axis))
    return tuple(axis if isinstance(axis, Axis) else Axis.parse(axis, values=dynamics.values) for axis in axes)


def check_axes(dynamics: Dynamics, axes: Sequence[Axis], *, fixed: Collection[str], word: str = "axis") -> None:
    """Refuse axes that are no pin and no parameter, or that something else fixes.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis
    fixed : collection of str
        Pins and parameters that are given a value besides.
    word : str, optional
        What they are to those who gave them.

    Returns
    -------
    None
        Every axis names a pin or a parameter that nothing else fixes.

    Raises
    ------
    StateError
        Names the axis.
    """
    positions, velocities = pin_names(dynamics)
    known = (*positions, *velocities, "t", *dynamics.mechanism.parameters)
    names = [axis.name for axis in axes]
    for name in names:
        if name not in known:
            near = suggestion(name, known)
            hint = f"{near} There" if near else "there"
            raise StateError(f"{word} {name}: no such pin or parameter; {hint} are {', '.join(known)}")
        if names.count(name) > 1:
            raise StateError(f"{word} {name} is given twice")
        if name in fixed:
            raise StateError(f"{word} {name} is also given a value; remove one")


def swept_units(dynamics: Dynamics, axes: Sequence[Axis]) -> dict[str, str]:
    """Units of what axes sweep.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis

    Returns
    -------
    dict of str to str
        By name; empty where the declaration does not say enough.
    """
    known = dynamics.once(quantities_with_units)
    return {axis.name: known.get(axis.name, "") for axis in axes}


def placed(
    dynamics: Dynamics,
    axes: Sequence[Axis],
    values: Sequence[float | NDArray[np.float64]],
    *,
    pins: Mapping[str, Any],
) -> tuple[dict[str, Any], Dynamics]:
    """Pins and equations with the axes put at values.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis
    values : sequence of float or array
        One for every axis; they broadcast against each other.
    pins : mapping of str to value
        What is fixed besides.

    Returns
    -------
    pins : dict of str to value
    dynamics : Dynamics
        At the values of the parameters that are swept.
    """
    at = {axis.name: value for axis, value in zip(axes, values, strict=True)}
    declared = dynamics.mechanism.parameters
    swept = {name: value for name, value in at.items() if name in declared}
    return {**pins, **{name: at[name] for name in at.keys() - swept.keys()}}, dynamics.at(swept)


def branch_over(
    dynamics: Dynamics,
    axes: Sequence[Axis],
    *,
    pins: Mapping[str, Any],
    start: Mapping[str, Any] | None,
    tolerances: Tolerances = Tolerances(),
) -> PostureBranch | None:
    """The branch of postures over axes, followed along the first, then the next.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis
    pins : mapping of str to value
        What is fixed besides.
    start : mapping of str to value, or None
        A posture of the branch, for a choice among several.
    tolerances : Tolerances, optional

    Returns
    -------
    PostureBranch or None
        None where the pins fix the posture by linear equations.
    """

    def at(values: Sequence[NDArray[np.float64]]) -> tuple[dict[str, Any], Dynamics]:
        return placed(dynamics, axes, values, pins=pins)

    ranges = {axis.name: (axis.low, axis.high) for axis in axes}
    return follow_branch(dynamics, ranges, at, start=start, tolerances=tolerances)


def quantities_with_units(dynamics: Dynamics) -> dict[str, str]:
    """Units of everything that may be swept: parameters, coordinates, velocities, gaps, slips and the time.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict of str to str
        Empty where the declaration does not say enough.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> found = quantities_with_units(derive(mechanisms.load("rod_on_incline")))
    >>> found["phi"], found["gap.tip"], found["gap_dot.tip"], found["slip.tip"]
    ('rad', 'm', 'm/s', 'm/s')
    """
    units = dynamics.mechanism.units()
    found = {"t": units.time} | {name: item.unit for name, item in dynamics.mechanism.parameters.items()}
    for name, rate in units.contact_accelerations.items():
        length = rate.removesuffix("/s²")
        found |= {f"gap.{name}": length, f"gap_dot.{name}": f"{length}/s" if length else ""}
    for name, rate in units.tangential_accelerations.items():
        pins = [f"slip.{name}", *(f"slip.{name}.{axis + 1}" for axis in range(dynamics.dimension(name)))]
        found |= dict.fromkeys(pins, rate.replace("/s²", "/s"))
    return found | dict(units.coordinates)
