"""A motion as frames to be drawn: points, surfaces and contact forces at instants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, DeclarationError, Problem
from hybrid.reporting.guides import GuideCurve, declared_guides, traced_curve
from hybrid.reporting.touching import Touching, drawn_points, touching
from hybrid.tolerances import CLEAR, LEAST, NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.declaration import Mechanism
    from hybrid.dynamics import Dynamics
    from hybrid.motion import Trajectory
    from hybrid.motion.numeric import Observation
    from hybrid.motion.recorded import Arc

__all__ = [
    "Force",
    "Scene",
    "Surface",
    "apart",
    "at_the_end",
    "build_scene",
    "constraint_forces",
    "forces_at",
    "observed",
    "require_drawing",
    "surface_at",
    "surfaces_at",
]

Array = NDArray[np.float64]

_FRAMES = 1200
_USUAL = 60.0  # per cent of the forces are no larger than the reference; a few are beyond all others
_STILL = CLEAR  # of the picture's size: a surface that moves less is at rest


@attrs.frozen(eq=False)
class Surface:
    """The surface of a contact or the guide of a constraint, one place for all frames if it is at rest.

    Attributes
    ----------
    contact : str
    at, normal : array, (N, d) or (1, d)
        A point of it below the touching point, and its normal of length 1, out of the solid.
    is_guide : bool
        It holds the point from both sides; of a curved one these are the tangents.
    """

    contact: str
    at: Array
    normal: Array
    is_guide: bool = False

    @property
    def is_still(self) -> bool:
        """True if it does not move."""
        return len(self.at) == 1


@attrs.frozen(eq=False)
class Force:
    """The force of a contact, friction element or rigid constraint on the drawing.

    Attributes
    ----------
    name, point : str
    vector : array, (N, d)
    """

    name: str
    point: str
    vector: Array


@attrs.frozen(eq=False)
class Scene:
    """Frames of a motion.

    Attributes
    ----------
    t : array, (N,)
        Instants, not decreasing; where two arcs meet it holds the instant twice, before and after.
    points : mapping of str to array, (N, d)
        With d = 2 or 3 axes.
    links : tuple of tuple of str
    surfaces : tuple of Surface
    curves : tuple of GuideCurve
        Curved guides and surfaces that stay where they are; they are not among ``surfaces``.
    forces : tuple of Force
    without_force : tuple of str
        Contacts, friction elements and rigid constraints whose forces, or tangential forces, act at no point of the
        drawing.
    size : float
        Diagonal of the box around all points of all frames.
    reference : float
        A force that more than half of all do not exceed, rounded up to 1, 2 or 5 times a power of ten.
    """

    t: Array
    points: Mapping[str, Array]
    links: tuple[tuple[str, ...], ...]
    surfaces: tuple[Surface, ...]
    curves: tuple[GuideCurve, ...]
    forces: tuple[Force, ...]
    without_force: tuple[str, ...]
    size: float
    reference: float


def require_drawing(mechanism: Mechanism) -> None:
    """The refusal of a mechanism without a drawing.

    Parameters
    ----------
    mechanism : Mechanism

    Returns
    -------
    None
        It has points to draw.

    Raises
    ------
    DeclarationError
        If it has none, with how to declare them.
    """
    if not mechanism.drawing.points:
        hint = (
            'declare them as [drawing] points = { tip = ["x", "y"], top = ["x + l*cos(phi)", "y + l*sin(phi)"] } '
            'and links = [["tip", "top"]]'
        )
        message = f"{mechanism.name} declares no points to draw"
        raise DeclarationError(Problem(message, "drawing", source=mechanism.source, hint=hint))


def build_scene(motion: Trajectory, *, frames: int = _FRAMES) -> Scene:
    """A motion sampled for drawing: evenly in time, and at the ends of every arc.

    Parameters
    ----------
    motion : Trajectory
    frames : int
        About so many, at most twice as many; where there are more arcs than that, some ends of arcs are left out.

    Returns
    -------
    Scene

    Raises
    ------
    DeclarationError
        The mechanism declares no points to draw.
    ComputationError
        A point has no place at some instant.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, simulate, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})
    >>> scene = build_scene(simulate(rod, start, t_end=1))
    >>> scene.surfaces[0].is_still, scene.forces[0].point
    (True, 'tip')
    """
    require_drawing(motion.dynamics.mechanism)
    dynamics, parameters = motion.dynamics, motion.parameters
    t, q, v, lambda_N, lambda_T, lambda_B = _frames(motion, frames)
    points = drawn_points(dynamics, q, t, parameters)
    for name, place in points.items():
        lost = ~np.isfinite(place).all(axis=1)
        if lost.any():
            raise ComputationError(f"{dynamics.name}: the point {name!r} has no place at t = {t[lost][0]:.12g}")
    size = float(np.linalg.norm(np.ptp(np.concatenate(list(points.values())), axis=0))) or 1.0
    found = touching(dynamics, q, v, t, parameters=parameters)
    gap = dynamics.terms(q, v, t=t, parameters=parameters).gap
    surfaces = surfaces_at(dynamics, found, points, gap, size)
    bent = {item.contact: found[item.contact].points[0] for item in surfaces if not item.is_still}
    curves = _curves(motion, points, bent, q, t, size)
    known = {curve.name for curve in curves}
    surfaces = [item for item in surfaces if item.contact not in known]
    pressing = dict(zip((*dynamics.contacts, *dynamics.rigid), (*lambda_N, *lambda_B), strict=True))
    forces: list[Force] = []
    for name, acting in found.items():
        normal = pressing.get(name, np.zeros(len(t)))
        tangential = lambda_T[dynamics.columns[name]].T if name in dynamics.columns else np.zeros((len(t), 0))
        forces += forces_at(acting, normal, tangential)
    lacking = tuple(
        name
        for name in dict.fromkeys((*dynamics.contacts, *dynamics.elements, *dynamics.columns, *dynamics.rigid))
        if name not in dynamics.mechanism.drawing.stops
        and (name not in found or found[name].tangents.shape[1] != dynamics.dimension(name))
    )
    links, reference = dynamics.mechanism.drawing.links, _reference_force(forces)
    return Scene(t, points, links, tuple(surfaces), curves, tuple(forces), lacking, size, reference)


def _curves(
    motion: Trajectory, points: Mapping[str, Array], bent: Mapping[str, str], q: Array, t: Array, size: float
) -> tuple[GuideCurve, ...]:
    """Guides as declared, and of a plane drawing those that can be traced; ``bent`` has their points by name."""
    dynamics, parameters = motion.dynamics, motion.parameters
    declared = declared_guides(dynamics, q, float(t[0]), size=size, parameters=parameters)
    places = np.concatenate(list(points.values()))
    if places.shape[1] != 2 or len(t) < 2:
        return declared
    box = places.min(axis=0), places.max(axis=0)
    traced = [traced_curve(dynamics, name, point, q, t, box=box, parameters=parameters) for name, point in bent.items()]
    return (*declared, *(curve for curve in traced if curve is not None))


def constraint_forces(motion: Trajectory, arc: Arc, t: Array, q: Array, v: Array, seen: Observation) -> Array:
    """Normal forces of rigid constraints: what is left of ``M v' - h`` by the contact forces, along ``J``.

    Parameters
    ----------
    motion : Trajectory
    arc : Arc
        The part of the motion in which the instants are.
    t : array, (N,)
    q, v : array, (N, n)
    seen : Observation
        Accelerations and contact forces at these instants.

    Returns
    -------
    array, (N, m)
        Of all constraints that are rigid in the motion's mechanism, in units of the force; NaN for those in whose place
        there is a spring.
    """
    dynamics, names = motion.dynamics_at(arc.start), motion.dynamics.rigid
    forces = np.full((len(t), len(names)), np.nan)
    kept = [column for column, name in enumerate(names) if name in dynamics.rigid]
    if not kept:
        return forces
    terms = dynamics.terms(q, v, t=t, parameters=motion.parameters)
    a = seen.acceleration.T
    left = (terms.M @ a[..., None])[..., 0] - terms.h
    friction = seen.lambda_T.T - terms.mean_T
    left = left - (terms.W_N @ seen.lambda_N.T[..., None])[..., 0] - (terms.W_T @ friction[..., None])[..., 0]
    found = (np.linalg.pinv(np.swapaxes(terms.J, -1, -2)) @ left[..., None])[..., 0]
    forces[:, kept] = found[:, [dynamics.rigid.index(names[column]) for column in kept]]
    return forces


def observed(motion: Trajectory, arc: Arc, t: Array) -> Array:
    """What is drawn of an arc at some instants, side by side.

    Parameters
    ----------
    motion : Trajectory
    arc : Arc
    t : array, (N,)

    Returns
    -------
    array, (N, 1 + 2 n + k + p + m)
        Instants, coordinates, velocities, and forces of contacts, of friction and of rigid constraints.
    """
    q, v = arc.sample(t)
    seen = motion.forces(arc, t)
    held = constraint_forces(motion, arc, t, q, v, seen)
    return np.column_stack([t, q, v, seen.lambda_N.T, seen.lambda_T.T, held])


def apart(motion: Trajectory, table: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The columns that :func:`observed` puts side by side.

    Parameters
    ----------
    motion : Trajectory
    table : array, (N, 1 + 2 n + k + p + m)

    Returns
    -------
    t, q, v, lambda_N, lambda_T, lambda_B : array, (N,), (N, n), (N, n), (N, k), (N, p) and (N, m)
    """
    n, k, p = _widths(motion)
    t, q, v, pressing, dragging, held = np.split(table, np.cumsum([1, n, n, k, p]), axis=1)
    return t[:, 0], q, v, pressing, dragging, held


