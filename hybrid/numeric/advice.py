"""What would raise the critical factor of a frame: its derivatives by friction, masses and posture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.numeric.critical import least_factor, sliding_problem
from hybrid.numeric.posing import TOUCHING, states_of
from hybrid.tolerances import CENTRAL_STEP

if TYPE_CHECKING:
    from hybrid.numeric.critical import SlidingProblem
    from hybrid.numeric.frames import AbstractBackend, Frame
    from hybrid.numeric.posing import PosedFrame, Thresholds

__all__ = ["FactorGradient", "factor_gradient"]

Array = NDArray[np.float64]

_STEP = CENTRAL_STEP  # relative, or rad or m: differences lose 1e-10 of a smooth function and some 1e-11 by rounding


@attrs.frozen
class FactorGradient:
    """Derivatives of the critical factor of one frame.

    Attributes
    ----------
    friction : dict of str to float
        By a relative change of the friction of each contact.
    mass : dict of str to float
        By a relative change of mass and inertia of each body.
    posture : dict of str to float
        By a change of each velocity's coordinate, per m or rad; not of those at whose change a contact is lost.
    """

    friction: dict[str, float]
    mass: dict[str, float]
    posture: dict[str, float]


def factor_gradient(
    backend: AbstractBackend, row: Mapping[str, Array], posed: PosedFrame, thresholds: Thresholds
) -> FactorGradient | None:
    """Central differences of the critical factor of a frame whose contacts all slip.

    Parameters
    ----------
    backend : AbstractBackend
    row : mapping of str to array
        Columns of the log at the frame, with the velocities that the problem was posed with.
    posed : PosedFrame
    thresholds : Thresholds

    Returns
    -------
    FactorGradient or None
        None where no minor becomes negative.
    """
    problem = _problem(posed, thresholds, backend.name)
    if not np.isfinite(least_factor(problem.G_NN, problem.pushed)[0]):
        return None
    friction = {}
    for k, contact in enumerate(posed.contacts):
        if contact.W_T is not None:
            ends = []
            for sign in (1.0, -1.0):
                pushed = np.array(problem.pushed)
                pushed[:, k] *= 1.0 + sign * _STEP
                ends.append(float(least_factor(problem.G_NN, pushed)[0]))
            friction[contact.name] = (ends[0] - ends[1]) / (2 * _STEP)
    mass, posture = {}, {}
    for body in backend.bodies:
        ends = [
            _factor(
                backend.frame(row, near=thresholds.gap, mass={body: 1.0 + sign * _STEP}),
                posed,
                thresholds,
                backend.name,
            )
            for sign in (1.0, -1.0)
        ]
        mass[body] = (ends[0] - ends[1]) / (2 * _STEP)
    near = thresholds.gap + TOUCHING
    for k, name in enumerate(backend.velocities):
        unit = np.zeros(len(backend.velocities))
        unit[k] = _STEP
        ends = [
            _factor(backend.frame(backend.moved(row, sign * unit), near=near), posed, thresholds, name)
            for sign in (1.0, -1.0)
        ]
        slope = (ends[0] - ends[1]) / (2 * _STEP)
        if np.isfinite(slope):
            posture[name] = slope
    return FactorGradient(friction, mass, posture)


def _problem(posed: PosedFrame, thresholds: Thresholds, name: str) -> SlidingProblem:
    return sliding_problem(states_of([posed], thresholds, name).at(0), contacts=tuple(range(len(posed.contacts))))


def _factor(frame: Frame, posed: PosedFrame, thresholds: Thresholds, name: str) -> float:
    """The factor of the same contacts in another frame; NaN where one of them is gone."""
    known = {contact.name: contact for contact in frame.contacts}
    if not all(contact.name in known for contact in posed.contacts):
        return float("nan")
    contacts = tuple(known[contact.name] for contact in posed.contacts)
    problem = _problem(attrs.evolve(posed, frame=frame, contacts=contacts), thresholds, name)
    return float(least_factor(problem.G_NN, problem.pushed)[0])
