"""Velocities of the contacts before and after an impact, without those that are only rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.state import AbstractStructure

__all__ = ["contact_velocities", "without_rounding"]

_ROUNDING = 32 * float(np.finfo(np.float64).eps)  # of the terms: those of a linear solve for pins and of a product


def contact_velocities(
    dynamics: AbstractStructure, posed: ContactProblem, v: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Normal and tangential velocity of every row, exactly zero where velocities cancel to within their rounding.

    Whether a contact approaches decides whether there is an impact at all, so its sign must not be left to a last bit.

    Parameters
    ----------
    dynamics : Dynamics
    posed : ContactProblem
        At one state.
    v : array, (n,)
        Generalised velocities of the state.

    Returns
    -------
    array, (r,)

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import contact_problem, derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 1.1, "phi_dot": 0.7, "slip.tip": -2})
    >>> contact_velocities(rod, contact_problem(rod, state), state.v).round(12).tolist()
    [0.0, -2.0]
    """
    terms = posed.terms
    gamma = np.zeros(posed.n_rows)
    for element in posed.elements:
        if element.name in dynamics.contacts:
            gamma[element.rows[0]] = terms.gap_dot[dynamics.contacts.index(element.name)]
        elif element.normal is not None:
            gamma[element.rows[0]] = terms.constraint_dot[dynamics.rigid.index(element.name)]
        gamma[list(element.tangential)] = terms.slip[dynamics.columns.get(element.name, slice(0, 0))]
    return without_rounding(gamma, posed.W, v)


def without_rounding(gamma: NDArray[Any], W: NDArray[Any], v: NDArray[Any]) -> NDArray[np.float64]:
    """Contact velocities (..., r) along directions (..., n, r), exactly zero where they cancel to their rounding.

    Parameters
    ----------
    gamma : array, (..., r)
    W : array, (..., n, r)
    v : array, (..., n)

    Returns
    -------
    array, (..., r)
    """
    across = np.swapaxes(W, -1, -2)
    drift = np.abs(gamma - (across @ v[..., None])[..., 0])
    summands = (np.abs(across) @ np.abs(v)[..., None])[..., 0] + drift
    return np.asarray(np.where(np.abs(gamma) <= _ROUNDING * summands, 0.0, gamma))