def at_the_end(motion: Trajectory, force: float) -> Array:
    """The one state of a motion without arcs, as :func:`observed` has it.

    Parameters
    ----------
    motion : Trajectory
    force : float
        That stands for all forces.

    Returns
    -------
    array, (1, 1 + 2 n + k + p + m)
    """
    n_forces = sum(_widths(motion)[1:]) + len(motion.dynamics.rigid)
    return np.concatenate([[motion.t], motion.q, motion.v, np.full(n_forces, force)])[None, :]


def _widths(motion: Trajectory) -> tuple[int, int, int]:
    dynamics = motion.dynamics
    return dynamics.n, len(dynamics.contacts), sum(dynamics.dimension(name) for name in dynamics.columns)


def _frames(motion: Trajectory, frames: int) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Instants, positions, velocities, contact forces and those of constraints, both ends of every arc among them."""
    spacing = (motion.t - motion.t_start) / frames
    rows: list[Array] = []
    skipped = 0.0
    for arc in motion.arcs:
        skipped += arc.end - arc.start
        if skipped < spacing and len(motion.arcs) > frames // 2:
            continue  # too many arcs to show each: one in every spacing
        skipped = 0.0
        t = np.linspace(arc.start, arc.end, max(2, int(np.ceil((arc.end - arc.start) / max(spacing, LEAST))) + 1))
        rows.append(observed(motion, arc, t))
    t, q, v, lambda_N, lambda_T, lambda_B = apart(motion, np.vstack(rows or [at_the_end(motion, 0.0)]))
    return t, q, v, lambda_N.T, lambda_T.T, np.nan_to_num(lambda_B).T


def surfaces_at(
    dynamics: Dynamics, found: Mapping[str, Touching], points: Mapping[str, Array], gap: Array, size: float
) -> list[Surface]:
    """The surfaces of contacts and the guides of constraints that act at one point of the drawing.

    Parameters
    ----------
    dynamics : Dynamics
    found : mapping of str to Touching
        By contact or constraint.
    points : mapping of str to array, (N, d)
    gap : array, (k,) or (N, k)
        Of the contacts, in units of length.
    size : float
        Of the picture.

    Returns
    -------
    list of Surface
    """
    N = len(next(iter(points.values())))
    distance = dict(zip(dynamics.contacts, np.broadcast_to(gap, (N, len(dynamics.contacts))).T, strict=True))
    distance |= dict.fromkeys(dynamics.rigid, np.zeros(N))
    return [
        surface_at(acting, points, distance[name], size, is_guide=name in dynamics.rigid)
        for name, acting in found.items()
        if name in distance and len(acting.points) == 1
    ]


def surface_at(
    place: Touching, points: Mapping[str, Array], gap: Array, size: float, *, is_guide: bool = False
) -> Surface:
    """The surface of a contact, or the guide of a constraint, where it touches or would touch the drawing.

    Parameters
    ----------
    place : Touching
        At one point of the drawing.
    points : mapping of str to array, (N, d)
    gap : array, (N,)
        In units of length.
    size : float
        Of the picture: a surface that moves less than a millionth of it is at rest.
    is_guide : bool, optional

    Returns
    -------
    Surface
    """
    steepness = np.linalg.norm(place.normal, axis=1, keepdims=True)
    normal = place.normal / np.maximum(steepness, LEAST)
    at = points[place.points[0]] - normal * gap[:, None] / np.maximum(steepness, LEAST)
    turned = np.max(np.abs(normal - normal[0]))
    raised = np.max(np.abs((at - at[0]) @ normal[0]))
    if turned <= _STILL and raised <= _STILL * size:
        return Surface(place.name, at[:1], normal[:1], is_guide)
    return Surface(place.name, at, normal, is_guide)


def forces_at(place: Touching, normal: Array, tangential: Array) -> list[Force]:
    """The force of a contact, friction element or constraint as arrows on the drawing.

    Parameters
    ----------
    place : Touching
    normal : array, (N,)
        Normal force, in units of the declaration.
    tangential : array, (N, c)
        Tangential forces, left out where they act along no direction of the drawing.

    Returns
    -------
    list of Force
        Two opposite ones between two bodies.
    """
    vector = place.normal * normal[:, None]
    if place.tangents.shape[1] == tangential.shape[1]:
        vector = vector + np.einsum("ij,ijk->ik", tangential, place.tangents)
    vector = np.where(np.isfinite(vector), vector, 0.0)
    forces = [Force(place.name, place.points[-1], vector)]
    if len(place.points) == 2:
        forces.insert(0, Force(place.name, place.points[0], -vector))
    return forces


def _reference_force(forces: Sequence[Force]) -> float:
    sizes = [np.linalg.norm(force.vector, axis=1) for force in forces]
    acting = np.concatenate(sizes) if sizes else np.zeros(0)
    acting = acting[acting > 0]
    if not acting.size:
        return 1.0  # nothing will be drawn
    usual = float(np.percentile(acting, _USUAL))
    power = 10.0 ** np.floor(np.log10(usual))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= usual * (1 - NOTHING)))
