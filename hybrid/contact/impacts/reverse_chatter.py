"""Reverse chatter: impacts that grow out of a closed contact at rest, so that its future is not unique."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.contact.impacts.impact import ImpactProblem
from hybrid.contact.impacts.laws import NewtonImpact
from hybrid.contact.modes import ElementKind
from hybrid.dynamics.crossing import crossing
from hybrid.tolerances import CLEAR, NOTHING, ROUNDING, SUMMED

if TYPE_CHECKING:
    from collections.abc import Callable

    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.contact.problem import ContactProblem

Array = NDArray[np.float64]

_TIED = ROUNDING  # of a Delassus operator: slip and normal velocity are one freedom
_GROWS = NOTHING  # growth per impact that is more than rounding
_ANGLES = 32  # directions of departure looked at, before roots are refined
_STOPPED = ROUNDING  # slip over normal velocity of a contact whose slip stops: rounding of an impact
_FLAT = CLEAR  # angle from the surface below which a departure is no flight


@attrs.frozen
class ReverseChatter:
    """A sequence of impacts whose beginning accumulates at a state (a right accumulation of impacts).

    Attributes
    ----------
    contact : str
    ratio : float
        Of the normal velocity after an impact to that after the impact before; above 1.
    slip_ratio : float
        Slip over normal velocity after every impact.
    """

    contact: str
    ratio: float
    slip_ratio: float

    def __str__(self) -> str:
        return (
            f"reverse chatter is possible at {self.contact!r}: besides the motion that stays closed there is one whose "
            f"impacts grow from nothing by the factor {self.ratio:.6g} each"
        )


@checks_arguments
def reverse_chatter(problem: ContactProblem, law: AbstractImpactLaw) -> ReverseChatter | None:
    """Whether impacts can grow out of a closed planar contact at rest.

    Near such a state velocities may be scaled: flights are parabolas of constant free acceleration ``c`` with
    ``c_N < 0``, and an impact law is homogeneous. A flight that departs with slip ``x`` per unit of normal velocity
    arrives with ``(-1, x + 2 c_T / abs(c_N))``; the law turns that into ``(r, s)``, so the next flight departs with
    ``s / r``. Where ``s / r = x`` and ``r > 1`` the sequence of impacts, followed backwards in time, converges on the
    state (Nordmark, Dankowicz and Champneys 2011). Sequences that repeat after several impacts are not looked for.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    law : AbstractImpactLaw

    Returns
    -------
    ReverseChatter or None
        The one that grows most; None also where the question does not arise: several force elements of contact force, a
        contact that slips, is spatial, free of friction or moves on a given curve, flights that leave the slip alone
        (energy then only falls), Newton's law (``r = e``), and a law under which impacts give nothing back.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> from hybrid.contact import PoissonImpact, contact_problem, reverse_chatter
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> values = {"epsilon": 0.5, "mu": 2}
    >>> state = solve_state(rod, {"phi": "pi - atan(0.5)", "phi_dot": 0, "slip.tip": 0}, parameters=values)
    >>> found = reverse_chatter(contact_problem(rod, state, parameters=values), PoissonImpact(restitution=0.8))
    >>> round(found.ratio, 9), abs(round(found.slip_ratio, 9))
    (1.4, 0.0)
    """
    if not _arises(problem) or isinstance(law, NewtonImpact):
        return None
    bounce = _bounces(problem, law)
    if bounce(0.0)[0] == 0.0:
        return None
    angles = np.linspace(-np.pi / 2 + _FLAT, np.pi / 2 - _FLAT, _ANGLES).tolist()
    bounces = [bounce(math.tan(angle)) for angle in angles]
    if max(normal for normal, _ in bounces) <= 1.0:
        return None
    drifts = [math.atan2(slip, normal) - angle for (normal, slip), angle in zip(bounces, angles, strict=True)]
    steady = [0.0] if abs(_drift(bounce, 0.0)) <= _STOPPED else []
    for (low, before), (high, after) in pairwise(zip(angles, drifts, strict=True)):
        if before * after <= 0.0:
            steady.append(crossing(lambda angle: _drift(bounce, angle), low, high, xtol=SUMMED))
    sequences = [(bounce(math.tan(angle))[0], math.tan(angle)) for angle in steady]
    growing = [item for item in sequences if item[0] > 1.0 + _GROWS and _is_steady(bounce, item[1])]
    if not growing:
        return None
    ratio, slip_ratio = max(growing)
    return ReverseChatter(problem.elements[0].name, ratio, slip_ratio)


def _arises(problem: ContactProblem) -> bool:
    if len(problem.elements) != 1:
        return False
    element = problem.elements[0]
    if element.kind is not ElementKind.CONTACT or len(element.tangential) != 1 or not element.is_resting:
        return False
    (G_NN, G_NT), (_, G_TT) = problem.G
    if G_NN * G_TT - G_NT**2 <= _TIED * G_NN * G_TT:
        return False
    (c_N, c_T), (rounding, _) = problem.c, problem.rounding
    return bool(c_N < -rounding and abs(c_T) > _GROWS * abs(c_N))


def _bounces(problem: ContactProblem, law: AbstractImpactLaw) -> Callable[[float], tuple[float, float]]:
    """The map from the slip with which a flight of unit normal velocity departs to both velocities after it."""
    index = problem.names.index(problem.elements[0].name)
    restitution = np.atleast_1d(problem.terms.restitution[index])
    gain = 2 * float(problem.c[1]) / abs(float(problem.c[0]))

    def bounce(slip: float) -> tuple[float, float]:
        gamma = np.array([-1.0, slip + gain])
        after = gamma + problem.G @ law.impulses(ImpactProblem(problem, gamma, restitution)).values
        return max(float(after[0]), 0.0), float(after[1])

    return bounce


def _drift(bounce: Callable[[float], tuple[float, float]], angle: float) -> float:
    """By how much the direction of departure turns from one flight to the next."""
    normal, slip = bounce(math.tan(angle))
    return math.atan2(slip, normal) - angle


def _is_steady(bounce: Callable[[float], tuple[float, float]], slip: float) -> bool:
    """True if a departure repeats; a jump of the law also changes the sign of the drift."""
    return abs(_drift(bounce, math.atan(slip))) <= _FLAT
