"""Rigid impact laws: Newton, Poisson and energetic (Stronge)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem, Impulses, Phase
from hybrid.contact.impacts.impulse_lcp import further_solutions, joint_impulse, other_impulses
from hybrid.contact.impacts.restitution import scaled_restitution
from hybrid.contact.impacts.routh import end_of_compression, end_of_restitution, routh_path, tangential_impulse
from hybrid.contact.impacts.routh_spatial import spatial_impulses
from hybrid.contact.impacts.spatial_jump import spatial_jumps, with_derivatives
from hybrid.errors import ComputationError
from hybrid.expressions import plain, tie_means
from hybrid.tolerances import AGREEING

_SAME = AGREEING  # of the contact velocities: outcomes that are one


def _is_coefficient(instance: object, attribute: attrs.Attribute[float | None], value: float | None) -> None:
    if value is not None and not 0.0 <= value <= 1.0:
        raise ValueError(f"the coefficient of restitution must lie between 0 and 1, got {value!r}")


@attrs.frozen
class AbstractRestitutionLaw(AbstractImpactLaw):
    """A law with coefficients of restitution.

    Attributes
    ----------
    restitution : float, optional
        Replaces the declared coefficients of all contacts.
    """

    restitution: float | None = attrs.field(default=None, validator=_is_coefficient)

    def coefficients(self, problem: ImpactProblem) -> NDArray[np.float64]:
        """Coefficient of every force element, (number of force elements,)."""
        return problem.restitution if self.restitution is None else np.full(len(problem.elements), self.restitution)


@attrs.frozen
class NewtonImpact(AbstractRestitutionLaw):
    """Newton's law ``gamma_N+ = -e gamma_N-`` with Coulomb's law between impulse and final slip (Moreau 1988).

    With friction it can create energy (Kane and Levinson 1985); the result says so.

    Attributes
    ----------
    restitution : float, optional
        Replaces the declared coefficients of all contacts; a number without unit.
    """

    @property
    def name(self) -> str:
        """Name of the law."""
        return "newton"

    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses by one complementarity problem over all closed contacts; of a spatial one alone on its cone."""
        e = self.coefficients(problem)
        gamma, before = problem.gamma.copy(), problem.gamma[problem.normals]
        # a contact that separates, or stays closed, is not thrown back
        gamma[problem.normals] += np.where(plain(before) < 0.0, e * before, 0.0)
        if len(problem.elements) == 1 and len(problem.elements[0].tangential) == 2:
            data = (problem.G, gamma, problem.friction[0])
            first, *others = spatial_jumps(*map(plain, data))
            values = with_derivatives(*data, first)
            return Impulses(values, _jump(problem, first), warnings=further_solutions(len(others)))
        answer = joint_impulse(problem, gamma)
        return Impulses(answer.values, _jump(problem, answer.values), warnings=answer.warnings)


@attrs.frozen
class PoissonImpact(AbstractRestitutionLaw):
    """Poisson's law: impulse of restitution = e times impulse of compression.

    One planar contact follows the path of Routh along the normal impulse; several follow Glocker and Pfeiffer (1995),
    with one complementarity problem for compression and one for restitution.

    Attributes
    ----------
    restitution : float, optional
        Replaces the declared coefficients of all contacts; a number without unit.
    """

    @property
    def name(self) -> str:
        """Name of the law."""
        return "poisson"

    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses along the normal impulse, or by two complementarity problems."""
        e = self.coefficients(problem)
        if len(problem.elements) == 1:
            return _along_path(problem, e.tolist()[0], "poisson")
        compression = joint_impulse(problem, problem.gamma)
        found = _restituted(problem, compression.values, e, compression.warnings)
        more = _hangs_on_impulses(
            problem, compression.values, found.values, lambda P: _restituted(problem, P, e, ()).values
        )
        return attrs.evolve(found, warnings=_once(found.warnings + more))


@attrs.frozen
class EnergeticImpact(AbstractRestitutionLaw):
    """Stronge's law: work of restitution = e^2 times work of compression (Stronge 1990).

    One planar contact follows the path of Routh, through slip, stick and reversal. Several contacts compress by one
    complementarity problem and restitute with impulses scaled so that the normal work meets the law and no energy
    appears. Friction cones of several spatial contacts are replaced by pyramids, which the result says.

    Attributes
    ----------
    restitution : float, optional
        Replaces the declared coefficients of all contacts; a number without unit.
    """

    @property
    def name(self) -> str:
        """Name of the law."""
        return "energetic"

    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses along the normal impulse, or by scaled restitution."""
        e = self.coefficients(problem)
        if len(problem.elements) == 1:
            return _along_path(problem, e.tolist()[0], "energetic")
        compression = joint_impulse(problem, problem.gamma)
        values, warnings = scaled_restitution(problem, compression.values, e)
        more = _hangs_on_impulses(problem, compression.values, values, lambda P: scaled_restitution(problem, P, e)[0])
        return Impulses(values, _jump(problem, values), warnings=_once(compression.warnings + warnings + more))


