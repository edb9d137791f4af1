"""How long the fast oscillation of a contact mode takes to die out, so that its forces can be compared."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hybrid.contact.modes import ActiveElement, ContactMode, ElementKind
from hybrid.tolerances import NOTHING, ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.branches import Branch
    from hybrid.contact.problem import ContactProblem

__all__ = ["decay_rate", "settling_time"]

_SETTLED = -math.log(NOTHING)  # times the time constant: what is left of the oscillation is not shown
_DEPENDENT = ROUNDING  # mobilities, and eigenvalues, below this share of the largest are rounding


def settling_time(problem: ContactProblem, branch: Branch, damping: float | None) -> float:
    """Fast time until the oscillation of a mode is too small to show.

    Parameters
    ----------
    problem : ContactProblem
    branch : Branch
        Its solution.
    damping : float or None
        In place of the declared one.

    Returns
    -------
    float
        Infinite if the oscillation does not die out.
    """
    rate = decay_rate(problem, branch, damping)
    return _SETTLED / rate if rate > 0.0 else math.inf


def decay_rate(problem: ContactProblem, branch: Branch, damping: float | None) -> float:
    """Slowest rate, per fast time, at which the compliant contacts of a mode approach their rigid forces.

    In the mode the normal velocities have the rates ``A f`` with ``f = -kappa Y - 2 d sqrt(kappa) Y'``; the rate is the
    least of the real parts of the eigenvalues, counted positive.

    Parameters
    ----------
    problem : ContactProblem
    branch : Branch
        Its solution.
    damping : float or None
        In place of the declared one.

    Returns
    -------
    float
        Infinite if no contact presses.
    """
    elements = [c for c in problem.elements if branch.mode.get(c.name) is not ContactMode.FREE]
    pressing = [c for c in elements if c.kind is ElementKind.CONTACT and branch.lambda_N.get(c.name, 0.0) > 0.0]
    if not pressing:
        return math.inf
    normals = [c.rows[0] for c in pressing]
    driven = np.column_stack([_force(problem, branch, c) for c in pressing])
    bilateral = [c for c in elements if c.kind is ElementKind.BILATERAL]
    held = [row for c in elements if branch.mode[c.name] is ContactMode.STICK for row in c.tangential]
    holding = [*(_force(problem, branch, c) for c in bilateral), *np.eye(len(problem.G))[held]]
    rows = [*(c.rows[0] for c in bilateral), *held]
    if rows:
        columns = np.column_stack(holding)
        block = problem.G[rows] @ columns
        driven -= columns @ np.linalg.lstsq(block, problem.G[rows] @ driven, rcond=_DEPENDENT)[0]
    A = (problem.G @ driven)[normals]
    index = [problem.names.index(c.name) for c in pressing]
    kappa = problem.terms.stiffness_ratio[index]
    d = problem.terms.damping[index] if damping is None else np.full(len(index), damping)
    return _slowest(A, kappa, 2 * d * np.sqrt(kappa))


def _force(problem: ContactProblem, branch: Branch, element: ActiveElement) -> NDArray[np.float64]:
    """Forces by row, (r,), per normal force of a force element: with its friction if it slides."""
    found, normal = np.zeros(len(problem.G)), branch.lambda_N.get(element.name, 0.0)
    found[element.rows[0]] = 1.0
    if branch.mode[element.name] is not ContactMode.STICK and element.tangential and normal:
        found[list(element.tangential)] = np.array(branch.lambda_T[element.name]) / normal
    return found


def _slowest(A: NDArray[np.float64], kappa: NDArray[np.float64], damper: NDArray[np.float64]) -> float:
    k = len(A)
    found = np.linalg.eigvals(np.block([[np.zeros((k, k)), np.eye(k)], [-A * kappa, -A * damper]]))
    # contacts that hold each other cannot move one by one: what is left of them does not move at all
    moving = found[np.abs(found) > _DEPENDENT**0.5 * np.max(np.abs(found))]
    rate = -float(np.max(moving.real))
    return rate if rate > _DEPENDENT * float(np.max(np.abs(found))) else 0.0
