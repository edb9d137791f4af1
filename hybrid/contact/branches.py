"""Consistent modes as they are reported: forces, accelerations, margins, and the laws of contact at those numbers.

The set of contact forces where accelerations are unique and forces are not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.candidates import mode_of, of_either_limit
from hybrid.contact.modes import ActiveElement, ContactMode, ElementKind, Mode
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from hybrid.contact.candidates import Candidate
    from hybrid.contact.conditions import Scale
    from hybrid.contact.problem import ContactProblem
    from hybrid.contact.solutions import PhysicalSolution
    from hybrid.tolerances import Tolerances

__all__ = [
    "Branch",
    "ContactAcceleration",
    "ForceSet",
    "Slack",
    "branch",
    "branch_from_forces",
    "broken_law",
    "continuum_set",
    "distinct_labels",
    "force_names",
    "force_set",
]


@attrs.frozen(eq=False)
class ForceSet:
    """All contact forces of a hyperstatic solution, or of a continuum of accelerations.

    Attributes
    ----------
    names : tuple of str
        The force components, ``"lambda_N.floor"`` and so on.
    dimension : int
        Dimension of the set.
    vertices, rays : array, (number, r)
    kernel : tuple of tuple of Fraction, (number, r)
        Of several spatial contacts at rest: changes of the forces that are proved to change no acceleration,
        with the largest entry 1 or -1.
    """

    names: tuple[str, ...]
    dimension: int
    vertices: NDArray[np.float64]
    rays: NDArray[np.float64]
    kernel: tuple[tuple[Fraction, ...], ...] = ()

    def describe(self) -> str:
        """The rest of a sentence about a continuum of accelerations.

        Returns
        -------
        str
        """
        known = "has a continuum of forces with different accelerations, of which the extreme points are listed"
        for ray in self.rays:
            terms = [f"{name} {value:+.6g}" for name, value in zip(self.names, ray, strict=True) if value]
            known += f"; the forces may grow without bound along {', '.join(terms)}"
        return known


def force_set(problem: ContactProblem, group: Sequence[PhysicalSolution]) -> ForceSet | None:
    """All forces of the only acceleration; None if they are unique.

    Parameters
    ----------
    problem : ContactProblem
    group : sequence of PhysicalSolution
        The solutions that share the acceleration.

    Returns
    -------
    ForceSet or None
    """
    families = [solution.leading.family for solution in group if solution.leading.family is not None]
    if len(group) == 1 and not families:
        return None
    points = [solution.leading.forces[None] for solution in group if solution.leading.family is None]
    return _set_of_forces(
        problem,
        max((family.dimension for family in families), default=0),
        np.vstack([*points, *(family.vertices for family in families)]),
        np.vstack([np.zeros((0, problem.n_rows)), *(family.rays for family in families)]),
    )


def _set_of_forces(
    problem: ContactProblem, dimension: int, vertices: NDArray[np.float64], rays: NDArray[np.float64]
) -> ForceSet:
    """A set of contact forces from vertices and rays (number, r) in the order of the rows, each once."""
    return ForceSet(force_names(problem), dimension, _distinct(vertices + problem.mean), _distinct(_normalised(rays)))


def continuum_set(problem: ContactProblem, item: Candidate, scale: Scale, tolerances: Tolerances) -> ForceSet:
    """All contact forces of a continuum of accelerations.

    Parameters
    ----------
    problem : ContactProblem
    item : Candidate
        The family.
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    ForceSet
    """
    from hybrid.contact.families import extreme_points  # few modes have a continuum

    family, corners = item.family, extreme_points(problem, item, scale, tolerances)
    return _set_of_forces(
        problem,
        0 if family is None else family.dimension,
        np.array([corner.forces for corner in corners]),
        np.zeros((0, problem.n_rows)) if family is None else family.rays,
    )


def force_names(problem: ContactProblem) -> tuple[str, ...]:
    """Names of the force components, in the order of the problem's rows.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    tuple of str
        ``"lambda_N.floor"``, ``"lambda_T.floor"``, in space ``"lambda_T.floor.1"``; r of them.
    """
    names: list[str] = []
    for element in problem.elements:
        names += [] if element.normal is None else [f"lambda_N.{element.name}"]
        count = len(element.tangential)
        names += [f"lambda_T.{element.name}" + (f".{axis + 1}" if count > 1 else "") for axis in range(count)]
    return tuple(names)


_SAME = NOTHING  # of the largest force; vertices reached from two modes differ by the tolerance of their inequalities


def _distinct(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every point once, without negative zeros."""
    size = float(np.max(np.abs(points), initial=0.0))
    kept: list[NDArray[np.float64]] = []
    for point in np.where(np.abs(points) <= _SAME * size, 0.0, points):
        if not any(np.max(np.abs(point - other)) <= _SAME * size for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, points.shape[1])


