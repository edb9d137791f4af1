"""Which linear conditions hold in a joint complementarity problem of an impact that has been solved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.impulse_stage import Condition, ImpactSite, idle_conditions
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.carriers import CarrierKind

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem

__all__ = ["NOTHING", "Complementarity", "conditions_of", "contact_places"]

Array = NDArray[np.float64]

NOTHING = 1e-9  # of the largest impulse or velocity: below it one side of a complementarity cannot be told


def contact_places(site: ImpactSite, problem: ImpactProblem) -> list[tuple[int, int | None]]:
    """Contact, or rigid constraint, and tangential column of every carrier of an impact problem."""
    dynamics = site.partials.dynamics
    places = []
    for carrier in problem.carriers:
        columns = dynamics.columns.get(carrier.name)
        names = dynamics.contacts if carrier.kind is CarrierKind.CONTACT else dynamics.rigid
        places.append((names.index(carrier.name), None if columns is None else columns.start))
    return places


@attrs.frozen(eq=False)
class Complementarity:
    """One joint problem over all closed contacts, solved: what tells which of its conditions hold.

    Attributes
    ----------
    values : array, (r,)
        Impulses by row of the problem.
    gamma : array, (r,)
        Contact velocities at the end, shifted as in the law.
    preload : array, (c,)
        Given normal impulses.
    """

    values: Array
    gamma: Array
    preload: Array


def conditions_of(
    site: ImpactSite,
    problem: ImpactProblem,
    solved: Complementarity,
    targets: Sequence[tuple[float, Array | None]],
    preloads: Sequence[tuple[float, Array | None]],
) -> list[list[Condition]]:
    """The linear conditions that hold in a joint problem; several lists where a contact is on the edge of two.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    solved : Complementarity
    targets, preloads : sequence of (value, derivative)
        Normal velocity at the end, and least normal impulse, of every carrier.

    Returns
    -------
    list of list of Condition
    """
    force = NOTHING * max(float(np.max(np.abs(solved.values), initial=0.0)), 1e-300)
    speed = NOTHING * max(float(np.max(np.abs(problem.gamma), initial=0.0)), 1e-300)
    choices: list[list[list[Condition]]] = []
    taking_part: set[int] = set()
    tangential: set[int] = set()
    for place, (carrier, (contact, column)) in enumerate(
        zip(problem.carriers, contact_places(site, problem), strict=True)
    ):
        if carrier.kind is not CarrierKind.CONTACT and column is not None:
            tangential.add(column)
            found = _constraint_conditions(problem, solved, place, contact, column, (force, speed))
            choices.append([[condition] for condition in found])
            continue
        taking_part.add(contact)
        normal_impulse = solved.values[carrier.rows[0]]
        pressing, apart = normal_impulse - solved.preload[place] > force, solved.gamma[carrier.rows[0]] > speed
        held = Condition("gap_dot", contact, *targets[place])
        given = Condition("impulse_N", contact, *preloads[place])
        normals = [held] if pressing and not apart else [given] if apart and not pressing else [held, given]
        if column is None:
            choices.append([[normal] for normal in normals])
            continue
        tangential.add(column)
        friction = _friction_conditions(problem, solved, place, contact, column, (force, speed))
        choices.append([[normal, condition] for normal in normals for condition in friction])
    others = idle_conditions(site, taking_part, tangential)
    return [[*others, *(item for pair in combination for item in pair)] for combination in product(*choices)]


def _friction_conditions(
    problem: ImpactProblem, solved: Complementarity, place: int, contact: int, column: int, floors: tuple[float, float]
) -> list[Condition]:
    carrier = problem.carriers[place]
    force, speed = floors
    normal, along = solved.values[carrier.rows[0]], solved.values[carrier.tangential[0]]
    slip, mu = solved.gamma[carrier.tangential[0]], float(carrier.friction)
    if normal <= force:
        return [Condition("impulse_T", column)]
    if abs(slip) > speed:
        return [Condition("coulomb", column, float(np.sign(slip)), contact=contact)]
    if mu * normal <= force:
        return [Condition("impulse_T", column)]
    stick = Condition("slip", column)
    if abs(along) < mu * normal - force:
        return [stick]
    return [stick, Condition("coulomb", column, -float(np.sign(along)), contact=contact)]


def _constraint_conditions(
    problem: ImpactProblem, solved: Complementarity, place: int, index: int, column: int, floors: tuple[float, float]
) -> list[Condition]:
    """Friction of a rigid constraint, in proportion to the size of its impulse, which may have either sign."""
    carrier = problem.carriers[place]
    force, speed = floors
    normal, along = float(solved.values[carrier.rows[0]]), float(solved.values[carrier.tangential[0]])
    slip, mu = float(solved.gamma[carrier.tangential[0]]), float(carrier.friction)
    if np.max(np.abs(problem.G @ solved.values)) <= speed:
        return [Condition("impulse_T", column)]  # nothing happens
    if abs(slip) <= speed and abs(along) < mu * abs(normal) - force:
        return [Condition("slip", column)]
    if abs(slip) <= speed or abs(normal) <= force:
        raise NoDerivative(f"friction of the constraint {carrier.name!r} is on its edge in the impact", is_proven=False)
    return [Condition("coulomb_B", column, float(np.sign(slip) * np.sign(normal)), contact=index)]
