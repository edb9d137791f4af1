"""Rigid impact laws: Newton, Poisson and energetic (Stronge), and one step of the velocity problem.

Restitution of several contacts at once: how much of the impulse of compression the energy allows to give back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem, Impulses, Phase
from hybrid.contact.impacts.impulse_lcp import (
    further_solutions,
    impulse_question,
    joint_impulse,
    other_impulses,
    solved_impulses,
)
from hybrid.contact.impacts.routh import end_of_compression, end_of_restitution, routh_path, tangential_impulse
from hybrid.contact.impacts.routh_spatial import spatial_impulses
from hybrid.contact.impacts.spatial_jump import spatial_jumps, with_derivatives
from hybrid.contact.modes import ElementKind
from hybrid.dynamics.crossing import crossing
from hybrid.errors import ArgumentError, ComputationError
from hybrid.expressions import Dual, NotDifferentiable, plain, tie_means
from hybrid.tolerances import AGREEING, CANCELLED, NOTHING, RESOLVED, ROUNDING, SUMMED

if TYPE_CHECKING:
    from collections.abc import Callable


Array = NDArray[np.float64]

_UNMET = "contacts jam: no impulses of restitution release the work that the energetic law allows"
_CLOSE = SUMMED  # shares that agree so well are one
_MET = NOTHING  # of the energies: a limit of the law is met
_ROUNDING = CANCELLED  # of the energies that are added and subtracted


def scaled_restitution(problem: ImpactProblem, compression: Array, e: Array) -> Impulses:
    """Impulses whose restitution releases no more energy than the energetic law allows.

    The restitution has normal impulses of at least ``share * e`` times those of compression (Glocker and Pfeiffer
    1995), where the share is such that the normal work released is ``sum e^2`` times the one stored (Stronge 1990),
    or less where energy would appear. Where contacts jam, every share may release less: if none moves anything, the
    answer is the compression alone, and says so.

    Parameters
    ----------
    problem : ImpactProblem
    compression : array, (r,)
        Impulses at the end of compression.
    e : array, (number of force elements,)
        Coefficients of restitution.

    Returns
    -------
    Impulses
        In all, without phases.

    Raises
    ------
    ComputationError
        No impulses satisfy the law and Coulomb's law together; or every share releases less than the law allows, and
        velocities hang on the share.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> from hybrid.contact.impacts.impact import impact_problem
    >>> rod = derive(mechanisms.load("rod_two_ends"))
    >>> problem = impact_problem(rod, State([0, 0, 0], [0, -1, 0]))
    >>> found = scaled_restitution(problem, np.array([0.5, 0, 0.5, 0]), np.array([0.5, 0.5]))
    >>> found.values[[0, 2]].round(12).tolist()
    [0.75, 0.75]
    """
    if problem.base is not None:
        return Impulses(_with_derivatives(problem, compression, e), ())
    preload = e * compression[problem.normals]
    if not preload.any():
        return Impulses(compression, ())
    share, is_met = _largest_share(problem, compression, preload, e)
    answer = joint_impulse(problem, problem.velocities_after(compression), preload=share * preload)
    said = () if is_met else (f"{_UNMET}, and none moves anything: the answer is the compression alone",)
    return attrs.evolve(answer, values=compression + answer.values, warnings=(*answer.warnings, *said))


def _with_derivatives(problem: ImpactProblem, compression: NDArray[Any], e: NDArray[Any]) -> NDArray[Any]:
    """The same impulses of a problem of duals: the share follows from the limit of the energy that it meets."""
    gamma, preload = problem.velocities_after(compression), e * compression[problem.normals]
    if len(problem.elements) == 1 or not plain(preload).any():  # the share is one: a contact has its own work alone
        return np.asarray(compression + joint_impulse(problem, gamma, preload=preload).values)
    known = (problem.plain, plain(gamma), plain(compression), plain(e))
    share, is_met = _largest_share(known[0], known[2], plain(preload), known[3])
    if not is_met:
        return compression
    fixed = joint_impulse(problem, gamma, preload=share * preload).values
    varied = Dual(share, np.ones((1,) * np.ndim(compression[0].d)))
    moved = joint_impulse(problem.plain, known[1], preload=varied * plain(preload)).values
    excesses = zip(_excesses(problem, gamma, compression, e, fixed), _excesses(*known, moved), strict=True)
    met = [-x.d / rate.d for x, rate in excesses if abs(x.v) <= _MET * _energy(known[0], known[2])]
    if len(met) != 1:
        what = "two of its limits at once" if met else "neither of its limits"
        raise NotDifferentiable(f"the energetic law of several contacts meets {what}", is_proven=bool(met))
    slopes = [P.d + rate.d * met[0] for P, rate in zip(fixed, moved, strict=True)]
    return np.asarray(compression + [Dual(P.v, slope) for P, slope in zip(fixed, slopes, strict=True)])


def _excesses(problem: ImpactProblem, gamma: Array, compression: Array, e: Array, P: Array) -> tuple[Any, Any]:
    """By how much restitution releases more work than the law allows, and by how much the energy grows.

    ``gamma`` are the velocities at the end of compression, ``P`` the impulses of restitution.
    """
    normals, total = problem.normals, compression + P
    stored = -compression[normals] * (problem.gamma + problem.G @ compression / 2)[normals]
    allowed = e**2 @ np.where(plain(stored) > 0.0, stored, 0.0)
    released = P[normals] @ (gamma + problem.G @ P / 2)[normals]
    return released - allowed, total @ (problem.gamma + problem.G @ total / 2)


def _largest_share(problem: ImpactProblem, compression: Array, preload: Array, e: Array) -> tuple[float, bool]:
    """The share of restitution at which the energy turns to exceed the law; where it jumps, the last one below.

    It exceeds 1 where contacts exchange energy. The share 0 and False where restitution moves nothing.
    """
    gamma, size = problem.velocities_after(compression), _energy(problem, compression)

    def impulses(share: float) -> Array:
        asked = impulse_question(problem, gamma, share * preload)
        return solved_impulses(problem, gamma, asked)

    def excess(share: float) -> float:
        """By how much the energy exceeds the law, relative; 0 if within rounding of it."""
        excess = float(max(_excesses(problem, gamma, compression, e, impulses(share)))) / size
        return 0.0 if abs(excess) <= _ROUNDING else excess

    if (at_one := excess(1.0)) == 0.0:
        return 1.0, True
    # nothing is given back at the share 0: what exceeds the law there is rounding beyond that of the sums
    if at_one > 0.0 and excess(0.0) >= 0.0:
        return 0.0, True
    low, high, at_low = (0.0, 1.0, -1.0) if at_one > 0.0 else (1.0, 2.0, at_one)
    if at_one < 0.0 and _moves_nothing(problem, impulses(1.0)):
        return 0.0, False  # and so at all shares: these impulses in proportion obey the same conditions
    while (at_high := excess(high)) < 0.0:
        # the energy grows with the square of impulses that move anything: it exceeds the law in the end, or they jam
        grows, P = at_high > (1 - _MET) * at_low, impulses(high)
        if not grows and _is_jam(problem, P, P - impulses(low), (high - low) * preload):
            raise ComputationError(f"{_UNMET}, and velocities hang on them; Poisson's law states them")
        low, high, at_low = high, 2 * high, at_high
    share = crossing(excess, low, high, xtol=_CLOSE, rtol=_CLOSE)
    return (share if excess(share) <= 0.0 else max(share - 4 * _CLOSE * (1 + share), 0.0)), True


def _is_jam(problem: ImpactProblem, P: Array, way: Array, least: Array) -> bool:
    """Whether impulses ``P`` may grow along ``way`` without end: it moves nothing, and obeys the laws by itself."""
    normals, rounding = problem.normals, ROUNDING * np.max(np.abs(way))
    pressing = np.sign(P[normals]) * way[normals]  # a rail may press to either side
    along = np.array([np.linalg.norm(way[list(element.tangential)]) for element in problem.elements])
    within = np.all(pressing >= least - rounding) and np.all(along <= problem.friction * pressing + rounding)
    return bool(within) and _moves_nothing(problem, way)


def _moves_nothing(problem: ImpactProblem, P: Array) -> bool:
    return bool(np.all(np.abs(problem.G @ P) <= ROUNDING * (np.abs(problem.G) @ np.abs(P))))


def _energy(problem: ImpactProblem, compression: Array) -> float:
    """Energy that is given and taken, to which rounding is relative."""
    return float(np.abs(compression) @ np.abs(problem.gamma))


_SAME = AGREEING  # of the contact velocities: outcomes that are one


def _is_coefficient(instance: object, attribute: attrs.Attribute[float], value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ArgumentError(f"the coefficient of restitution must lie between 0 and 1, got {value!r}")


@attrs.frozen
class AbstractRestitutionLaw(AbstractImpactLaw):
    """A law with coefficients of restitution.

    Attributes
    ----------
    restitution : float, optional
        Replaces the declared coefficients of all contacts.
    """

    restitution: float | None = attrs.field(default=None, validator=attrs.validators.optional(_is_coefficient))

    def coefficients(self, problem: ImpactProblem) -> NDArray[np.float64]:
        """Coefficient of every force element, (number of force elements,); constraints have none."""
        if self.restitution is None:
            return problem.restitution
        is_contact = [element.kind is ElementKind.CONTACT for element in problem.elements]
        return np.where(is_contact, self.restitution, 0.0)


@checks_arguments
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
        """Impulses by one complementarity problem over all closed contacts; of a spatial one alone on its cone.

        Parameters
        ----------
        problem : ImpactProblem

        Returns
        -------
        Impulses
            In N s.
        """
        e = self.coefficients(problem)
        gamma, before = problem.gamma.copy(), problem.gamma[problem.normals]
        # a contact that separates, or stays closed, is not thrown back
        gamma[problem.normals] += np.where(plain(before) < 0.0, e * before, 0.0)
        if len(problem.elements) == 1 and len(problem.elements[0].tangential) == 2:
            data = (problem.G, gamma, problem.friction[0])
            first, *others = spatial_jumps(*map(plain, data))
            values = with_derivatives(*data, first)
            return Impulses(values, _jump(problem, first), warnings=further_solutions(len(others)))
        return _jump_of(problem, joint_impulse(problem, gamma))


@checks_arguments
@attrs.frozen
class PoissonImpact(AbstractRestitutionLaw):
    """Poisson's law: impulse of restitution = e times impulse of compression.

    One contact follows the path of Routh along the normal impulse; several follow Glocker and Pfeiffer (1995), with one
    complementarity problem for compression and one for restitution. Where the slip of a spatial contact turns so that
    its restitution ends in a second compression, the law is refused.

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
        """Impulses along the normal impulse, or by two complementarity problems.

        Parameters
        ----------
        problem : ImpactProblem

        Returns
        -------
        Impulses
            In N s.

        Raises
        ------
        ComputationError
            The contact would still approach at the end, or no impulses were found.
        """
        return _in_two_parts(problem, self.coefficients(problem), "poisson", _restituted)


