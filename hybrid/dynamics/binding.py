"""Where what is asked of a mechanism meets its derived equations and the values of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid.dynamics.derive import Dynamics
from hybrid.errors import ArgumentError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Values

__all__ = ["bound"]


def bound(dynamics: Dynamics, parameters: Values | None) -> Dynamics:
    """The equations at values of the parameters, as :meth:`Dynamics.at`; what is not derived is refused.

    Parameters
    ----------
    dynamics : Dynamics
    parameters : mapping of str to array_like or str, or None

    Returns
    -------
    Dynamics

    Raises
    ------
    ArgumentError
        It is a declared mechanism, a name, or anything else that has no equations.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> bound(derive(mechanisms.load("rod_on_incline")), {"mu": 0.7}).values["mu"]
    0.7
    """
    if not isinstance(dynamics, Dynamics):
        raise ArgumentError(
            f"expected a Dynamics, got a {type(dynamics).__name__}: derive it first, "
            "as hybrid.derive(mechanisms.load('rod_on_incline'))"
        )
    return dynamics.at(parameters)
