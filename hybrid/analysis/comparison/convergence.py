"""The order with which penalty runs approach their limit, and how well it is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import numpy as np

__all__ = ["ObservedOrder", "observed_order"]


@attrs.frozen
class ObservedOrder:
    """The fit ``error = factor K^order`` by least squares in logarithms.

    Attributes
    ----------
    order : float
        Theory gives -1/2 in the end, as penetrations are of the size ``K^-1/2``.
    standard_error : float or None
        Of the order, from the scatter about the fit; None with two runs, through which every fit passes.
    factor : float
    stiffness : tuple of float
        Least and largest of the stiffnesses used.
    runs : int
        How many errors were used.
    """

    order: float
    standard_error: float | None
    factor: float
    stiffness: tuple[float, float]
    runs: int

    def __str__(self) -> str:
        spread = "" if self.standard_error is None else f" +- {self.standard_error:.2g}"
        low, high = self.stiffness
        return f"K^({self.order:.3f}{spread}) from {self.runs} runs with K = {low:g} to {high:g}"


def observed_order(errors: Sequence[tuple[float, float]]) -> ObservedOrder | None:
    """Fit a power of the stiffness to errors.

    Parameters
    ----------
    errors : sequence of (float, float)
        Stiffness and error of every run, both above 0.

    Returns
    -------
    ObservedOrder or None
        None with fewer than two stiffnesses.

    Examples
    --------
    >>> fit = observed_order([(1e4, 0.2), (1e6, 0.02), (1e8, 0.002)])
    >>> round(fit.order, 12), round(fit.factor, 9), fit.standard_error < 1e-12
    (-0.5, 20.0, True)
    """
    stiffness = [K for K, _ in errors]
    if len(set(stiffness)) < 2:
        return None
    x, y = np.log(np.array(errors, dtype=np.float64)).T
    spread = float((x - x.mean()) @ (x - x.mean()))
    order = float((x - x.mean()) @ (y - y.mean())) / spread
    rest = y - y.mean() - order * (x - x.mean())
    scatter = math.sqrt(float(rest @ rest) / (len(x) - 2) / spread) if len(x) > 2 else None
    factor = math.exp(float(y.mean()) - order * float(x.mean()))
    return ObservedOrder(order, scatter, factor, (min(stiffness), max(stiffness)), len(x))
