"""The laws of contact and friction at the numbers that are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.active_elements import ActiveElement, ElementKind

if TYPE_CHECKING:
    from hybrid.contact.branches import Branch
    from hybrid.contact.conditions import Scale
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

__all__ = ["broken_law"]


def broken_law(problem: ContactProblem, branch: Branch, scale: Scale, tolerances: Tolerances) -> str:
    """The law that the forces and accelerations of a branch break, in words; empty if they satisfy all.

    Accelerations are those that the reported accelerations of the mechanism give, not those that an equation demands:
    forces far above the data leave only their rounding.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    branch : Branch
    scale : Scale
        Of the problem.
    tolerances : Tolerances
        A law holds to the share ``merge`` of the data and of the force element's own force.

    Returns
    -------
    str
    """
    rates = problem.W.T @ (branch.acceleration - problem.a_free) + problem.c
    for element in problem.elements:
        normal = [] if element.normal is None else [branch.lambda_N[element.name]]
        forces = np.array([*normal, *branch.lambda_T.get(element.name, ())])
        sentence = _broken(element, forces, rates[list(element.rows)], scale, tolerances.merge)
        if sentence:
            return f"{element.name} {sentence} in mode {branch.mode.label} as it is reported"
    return ""


def _broken(
    element: ActiveElement, forces: NDArray[np.float64], rates: NDArray[np.float64], scale: Scale, merge: float
) -> str:
    unit = scale.row[list(element.rows)]
    x, y = forces * unit / scale.size, rates / (unit * scale.size)
    limit = merge * (1.0 + float(np.max(np.abs(x), initial=0.0)))
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        return "has forces or accelerations that are not finite"
    if element.normal is not None:
        presses = abs(x[0]) > limit
        if element.kind is ElementKind.CONTACT and x[0] < -limit:
            return "pulls"
        if abs(y[0]) > merge and (presses or y[0] < 0 or element.kind is ElementKind.BILATERAL):
            return "approaches" if y[0] < 0 else "separates under a force"
    return _broken_friction(element, forces, rates, limit * scale.size / unit, merge * unit * scale.size)


def _broken_friction(
    element: ActiveElement,
    forces: NDArray[np.float64],
    rates: NDArray[np.float64],
    force_limit: NDArray[np.float64],
    rate_limit: NDArray[np.float64],
) -> str:
    start = int(element.normal is not None)
    if not element.tangential:
        return ""
    bearing = abs(float(forces[0])) if start else 1.0  # the coefficients of an element are forces
    friction, slack = forces[start:], float(np.max(force_limit))
    if np.linalg.norm(friction) > bearing * float(element.static_friction) + slack * (1 + element.static_friction):
        return "bears more friction than it can"
    motion = np.array(element.direction if element.direction is not None else rates[start:], dtype=float)
    speed = float(np.linalg.norm(motion))
    if element.direction is None and speed <= float(np.max(rate_limit[start:])):
        return ""
    # the direction of a small acceleration is known to the share of its rounding only
    blur = 0.0 if element.direction is not None else float(np.max(rate_limit[start:])) / speed
    missing = friction + float(element.friction) * bearing * motion / speed
    if np.linalg.norm(missing) > slack * (1 + element.friction) + blur * bearing * element.friction:
        return "slips without its friction"
    return ""
