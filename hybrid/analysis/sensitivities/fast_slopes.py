"""The fast system of compliant contacts read with duals: its rates, and those of a changed impact."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.frozen import FrozenFlow
from hybrid.contact.compliance.rest import holding_duals
from hybrid.contact.compliance.status import ContactStatus

__all__ = ["Duals", "FastSlopes"]

Duals = NDArray[Any]


@attrs.frozen(eq=False)
class FastSlopes:
    """The fast system, and the same with the derivatives of all that it depends on: its numbers are duals."""

    system: FrozenFlow
    changed: FrozenFlow

    @property
    def size(self) -> int:
        """Number of unknowns ``y`` of the fast system."""
        return len(self.system.contacts) + len(self.system.gamma) + 3

    def rates(self, y: Duals, status: ContactStatus) -> Duals:
        """Rates of the unknowns and of their derivatives in fast time; of work and time none are needed."""
        at = self.changed.evaluate(y, status)
        return np.concatenate([at.gap_dot, at.forces, np.zeros(3)])

    def stopped(self, y: Duals, status: ContactStatus) -> Duals:
        """Without the slip of contacts that stick: what a changed impact slips there ends in no time."""
        rest = self.system.tangents(status.resting(self.system.sizes))[0]
        if not rest:
            return y
        y, G = y.copy(), self.changed.G[np.ix_(rest, rest)]
        y[[len(self.system.contacts) + row for row in rest]] += holding_duals(G, self.changed.velocities(y)[rest])
        return y
