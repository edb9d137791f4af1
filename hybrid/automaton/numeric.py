"""One mode's linear system solved numerically, at arrays of states.

Whether contact forces that are not determined can be chosen so that a mode holds.

How many degrees of freedom a mode leaves, measured at postures in which its contacts are closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.automaton.structure import NodeMode, rows_of_node
from hybrid.contact.activity import with_limits
from hybrid.contact.candidates import LASTING
from hybrid.contact.conditions import Conditions, Scale, conditions, problem_scale
from hybrid.contact.guards import ArrayView
from hybrid.contact.modes import ModeConditions, mode_conditions
from hybrid.contact.problem import ContactProblem, pose
from hybrid.contact.table import force_elements
from hybrid.dynamics.arithmetic import solve_each
from hybrid.dynamics.partials import Forces
from hybrid.dynamics.scales import Scales, scales_of
from hybrid.tolerances import HIGHS_FEASIBILITY, Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.contact.table import ForceElement
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.equations import Terms


Array = NDArray[np.float64]


def least_slack(mode: Conditions, further: Sequence[tuple[Array, Array]]) -> Array:
    """By how much all inequalities of a mode can be met at once, over all forces that meet its equations.

    Parameters
    ----------
    mode : Conditions
        At one state or many.
    further : sequence of pairs of array, (..., r) and (...)
        ``A`` and ``b`` of inequalities ``A x + b >= 0`` that are to be met, too.

    Returns
    -------
    array, (...)
        In units of the data, at most 1; negative where some inequality must fail, minus infinity where no forces meet
        the equations. One linear programme per state.
    """
    blocks = [(mode.E, 2), (mode.e, 1), (mode.A, 2), (mode.b, 1)]
    blocks += [(array, array.ndim - constant.ndim) for row, constant in further for array in (row, constant)]
    shape = np.broadcast_shapes(*(array.shape[: array.ndim - rank] for array, rank in blocks))
    E, e, A, b, *rest = (np.broadcast_to(array, (*shape, *array.shape[array.ndim - rank :])) for array, rank in blocks)
    A = np.concatenate([A, *(row[..., None, :] for row in rest[::2])], axis=-2)
    b = np.concatenate([b, *(constant[..., None] for constant in rest[1::2])], axis=-1)
    least = np.empty(shape)
    for place in np.ndindex(shape):
        least[place] = _largest_least(E[place], e[place], A[place], b[place])
    return least


def _largest_least(E: Array, e: Array, A: Array, b: Array) -> float:
    from scipy.optimize import linprog

    if not all(np.isfinite(array).all() for array in (E, e, A, b)):
        return float("nan")
    m, r = A.shape
    answer = linprog(
        np.append(np.zeros(r), -1.0),
        A_ub=np.hstack([-A, np.ones((m, 1))]),
        b_ub=b,
        A_eq=np.hstack([E, np.zeros((len(E), 1))]),
        b_eq=-e,
        bounds=[(None, None)] * r + [(None, 1.0)],
        options={"primal_feasibility_tolerance": HIGHS_FEASIBILITY, "dual_feasibility_tolerance": HIGHS_FEASIBILITY},
    )
    return float(-answer.fun) if answer.status == 0 else -np.inf


_N_SAMPLES = 8  # postures; a generic rank is found at the first with probability one, the others guard against NaN
_N_STEPS = 25  # Newton steps; quadratic convergence takes fewer than ten from nearby


@attrs.frozen(eq=False)
class Samples:
    """Postures at which the closed contacts of a mode touch, with arbitrary velocities.

    Attributes
    ----------
    q, v : array, (s, n)
    t : array, (s,)
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    t: NDArray[np.float64]


def closed_postures(dynamics: Dynamics, closed: Sequence[int]) -> Samples:
    """Postures in which given contacts touch, by Newton's method from scattered starts.

    Parameters
    ----------
    dynamics : Dynamics
    closed : sequence of int
        Positions of the contacts.

    Returns
    -------
    Samples
        Starting postures instead, if no iteration converges. Found once for every set of contacts.
    """
    return dynamics.once(_closed_postures, tuple(closed), depends_on_values=True)


