"""The change of velocity at an event with its first derivatives: nothing, or an impact under any rigid law.

Where an impact happens: how its problem changes with the state and the parameters, and the velocities after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.compliant_jump import compliant_slopes
from hybrid.analysis.sensitivities.mode_system import balance_inverse
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.law import KelvinVoigtLimit
from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactChange, ImpactProblem, impact_problem
from hybrid.contact.impacts.laws import NewtonImpact, PoissonImpact
from hybrid.contact.modes import ElementKind
from hybrid.dynamics.partials import Forces, Partials
from hybrid.dynamics.state import State
from hybrid.errors import StateError
from hybrid.expressions import NotDifferentiable
from hybrid.tolerances import RANK

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms

__all__ = ["ImpactSite", "Jump", "impact_jumps", "no_jump", "problem_change", "velocity_slopes"]


Array = NDArray[np.float64]

_LOUD = 1e12  # times the velocities: changes beside which loads vanish; those of a unit of impulse may be far less


@attrs.frozen(eq=False)
class ImpactSite:
    """Where an impact happens: all that stays the same while velocities jump.

    Derivatives are with respect to ``z = (q, v, t, parameters)`` before the impact, ``size`` numbers.

    Attributes
    ----------
    partials : Partials
    dynamics : Dynamics
        At the values of the parameters.
    t : float
    q, v : array, (n,)
        Before the impact.
    """

    partials: Partials
    dynamics: Dynamics
    t: float
    q: Array
    v: Array

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.q)

    @property
    def y(self) -> Array:
        """The state, (2n,)."""
        return np.concatenate([self.q, self.v])

    @property
    def size(self) -> int:
        """Number of variables ``z``."""
        return 2 * self.n + 1 + len(self.partials.parameters)

    def terms(self, v: Array) -> Terms:
        """Terms at the position of the impact and a velocity."""
        return self.dynamics.terms(self.q, v, t=self.t)

    def slopes(self, v: Array, forces: Forces | None = None) -> dict[str, Array]:
        """Derivatives of every quantity with respect to ``z`` at a velocity, (N, ..., size).

        ``forces`` are N changes of velocity, in place of accelerations, with their impulses; by default one of nothing.
        """
        forces = self.impulsive(np.zeros((1, self.n))) if forces is None else forces
        N = len(forces.a)
        y, t = np.tile(np.concatenate([self.q, v]), (N, 1)), np.full(N, self.t)
        return self.partials.slopes(t, y, forces, self.dynamics)

    def impulsive(self, change: Array, *impulses: Array) -> Forces:
        """Changes of velocity (N, n) with their impulses at contacts, columns and constraints; by default none."""
        dynamics = self.dynamics
        p = max((columns.stop for columns in dynamics.columns.values()), default=0)
        none = (np.zeros((len(change), size)) for size in (len(dynamics.contacts), p, len(dynamics.rigid)))
        return Forces(change, *(impulses or none))

    def impulse_slopes(self, forces: Forces) -> Array:
        """Derivatives of ``M change - W_N P_N - W_T P_T - J^T P_B`` at fixed changes and impulses, (N, n, size)."""
        sizes = np.max(np.abs(forces.a), axis=1)
        loud = _LOUD * (float(np.max(np.abs(self.v))) or 1.0)
        factors = loud / np.where(sizes > 0.0, sizes, loud)
        parts = (forces.a, forces.lambda_N, forces.lambda_T, forces.lambda_B)
        scaled = Forces(*(factors[:, None] * part for part in parts))
        found = (self.slopes(self.v, scaled)["balance"] - self.slopes(self.v)["balance"]) / factors[:, None, None]
        found[:, :, self.n : 2 * self.n] = 0.0
        return np.asarray(found)


@attrs.frozen(eq=False)
class _Rows:
    """What the rows of an impact problem are in the mechanism.

    Attributes
    ----------
    rates : list of (str, int)
        Quantity that is the velocity of a row, and its index.
    units : Forces
        What an impulse of one on every row does, and the impulses of constraints that it calls forth.
    given : list of int
        Rows whose impulses a law gives; normal impulses of constraints follow from these.
    """

    rates: list[tuple[str, int]]
    units: Forces
    given: list[int]


def _rows(site: ImpactSite, problem: ImpactProblem) -> _Rows:
    dynamics, terms = site.dynamics, site.terms(site.v)
    units = site.impulsive(problem.response_W.T)
    blocks = {"gap_dot": units.lambda_N, "slip": units.lambda_T, "constraint_dot": units.lambda_B}
    rates: dict[int, tuple[str, int]] = {}
    for element in problem.elements:
        is_contact = element.kind is ElementKind.CONTACT
        names = dynamics.contacts if is_contact else dynamics.rigid
        rates[element.rows[0]] = ("gap_dot" if is_contact else "constraint_dot", names.index(element.name))
        first = dynamics.columns.get(element.name, slice(0, 0)).start
        rates |= {row: ("slip", first + place) for place, row in enumerate(element.tangential)}
    for row, (name, index) in rates.items():
        blocks[name][row, index] = 1.0
    taking_part = {index for name, index in rates.values() if name == "constraint_dot"}
    others = [index for index in range(len(dynamics.rigid)) if index not in taking_part]
    loads = terms.M @ problem.response_W - problem.posed.W
    units.lambda_B[:, others] = (np.linalg.pinv(terms.J[others].T, rcond=RANK) @ loads).T
    given = [row for row in sorted(rates) if rates[row][0] != "constraint_dot"]
    return _Rows([rates[row] for row in sorted(rates)], units, given)


def problem_change(site: ImpactSite, problem: ImpactProblem) -> ImpactChange:
    """How an impact problem changes with ``z``.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
        Posed there.

    Returns
    -------
    ImpactChange
        With ``size`` changes.
    """
    rows, found = _rows(site, problem), site.slopes(site.v)
    R, units = problem.response_W, rows.units
    # G_ij = R_i . W_j and M R_j = W_j + J^T P_B: no derivative of R is needed
    load = R.T @ site.impulse_slopes(units)
    inertia = R.T @ site.impulse_slopes(site.impulsive(units.a))
    G = inertia - load - np.swapaxes(load, 0, 1)
    return ImpactChange(
        gamma=np.stack([found[name][0, index] for name, index in rows.rates]),
        G=G,
        friction=_coefficients(site, problem, found, "friction", "constraint_friction"),
        restitution=_coefficients(site, problem, found, "restitution"),
        damping=_coefficients(site, problem, found, "damping"),
    )


def _coefficients(
    site: ImpactSite, problem: ImpactProblem, found: dict[str, Array], of_contact: str, of_constraint: str = ""
) -> Array:
    """Derivatives of a coefficient of every force element; a constraint may have none."""
    dynamics, slopes = site.dynamics, np.zeros((len(problem.elements), site.size))
    for place, element in enumerate(problem.elements):
        if element.kind is ElementKind.CONTACT:
            slopes[place] = found[of_contact][0, dynamics.contacts.index(element.name)]
        elif of_constraint:
            slopes[place] = found[of_constraint][0, dynamics.rigid.index(element.name)]
    return slopes


def velocity_slopes(site: ImpactSite, problem: ImpactProblem, P: Array, P_slopes: Array) -> tuple[Array, Array]:
    """Velocities after an impact, (n,), and their derivatives, (n, size).

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
        Posed there.
    P : array, (r,)
        Impulses.
    P_slopes : array, (r, size)

    Returns
    -------
    array, (n,), and array, (n, size)
    """
    n, rows = site.n, _rows(site, problem)
    before, change = np.eye(n, site.size, n), problem.response_W @ P
    if not P.any() and not P_slopes.any():
        return site.v, before
    terms = site.terms(site.v + change)
    units = (rows.units.lambda_N, rows.units.lambda_T, rows.units.lambda_B)
    balance = site.impulse_slopes(site.impulsive(change[None], *((P @ unit)[None] for unit in units)))[0]
    held = site.slopes(site.v + change)["constraint_dot"][0]
    held[:, n : 2 * n] = 0.0
    top = terms.M @ before - balance + problem.posed.W[:, rows.given] @ P_slopes[rows.given]
    m = len(terms.J)
    system = np.block([[terms.M, -terms.J.T], [terms.J, np.zeros((m, m))]])
    return site.v + change, (balance_inverse(system[None], n)[0] @ np.concatenate([top, -held]))[:n]


@attrs.frozen(eq=False)
class Jump:
    """The state after an event with its derivatives.

    Attributes
    ----------
    y : array, (2n,)
    slopes : array, (2n, size)
        With respect to ``(q, v, t, parameters)`` before the event.
    """

    y: Array
    slopes: Array


def no_jump(site: ImpactSite) -> Jump:
    """The jump of an event at which the state is continuous.

    Parameters
    ----------
    site : ImpactSite
        With the state.

    Returns
    -------
    Jump
    """
    return Jump(site.y, np.eye(2 * site.n, site.size))


def impact_jumps(site: ImpactSite, law: AbstractImpactLaw, closed: tuple[str, ...]) -> tuple[Jump, ...]:
    """The jump of an impact; several where a contact neither presses nor separates and both must give the same.

    Parameters
    ----------
    site : ImpactSite
    law : AbstractImpactLaw
    closed : tuple of str
        The contacts that take part.

    Returns
    -------
    tuple of Jump

    Raises
    ------
    NoDerivative
        The law has a kink here, or its derivative is not known.
    StateError
        A law of one's own gives changes that are no numbers for every row.
    """
    dynamics = site.dynamics
    is_rough = any(name in dynamics.columns for name in dynamics.rigid)
    if is_rough and not isinstance(law, NewtonImpact | PoissonImpact):
        raise NoDerivative(
            "an impact of a mechanism with dry friction in its constraints, under this law", is_proven=False
        )
    problem = impact_problem(dynamics, State(site.q, site.v, site.t), closed=tuple(closed))
    change = problem_change(site, problem)
    if isinstance(law, KelvinVoigtLimit):
        of = site.slopes(site.v)
        found = {name: _coefficients(site, problem, of, name) for name in ("static_friction", "stiffness_ratio")}
        P, slopes = compliant_slopes(problem, law, change, found)
    else:
        P, slopes = law.impulses(problem).values, _impulse_slopes(law, problem, change)
    return tuple(_jump(site, problem, P, piece) for piece in slopes.reshape(-1, len(P), site.size))


def _impulse_slopes(law: AbstractImpactLaw, problem: ImpactProblem, change: ImpactChange) -> Array:
    """Derivatives of the impulses, (..., r, size); a law of one's own is taken at its word."""
    try:
        slopes = np.asarray(law.impulse_change(problem, change), dtype=np.float64)
    except NotDifferentiable as error:
        raise NoDerivative(str(error), is_proven=error.is_proven) from error
    rows, size = change.gamma.shape
    if slopes.shape[-2:] not in ((rows, size), (rows, 1)) or not np.isfinite(slopes).all():
        raise StateError(
            f"impulse_change of the law {law.name!r} must return {rows} finite numbers for each of {size} changes, "
            f"not {slopes}"
        )
    return np.broadcast_to(slopes, (*slopes.shape[:-1], size))


def _jump(site: ImpactSite, problem: ImpactProblem, P: Array, P_slopes: Array) -> Jump:
    v, v_slopes = velocity_slopes(site, problem, P, P_slopes)
    return Jump(np.concatenate([site.q, v]), np.concatenate([np.eye(site.n, site.size), v_slopes]))
