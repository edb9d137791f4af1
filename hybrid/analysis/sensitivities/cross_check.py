"""The same gradient by three methods, and what they say against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np

if TYPE_CHECKING:
    from hybrid.analysis.sensitivities.differences import Difference

__all__ = ["SensitivityCheck"]

_DEVIATES = 1e-6  # of the largest derivative: well above what extrapolated differences of a simulation miss
_TIMES = 10.0  # their own estimate of their error
_BENT = 1e-3  # of the largest derivative: differences to one side extrapolate to fewer digits


@attrs.frozen(eq=False)
class SensitivityCheck:
    """The same gradient by every method.

    Attributes
    ----------
    adjoint, forward : mapping of str to float
    differences : mapping of str to Difference
        Richardson's extrapolation of simulated motions, each with its own error.
    """

    adjoint: Mapping[str, float]
    forward: Mapping[str, float]
    differences: Mapping[str, Difference]

    @property
    def disagreement(self) -> float:
        """Largest difference between adjoint and forward, relative to the largest derivative.

        Both follow one and the same replay of the motion: what they cannot see, differences do.
        """
        return max((abs(self.adjoint[name] - self.forward[name]) for name in self.forward), default=0.0) / self._size

    @property
    def deviation(self) -> float:
        """Largest difference between these and the differences that there are, relative to the largest derivative."""
        apart = [abs(item.value - self.forward[name]) for name, item in self.differences.items()]
        return max((value for value in apart if np.isfinite(value)), default=float("nan")) / self._size

    @property
    def warnings(self) -> tuple[str, ...]:
        """What differences say against the gradient, or why they say nothing."""
        found = []
        for name, item in self.differences.items():
            slope = self.forward[name]
            if not np.isfinite(item.value):
                sides = [side for side in (item.below, item.above) if np.isfinite(side)]
                alone = f"give {sides[0]:.6g} to one side alone" if sides else "tell nothing"
                found.append(f"differences with respect to {name} {alone}: {item.reason}")
            elif abs(item.value - slope) > max(_DEVIATES * self._size, _TIMES * item.error):
                found.append(
                    f"differences with respect to {name} give {item.value:.9g} with an error of {item.error:.2g}, "
                    f"not {slope:.9g}"
                )
            elif item.jump > _BENT * self._size:
                found.append(
                    f"differences with respect to {name} give {item.below:.6g} to one side and {item.above:.6g} to the "
                    f"other"
                )
        return tuple(found)

    @property
    def _size(self) -> float:
        return max((abs(value) for value in self.forward.values()), default=0.0) or 1.0