def _closed_postures(dynamics: Dynamics, closed: Sequence[int]) -> Samples:
    random = np.random.default_rng(20130567)
    q = random.uniform(-1.0, 1.0, (_N_SAMPLES, dynamics.n))
    v = random.uniform(-1.0, 1.0, (_N_SAMPLES, dynamics.n))
    t = random.uniform(0.0, 1.0, _N_SAMPLES)
    start = q
    for _ in range(_N_STEPS):
        found = dynamics.kinematics(q, v, t=t)
        columns = [found["W_N"][..., index] for index in closed]
        columns += [found["J"][..., row, :] for row in range(found["J"].shape[-2])]
        if not columns:
            break
        residuals = [found["gap"][..., index] for index in closed]
        residuals += [found["constraint"][..., row] for row in range(found["constraint"].shape[-1])]
        jacobian = np.stack([np.broadcast_to(column, q.shape) for column in columns], axis=-2)
        residual = np.stack([np.broadcast_to(value, q.shape[:-1]) for value in residuals], axis=-1)
        finite = np.isfinite(jacobian).all(axis=(-2, -1)) & np.isfinite(residual).all(axis=-1)
        step = np.linalg.pinv(np.where(finite[:, None, None], jacobian, 0.0)) @ residual[..., None]
        q = q - np.where(finite[:, None], step[..., 0], 0.0)
        error = np.where(finite, np.max(np.abs(residual), axis=-1), np.inf)
    else:
        met = error <= Tolerances().gap
        if met.any():
            return Samples(q[met], v[met], t[met])
        q = start
    return Samples(q, v, t)


def active_rows(
    dynamics: Dynamics, parts: Sequence[ForceElement], node: NodeMode, samples: Samples
) -> NDArray[np.float64]:
    """Directions in which a mode permits no acceleration, rigid constraints included.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement
    node : NodeMode
    samples : Samples
        s states.

    Returns
    -------
    array, (s, k, n)
        Rows of ``J`` first; not scaled.
    """
    terms = dynamics.terms(samples.q, samples.v, t=samples.t)
    rows = [terms.J[..., row, :] for row in range(terms.J.shape[-2])]
    held = (row for mode in rows_of_node(parts, node) for row in mode.held)
    rows += [row.direction(terms) for row in held if row.place[0] != "B"]
    size, n = samples.q.shape
    if not rows:
        return np.zeros((size, 0, n))
    return np.stack([np.broadcast_to(row, (size, n)) for row in rows], axis=-2)


def rank_of(rows: NDArray[np.float64]) -> int:
    """The largest rank among the samples; directions are scaled to unit length.

    Parameters
    ----------
    rows : array, (s, k, n)
        Directions at s states; states with an entry that is not finite are left out.

    Returns
    -------
    int
        0 if there is no state.
    """
    rows = rows[np.isfinite(rows).all(axis=(-2, -1))]
    if not rows.size:
        return 0
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit = rows / np.where(norms > 0, norms, 1.0)
    return int(np.max(np.linalg.matrix_rank(unit, tol=np.sqrt(Tolerances().rank))))


@attrs.frozen(eq=False)
class NodeSystem:
    """The equations of one mode, ready to be solved at states; holds no state itself.

    Attributes
    ----------
    dynamics : Dynamics
    parts : tuple of ForceElement
    node : NodeMode
    is_hyperstatic : bool
        Solve by least squares: the forces are then the smallest of many.
    """

    dynamics: Dynamics = attrs.field(repr=False)
    parts: tuple[ForceElement, ...]
    node: NodeMode
    is_hyperstatic: bool = False

    def solve(
        self,
        q: Any,
        v: Any,
        *,
        t: Any = 0.0,
        parameters: Values | None = None,
        sides: Mapping[str, tuple[float, ...]] | None = None,
    ) -> SolvedMode:
        """Forces and accelerations as if the mode held, at states on which it need not hold.

        Parameters
        ----------
        q, v : array_like, (..., n)
        t : array_like, (...), default 0
        parameters : mapping of str to array_like, optional
        sides : mapping of str to tuple of float, optional
            Direction of vanishing slip of spatial contacts.

        Returns
        -------
        SolvedMode
        """
        dynamics = self.dynamics.at(parameters)
        terms = dynamics.terms(q, v, t=t)
        labels = [self.node.mode[part.name] for part in self.parts]
        activities = tuple(LASTING[label] for label in labels)
        with np.errstate(invalid="ignore"):  # a spatial contact at rest has no direction of slip
            scales = scales_of(dynamics, terms, q, v, t=t)
            directed = with_limits(dynamics, terms, scales, sides=sides or {}, tolerances=Tolerances())
            problem = pose(dynamics, directed, activities, sides={})
        modes = tuple(self._element_mode(element) for element in problem.elements)
        scale = problem_scale(problem)
        mode = conditions(problem, modes, scale)
        x = _smallest(mode) if self.is_hyperstatic else -solve_each(mode.E, mode.e[..., None])[..., 0]
        forces = x * scale.size[..., None] / scale.row
        rows: dict[str, tuple[int, ...]] = {element.name: element.rows for element in problem.elements}
        acceleration = problem.acceleration(forces)
        return SolvedMode(dynamics, terms, scales, problem, modes, scale, sides or {}, forces, acceleration, rows)

    def regularity(self, q: Any, v: Any, *, t: Any = 0.0) -> NDArray[np.float64]:
        """Smallest singular value of the scaled equations.

        Parameters
        ----------
        q, v : array_like, (..., n)
            Coordinates and velocities.
        t : array_like, (...)
            Time in s.

        Returns
        -------
        array, (...)
            0 where forces are undetermined; infinite in a mode without forces.
        """
        solved = self.solve(q, v, t=t)
        E = conditions(solved.problem, solved.modes, solved.scale).E
        if not E.shape[-1]:
            return np.full(E.shape[:-2], np.inf)
        finite = np.asarray(np.isfinite(E).all(axis=(-2, -1)))
        regular = np.where(finite[..., None, None], E, 0.0).astype(np.float64)
        return np.where(finite, np.linalg.svd(regular, compute_uv=False)[..., -1], np.nan)

    def _element_mode(self, element: Any) -> ModeConditions:
        """The linear conditions that belong to this node, among all modes of the force element."""
        label = self.node.mode[element.name]
        found = [mode for mode in mode_conditions(element) if mode.label is label]
        # a bilateral contact lists its modes pressing to one side, then to the other
        return found[0] if self.node.side(element.name) > 0 else found[-1]


