"""A second road to a motion: time-stepping, which knows no events (Moreau 1988; Jean 1999)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

import lcp
from hybrid.contact.activity import Activity, carrier_names
from hybrid.contact.carriers import CarrierKind
from hybrid.contact.problem import ContactProblem, pose
from hybrid.errors import ComputationError, StateError
from hybrid.motion.pointwise import PointTerms

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms, Values
    from hybrid.dynamics.state import State

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class SteppedMotion:
    """A motion computed by time-stepping.

    Attributes
    ----------
    t : array, (N,)
    q, v : array, (N, n)
    impulse_N : array, (N, k)
        Normal impulse of every contact over the step that ends at each time.
    failures : int
        Steps whose problem Lemke's method did not solve; they were made without contact.
    """

    t: Array
    q: Array
    v: Array
    impulse_N: Array
    failures: int

    def graph(self, points: int) -> Array:
        """Points ``(t, q, v)`` of the polygonal graph."""
        return np.column_stack([self.t, self.q, self.v])


def time_stepping(
    dynamics: Dynamics, state: State, *, t_end: float, step: float, parameters: Values | None = None
) -> SteppedMotion:
    """Follow a motion by Moreau's midpoint scheme, contact and friction as one complementarity problem a step.

    Contacts that are closed at the midpoint position take part at the velocity level, with Newton's restitution:
    ``0 <= P_N, gamma_N+ + e gamma_N- >= 0``, complementary, and Coulomb friction on the impulses; Lemke's method
    solves it. Accurate to first order in the step.

    Parameters
    ----------
    dynamics : Dynamics
        With planar contacts and without bilateral constraints.
    state : State
    t_end : float
    step : float
        Time step.
    parameters : mapping, optional

    Returns
    -------
    SteppedMotion

    Raises
    ------
    ComputationError
        For spatial contacts or bilateral constraints.
    StateError
        For a time that does not advance.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> motion = time_stepping(ball, State([0.0], [0.0]), t_end=0.1, step=0.01)
    >>> float(motion.q[-1, 0])
    0.0
    """
    if dynamics.rigid or any(dynamics.dimension(name) > 1 for name in dynamics.columns):
        raise ComputationError(f"{dynamics.name}: time-stepping knows planar contacts and friction elements only")
    if not (t_end > state.t and step > 0):
        raise StateError(f"time must advance: from {state.t:g} to {t_end:g} in steps of {step:g}")
    terms_at = PointTerms(dynamics, parameters)
    count = max(1, int(np.ceil((t_end - state.t) / step - 1e-9)))
    h = (t_end - state.t) / count
    q, v = np.array(state.q), np.array(state.v)
    rows: list[tuple[Array, Array, Array]] = [(q, v, np.zeros(len(dynamics.contacts)))]
    failures = 0
    for index in range(count):
        middle = q + h / 2 * v
        terms = terms_at(state.t + (index + 0.5) * h, middle, v)
        change, impulse, solved = _velocity_change(dynamics, terms, v, h)
        failures += not solved
        v = v + change
        q = middle + h / 2 * v
        rows.append((q, v, impulse))
    return SteppedMotion(
        t=np.asarray(state.t + h * np.arange(count + 1), dtype=float),
        q=np.array([row[0] for row in rows]),
        v=np.array([row[1] for row in rows]),
        impulse_N=np.array([row[2] for row in rows]),
        failures=failures,
    )


def _velocity_change(dynamics: Dynamics, terms: Terms, v: Array, h: float) -> tuple[Array, Array, bool]:
    activities = tuple(
        Activity.OPEN
        if name in dynamics.contacts and terms.gap[dynamics.contacts.index(name)] > 0.0
        else (Activity.RESTING if dynamics.dimension(name) else Activity.FRICTIONLESS)
        for name in carrier_names(dynamics)
    )
    problem = pose(dynamics, terms, activities, sides={})
    smooth = h * problem.a_free
    impulses = np.zeros(len(dynamics.contacts))
    if not problem.carriers:
        return smooth, impulses, True
    gamma, restituted = _contact_velocities(dynamics, problem, terms)
    free = gamma + restituted + problem.W.T @ smooth
    P = _impulses(problem, free, h)
    if P is None:
        return smooth, impulses, False
    for carrier in problem.carriers:
        if carrier.normal is not None:
            impulses[dynamics.contacts.index(carrier.name)] = P[carrier.normal]
    return smooth + problem.response_W @ P, impulses, True


def _contact_velocities(dynamics: Dynamics, problem: ContactProblem, terms: Terms) -> tuple[Array, Array]:
    """Contact velocities before the step, and restitution times those of approach."""
    gamma, restituted = np.zeros(problem.n_rows), np.zeros(problem.n_rows)
    for carrier in problem.carriers:
        if carrier.normal is not None:
            index = dynamics.contacts.index(carrier.name)
            gamma[carrier.normal] = terms.gap_dot[index]
            restituted[carrier.normal] = terms.restitution[index] * min(terms.gap_dot[index], 0.0)
        for row in carrier.tangential:
            gamma[row] = terms.slip[dynamics.columns[carrier.name]][0]
    return gamma, restituted


def _impulses(problem: ContactProblem, free: Array, h: float) -> Array | None:
    """Solve ``gamma+ = free + G P`` with unilateral contact and Coulomb's law; None if Lemke's method ends on a ray.

    Unknowns: ``P_N`` of every contact, then ``P_R = P_T + mu P_N`` and the part ``gamma_L`` of the slip to the left of
    every carrier with friction; the conditions are those of the contact problem at the level of accelerations.
    """
    normals = [c.normal for c in problem.carriers if c.normal is not None]
    tangents = [c.tangential[0] for c in problem.carriers if c.tangential]
    k, p = len(normals), len(tangents)
    coupling, limits = np.zeros((p, k)), np.zeros(p)
    for row, carrier in enumerate(c for c in problem.carriers if c.tangential):
        if carrier.kind is CarrierKind.ELEMENT:
            limits[row] = h * float(carrier.friction)
        else:
            coupling[row, normals.index(carrier.rows[0])] = float(carrier.friction)
    G_N, G_T = problem.G[:, normals], problem.G[:, tangents]
    lift = G_N - G_T @ coupling
    base = free - G_T @ limits
    M: Any = np.zeros((k + 2 * p, k + 2 * p))
    q = np.zeros(k + 2 * p)
    M[:k, :k], M[:k, k : k + p] = lift[normals], G_T[normals]
    M[k : k + p, :k], M[k : k + p, k : k + p], M[k : k + p, k + p :] = lift[tangents], G_T[tangents], np.eye(p)
    M[k + p :, :k], M[k + p :, k : k + p] = 2 * coupling, -np.eye(p)
    q[:k], q[k : k + p], q[k + p :] = base[normals], base[tangents], 2 * limits
    solution = lcp.Lemke().solve(lcp.LCP(M, q))
    if solution.status is not lcp.Status.SOLVED:
        return None
    P = np.zeros(problem.n_rows)
    P[normals] = solution.z[:k]
    P[tangents] = solution.z[k : k + p] - coupling @ solution.z[:k] - limits
    return P
