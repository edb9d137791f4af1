"""The flow of modes whose linear system needs pivoting or is redundant: many contacts, bilateral constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.active_elements import ElementKind
from hybrid.contact.activity import side_by_side
from hybrid.contact.guards import CONES, RELEASES, ArrayView, Guard
from hybrid.contact.reduction import free_motion
from hybrid.contact.table import ElementMode, ForceElement, ForceLaw, ForceRow, force_law
from hybrid.dynamics.partials import Forces
from hybrid.motion.distribution import admissible, null_space
from hybrid.motion.observation import Observation, Reference
from hybrid.tolerances import LEAST, RANK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics, Terms

Array = NDArray[np.float64]
_FACETS = 16


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
    """

    acceleration: Array
    forces: Array
    law: ForceLaw
    determinant: Array
    system: Array
    response: Array
    shape: tuple[int, ...]
    is_redundant: bool = False


def _around(dimension: int) -> list[Array]:
    """Directions in which a cone of friction is bounded: exactly in the plane, by a polygon in space."""
    if dimension == 1:
        return [np.array([1.0]), np.array([-1.0])]
    angles = 2 * np.pi * np.arange(_FACETS) / _FACETS
    return [np.array([np.cos(angle), np.sin(angle)]) / np.cos(np.pi / _FACETS) for angle in angles]


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
            side = np.where(slip @ reference.direction < 0.0, -1.0, 1.0)[..., None]
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
        batches = (motion.a_free, terms.gap, terms.slip, terms.W_T[..., 0, :], terms.zeta_N, terms.zeta_B)
        shape = np.broadcast_shapes(*(array.shape[:-1] for array in batches))
        if not R:
            nothing = np.zeros((*shape, 0))
            return _SolvedFlow(motion.a_free, nothing, law, np.ones(shape), nothing, motion.response[..., :0], shape)
        rows = np.swapaxes(side_by_side(R), -1, -2)
        response = motion.response @ side_by_side(list(F.values()))
        c = (rows @ motion.a_free[..., None])[..., 0] + side_by_side([row.zeta(terms) for row in law.unknown])
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
        )

    def _distribution(self, terms: Terms, solved: _SolvedFlow) -> tuple[Array, Array]:
        """Forces to show where they are not unique, and the slack that tells how long any distribution is admissible.

        The slack is infinite where forces are unique, so that their own guards tell.
        """
        slopes, constants = self._slacks(terms, solved)
        r = len(solved.law.unknown)
        forces = np.broadcast_to(solved.forces, (*solved.shape, r)).reshape(-1, r).copy()
        slack = np.full(len(forces), np.inf)
        shape, (n, m) = solved.shape, (solved.response.shape[-2], slopes.shape[-2])
        systems = np.broadcast_to(solved.system, (*shape, r, r)).reshape(-1, r, r)
        responses = np.broadcast_to(solved.response, (*shape, n, r)).reshape(-1, n, r)
        for index, at in enumerate(forces):
            null = null_space(systems[index], responses[index])
            if null.shape[1]:
                rows, values = slopes.reshape(-1, m, r)[index], constants.reshape(-1, m)[index]
                forces[index], slack[index] = admissible(at, null, rows, values)
        return forces.reshape(*shape, r), slack.reshape(shape)

    def _slacks(self, terms: Terms, solved: _SolvedFlow) -> tuple[Array, Array]:
        """Inequalities of the mode: pressing normal forces, and sticking within the cone or a polygon in it."""
        r = len(solved.law.unknown)
        place = {row.place: column for column, row in enumerate(solved.law.unknown)}
        slopes, constants = [], []
        for part in self.parts:
            normal = np.zeros((*solved.shape, r))
            if part.presses:
                normal[..., place[ForceRow(part.element).place]] = part.side
                slopes.append(normal)
                constants.append(np.zeros(solved.shape))
            if not part.sticks:
                continue
            limit = np.broadcast_to(self._coefficient(terms, part.element, is_static=True), solved.shape)
            for direction in _around(len(part.columns)):
                row = limit[..., None] * normal
                for column, component in zip(part.columns, direction, strict=True):
                    row[..., place["T", column]] = -component
                slopes.append(row)
                constants.append(np.zeros(solved.shape) if part.presses else np.array(limit))
        return np.stack(slopes, axis=-2), np.stack(constants, axis=-1)

    def _by_element(self, terms: Terms, forces: Array, solved: _SolvedFlow) -> Forces:
        """Normal and tangential forces of all force elements from the unknowns of the mode."""
        sizes = {"N": terms.gap.shape[-1], "T": terms.slip.shape[-1], "B": len(self._dynamics.rigid)}
        blocks = {block: np.zeros((*solved.shape, size)) for block, size in sizes.items()}
        for column, row in enumerate(solved.law.unknown):
            block, index = row.place
            blocks[block][..., index] = forces[..., column]
        for given in solved.law.given:
            size = given.factor
            if given.leader is not None:
                block, index = given.leader.place
                size = size * blocks[block][..., index]
            blocks["T"][..., given.row.place[1]] = size
        return Forces(solved.acceleration, *blocks.values())

    def _guard_values(self, view: ArrayView, slack: Array | None) -> list[Any]:
        """The guards, of which the slack stands for those of forces that are not unique."""
        values = [guard.distance(view) for guard in self.guards]
        if slack is None:
            return values
        return [
            np.where(np.isfinite(slack), slack, value) if guard.kind in (*RELEASES, *CONES) else value
            for guard, value in zip(self.guards, values, strict=True)
        ]
