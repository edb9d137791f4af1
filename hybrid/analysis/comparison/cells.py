"""States of a map in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.compliance.grid import CompliantMotions, compliant_motions
from hybrid.contact.compliance.planar import ContactRates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.classification import CellVerdict
    from hybrid.dynamics.derive import Dynamics

__all__ = ["Cells"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Cells:
    """States of a map in a row, with what is known of them.

    Attributes
    ----------
    dynamics : Dynamics
    q, v, t : array, (N, n), (N, n), (N,)
    parameters : mapping of str to array, (N,)
    verdict : array of uint8, (N,)
    mode : array of int8, (N,)
        The mode of a unique motion.
    touches : array of bool, (N,)
        Whether the contact is closed.
    after : array, (N, n)
        Velocities after the impact of the compliant limit.
    damping : float or None
    """

    dynamics: Dynamics
    q: Array
    v: Array
    t: Array
    parameters: Mapping[str, Array]
    verdict: NDArray[np.uint8]
    mode: NDArray[np.int8]
    touches: NDArray[np.bool_]
    after: Array
    damping: float | None

    def among(self, *verdicts: CellVerdict) -> NDArray[np.intp]:
        """Cells with a closed contact and one of some verdicts."""
        return np.flatnonzero(self.touches & np.isin(self.verdict, verdicts))

    def at(self, index: NDArray[np.intp]) -> tuple[Array, Array, Array, dict[str, Array]]:
        """States and parameters of some cells."""
        values = {name: value[index] for name, value in self.parameters.items()}
        return self.q[index], self.v[index], self.t[index], values

    def slowness(self, index: NDArray[np.intp]) -> float:
        """Time that the contact takes, relative to one with ``stiffness_ratio = 1``: the longest of some cells."""
        q, v, t, values = self.at(index)
        ratio = ContactRates.at(self.dynamics, q, v, t, values).stiffness_ratio
        return float(np.max(ratio**-0.5)) if len(index) else 1.0

    def runs(self, index: NDArray[np.intp], v: Array, K: float, horizon: float) -> CompliantMotions:
        """Penalty runs of some cells, from other velocities."""
        q, _, t, values = self.at(index)
        return compliant_motions(self.dynamics.at(values), q, v, t, stiffness=K, damping=self.damping, horizon=horizon)
