"""What a compliant contact cannot be asked: coefficients out of range, constraints whose friction leaves no answer."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

__all__ = ["REMEDY", "check_damping", "check_stiffness"]

REMEDY = (
    "give it less friction, or let it give way: declare its stiffness in place of its friction, and a [[friction]] "
    "element of limit = friction*stiffness*abs(equation), which penalty runs follow"
)
"""What to do where a rigid bilateral constraint with friction has no force or several."""


def check_damping(instance: object, attribute: Any, value: Any) -> None:
    """Refuse a damping that is no number or below 0; it may be left out.

    Parameters
    ----------
    instance : object
        Whose field it is; attrs hands it to every validator.
    attribute : attrs.Attribute
        The field.
    value : object

    Returns
    -------
    None
        The value is a number not below 0, or None.

    Raises
    ------
    ValueError
    """
    if value is not None and not (_is_number(value) and value >= 0.0):
        raise ValueError(f"the damping of a compliant contact must be a number not below 0, got {value!r}")


def check_stiffness(instance: object, attribute: Any, value: Any) -> None:
    """Refuse a stiffness that is no number above 0.

    Parameters
    ----------
    instance : object
        Whose field it is; attrs hands it to every validator.
    attribute : attrs.Attribute
        The field.
    value : object

    Returns
    -------
    None
        The value is a number above 0.

    Raises
    ------
    ValueError
    """
    if not (_is_number(value) and value > 0.0):
        raise ValueError(f"the stiffness of a compliant contact must be a number above 0, got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)
