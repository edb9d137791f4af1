"""The flow of modes whose linear system needs pivoting or is redundant: many contacts, bilateral constraints.

What a flow is asked, what it answers, and what it is told of spatial slips.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import side_by_side
from hybrid.contact.guards import CONES, RELEASES, ArrayView, Guard
from hybrid.contact.modes import ElementKind
from hybrid.contact.reduction import are_contradictory, free_motion
from hybrid.contact.table import ElementMode, ForceElement, ForceLaw, ForceRow, force_law
from hybrid.dynamics.arithmetic import applied
from hybrid.dynamics.partials import Forces
from hybrid.motion.distributions import admissible, null_space
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


def _parted(
    rows: Array, zeta: Array, motion: FreeMotion, G: Array, coupled: Array, sizes: Array, forces: Array
) -> Array:
    """The largest of what forces leave of conditions, beside what they are made of."""
    parts = applied(rows, motion.a_free) ** 2 / sizes
    # of a posture the rounding turns a condition towards those that it is coupled with
    size = np.sqrt(sizes * applied(coupled, parts)) + applied(np.abs(rows), motion.summands)
    size = size + np.abs(zeta) + applied(np.abs(G), np.abs(forces))
    lack = np.abs(applied(rows, motion.a_free) + zeta + applied(G, forces))
    return np.asarray(np.max(lack / np.maximum(_MET * size, LEAST), axis=-1))


def _coupled(G: Array) -> Array:
    """Which conditions the forces of others reach, also by way of further ones: (..., r, r) of 0 and 1."""
    found: Array = (G != 0.0).astype(float)
    for _ in range(G.shape[-1].bit_length()):  # each time by ways twice as long
        found = np.minimum(found + found @ found, 1.0)
    return found


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
        coupled = np.ones_like(G) if regular.all() else _coupled(G)
        # what couples nothing but by rounding has no force from there
        forces = -((coupled * np.linalg.pinv(G, rcond=RANK)) @ c[..., None])[..., 0]
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
            partial(_parted, rows, zeta, motion, G, coupled, sizes, forces),
        )

    def _distribution(self, terms: Terms, solved: _SolvedFlow) -> tuple[Array, Array]:
        """Forces to show where they are not unique, and the slack that tells how long any distribution is admissible.

        The slack is infinite where forces are unique, so that their own guards tell. A tangential force without
        friction to give it is none of those that may be chosen.
        """
        slopes, constants, cones = self._slacks(terms, solved)
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
                forces[index], slack[index] = admissible(at, null, slopes[index], constants[index], cones)
        parted = np.broadcast_to(solved.parted(), shape)
        return forces.reshape(*shape, r), np.where(parted > 1.0, -parted, slack.reshape(shape))  # beyond 1 no forces do

    def _smooth(self, terms: Terms) -> frozenset[ForceElement]:
        """Force elements that stick without friction: nothing but the others holds them."""
        sticking = (part.element for part in self.parts if part.sticks)
        return frozenset(item for item in sticking if not np.any(self._coefficient(terms, item, is_static=True)))

    def _slacks(self, terms: Terms, solved: _SolvedFlow) -> tuple[Array, Array, list[int]]:
        """Inequalities of the mode, pressing normal forces and sticking, and which of them begin a cone."""
        r, smooth = len(solved.law.unknown), self._smooth(terms)
        place = {row.place: column for column, row in enumerate(solved.law.unknown)}
        slopes: list[Array] = []
        constants: list[Array] = []
        cones: list[int] = []

        def require(slope: Array, constant: Array | float) -> None:
            slopes.append(slope)
            constants.append(np.broadcast_to(constant, solved.shape))

        for part in self.parts:
            normal = np.zeros((*solved.shape, r))
            if part.presses:
                normal[..., place[ForceRow(part.element).place]] = part.side
                require(normal, 0.0)
            if not part.sticks or part.element in smooth:
                continue
            limit = np.broadcast_to(self._coefficient(terms, part.element, is_static=True), solved.shape)
            held, constant = limit[..., None] * normal, 0.0 if part.presses else limit
            along = [np.eye(r)[place["T", column]] for column in part.columns]
            if len(along) == 1:
                require(held - along[0], constant)
                require(held + along[0], constant)
                continue
            cones.append(len(slopes))
            require(held, constant)
            for tangential in along:
                require(np.broadcast_to(tangential, held.shape), 0.0)
        if not slopes:  # nothing presses, and no friction holds
            require(np.zeros((*solved.shape, r)), np.inf)
        return np.stack(slopes, axis=-2), np.stack(constants, axis=-1), cones

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
