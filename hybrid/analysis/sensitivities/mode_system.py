"""Acceleration and contact forces of one mode along a motion, and their derivatives, by one linear system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.modes import ElementKind
from hybrid.contact.table import force_law
from hybrid.dynamics.arithmetic import unit_vectors
from hybrid.dynamics.partials import Forces, Partials
from hybrid.tolerances import RANK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.table import ElementMode, ForceRow
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.partials import Switches

__all__ = ["ModeSystem", "Response", "balance_inverse"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Response:
    """A mode at N instants: ``y' = f`` and the contact forces, with what differentiates them.

    Attributes
    ----------
    t : array, (N,)
    y : array, (N, 2n)
    f : array, (N, 2n)
        Velocities and accelerations.
    forces : Forces
    terms : Terms
    inverse : array, (N, u, u)
        Inverse of the mode's linear system for ``(a, lambda_N, lambda_T, lambda_B)``.
    """

    t: Array
    y: Array
    f: Array
    forces: Forces
    terms: Terms
    inverse: Array


@attrs.frozen(eq=False)
class ModeSystem:
    """The linear system that gives accelerations and contact forces in one mode.

    Its rows are the equations of motion and, for every contact, the condition of its mode: no force, or no normal
    acceleration; no tangential acceleration, or Coulomb's force against the slip (Pfeiffer and Glocker 1996, ch. 5).

    Attributes
    ----------
    partials : Partials
    parts : tuple of ElementMode
        What every force element does.
    dynamics : Dynamics
        At the values of the parameters.
    limits : mapping of str to array, (2,) or (N, 2)
        Directions of the spatial slips that vanish at the states in question, where they begin or end.
    """

    partials: Partials
    parts: tuple[ElementMode, ...]
    dynamics: Dynamics
    limits: Mapping[str, Array] = attrs.field(factory=dict)

    @property
    def offsets(self) -> tuple[int, int, int, int]:
        """Where the normal, tangential and bilateral unknowns begin, and their number."""
        n, k, m = self.dynamics.n, len(self.dynamics.contacts), len(self.dynamics.rigid)
        p = max((columns.stop for columns in self.dynamics.columns.values()), default=0)
        return n, n + k, n + k + p, n + k + p + m

    def switches(self, closing: str = "") -> Switches:
        """Where the equations of the mode jump or have a kink, and what the impact of a closing contact reads."""
        is_open = frozenset(part.name for part in self.parts if part.is_open)
        return self.partials.switches_while(is_open - {closing})

    def respond(self, t: Array, y: Array) -> Response:
        """Accelerations and forces at N instants.

        Parameters
        ----------
        t : array, (N,)
        y : array, (N, 2n)

        Returns
        -------
        Response
        """
        n = self.dynamics.n
        terms = self.dynamics.terms(y[:, :n], y[:, n:], t=t)
        matrix, right = self._assembled(terms, len(t))
        inverse = balance_inverse(matrix, n)
        u = (inverse @ right[..., None])[..., 0]
        normal, tangential, bilateral, _ = self.offsets
        forces = Forces(u[:, :n], u[:, normal:tangential], u[:, tangential:bilateral], u[:, bilateral:])
        return Response(t, y, np.concatenate([y[:, n:], u[:, :n]], axis=1), forces, terms, inverse)

    def sizes(self, at: Response) -> Array:
        """Sizes of what is added to form accelerations and forces, (N, u)."""
        _, right = self._assembled(at.terms, len(at.t))
        return np.asarray((np.abs(at.inverse) @ np.abs(right)[..., None])[..., 0])

    def _assembled(self, terms: Terms, N: int) -> tuple[Array, Array]:
        n = self.dynamics.n
        normal, tangential, bilateral, size = self.offsets
        A, b = np.zeros((N, size, size)), np.zeros((N, size))
        A[:, :n, :n] = terms.M
        A[:, :n, normal:tangential] = -terms.W_N
        A[:, :n, tangential:bilateral] = -terms.W_T
        A[:, :n, bilateral:] = -np.swapaxes(terms.J, -1, -2)
        b[:, :n] = terms.h
        A[:, bilateral:, :n] = terms.J
        b[:, bilateral:] = -terms.zeta_B
        slip = np.broadcast_to(terms.slip, (N, terms.slip.shape[-1]))
        law = force_law(
            self.parts,
            friction=lambda element: getattr(terms, element.friction_term(is_static=False))[..., element.index],
            direction=lambda row: list(self._direction(row, slip).T),
        )
        own = slice(normal, bilateral)
        A[:, own, own] = np.eye(bilateral - normal)
        for row in law.unknown:
            place = self.place(row)
            A[:, place] = 0.0
            A[:, place, :n] = row.direction(terms)
            b[:, place] = -row.zeta(terms)
        for given in law.given:
            place = self.place(given.row)
            if given.leader is None:
                b[:, place] = given.factor
            else:
                A[:, place, self.place(given.leader)] = -given.factor
        return A, b

    def place(self, row: ForceRow) -> int:
        """Position of a force among the unknowns."""
        normal, tangential, bilateral, _ = self.offsets
        block, column = row.place
        return {"N": normal, "T": tangential, "B": bilateral}[block] + column

    def _coefficient(self, terms: Terms, part: ElementMode) -> Array:
        return np.asarray(getattr(terms, part.element.friction_term(is_static=False))[..., part.index])

    def _direction(self, part: ElementMode, slip: Array) -> Array:
        """Unit vector of the slip of a sliding force element, (N, d), from its slip (N, p)."""
        own = slip[:, list(part.columns)]
        if len(part.columns) == 1:
            return np.full(own.shape, part.slip_sign)
        if part.name in self.limits:
            return np.broadcast_to(self.limits[part.name], own.shape)
        return unit_vectors(own)

    def _direction_slope(self, part: ElementMode, slip: Array) -> Array:
        """Derivative of the direction with respect to the slip, (N, d, d)."""
        own = slip[:, list(part.columns)]
        size = len(part.columns)
        if size == 1 or part.name in self.limits:
            return np.zeros((len(own), size, size))
        length = np.linalg.norm(own, axis=1)[:, None, None]
        unit = own[:, :, None] / length
        return np.asarray((np.eye(size) - unit * np.swapaxes(unit, 1, 2)) / length)

    def residual_slopes(self, at: Response, found: dict[str, Array]) -> Array:
        """Derivatives of the rows at fixed unknowns.

        Parameters
        ----------
        at : Response
        found : dict of array
            Of :class:`Partials`, with respect to z variables.

        Returns
        -------
        array, (N, u, z)
        """
        n = self.dynamics.n
        normal, tangential, bilateral, size = self.offsets
        N, _, z = found["balance"].shape
        slopes = np.zeros((N, size, z))
        slopes[:, :n] = found["balance"]
        slopes[:, bilateral:] = found["bilateral"]
        slip = np.broadcast_to(at.terms.slip, (N, at.terms.slip.shape[-1]))
        for part in self.parts:
            if part.kind is ElementKind.CONTACT and not part.is_open:
                slopes[:, normal + part.index] = found["normal"][:, part.index]
            rows = [tangential + column for column in part.columns]
            if part.sticks:
                slopes[:, rows] = found["tangential"][:, list(part.columns)]
            elif part.slides:
                slopes[:, rows] = self._friction_slopes(at, found, part, slip)
        return slopes

    def _friction_slopes(self, at: Response, found: dict[str, Array], part: ElementMode, slip: Array) -> Array:
        name = part.element.friction_term(is_static=False)
        pressing = self._pressing(at, part)
        direction, slope = self._direction(part, slip), self._direction_slope(part, slip)
        rotation = slope @ found["slip"][:, list(part.columns)]
        coefficient = np.broadcast_to(self._coefficient(at.terms, part), len(slip))
        change = direction[:, :, None] * found[name][:, part.index][:, None, :] + coefficient[:, None, None] * rotation
        return np.asarray(pressing[:, None, None] * change)

    def rotation_slopes(self, at: Response, part: ElementMode) -> Array:
        """Derivatives of the unknowns as the direction of a spatial slip turns to the left, (N, u)."""
        direction = self._direction(part, np.broadcast_to(at.terms.slip, (len(at.t), at.terms.slip.shape[-1])))
        left = np.stack([-direction[:, 1], direction[:, 0]], axis=1)
        load = np.zeros(at.inverse.shape[:2])
        load[:, [self.offsets[1] + column for column in part.columns]] = (
            self._coefficient(at.terms, part) * self._pressing(at, part)
        )[:, None] * left
        return np.asarray(-(at.inverse @ load[..., None])[..., 0])

    def _pressing(self, at: Response, part: ElementMode) -> Array:
        if part.kind is ElementKind.ELEMENT:
            return np.ones(len(at.t))
        block = at.forces.lambda_B if part.kind is ElementKind.BILATERAL else at.forces.lambda_N
        return np.asarray(part.side * block[:, part.index])

    def unknown_slopes(self, at: Response, found: dict[str, Array]) -> Array:
        """Derivatives of ``(a, lambda_N, lambda_T, lambda_B)``, (N, u, z), by differentiating the linear system."""
        return np.asarray(-at.inverse @ self.residual_slopes(at, found))


def balance_inverse(matrix: Array, n: int) -> Array:
    """Inverse, or the pseudoinverse where constraints depend on each other: accelerations are unique all the same.

    The rank is that in units in which all inertias are alike, so that none of a mass or a length decides it.

    Parameters
    ----------
    matrix : array, (N, u, u)
        Of linear systems whose first rows are the equations of motion, or their impulses.
    n : int
        How many these are; as many unknowns that come first are accelerations, the others forces.

    Returns
    -------
    array, (N, u, u)
        NaN where an entry is not finite.

    Examples
    --------
    A mass of a trillionth on a surface: its acceleration is zero, its force opposes the load.

    >>> balance_inverse(np.array([[[1e-12, -1.0], [1.0, 0.0]]]), 1)[0].tolist()
    [[0.0, 1.0], [-1.0, 1e-12]]
    """
    columns = _units(matrix, n)
    scaled = matrix * columns
    rows = np.max(np.abs(scaled), axis=-1, keepdims=True)
    rows = np.where(rows > 0.0, rows, 1.0)
    scaled = scaled / rows
    if not np.isfinite(scaled).all():
        return np.full_like(matrix, np.nan)
    extreme = np.linalg.svd(scaled[:1], compute_uv=False)
    if extreme[0, -1] > RANK * extreme[0, 0]:
        try:
            found = np.linalg.inv(scaled)
        except np.linalg.LinAlgError:
            return np.full_like(matrix, np.nan)
    else:
        found = np.linalg.pinv(scaled, rcond=RANK)
    return np.asarray(np.swapaxes(columns, -1, -2) * found / np.swapaxes(rows, -1, -2))


def _units(matrix: Array, n: int) -> Array:
    """Units of the unknowns, (N, 1, u): of accelerations in which inertias are 1, and one of the largest force."""
    inertia = np.abs(np.diagonal(matrix[:, :n, :n], axis1=-2, axis2=-1))
    units = 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0))
    lift = np.max(np.abs(matrix[:, :n, n:]) * units[..., None], axis=(1, 2), initial=0.0)
    force = 1.0 / np.where(lift > 0.0, lift, 1.0)
    forces = np.broadcast_to(force[:, None], (len(matrix), matrix.shape[-1] - n))
    return np.concatenate([units, forces], axis=1)[:, None, :]


@attrs.frozen(eq=False)
class Point:
    """One state in one mode with all first derivatives.

    Attributes
    ----------
    system : ModeSystem
    at : Response
        With N = 1.
    found : dict of array, (1, size, 2n + 1 + c)
        Derivatives of every quantity with respect to ``(q, v, t, parameters)``.
    unknown_slopes : array, (u, 2n + 1 + c)
        Those of accelerations and forces.
    """

    system: ModeSystem
    at: Response
    found: dict[str, Array]
    unknown_slopes: Array

    @property
    def f(self) -> Array:
        """Velocities and accelerations, (2n,)."""
        return np.asarray(self.at.f[0])

    def slopes(self, name: str) -> Array:
        """Derivatives of a quantity with respect to ``(q, v, t, parameters)``, (size, 2n + 1 + c)."""
        return np.asarray(self.found[name][0])

    @property
    def summands(self) -> Array:
        """Sizes of what is added to form velocities and accelerations, (2n,): forces in balance leave only rounding."""
        terms, forces = self.at.terms, self.at.forces
        n = self.system.dynamics.n
        directions = (terms.W_N, terms.W_T, np.swapaxes(terms.J, -1, -2))
        rows = zip(directions, (forces.lambda_N, forces.lambda_T, forces.lambda_B), strict=True)
        pushes = [np.abs(of) @ np.abs(force)[..., None] for of, force in rows]
        loads = np.abs(terms.h)[..., None] + sum(pushes)
        return np.concatenate([np.abs(self.f[:n]), np.ravel(np.abs(np.linalg.inv(terms.M)) @ loads)])

    def rank(self, *, without: ForceRow | None = None) -> int:
        """How many independent velocities the mode holds at zero; one row fewer if the force of one is left out."""
        terms = self.at.terms
        places = {row.place: row.direction(terms) for part in self.system.parts for row in part.held}
        places |= {("B", row): terms.J[..., row, :] for row in range(len(self.system.dynamics.rigid))}
        held = [np.ravel(row) for place, row in places.items() if without is None or place != without.place]
        matrix = np.array(held).reshape(len(held), self.system.dynamics.n)
        sizes = np.linalg.norm(matrix, axis=1, keepdims=True)
        return int(np.linalg.matrix_rank(matrix / np.where(sizes > 0.0, sizes, 1.0), tol=RANK))

    def is_shared(self, part: ElementMode) -> bool:
        """Whether other force elements hold what one holds, too, so that its force is not unique."""
        rank = self.rank()
        return any(self.rank(without=row) == rank for row in part.held)


def evaluate_point(system: ModeSystem, t: float, y: Array) -> Point:
    """Evaluate a mode with all first derivatives at one state.

    Parameters
    ----------
    system : ModeSystem
    t : float
    y : array, (2n,)

    Returns
    -------
    Point
    """
    at = system.respond(np.array([t]), np.asarray(y)[None, :])
    found = system.partials.slopes(at.t, at.y, at.forces, system.dynamics)
    return Point(system, at, found, system.unknown_slopes(at, found)[0])
