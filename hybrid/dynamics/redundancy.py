"""Which rigid constraints are independent, and which only repeat others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.tolerances import ROOT

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["independent_constraints", "independent_rows"]

Array = NDArray[np.float64]

_RANK = ROOT  # relative; rounding leaves 1e-16, a Jacobian on the space 1e-12
_TRIED = 20
_TURNED = 1.0  # spread of the postures at which a Jacobian is looked at: radians or so


def independent_rows(space: ConfigurationSpace, postures: Sequence[Array], *, on_space: bool = True) -> list[int]:
    """Constraints that are independent at most postures, in the order of declaration; further ones repeat them.

    Parameters
    ----------
    space : ConfigurationSpace
    postures : sequence of array, (n,)
        Near which to look.
    on_space : bool
        Go to the nearest postures that satisfy the constraints: a linkage in space may be overconstrained only there.

    Returns
    -------
    list of int
    """
    found = [q for q in map(space.nearest, postures[:_TRIED]) if q is not None] if on_space else []
    jacobians = [J for J in map(space.jacobian, found or postures) if np.isfinite(J).all()]
    if not jacobians:
        return list(range(len(space.dynamics.rigid)))
    sized = [J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), np.finfo(float).tiny) for J in jacobians]
    ranks = [int(np.linalg.matrix_rank(J, rtol=_RANK)) for J in sized]
    J = sized[ranks.index(max(ranks))]
    kept: list[int] = []
    for row in range(len(J)):
        if np.linalg.matrix_rank(J[[*kept, row]], rtol=_RANK) > len(kept):
            kept.append(row)
    return kept


def independent_constraints(dynamics: Dynamics, *, t: Any = 0.0, on_space: bool = False) -> tuple[int, ...]:
    """Rows of the rigid constraints that are independent at most postures.

    Parameters
    ----------
    dynamics : Dynamics
    t : float or array
    on_space : bool
        As for :func:`independent_rows`; slower.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> independent_constraints(derive(mechanisms.load("four_bar")))
    (0, 1)
    """
    m = len(dynamics.rigid)
    if m < 2:
        return tuple(range(m))
    declared = dynamics.mechanism.parameter_values()
    values = {name: _first(v if np.size(v) else declared[name]) for name, v in dynamics.given.items()}
    space = ConfigurationSpace(dynamics.at(values), float(_first(t)) if np.size(t) else 0.0)
    postures = list(np.random.default_rng(1).normal(scale=_TURNED, size=(_TRIED if on_space else 3, dynamics.n)))
    return tuple(independent_rows(space, postures, on_space=on_space))


def _first(value: Any) -> Any:
    return np.ravel(value)[0] if np.ndim(value) else value
