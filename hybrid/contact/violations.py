"""What a mode of an inconsistent state violates: the entries of certificates."""

from __future__ import annotations

from typing import Literal

import attrs

from hybrid.contact.modes import Mode
from hybrid.tolerances import CLEAR

__all__ = ["AGREEMENT", "ALL_TOGETHER", "Violation"]

AGREEMENT = CLEAR
"""Share by which a stated value and the exact one may differ: rounding times the condition of one small basis."""

ALL_TOGETHER = "the conditions of the mode have a solution"
"""What a mode violates whose equations determine no forces of which one inequality could be named."""


@attrs.frozen
class Violation:
    """The inequality that one mode violates most.

    Attributes
    ----------
    mode : Mode
    contact : str
        The force element whose condition fails; empty if the mode's equations determine no forces.
    inequality : str
        For example ``"lambda_N >= 0"``.
    value : float
        Its value in physical units, negative; without a contact the contradiction ``y . q`` of the refutation of the
        mode's basis, with multipliers ``y`` whose magnitudes add up to one.
    basis : tuple of int
        The complementary basis of the LCP that is this mode (indices with ``z`` basic).
    variable : {"z", "w", ""}
        Which variable of the LCP the inequality is; empty if the mode's equations are singular, so that no basic
        solution belongs to it: the refutation of its basis is then the proof.
    index : int
        Its index.
    """

    mode: Mode
    contact: str
    inequality: str
    value: float
    basis: tuple[int, ...]
    variable: Literal["z", "w", ""]
    index: int