def _jump(problem: ImpactProblem, values: NDArray[np.float64]) -> tuple[Phase, ...]:
    total = float(np.sum(np.abs(plain(values)[problem.normals])))
    return (Phase("jump", total),) if total else ()


def _hangs_on_impulses(
    problem: ImpactProblem,
    compression: NDArray[np.float64],
    values: NDArray[np.float64],
    law: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> tuple[str, ...]:
    """A warning where other impulses of the same compression, which leave the same velocities, restitute otherwise."""
    if problem.base is not None:
        return ()
    size = _SAME * float(np.max(np.abs(problem.gamma)))
    for other in other_impulses(problem, problem.gamma, compression):
        try:
            way = law(other) - values
        except ComputationError:
            continue
        if np.max(np.abs(problem.G @ way)) > size:
            return (
                "impulses of compression are not unique, and what restitution makes of others are other velocities",
            )
    return ()


def _once(warnings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))


def _without_friction(problem: ImpactProblem, e: float) -> Impulses:
    """The impulse of one contact without friction, whose velocity is linear in it: all laws agree."""
    (gamma,), (mobility,) = problem.gamma.tolist(), problem.G[0].tolist()
    with tie_means("an impact of a contact that does not approach"):
        if gamma >= 0.0:
            return Impulses(np.zeros(1), ())
    if not plain(mobility) > 0.0:
        raise ComputationError("no impulse stops the contact: nothing that it pushes can move")
    values = np.array([(1 + e) * (-gamma / mobility)])
    return Impulses(values, _jump(problem, values))


def _along_path(problem: ImpactProblem, e: float, law: Literal["poisson", "energetic"]) -> Impulses:
    """Impulses of one contact, followed along its normal impulse."""
    if not problem.elements[0].tangential:
        return _without_friction(problem, e)
    if len(problem.elements[0].tangential) == 2:
        return spatial_impulses(problem, e, law=law)
    legs = routh_path(problem.G, problem.gamma, problem.friction.tolist()[0])
    with tie_means("slip ends in the impact just where its compression or restitution does"):
        compression = end_of_compression(legs)
        if not compression:
            return Impulses(np.zeros(2), ())
        end = (1 + e) * compression if law == "poisson" else end_of_restitution(legs, compression, e)
        tangential, phases = tangential_impulse(legs, end)
    return Impulses(np.array([end, tangential]), tuple(Phase(kind, share) for kind, share in phases))


def _restituted(
    problem: ImpactProblem,
    compression: NDArray[np.float64],
    factor: NDArray[np.float64],
    warnings: tuple[str, ...],
) -> Impulses:
    """Compression followed by normal impulses of at least ``factor`` times those of compression."""
    preload = factor * compression[problem.normals]
    gamma = problem.velocities_after(compression)
    restitution = joint_impulse(problem, gamma, preload=preload)
    values = compression + restitution.values
    return Impulses(values, _jump(problem, values), warnings=_once(warnings + restitution.warnings))
