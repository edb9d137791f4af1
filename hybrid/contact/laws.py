"""The laws of contact and friction at the numbers that are reported."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

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
    rates = (problem.W.T @ (branch.acceleration - problem.a_free) + problem.c).tolist()
    units, size = scale.row.tolist(), float(scale.size)
    for element in problem.elements:
        normal = [] if element.normal is None else [branch.lambda_N[element.name]]
        forces, rows = [*normal, *branch.lambda_T.get(element.name, ())], element.rows
        found = _Reported(element, forces, [rates[row] for row in rows], [units[row] for row in rows], size)
        if sentence := found.broken(tolerances.merge):
            return f"{element.name} {sentence} in mode {branch.mode.label} as it is reported"
    return ""


@attrs.frozen(eq=False)
class _Reported:
    """Forces and accelerations of one force element along its rows, with the units of both."""

    element: ActiveElement
    forces: Sequence[float]
    rates: Sequence[float]
    units: Sequence[float]
    size: float

    def broken(self, merge: float) -> str:
        """What is wrong with them; empty if nothing is."""
        element = self.element
        x = [force * unit / self.size for force, unit in zip(self.forces, self.units, strict=True)]
        y = [rate / (unit * self.size) for rate, unit in zip(self.rates, self.units, strict=True)]
        limit = merge * (1.0 + max(map(abs, x), default=0.0))
        if not all(map(math.isfinite, (*x, *y))):
            return "has forces or accelerations that are not finite"
        if element.normal is not None:
            presses = abs(x[0]) > limit
            if element.kind is ElementKind.CONTACT and x[0] < -limit:
                return "pulls"
            if abs(y[0]) > merge and (presses or y[0] < 0 or element.kind is ElementKind.BILATERAL):
                return "approaches" if y[0] < 0 else "separates under a force"
        return self._broken_friction(merge, limit) if element.tangential else ""

    def _broken_friction(self, merge: float, limit: float) -> str:
        element, start = self.element, int(self.element.normal is not None)
        bearing = abs(self.forces[0]) if start else 1.0  # the coefficients of an element are forces
        kinetic, static = float(element.friction), float(element.static_friction)
        friction, slack = self.forces[start:], limit * self.size / min(self.units)
        if math.hypot(*friction) > bearing * static + slack * (1 + static):
            return "bears more friction than it can"
        motion = self.rates[start:] if element.direction is None else list(map(float, element.direction))
        speed, least = math.hypot(*motion), merge * self.size * max(self.units[start:])
        if element.direction is None and speed <= least:
            return ""
        # the direction of a small acceleration is known to the share of its rounding only
        blur = 0.0 if element.direction is not None else least / speed
        missing = [force + kinetic * bearing * rate / speed for force, rate in zip(friction, motion, strict=True)]
        if math.hypot(*missing) > slack * (1 + kinetic) + blur * bearing * kinetic:
            return "slips without its friction"
        return ""
