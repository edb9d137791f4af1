"""The flow of modes whose linear system needs pivoting or is redundant: many contacts, bilateral constraints.

Contact forces that are not unique: distributions that move the mechanism alike, and which are admissible.

What a flow is asked, what it answers, and what it is told of spatial slips.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import side_by_side
from hybrid.contact.complementarity import facets
from hybrid.contact.guards import CONES, RELEASES, ArrayView, Guard
from hybrid.contact.modes import ElementKind
from hybrid.contact.reduction import are_contradictory, free_motion
from hybrid.contact.table import ElementMode, ForceElement, ForceLaw, ForceRow, force_law
from hybrid.dynamics.arithmetic import applied
from hybrid.dynamics.partials import Forces
from hybrid.tolerances import INTEGRATED, LEAST, RANK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.contact.modes import Mode
    from hybrid.contact.reduction import FreeMotion
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms


Array = NDArray[np.float64]

CONTRADICT = "contradict each other: no acceleration satisfies them"
NO_SIDE = Fraction(1, 2)
"""Of a slip that is as good as none: one that lies no further than this behind its reference is not turned over."""
_REACH = 10.0  # of the largest force: internal forces beyond this are not looked at


def null_space(system: Array, response: Array) -> Array:
    """Directions in which the forces of one instant may change without any change of acceleration.

    Parameters
    ----------
    system : array, (r, r)
        Conditions of the mode per unit force.
    response : array, (n, r)
        Accelerations per unit force.

    Returns
    -------
    array, (r, d)
        Orthonormal columns.
    """
    both = np.vstack([system, response])
    _, sizes, rows = np.linalg.svd(both)
    return np.asarray(rows[int(np.sum(sizes > RANK * sizes[0])) :].T)


def admissible(forces: Array, null: Array, slopes: Array, constants: Array) -> tuple[Array, float]:
    """A distribution of the same resultant that satisfies ``slopes @ forces + constants >= 0``, if there is one.

    Parameters
    ----------
    forces : array, (r,)
        One distribution, of least norm.
    null : array, (r, d)
        Directions from :func:`null_space`.
    slopes, constants : array, (m, r) and (m,)

    Returns
    -------
    nearest : array, (r,)
        ``forces`` if they are admissible, else moved towards the distribution whose smallest slack is largest.
    slack : float
        That slack: negative if no distribution is admissible.

    Examples
    --------
    >>> internal = np.array([[1.0], [-1.0]]) / np.sqrt(2)
    >>> nearest, slack = admissible(np.array([-1.0, 5.0]), internal, np.eye(2), np.zeros(2))
    >>> nearest.round(9).tolist(), round(slack, 9)
    ([0.0, 4.0], 2.0)
    """
    start, directions = slopes @ forces + constants, slopes @ null
    reach = _REACH * (float(np.max(np.abs(forces))) or 1.0)
    best = _highest_line(start, directions[:, 0], reach) if null.shape[1] == 1 else _highest(start, directions, reach)
    move = null @ best
    gain = directions @ best
    lacking = start < 0.0
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        shares = np.where(lacking & (gain > 0.0), -start / gain, 0.0)
    share = min(float(np.max(shares, initial=0.0)), 1.0)
    return forces + share * move, float(np.min(start + gain))


def _highest_line(start: Array, slope: Array, reach: float) -> Array:
    """The point at which the lowest of lines is highest: it is where two of them meet, or at the end."""
    places = [-reach, 0.0, reach]
    for i, j in combinations(range(len(start)), 2):
        if slope[i] != slope[j]:
            with np.errstate(over="ignore"):  # beyond floats is beyond the reach
                meeting = (start[j] - start[i]) / (slope[i] - slope[j])
            places.append(float(np.clip(meeting, -reach, reach)))
    at = np.array(places)
    lowest = np.min(start[:, None] + np.outer(slope, at), axis=0)
    return at[[int(np.argmax(lowest))]]


def _highest(start: Array, directions: Array, reach: float) -> Array:
    from scipy.optimize import linprog

    d = directions.shape[1]
    slopes = reach * directions  # per part of the reach, so that all is of order 1: limits of HiGHS are absolute
    size = max(float(np.max(np.abs(slopes))), float(np.max(np.abs(start)))) or 1.0
    found = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-slopes / size, np.ones(len(start))]),
        b_ub=start / size,
        bounds=[(-1.0, 1.0)] * d + [(None, None)],
        method="highs",
    )
    return reach * np.asarray(found.x[:d]) if found.x is not None else np.zeros(d)


@attrs.frozen(eq=False)
class Reference:
    """What a flow is told of a spatial slip at the start of a step.

    Attributes
    ----------
    direction : array, (2,)
        Unit vector; friction acts along it where there is no slip, and the slip runs straight on through zero.
    floor : float
        Slip that is as good as none: its rounding, or more where it begins.
    begins : bool
    """

    direction: Array
    floor: float
    begins: bool = False


@attrs.frozen(eq=False)
class Observation:
    """What a flow knows at N instants.

    Attributes
    ----------
    acceleration : array, (n, N)
    lambda_N, lambda_T : array, (k, N) and (p, N)
        Contact forces by contact and by tangential column.
    guards : array, (number of guards, N)
    """

    acceleration: Array
    lambda_N: Array
    lambda_T: Array
    guards: Array


class Flow(Protocol):
    """An ODE ``y' = f(t, y)``, ``y = (q, v)``, with the forces and guards along it."""

    @property
    def mode(self) -> Mode:
        """The mode."""

    @property
    def parts(self) -> tuple[ElementMode, ...]:
        """The force elements in the mode."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The guards, in the order of the observations."""

    def derivative(self, t: float, y: Array) -> Sequence[float]:
        """Right-hand side at one state, (2n,); raises where an expression is undefined."""

    def observe(self, t: Array, y: Array) -> Observation:
        """Accelerations, forces and guards at N states ``y`` of shape (2n, N)."""

    def guard_values(self, t: Array, y: Array) -> Array:
        """The guards alone, (number of guards, N)."""

    def set_references(self, references: Mapping[str, Reference]) -> None:
        """Tell what is known of the spatial slips at the start of a step."""


