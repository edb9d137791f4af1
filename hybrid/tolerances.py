"""The numbers below which a quantity counts as zero."""

from __future__ import annotations

import math

import attrs


def _is_usable(_: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not (math.isfinite(value) and 0.0 < value < 1.0):
        raise ValueError(f"tolerance {attribute.name} must lie between 0 and 1, not {value!r}")


@attrs.frozen(kw_only=True)
class Tolerances:
    """Thresholds of every decision between zero and not zero; passed by keyword, never global.

    Attributes
    ----------
    gap : float
        A contact is closed when its gap is within this of zero, as a share of its size: that of the terms that cancel
        in it (:func:`hybrid.dynamics.scales.scales_of`). Dimensionless. Newton's method on positions converges to about
        1e-15 of that size; 1e-9 leaves room for states that were rounded to ten digits.
    velocity : float
        A normal or tangential contact velocity within this of zero counts as zero, as a share of its size: that of the
        terms that cancel in it, or what the accelerations give within the size of the position. Dimensionless. Same
        reason. A slip that is pinned lower than that, and not at 0, keeps the direction that it was given.
    sign : float
        A force, acceleration or slack within this of zero, after division by the scale of the terms that were added to
        form it, has no sign that double precision can vouch for: the verdict is undecided. Dimensionless. Rounding
        of the derived terms stays near 1e-13 of that scale for the condition numbers (up to 1e3) met in mechanisms.
    rank : float
        A singular value below this times the largest counts as zero. Dimensionless. The square root of the rounding
        unit, 1.5e-8, would merge directions that differ by a milliradian in a product of two; 1e-10 does not.
    merge : float
        Two solutions whose forces agree within this times the largest force are one solution reached from two
        complementary bases. Dimensionless. Larger than ``sign`` errors after one linear solve.

    Examples
    --------
    >>> Tolerances(gap=1e-6).gap
    1e-06
    """

    gap: float = attrs.field(default=1e-9, converter=float, validator=_is_usable)
    velocity: float = attrs.field(default=1e-9, converter=float, validator=_is_usable)
    sign: float = attrs.field(default=1e-10, converter=float, validator=_is_usable)
    rank: float = attrs.field(default=1e-10, converter=float, validator=_is_usable)
    merge: float = attrs.field(default=1e-8, converter=float, validator=_is_usable)
