"""That there is no derivative to give: a value for the user, and the exception that carries the reason there."""

from __future__ import annotations

import attrs

__all__ = ["NoDerivative", "Refusal"]


@attrs.frozen
class Refusal:
    """Why a motion has no derivative, or why it is not computed.

    Attributes
    ----------
    t : float
        Time, in s, of what stands in the way.
    reason : str
    is_proven : bool
        True where no derivative exists; False where one may exist, but is not computed.

    Examples
    --------
    >>> str(Refusal(1.5, "'ceiling' grazes"))
    "no derivative exists: at t = 1.5, 'ceiling' grazes"
    """

    t: float
    reason: str
    is_proven: bool = True

    @property
    def verdict(self) -> str:
        """What is refused, in words."""
        return "no derivative exists" if self.is_proven else "the derivative is not computed"

    def __str__(self) -> str:
        return f"{self.verdict}: at t = {self.t:.10g}, {self.reason}"


class NoDerivative(Exception):  # an answer on its way to becoming a value, not a failure
    """Raised within this package where there is no derivative to give.

    Parameters
    ----------
    reason : str
    t : float, optional
        When, if the caller does not know.
    is_proven : bool
        As in :class:`Refusal`.
    """

    def __init__(self, reason: str, t: float | None = None, *, is_proven: bool = True) -> None:
        super().__init__(reason)
        self.t = t
        self.is_proven = is_proven
