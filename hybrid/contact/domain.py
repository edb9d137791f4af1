"""Data that no mechanism can have: negative friction, and mass matrices that are not positive definite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import StateError

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms
    from hybrid.dynamics.state import State
    from hybrid.dynamics.structure import AbstractStructure

NOT_NEGATIVE = ("friction", "static_friction", "limit", "static_limit", "constraint_friction")


def check_friction(dynamics: AbstractStructure, terms: Terms) -> None:
    """Refuse friction coefficients and limit forces that are negative at one of the states.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many.

    Returns
    -------
    None
        Nothing is negative.

    Raises
    ------
    StateError
        With the least value.
    """
    for name in NOT_NEGATIVE:
        values = getattr(terms, name)
        if values.size and (values < 0).any():
            kind = "limit force" if "limit" in name else "friction"
            raise StateError(
                f"{dynamics.name}: the {kind} is negative ({np.nanmin(values):.6g}) at "
                f"{'this state' if values.ndim == 1 else 'some of the states'}; it must be zero or positive everywhere"
            )


def mass_definiteness(terms: Terms) -> NDArray[np.float64]:
    """Smallest eigenvalue of the mass matrix, scaled to unit diagonal.

    Parameters
    ----------
    terms : Terms
        At one state or many.

    Returns
    -------
    array, (...)
        Zero or less where no kinetic energy is possible; NaN where the matrix is not finite.
    """
    diagonal = np.abs(np.diagonal(terms.M, axis1=-2, axis2=-1))
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = terms.M / (scale[..., :, None] * scale[..., None, :])
    finite: Any = np.isfinite(scaled).all(axis=(-2, -1))
    smallest = np.linalg.eigvalsh(np.where(finite[..., None, None], scaled, 0.0))[..., 0]
    return np.where(finite, smallest, np.nan)


def least_mass(terms: Terms, *, rank: float) -> float:
    """Smallest eigenvalue of the scaled mass matrix at one state, or a lower bound of it that decides.

    Parameters
    ----------
    terms : Terms
        At one state.
    rank : float
        Eigenvalue above which a bound will do.

    Returns
    -------
    float
        As :func:`mass_definiteness` where it is not above ``rank``.
    """
    bound = _least_by_rows(terms.M.tolist())
    return bound if bound > rank else float(mass_definiteness(terms))


def _least_by_rows(M: list[list[float]]) -> float:
    """Gershgorin's lower bound of :func:`mass_definiteness`, which costs little; 1 for a diagonal matrix."""
    sizes = [math.sqrt(line[i]) if line[i] > 0.0 else 0.0 for i, line in enumerate(M)]
    if not all(sizes):
        return -math.inf
    beside = [
        sum(abs(value) / size for j, (value, size) in enumerate(zip(line, sizes, strict=True)) if j != i) / sizes[i]
        for i, line in enumerate(M)
    ]
    return 1.0 - max(beside, default=0.0)


def check_mass(dynamics: Dynamics, terms: Terms, *, rank: float) -> None:
    """Refuse arrays of states at which the mass matrix is indefinite; singular ones are left to the caller.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At many states.
    rank : float
        Scaled eigenvalue down to whose negative a matrix counts as singular.

    Returns
    -------
    None
        The mass matrix is nowhere indefinite.

    Raises
    ------
    StateError
        With the share of the states.

    See Also
    --------
    check_inertia : For one state.
    """
    indefinite = mass_definiteness(terms) < -rank
    if np.any(indefinite):
        share = 100 * float(np.mean(indefinite))
        raise StateError(
            f"{dynamics.name}: the mass matrix is not positive definite at {share:.3g} % of the states: "
            f"check the ranges of masses and inertias"
        )


def check_inertia(dynamics: Dynamics, state: State, terms: Terms, *, rank: float, is_invertible: bool = True) -> None:
    """Refuse a state at which the mass matrix is singular or indefinite: no acceleration or no energy there.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    terms : Terms
        At the state.
    rank : float
        Scaled eigenvalue down to which the matrix counts as singular.
    is_invertible : bool
        False if its inverse is known to be beyond the range of floats.

    Returns
    -------
    None
        The mass matrix is positive definite.

    Raises
    ------
    StateError
        With the posture and the scaled eigenvalue.
    """
    smallest = least_mass(terms, rank=rank)
    if smallest <= rank or not is_invertible:
        is_indefinite = smallest < -rank
        kind = "not positive definite" if is_indefinite else "singular"
        advice = "check the signs of masses and inertias" if is_indefinite else "give every coordinate inertia"
        names = dynamics.mechanism.coordinates
        posture = ", ".join(f"{name} = {value:.6g}" for name, value in zip(names, state.q, strict=True))
        raise StateError(
            f"{dynamics.name}: the mass matrix is {kind} at {posture} (smallest scaled eigenvalue "
            f"{smallest:.3g}): {advice}"
        )