def _smallest(mode: Conditions) -> NDArray[np.float64]:
    rank = Tolerances().rank
    finite = np.asarray(np.isfinite(mode.E).all(axis=(-2, -1)))
    inverse = np.linalg.pinv(np.where(finite[..., None, None], mode.E, 0.0), rcond=rank)
    return np.where(finite[..., None], -(inverse @ mode.e[..., None])[..., 0], np.nan)


@attrs.frozen(eq=False)
class SolvedMode:
    """The motion in one mode at arrays of states.

    Attributes
    ----------
    dynamics : Dynamics
    terms : Terms
    scales : Scales
        Of gaps and velocities.
    problem : ContactProblem
        Of the force elements that take part in the mode.
    modes : tuple of ModeConditions
    scale : Scale
    sides : mapping of str to tuple of float
        Sides from which slips vanish.
    forces : array, (..., r)
    acceleration : array, (..., n)
        NaN where the mode's equations are singular.
    """

    dynamics: Dynamics = attrs.field(repr=False)
    terms: Terms = attrs.field(repr=False)
    scales: Scales = attrs.field(repr=False)
    problem: ContactProblem = attrs.field(repr=False)
    modes: tuple[ModeConditions, ...]
    scale: Scale
    sides: Mapping[str, tuple[float, ...]]
    forces: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    _rows: Mapping[str, tuple[int, ...]]

    def rows(self, part: ForceElement) -> tuple[int, ...]:
        """Force rows of a force element that takes part, normal row first."""
        return self._rows[part.name]

    def acceleration_size(self, contact: int) -> NDArray[np.float64]:
        """Size of the terms that add up to a normal acceleration, shape of the states."""
        terms = np.abs(self.acceleration * self.terms.W_N[..., contact])
        return np.asarray(np.sum(terms, axis=-1) + np.abs(self.terms.zeta_N[..., contact]))

    @property
    def view(self) -> ArrayView:
        """Its quantities, for guards and conditions."""
        rows = {part.name: part.rows for part in force_elements(self.dynamics)}
        found = {
            row.place: self.forces[..., place]
            for element in self.problem.elements
            for row, place in zip(rows[element.name], element.rows, strict=False)
        }
        forces = Forces.of(self.acceleration, self.terms, found)
        return ArrayView(self.terms, forces, determinant=self.determinant, slack=self.slack)

    def determinant(self) -> NDArray[np.float64]:
        """Determinant of the mode's equations in physical units, shape of the states."""
        G, size = self.problem.G, self.problem.n_rows
        rows = [row for mode in self.modes for row in mode.equations]
        shape = np.broadcast_shapes(
            G.shape[:-2], *(np.shape(value) for row in rows for value in (*row.alpha.values(), *row.beta.values()))
        )
        E = np.zeros((*shape, size, size))
        for i, row in enumerate(rows):
            for index, value in row.alpha.items():
                E[..., i, :] += np.asarray(value)[..., None] * G[..., index, :]
            for index, value in row.beta.items():
                E[..., i, index] += value
        return np.asarray(np.linalg.det(E))

    def slack(self) -> NDArray[np.float64]:
        """By how much, in units of the data, all inequalities can be met; at most 1, negative where they cannot.

        Has the shape of the states.
        """
        G, c = self.problem.G, self.problem.c
        starts = []
        for mode in self.modes:
            name, sign = mode.element.name, mode.label.slip_sign
            if sign and name not in self.sides:
                row = mode.element.tangential[0]
                column = self.dynamics.columns[name].start
                slip, least = self.terms.slip[..., column], Tolerances().velocity * self.scales.slip[..., column]
                unit = self.scale.row[..., row]
                A = sign * G[..., row, :] / (unit[..., None] * self.scale.row)
                b = sign * c[..., row] / (unit * self.scale.size)
                # a slip that does not start from rest has an inequality that all forces meet
                at_rest = np.abs(slip) <= least
                starts.append((np.where(at_rest[..., None], A, 0.0), np.where(at_rest, b, 1.0)))
        return least_slack(conditions(self.problem, self.modes, self.scale), starts)
