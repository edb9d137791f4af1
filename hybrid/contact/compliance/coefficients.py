"""What a compliant contact cannot be asked: coefficients out of range, constraints that depend on their friction."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

__all__ = ["ROUGH_CONSTRAINT", "check_damping", "check_stiffness"]

ROUGH_CONSTRAINT = (
    "takes no part in a compliant impact: its force then grows with that of the contact, depends on its own "
    "friction, and may have no value or several; leave out its friction, or declare the constraint elastic (stiffness "
    "in place of friction), with a [[friction]] element of limit = friction*stiffness*abs(equation), for penalty runs"
)
"""Why rigid bilateral constraints with friction are refused, and what to do instead."""


def check_damping(instance: object, attribute: Any, value: Any) -> None:
    """Validate a damping that may be left out; ValueError unless it is a number not below 0."""
    if value is not None and not (_is_number(value) and value >= 0.0):
        raise ValueError(f"the damping of a compliant contact must be a number not below 0, got {value!r}")


def check_stiffness(instance: object, attribute: Any, value: Any) -> None:
    """Validate a stiffness; ValueError unless it is a number above 0."""
    if not (_is_number(value) and value > 0.0):
        raise ValueError(f"the stiffness of a compliant contact must be a number above 0, got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)
