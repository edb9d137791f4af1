"""The numbers below which a quantity counts as zero.

A caller chooses the fields of :class:`Tolerances`. The scales are fixed: each is a share, named by where an error of
its size comes from, so that the right one is found by asking how a number was come by. What it is a share *of* stands
where it is used.

===================== ====== ==========================================================================================
Scale                 Value  What leaves it
===================== ====== ==========================================================================================
``LEAST``             1e-300 nothing: a divisor is at least this, so that what is zero stays zero
``LAST_PLACE``        1e-15  the last places of one number: a step of Newton's method that is smaller moves nothing
``SUMMED``            1e-14  some fifty roundings: sums of products, series, roots between brackets
``CANCELLED``         1e-13  some five hundred: a product and a linear solution, of terms that cancel
``ROUNDING``          1e-12  eliminated constraints or an inverse mass matrix of condition 1e3, with room
``STEP_ERROR``        1e-12  a step of an explicit method, at the accuracy that motions are computed with
``INTEGRATED``        1e-11  all steps of a motion: event times, and what a closed orbit misses
``RANK``              1e-10  see :class:`Tolerances`; for linear systems that a caller does not choose
``SIGN``              1e-10  see :class:`Tolerances`; for signs that a caller does not choose
``HIGHS_FEASIBILITY`` 1e-10  the least that HiGHS takes for the rounding of a condition
``RESOLVED``          1e-10  an iteration whose answer others start from: a place on a boundary, a solved state
``NOTHING``           1e-9   a state of ten digits, or a chain of the above: velocities, forces, shares that are none
``ROOT``              1e-8   the square root of rounding: a double root, a singular value that was squared
``AGREEING``          1e-7   two ways to one answer, each with its own iterations and integrations
``SQUARED``           1e-6   a number whose square is ``ROUNDING``: a last step of Newton's method
``CLEAR``             1e-6   nothing: a larger share is a difference, whatever rounding there was
``UNSEEN``            1e-4   nothing: of another tolerance, which an error so far below it does not touch
``NEARLY``            1e-3   nothing: far above any rounding: what is below it is looked at closely, or said in words
``CENTRAL_STEP``      1e-5   the step of a central difference: the cube root of rounding, 6e-6
``FINE_STEP``         1e-6   the same where a function bends on a scale of hundredths; rounding leaves 1e-10
``LONG_STEP``         2e-3   the same of order eight: truncation and rounding are both below 1e-13
===================== ====== ==========================================================================================
"""

from __future__ import annotations

import math

import attrs

from hybrid.arguments import checks_arguments
from hybrid.errors import ArgumentError

__all__ = [
    "AGREEING",
    "CANCELLED",
    "CENTRAL_STEP",
    "CLEAR",
    "FINE_STEP",
    "HIGHS_FEASIBILITY",
    "INTEGRATED",
    "LAST_PLACE",
    "LEAST",
    "LONG_STEP",
    "NEARLY",
    "NOTHING",
    "RANK",
    "RESOLVED",
    "ROOT",
    "ROUNDING",
    "SIGN",
    "SQUARED",
    "STEP_ERROR",
    "SUMMED",
    "UNSEEN",
    "Tolerances",
]

LEAST = 1e-300
LAST_PLACE = 1e-15
SUMMED = 1e-14
CANCELLED = 1e-13
ROUNDING = 1e-12
STEP_ERROR = 1e-12
INTEGRATED = 1e-11
RANK = 1e-10
SIGN = 1e-10
HIGHS_FEASIBILITY = 1e-10
RESOLVED = 1e-10
NOTHING = 1e-9
ROOT = 1e-8
AGREEING = 1e-7
SQUARED = 1e-6
CLEAR = 1e-6
UNSEEN = 1e-4
NEARLY = 1e-3
CENTRAL_STEP = 1e-5
FINE_STEP = 1e-6
LONG_STEP = 2e-3


def _is_usable(_: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not (math.isfinite(value) and 0.0 < value < 1.0):
        raise ArgumentError(f"tolerance {attribute.name} must lie between 0 and 1, not {value!r}")


@checks_arguments
@attrs.frozen(kw_only=True)
class Tolerances:
    """Thresholds of every decision between zero and not zero; passed by keyword, never global.

    Attributes
    ----------
    gap : float
        A contact is closed when its gap is within this of zero, as a share of its size: that of the terms that cancel
        in it (``hybrid.dynamics.scales.scales_of``). Dimensionless. Newton's method on positions converges to about
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
    sign: float = attrs.field(default=SIGN, converter=float, validator=_is_usable)
    rank: float = attrs.field(default=RANK, converter=float, validator=_is_usable)
    merge: float = attrs.field(default=1e-8, converter=float, validator=_is_usable)
