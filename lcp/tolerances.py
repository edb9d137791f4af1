"""The numbers below which the package counts an entry as zero, each with its reason.

Problems are scaled to entries of about one before anything is compared, so all of them are shares. Where a caller may
choose another one it is the default of an argument.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ACCURACY",
    "BOUND",
    "CLEARLY_ZERO",
    "HIDDEN",
    "LAST_PLACES",
    "NEARLY_SOLVED",
    "NEAR_THE_END",
    "PIVOT",
    "RESIDUAL",
    "ROUGH",
    "ROUNDING",
    "STALE",
    "TIE",
    "ZERO",
]

LAST_PLACES: Final = 1e-15
"""Two ratios that are one, where nothing beyond the rounding of a single pivot is taken for a tie."""
BOUND: Final = 2e-14
"""About a hundred units in the last place, in bounds of errors: three roundings at each of eight pivots, their sum."""
STALE: Final = 1e-13
"""A bound of errors that a fresh dictionary makes smaller: a few hundred roundings."""
ROUNDING: Final = 1e-12
"""A negative entry of a solution that is none, a pivot on nothing: what a linear solution leaves of a zero."""
TIE: Final = 1e-11
"""Two ratios that are one, inequalities that contradict each other by nothing: after many pivots."""
PIVOT: Final = 1e-10
"""A pivot that may be nothing but rounding, a direction that others span, a sign that bounds of errors do not prove."""
ZERO: Final = 1e-9
"""A number of a solution that is zero, an asymmetry that is none: data of ten digits."""
RESIDUAL: Final = 1e-8
"""By how much a solution may miss its conditions, and how far a problem is moved to leave a cycle."""
ACCURACY: Final = 1e-7
"""What an interior point with default settings keeps of a problem; a constant of a basis that is clearly no zero."""
NEARLY_SOLVED: Final = 1e-6
"""What the artificial variable may keep of its first value, and a point of the residual allowed, to have ended."""
NEAR_THE_END: Final = 1e-5
"""The same of a path in plain numbers, whose end more careful pivots then look for."""
ROUGH: Final = 1e-5
"""By how much an answer of a convex program may miss its optimality: more, and it is none."""
CLEARLY_ZERO: Final = 1e-4
"""Of the tolerance of an enumeration: a number that nobody doubts; redundant contacts leave 1e-15."""
HIDDEN: Final = 1e-20
"""Of the largest entries, whose rounding is a thousand times as large: an entry that arithmetic cannot see."""
