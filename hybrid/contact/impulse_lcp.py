"""Impulses of several contacts at once, as one complementarity problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

import lcp
from hybrid.contact.carriers import CarrierKind
from hybrid.contact.complementarity import contact_forces, to_lcp
from hybrid.contact.pyramid import N_FACETS, pyramid_lcp
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.contact.impact import ImpactProblem
    from hybrid.contact.problem import ContactProblem

_MAX_COUNTED = 9
_SAME = 1e-7


@attrs.frozen(eq=False)
class JointImpulse:
    """Impulses of one complementarity problem and what is to be said about them."""

    values: NDArray[np.float64]
    warnings: tuple[str, ...]


def joint_impulse(
    problem: ImpactProblem, gamma: NDArray[np.float64], *, preload: NDArray[np.float64] | None = None
) -> JointImpulse:
    """Impulses that make every contact velocity complementary to its impulse.

    ``gamma_N + (G P)_N >= 0`` complementary to ``P_N - preload >= 0``, and the Coulomb law between the tangential
    impulse and the final tangential velocity (Moreau 1988; Pfeiffer and Glocker 1996, section 8.2).

    Parameters
    ----------
    problem : ImpactProblem
    gamma : array, (r,)
        Contact velocities; a law of restitution shifts their normal part.
    preload : array, (number of carriers,), optional
        Normal impulses that are given; friction acts on the total.

    Returns
    -------
    JointImpulse

    Raises
    ------
    ComputationError
        No solution was found.
    """
    posed = attrs.evolve(problem.posed, c=gamma)  # velocities in place of accelerations: the same problem
    given = np.zeros(len(gamma))
    if preload is not None:
        given[problem.normals] = preload
    if any(carrier.is_spatial_at_rest for carrier in problem.carriers):
        return _over_pyramids(posed, given)
    question, offset = _with_preload(posed, given)
    solution = lcp.Lemke().solve(question)
    z = solution.z
    warnings: tuple[str, ...] = ()
    if solution.status is not lcp.Status.SOLVED:
        found = lcp.enumerate_solutions(question) if question.n <= _MAX_COUNTED else None
        if found is None or found.is_empty:
            raise ComputationError("no impulses satisfy the impact law and Coulomb's law together")
        z = found.isolated[0] if len(found.isolated) else found.continua[0].vertices[0]
    values = contact_forces(posed, z) + offset
    if question.n <= _MAX_COUNTED:
        warnings = _several(problem, posed, question, offset, values)
    return JointImpulse(values, warnings)


def _with_preload(posed: ContactProblem, given: NDArray[np.float64]) -> tuple[lcp.LCP, NDArray[np.float64]]:
    """Shift the normal impulses by given ones: ``P = preload + P'`` and ``P_R = P_T + mu (preload + P')``."""
    if not given.any():
        return to_lcp(posed), given
    # friction on the preload moves both edges of the cone; the reduction's origin is the right edge
    shift = given.copy()
    resting = [carrier for carrier in posed.carriers if carrier.is_resting]
    for carrier in resting:
        shift[carrier.tangential[0]] = -float(carrier.friction) * given[carrier.rows[0]]
    question = to_lcp(attrs.evolve(posed, c=posed.c + posed.G @ shift))
    q = np.array(question.q)
    for index, carrier in enumerate(resting):
        if carrier.kind is not CarrierKind.ELEMENT:
            q[len(q) - len(resting) + index] += 2 * float(carrier.friction) * given[carrier.rows[0]]
    return lcp.LCP(question.M, q), shift


def _several(
    problem: ImpactProblem,
    posed: ContactProblem,
    question: lcp.LCP,
    offset: NDArray[np.float64],
    values: NDArray[np.float64],
) -> tuple[str, ...]:
    """A warning if other impulses of the same law give other velocities."""
    found = lcp.enumerate_solutions(question)
    points = [*found.isolated, *(vertex for piece in found.continua for vertex in piece.vertices)]
    velocity = problem.response_W @ values
    size = _SAME * (1.0 + float(np.max(np.abs(velocity), initial=0.0)))
    others = [
        z
        for z in points
        if np.max(np.abs(problem.response_W @ (contact_forces(posed, z) + offset) - velocity), initial=0.0) > size
    ]
    return (f"the law has {len(others)} further solutions with other velocities",) if others else ()


def _over_pyramids(posed: ContactProblem, given: NDArray[np.float64]) -> JointImpulse:
    if given.any():
        raise ComputationError("a law with restitution of impulses is not available for several spatial contacts")
    question, force, force_0 = pyramid_lcp(posed)
    solution = lcp.Lemke().solve(question)
    if solution.status is not lcp.Status.SOLVED:
        raise ComputationError("no impulses satisfy the impact law over the friction pyramids")
    note = f"friction cones approximated by pyramids of {N_FACETS} facets"
    return JointImpulse(force @ solution.z + force_0, (note,))