_FACETS = 16
_MET = INTEGRATED  # of what the mechanism accelerates along a condition: so much may be left of one that is met


@attrs.frozen(eq=False)
class _SolvedFlow:
    """Accelerations, and forces of least norm, of a mode at states of one shape.

    Attributes
    ----------
    acceleration : array, (..., n)
    forces : array, (..., r)
    law : ForceLaw
        Which unknown each is, and what follows from them.
    determinant : array, (...)
        Of the conditions that are not redundant, dimensionless.
    system, response : array, (..., r, r) and (..., n, r)
    shape : tuple of int
    is_redundant : bool
        True if somewhere the forces are not unique.
    parted : callable
        Gives how far redundant conditions are from being met at once, (...), in units of what counts as met.
    """

    acceleration: Array
    forces: Array
    law: ForceLaw
    determinant: Array
    system: Array
    response: Array
    shape: tuple[int, ...]
    is_redundant: bool = False
    parted: Callable[[], Array] = lambda: np.zeros(())


def _parted(rows: Array, zeta: Array, motion: FreeMotion, G: Array, sizes: Array, forces: Array) -> Array:
    """The largest of what forces leave of conditions, beside what they are made of."""
    parts = applied(rows, motion.a_free) ** 2 / sizes
    # of a posture the rounding turns a condition towards those that it is coupled with
    size = np.sqrt(sizes * applied(G != 0.0, parts)) + applied(np.abs(rows), motion.summands)
    size = size + np.abs(zeta) + applied(np.abs(G), np.abs(forces))
    lack = np.abs(applied(rows, motion.a_free) + zeta + applied(G, forces))
    return np.asarray(np.max(lack / np.maximum(_MET * size, LEAST), axis=-1))


def _around(dimension: int) -> list[Array]:
    """Directions in which a cone of friction is bounded: exactly in the plane, by a polygon in space."""
    share = 1.0 if dimension == 1 else np.cos(np.pi / _FACETS)
    return [direction / share for direction in facets(dimension, _FACETS)]


