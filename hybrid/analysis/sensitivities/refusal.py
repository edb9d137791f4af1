"""That no derivative exists: a value for the user, and the exception that carries the reason there."""

from __future__ import annotations

import attrs

__all__ = ["NoDerivative", "Refusal"]


@attrs.frozen
class Refusal:
    """Why a motion has no derivative.

    Attributes
    ----------
    t : float
        Time at which the derivative ceases to exist.
    reason : str
    """

    t: float
    reason: str

    def __str__(self) -> str:
        return f"no derivative exists: at t = {self.t:.10g}, {self.reason}"


class NoDerivative(Exception):  # an answer on its way to becoming a value, not a failure
    """Raised within this package where no derivative exists.

    Parameters
    ----------
    reason : str
    t : float, optional
        When, if the caller does not know.
    """

    def __init__(self, reason: str, t: float | None = None) -> None:
        super().__init__(reason)
        self.t = t