def _normalised(rays: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rays with largest component 1."""
    largest = np.max(np.abs(rays), axis=1, keepdims=True, initial=np.finfo(float).tiny)
    return np.asarray(rays / largest)


@attrs.frozen
class Slack:
    """One inequality of a mode with its value.

    Attributes
    ----------
    contact : str
    inequality : str
        For example ``"lambda_N >= 0"``.
    value : float
        By how much it holds, in physical units.
    scaled : float
        The same in units of the problem's data.
    """

    contact: str
    inequality: str
    value: float
    scaled: float


@attrs.frozen
class ContactAcceleration:
    """Acceleration of one contact.

    Attributes
    ----------
    normal : float
        Rate of the normal velocity, m/s^2 where the gap is a length.
    tangential : tuple of float
        Rate of the slip: none, one or two components.
    """

    normal: float
    tangential: tuple[float, ...]


@attrs.frozen(eq=False)
class Branch:
    """One physical solution of the contact problem.

    Attributes
    ----------
    mode : Mode
        Labels of all contacts; an open contact is ``free``.
    equivalent_modes : tuple of Mode
        Further modes with the same forces (the state lies on their common boundary).
    lambda_N : mapping of str to float
        Normal force of every contact.
    lambda_T : mapping of str to tuple of float
        Tangential force of every force element with friction.
    acceleration : array, (n,)
        Generalised accelerations.
    contact_acceleration : mapping of str to ContactAcceleration
    slacks : tuple of Slack
        Inequalities of the mode.
    margin : float
        Smallest scaled slack or, if smaller, the determinant of the mode's equations, each scaled to length 1.
    force_set : ForceSet or None
        All contact forces that go with the acceleration, where it leaves them open; those above are one of them.
    """

    mode: Mode
    equivalent_modes: tuple[Mode, ...]
    lambda_N: Mapping[str, float]
    lambda_T: Mapping[str, tuple[float, ...]]
    acceleration: NDArray[np.float64]
    contact_acceleration: Mapping[str, ContactAcceleration]
    slacks: tuple[Slack, ...]
    margin: float
    force_set: ForceSet | None = None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """All modes that give its accelerations, the leading one first."""
        return (self.mode, *self.equivalent_modes)


def branch(problem: ContactProblem, solution: PhysicalSolution, *, force_set: ForceSet | None = None) -> Branch:
    """Report one physical solution.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    solution : PhysicalSolution
    force_set : ForceSet, optional
        Of the forces of its acceleration, where they are not unique.

    Returns
    -------
    Branch
    """
    item = solution.leading
    mode = mode_of(problem, item)
    others = [mode_of(problem, member) for member in solution.members[1:]]
    limited = {element.name for element in problem.elements if element.normal is None}
    labels = [
        (name, of_either_limit(problem, name, inequality) if name in limited else inequality)
        for name, inequality in item.labels
    ]
    values = zip(labels, item.slacks, item.scaled_slacks, strict=True)
    return _branch(
        problem,
        item.forces,
        mode,
        equivalent_modes=tuple(dict.fromkeys(other for other in others if other != mode)),
        slacks=tuple(Slack(name, inequality, value, scaled) for (name, inequality), value, scaled in values),
        margin=item.margin,
        force_set=force_set,
    )


def branch_from_forces(problem: ContactProblem, forces: NDArray[np.float64], mode: Mode) -> Branch:
    """The branch of given contact forces, without slacks and margin.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    forces : array, (r,)
        In the order of the problem's rows, in physical units.
    mode : Mode

    Returns
    -------
    Branch
        Its margin is NaN: no inequality was evaluated.
    """
    return _branch(problem, forces, mode, equivalent_modes=(), slacks=(), margin=float("nan"))


def _branch(problem: ContactProblem, forces: NDArray[np.float64], mode: Mode, **rest: Any) -> Branch:
    acceleration, values = problem.acceleration(forces), (forces + problem.mean).tolist()
    lambda_N = dict.fromkeys(problem.names[: problem.terms.gap.shape[-1]], 0.0)  # of open contacts, too
    lambda_T: dict[str, tuple[float, ...]] = {}
    for element in problem.elements:
        if element.normal is not None:
            lambda_N[element.name] = values[element.normal] + 0.0  # no negative zeros
        if element.tangential:
            lambda_T[element.name] = tuple(values[row] + 0.0 for row in element.tangential)
    return Branch(
        mode=mode,
        lambda_N={name: lambda_N[name] for name in problem.names if name in lambda_N},
        lambda_T=lambda_T,
        acceleration=acceleration,
        contact_acceleration=_contact_accelerations(problem, acceleration),
        **rest,
    )


def _contact_accelerations(
    problem: ContactProblem, acceleration: NDArray[np.float64]
) -> dict[str, ContactAcceleration]:
    terms = problem.terms
    normal = (acceleration @ terms.W_N + terms.zeta_N + 0.0).tolist()
    tangential = (acceleration @ terms.W_T + terms.zeta_T + 0.0).tolist()
    return {
        name: ContactAcceleration(
            normal[index] if index < len(normal) else 0.0, tuple(tangential[problem.columns.get(name, slice(0, 0))])
        )
        for index, name in enumerate(problem.names)
    }


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
    rates = ((branch.acceleration - problem.a_free) @ problem.W + problem.c).tolist()
    units, size, mean = scale.row.tolist(), float(scale.size), problem.mean.tolist()
    for element in problem.elements:
        normal = [] if element.normal is None else [branch.lambda_N[element.name]]
        rows, reported = element.rows, [*normal, *branch.lambda_T.get(element.name, ())]
        forces = [force - mean[row] for force, row in zip(reported, rows, strict=True)]
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


def distinct_labels(branches: Sequence[Branch]) -> list[str]:
    """Labels of modes, with what tells apart those that share one: directions in space, sides to which guides press.

    Parameters
    ----------
    branches : sequence of Branch

    Returns
    -------
    list of str
        ``"slide+ (rail: N < 0)"``.
    """
    alike: dict[str, list[Branch]] = {}
    for item in branches:
        alike.setdefault(item.mode.label, []).append(item)
    same = [(item.mode.label, item, alike[item.mode.label]) for item in branches]
    return [label if len(of) == 1 else f"{label} ({', '.join(_particulars(item, of))})" for label, item, of in same]


def _particulars(item: Branch, alike: Sequence[Branch]) -> list[str]:
    """Where spatial slips tend, as angles from the first tangent, and normal forces of guides whose signs differ."""
    angles = [
        f"{name} towards {math.degrees(math.atan2(-force[1], -force[0])):.6g} degrees"
        for name, force in item.lambda_T.items()
        if item.mode[name] is ContactMode.SLIDE
    ]
    signs = {name: {other.lambda_N[name] < 0.0 for other in alike} for name in item.lambda_N}
    pressing = {name: "<" if item.lambda_N[name] < 0.0 else ">" for name, both in signs.items() if len(both) > 1}
    return angles + [f"{name}: N {sign} 0" for name, sign in pressing.items()]