@attrs.frozen(eq=False)
class NumericFlow:
    """A flow that solves its linear system at every state.

    Where conditions are redundant the forces are not unique, and the motion is: those of least norm are shown, moved
    as far as admissibility needs, and the mode lasts as long as any distribution is admissible.
    """

    mode: Mode
    parts: tuple[ElementMode, ...]
    guards: tuple[Guard, ...]
    _dynamics: Dynamics = attrs.field(repr=False)
    _references: dict[str, Reference] = attrs.field(factory=dict)

    def derivative(self, t: float, y: Array) -> Sequence[float]:
        """Right-hand side at one state."""
        n = self._dynamics.n
        terms = self._dynamics.terms(y[:n], y[n:], t=t)
        return [*y[n:].tolist(), *self._solve(terms).acceleration.tolist()]

    def set_references(self, references: Mapping[str, Reference]) -> None:
        """Tell what is known of the spatial slips at the start of a step."""
        self._references.update(references)

    def observe(self, t: Array, y: Array) -> Observation:
        """Accelerations, forces and guards at N states."""
        n = self._dynamics.n
        terms = self._dynamics.terms(y[:n].T, y[n:].T, t=t)
        solved = self._solve(terms)
        forces, slack = self._distribution(terms, solved) if solved.is_redundant else (solved.forces, None)
        by_element = self._by_element(terms, forces, solved)
        directions = {name: known.direction for name, known in self._references.items()}
        guards = self._guard_values(ArrayView(terms, by_element, directions, lambda: solved.determinant), slack)
        N = np.size(t)
        columns = [
            np.broadcast_to(a, (N, a.shape[-1])).T
            for a in (
                solved.acceleration,
                by_element.lambda_N,
                by_element.lambda_T,
                np.stack(np.broadcast_arrays(*guards, np.zeros(N)), axis=-1),
            )
        ]
        return Observation(columns[0], columns[1], columns[2], columns[3][:-1])

    def guard_values(self, t: Array, y: Array) -> Array:
        """The guards alone."""
        return self.observe(t, y).guards

    def _direction(self, terms: Terms, part: ElementMode) -> Array:
        slip = terms.slip[..., list(part.columns)]
        if len(part.columns) == 1:
            return np.full(slip.shape, part.slip_sign)
        reference = self._references.get(part.name)
        if reference is not None:
            behind = slip @ reference.direction < -float(NO_SIDE) * reference.floor
            side = np.where(behind, -1.0, 1.0)[..., None]
            slip = side * slip + reference.floor * reference.direction
        return np.asarray(slip / np.maximum(np.linalg.norm(slip, axis=-1, keepdims=True), LEAST))

    def _coefficient(self, terms: Terms, element: ForceElement, *, is_static: bool) -> Any:
        return getattr(terms, element.friction_term(is_static=is_static))[..., element.index]

    def _law(self, terms: Terms) -> ForceLaw:
        return force_law(
            self.parts,
            friction=lambda element: self._coefficient(terms, element, is_static=False),
            direction=lambda row: list(np.moveaxis(self._direction(terms, row), -1, 0)),
        )

    def _solve(self, terms: Terms) -> _SolvedFlow:
        law, load = self._law(terms), terms.h
        R = [row.direction(terms) for row in law.unknown]
        F = dict(zip(law.unknown, R, strict=True))
        for given in law.given:
            pushed = np.asarray(given.factor)[..., None] * given.row.direction(terms)
            if given.leader is None:
                load = load + pushed
            else:
                F[given.leader] = F[given.leader] + pushed
        frictional = {part.index for part in self.parts if part.kind is ElementKind.BILATERAL}
        smooth = tuple(row for row in range(len(self._dynamics.rigid)) if row not in frictional)
        motion = free_motion(attrs.evolve(terms, h=load), eliminated=smooth)
        if len(smooth) > 1 and are_contradictory(motion.inconsistency, terms.zeta_B, motion.a_free).any():
            names = ", ".join(self._dynamics.rigid)
            raise ArithmeticError(f"the constraints {names} {CONTRADICT}")
        batches = (motion.a_free, terms.gap, terms.slip, terms.W_T[..., 0, :], terms.zeta_N, terms.zeta_B)
        shape = np.broadcast_shapes(*(array.shape[:-1] for array in batches))
        if not R:
            nothing = np.zeros((*shape, 0))
            return _SolvedFlow(motion.a_free, nothing, law, np.ones(shape), nothing, motion.response[..., :0], shape)
        rows = np.swapaxes(side_by_side(R), -1, -2)
        response = motion.response @ side_by_side(list(F.values()))
        zeta = side_by_side([row.zeta(terms) for row in law.unknown])
        c = (rows @ motion.a_free[..., None])[..., 0] + zeta
        G = rows @ response
        sizes = np.maximum(np.einsum("...ij,...jk,...ik->...i", rows, motion.response, rows), LEAST)
        scaled = G / sizes[..., None]
        singular = np.linalg.svd(scaled, compute_uv=False)
        regular = singular > RANK * singular[..., :1]
        # of redundant conditions, those that are left tell whether the force grows beyond bounds
        rest = np.prod(np.where(regular, singular, 1.0), axis=-1)
        determinant = np.where(regular.all(axis=-1), np.linalg.det(scaled), rest)
        forces = -(np.linalg.pinv(G, rcond=RANK) @ c[..., None])[..., 0]
        acceleration = motion.a_free + (response @ forces[..., None])[..., 0]
        return _SolvedFlow(
            acceleration,
            forces,
            law,
            determinant,
            scaled,
            response,
            shape,
            not regular.all(),
            partial(_parted, rows, zeta, motion, G, sizes, forces),
        )

    def _distribution(self, terms: Terms, solved: _SolvedFlow) -> tuple[Array, Array]:
        """Forces to show where they are not unique, and the slack that tells how long any distribution is admissible.

        The slack is infinite where forces are unique, so that their own guards tell. A tangential force without
        friction to give it is none of those that may be chosen.
        """
        slopes, constants = self._slacks(terms, solved)
        r, smooth = len(solved.law.unknown), self._smooth(terms)
        none = [i for i, row in enumerate(solved.law.unknown) if row.axis is not None and row.element in smooth]
        forces = np.broadcast_to(solved.forces, (*solved.shape, r)).reshape(-1, r).copy()
        slack = np.full(len(forces), np.inf)
        shape, (n, m) = solved.shape, (solved.response.shape[-2], slopes.shape[-2])
        systems = np.broadcast_to(solved.system, (*shape, r, r)).reshape(-1, r, r)
        responses = np.broadcast_to(solved.response, (*shape, n, r)).reshape(-1, n, r)
        slopes, constants = slopes.reshape(-1, m, r), constants.reshape(-1, m)
        known: dict[bytes, int] = {}  # at rest between steps of a load all is alike
        for index, at in enumerate(forces):
            asked = np.vstack([at, systems[index], responses[index], slopes[index]]).tobytes()
            like = known.setdefault(asked + constants[index].tobytes(), index)
            if like != index:
                forces[index], slack[index] = forces[like], slack[like]
                continue
            null = null_space(systems[index], responses[index])
            if none and null.shape[1]:
                forces[index] = at = at - null @ (np.linalg.pinv(null[none], rcond=RANK) @ at[none])
                null = null_space(systems[index], np.vstack([responses[index], np.eye(r)[none]]))
            if null.shape[1]:
                forces[index], slack[index] = admissible(at, null, slopes[index], constants[index])
        parted = np.broadcast_to(solved.parted(), shape)
        return forces.reshape(*shape, r), np.where(parted > 1.0, -parted, slack.reshape(shape))  # beyond 1 no forces do

    def _smooth(self, terms: Terms) -> frozenset[ForceElement]:
        """Force elements that stick without friction: nothing but the others holds them."""
        sticking = (part.element for part in self.parts if part.sticks)
        return frozenset(item for item in sticking if not np.any(self._coefficient(terms, item, is_static=True)))

    def _slacks(self, terms: Terms, solved: _SolvedFlow) -> tuple[Array, Array]:
        """Inequalities of the mode: pressing normal forces, and sticking within the cone or a polygon in it."""
        r, smooth = len(solved.law.unknown), self._smooth(terms)
        place = {row.place: column for column, row in enumerate(solved.law.unknown)}
        slopes, constants = [], []
        for part in self.parts:
            normal = np.zeros((*solved.shape, r))
            if part.presses:
                normal[..., place[ForceRow(part.element).place]] = part.side
                slopes.append(normal)
                constants.append(np.zeros(solved.shape))
            if not part.sticks or part.element in smooth:
                continue
            limit = np.broadcast_to(self._coefficient(terms, part.element, is_static=True), solved.shape)
            for direction in _around(len(part.columns)):
                row = limit[..., None] * normal
                for column, component in zip(part.columns, direction, strict=True):
                    row[..., place["T", column]] = -component
                slopes.append(row)
                constants.append(np.zeros(solved.shape) if part.presses else np.array(limit))
        if not slopes:  # nothing presses, and no friction holds
            return np.zeros((*solved.shape, 1, r)), np.full((*solved.shape, 1), np.inf)
        return np.stack(slopes, axis=-2), np.stack(constants, axis=-1)

    def _by_element(self, terms: Terms, forces: Array, solved: _SolvedFlow) -> Forces:
        """Normal and tangential forces of all force elements from the unknowns of the mode."""
        found = {row.place: forces[..., column] for column, row in enumerate(solved.law.unknown)}
        for given in solved.law.given:
            share = 1.0 if given.leader is None else found[given.leader.place]
            found[given.row.place] = given.factor * share
        return Forces.of(solved.acceleration, terms, found)

    def _guard_values(self, view: ArrayView, slack: Array | None) -> list[Any]:
        """The guards, of which the slack stands for those of forces that are not unique."""
        values = [guard.distance(view) for guard in self.guards]
        if slack is None:
            return values
        own = {item.name for item in self._smooth(view.terms)}
        return [
            np.where(np.isfinite(slack), slack, value)
            if guard.kind in RELEASES or (guard.kind in CONES and guard.element not in own)
            else value
            for guard, value in zip(self.guards, values, strict=True)
        ]