@checks_arguments
@attrs.frozen
class EnergeticImpact(AbstractRestitutionLaw):
    """Stronge's law: work of restitution = e^2 times work of compression (Stronge 1990).

    One contact follows the path of Routh, through slip, stick and reversal. Its work of restitution is the net one: a
    second compression, which the slip of a spatial contact may turn to, is passed, and what it takes is released again.
    Several contacts compress by one complementarity problem and restitute with impulses scaled so that the normal work
    meets the law and no energy appears; contacts that jam may release less, of which ``scaled_restitution`` tells.
    Friction cones of several spatial contacts are replaced by pyramids, which the result says.

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
        """Impulses along the normal impulse, or by scaled restitution.

        Parameters
        ----------
        problem : ImpactProblem

        Returns
        -------
        Impulses
            In N s.
        """
        return _in_two_parts(problem, self.coefficients(problem), "energetic", scaled_restitution)


def _jump(problem: ImpactProblem, values: NDArray[np.float64]) -> tuple[Phase, ...]:
    total = float(np.sum(np.abs(plain(values)[problem.normals])))
    return (Phase("jump", total),) if total else ()


def _jump_of(problem: ImpactProblem, found: Impulses) -> Impulses:
    """Impulses that act at once, each warning once."""
    return attrs.evolve(found, phases=_jump(problem, found.values), warnings=tuple(dict.fromkeys(found.warnings)))


def _in_two_parts(
    problem: ImpactProblem,
    e: Array,
    law: Literal["poisson", "energetic"],
    restituted: Callable[[ImpactProblem, Array, Array], Impulses],
) -> Impulses:
    """Impulses of one contact along its normal impulse; of several by compression, and what a law makes of it."""
    if len(problem.elements) == 1:
        return _along_path(problem, e.tolist()[0], law)
    compression = joint_impulse(problem, problem.gamma)
    found = restituted(problem, compression.values, e)
    more = _hangs_on_impulses(problem, compression.values, found.values, lambda P: restituted(problem, P, e).values)
    return _jump_of(problem, attrs.evolve(found, warnings=(*compression.warnings, *found.warnings, *more)))


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
    path = routh_path(problem.G, problem.gamma, problem.friction.tolist()[0])
    with tie_means("slip ends in the impact just where its compression or restitution does"):
        compression = end_of_compression(path)
        if not compression:
            return Impulses(np.zeros(2), ())
        end = (1 + e) * compression if law == "poisson" else end_of_restitution(path, compression, e)
        tangential, phases = tangential_impulse(path, end)
    return Impulses(np.array([end, tangential]), tuple(Phase(kind, share) for kind, share in phases))


def _restituted(problem: ImpactProblem, compression: Array, factor: Array) -> Impulses:
    """Compression followed by normal impulses of at least ``factor`` times those of compression."""
    preload = factor * compression[problem.normals]
    found = joint_impulse(problem, problem.velocities_after(compression), preload=preload)
    return attrs.evolve(found, values=compression + found.values)


_STEP = RESOLVED  # of the time in which the free acceleration would change the velocities by themselves


@attrs.frozen
class VelocityProblem(AbstractImpactLaw):
    """One step of the velocity problem: ``gamma+ = gamma + h c + G P`` complementary to the impulses, inelastic.

    For contacts alone its matrix is copositive, so that a solution exists even where the acceleration problem has none;
    the impulse then stays finite as the step tends to zero (Stewart and Trinkle 1996; Anitescu and Potra 1997). Beside
    a constraint with friction it need not be, and there may be no solution.

    Attributes
    ----------
    step : float, optional
        Time step ``h``; by default one so small that the answer is its limit to ten digits.
    """

    step: float | None = None

    @property
    def name(self) -> str:
        """Name of the law."""
        return "velocity LCP"

    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses of one step by one complementarity problem, as those of Newton's law."""
        free = problem.posed.c
        size = float(np.max(np.abs(free), initial=0.0))
        speed = float(np.max(np.abs(problem.gamma), initial=0.0))
        step = self.step if self.step is not None else (_STEP * (speed or 1.0) / size if size else 0.0)
        if any(element.is_spatial_at_rest for element in problem.elements):
            raise ComputationError("the velocity problem is planar here; this contact is spatial")
        found = joint_impulse(problem, problem.gamma + step * free)
        change = float(np.max(np.abs(problem.G @ found.values), initial=0.0))
        return _jump_of(problem, found) if change > NOTHING * speed else found
