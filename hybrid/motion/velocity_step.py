"""One step of time-stepping: velocities and impulses by one complementarity problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

import lcp
from hybrid.contact.activity import Activity, carrier_names
from hybrid.contact.carriers import Carrier, CarrierKind
from hybrid.contact.modes import ContactMode
from hybrid.contact.problem import ContactProblem, pose
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Terms

__all__ = ["VelocityStep", "velocity_step"]

Array = NDArray[np.float64]

_ROUNDING = 1e-14  # of the largest datum of a complementarity problem: zero


@attrs.frozen(eq=False)
class VelocityStep:
    """What one step does to the velocities.

    Attributes
    ----------
    change : array, (n,)
        Of the velocities.
    impulse_N, impulse_T : array, (k,) and (p,)
        By contact and by tangential column.
    labels : dict of str to ContactMode
        What every carrier does at the end of the step.
    touched : frozenset of str
        Contacts with a normal impulse.
    is_solved : bool
        False where Lemke's method found no impulses; the step is then made without contact.
    carriers : tuple of str
        Contacts and elements that took part.
    support : tuple of int
        Positive unknowns of the complementarity problem.
    """

    change: Array
    impulse_N: Array
    impulse_T: Array
    labels: dict[str, ContactMode]
    touched: frozenset[str]
    is_solved: bool = True
    carriers: tuple[str, ...] = ()
    support: tuple[int, ...] = ()


def velocity_step(
    dynamics: Dynamics,
    terms: Terms,
    v: Array,
    h: float,
    *,
    persisting: frozenset[str],
    tolerances: Tolerances,
    before: VelocityStep | None = None,
) -> VelocityStep:
    """Find the velocities after a step.

    Contacts that are closed at the terms' position take part at the velocity level, with Newton's restitution:
    ``0 <= P_N, gamma_N+ + e gamma_N- >= 0``, complementary, and Coulomb friction on impulses (Moreau 1988). One that
    was closed before still takes part, with ``gamma_N+ + max(g_N, 0)/h >= 0``: a curved path that carries it off the
    surface by a fraction of ``h**2`` is no detachment.

    Parameters
    ----------
    dynamics : Dynamics
        With planar contacts.
    terms : Terms
        At the middle of the step.
    v : array, (n,)
        Velocities before it.
    h : float
        Length of the step.
    persisting : frozenset of str
        Contacts that were closed at the end of the step before.
    tolerances : Tolerances
    before : VelocityStep, optional
        The step before: where the complementarity problem of this one has a solution with the same positive unknowns,
        that is taken; Lemke's method decides otherwise.

    Returns
    -------
    VelocityStep
    """
    activities = tuple(
        Activity.OPEN
        if name in dynamics.contacts and name not in persisting and terms.gap[dynamics.contacts.index(name)] > 0.0
        else (Activity.RESTING if dynamics.dimension(name) else Activity.FRICTIONLESS)
        for name in carrier_names(dynamics)
    )
    problem = pose(dynamics, terms, activities, sides={})
    smooth = h * problem.a_free
    labels = dict.fromkeys(dynamics.contacts, ContactMode.FREE)
    impulse_N, impulse_T = np.zeros(len(dynamics.contacts)), np.zeros(terms.slip.shape[-1])
    if not problem.carriers:
        return VelocityStep(smooth, impulse_N, impulse_T, labels, frozenset())
    gamma, offset = _contact_velocities(dynamics, problem, terms, h, persisting)
    carriers = tuple(carrier.name for carrier in problem.carriers)
    likely = before.support if before is not None and before.carriers == carriers else None
    solved = _impulses(problem, gamma + offset + problem.W.T @ smooth, h, likely)
    P, support = (np.zeros(problem.n_rows), ()) if solved is None else solved
    after = gamma + problem.W.T @ smooth + problem.G @ P
    touched = set()
    for carrier in problem.carriers:
        labels[carrier.name] = _label(carrier, P, after, h, tolerances, persists=carrier.name in persisting)
        if carrier.normal is not None:
            impulse_N[dynamics.contacts.index(carrier.name)] = P[carrier.normal]
            touched |= {carrier.name} if P[carrier.normal] > 0.0 else set()
        for row in carrier.tangential:
            impulse_T[dynamics.columns[carrier.name]] = P[row]
    change = smooth + problem.response_W @ P
    is_solved = solved is not None
    return VelocityStep(change, impulse_N, impulse_T, labels, frozenset(touched), is_solved, carriers, support)


def _contact_velocities(
    dynamics: Dynamics, problem: ContactProblem, terms: Terms, h: float, persisting: frozenset[str]
) -> tuple[Array, Array]:
    """Contact velocities before the step, and what is added to those after it before they must not be negative."""
    gamma, offset = np.zeros(problem.n_rows), np.zeros(problem.n_rows)
    for carrier in problem.carriers:
        if carrier.normal is not None:
            index = dynamics.contacts.index(carrier.name)
            gamma[carrier.normal] = terms.gap_dot[index]
            thrown_back = terms.restitution[index] * min(terms.gap_dot[index], 0.0)
            reach = max(terms.gap[index], 0.0) / h
            offset[carrier.normal] = reach if carrier.name in persisting else thrown_back
        for row in carrier.tangential:
            gamma[row] = terms.slip[dynamics.columns[carrier.name]][0]
    return gamma, offset


def _label(
    carrier: Carrier, P: Array, after: Array, h: float, tolerances: Tolerances, *, persists: bool
) -> ContactMode:
    """The mode of a carrier from its impulse and its velocity after the step."""
    if carrier.normal is not None:
        leaves = not persists and after[carrier.normal] > tolerances.velocity
        if leaves or not P[carrier.normal] > 0.0:
            return ContactMode.FREE
    limit = float(carrier.friction) * (h if carrier.normal is None else float(P[carrier.normal]))
    if not carrier.tangential or (carrier.normal is not None and limit == 0.0):
        return ContactMode.CLOSED
    slip = float(after[carrier.tangential[0]])
    if abs(slip) <= tolerances.velocity:
        return ContactMode.STICK
    return ContactMode.SLIDE_PLUS if slip > 0.0 else ContactMode.SLIDE_MINUS


def _impulses(
    problem: ContactProblem, free: Array, h: float, likely: tuple[int, ...] | None
) -> tuple[Array, tuple[int, ...]] | None:
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
    z = None if likely is None else _with_support(M, q, list(likely))
    if z is None:
        solution = lcp.Lemke().solve(lcp.LCP(M, q))
        if solution.status is not lcp.Status.SOLVED:
            return None
        z = solution.z
    P = np.zeros(problem.n_rows)
    P[normals] = z[:k]
    P[tangents] = z[k : k + p] - coupling @ z[:k] - limits
    return P, tuple(np.flatnonzero(z).tolist())


def _with_support(M: Array, q: Array, support: list[int]) -> Array | None:
    """The solution of a complementarity problem with given positive unknowns; None if there is none."""
    z = np.zeros(len(q))
    try:
        z[support] = np.linalg.solve(M[support][:, support], -q[support])
    except np.linalg.LinAlgError:
        return None
    w = M @ z + q
    w[support] = 0.0
    slack = _ROUNDING * np.abs(q).max()
    return z if (z[support] > 0.0).all() and (w >= -slack).all() else None
