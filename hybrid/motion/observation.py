"""What a flow is asked, what it answers, and what it is told of spatial slips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.contact.guards import Guard
    from hybrid.contact.modes import Mode
    from hybrid.contact.table import ElementMode

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Reference:
    """What a flow is told of a spatial slip at the start of a step.

    Attributes
    ----------
    direction : array, (2,)
        Unit vector; friction acts along it where there is no slip, and the slip runs straight on through zero.
    floor : float
        Slip that is as good as none: its rounding, or more where it begins.
    begins : bool
    """

    direction: Array
    floor: float
    begins: bool = False


@attrs.frozen(eq=False)
class Observation:
    """What a flow knows at N instants.

    Attributes
    ----------
    acceleration : array, (n, N)
    lambda_N, lambda_T : array, (k, N) and (p, N)
        Contact forces by contact and by tangential column.
    guards : array, (number of guards, N)
    """

    acceleration: Array
    lambda_N: Array
    lambda_T: Array
    guards: Array


class Flow(Protocol):
    """An ODE ``y' = f(t, y)``, ``y = (q, v)``, with the forces and guards along it."""

    @property
    def mode(self) -> Mode:
        """The mode."""

    @property
    def parts(self) -> tuple[ElementMode, ...]:
        """The force elements in the mode."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The guards, in the order of the observations."""

    def derivative(self, t: float, y: Array) -> Sequence[float]:
        """Right-hand side at one state, (2n,); raises where an expression is undefined."""

    def observe(self, t: Array, y: Array) -> Observation:
        """Accelerations, forces and guards at N states ``y`` of shape (2n, N)."""

    def guard_values(self, t: Array, y: Array) -> Array:
        """The guards alone, (number of guards, N)."""

    def set_references(self, references: Mapping[str, Reference]) -> None:
        """Tell what is known of the spatial slips at the start of a step."""
