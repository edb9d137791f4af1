"""What the compliant limit must know of one contact among several."""

from __future__ import annotations

import attrs

__all__ = ["ContactRows"]


@attrs.frozen(eq=False)
class ContactRows:
    """One compliant contact among several: its rows, friction, damping, relative stiffness and static friction."""

    name: str
    normal: int
    tangential: tuple[int, ...]
    friction: float
    damping: float
    stiffness_ratio: float = 1.0
    static_friction: float | None = None

    @property
    def holds(self) -> float:
        """Coefficient of friction up to which the contact sticks."""
        return self.friction if self.static_friction is None else self.static_friction
