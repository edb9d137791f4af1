"""Restitution of several contacts at once: how much of the impulse of compression the energy allows to give back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

import lcp
from hybrid.contact.impacts.impulse_lcp import (
    ImpulseQuestion,
    impulse_question,
    joint_impulse,
    solved,
)
from hybrid.contact.impacts.velocities import velocities_after
from hybrid.dynamics.crossing import crossing

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem
    from hybrid.contact.problem import ContactProblem

Array = NDArray[np.float64]

_MOST = 4.0  # the share exceeds 1 where contacts exchange energy; 4 was never reached with e <= 1
_CLOSE = 1e-14  # shares that agree so well are one
_ROUNDING = 1e-13  # of the energies that are added and subtracted


def scaled_restitution(problem: ImpactProblem, compression: Array, e: Array) -> tuple[Array, tuple[str, ...]]:
    """Impulses whose restitution releases no more energy than the energetic law allows.

    The restitution has normal impulses of at least ``share * e`` times those of compression (Glocker and Pfeiffer
    1995), where the share is such that the normal work released is ``sum e^2`` times the one stored (Stronge 1990),
    or less where energy would appear.

    Parameters
    ----------
    problem : ImpactProblem
    compression : array, (r,)
        Impulses at the end of compression.
    e : array, (number of carriers,)
        Coefficients of restitution.

    Returns
    -------
    array, (r,), and tuple of str
        Total impulses, and warnings.

    Raises
    ------
    ComputationError
        No impulses satisfy the law and Coulomb's law together.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> from hybrid.contact.impacts.impact import impact_problem
    >>> rod = derive(mechanisms.load("rod_two_ends"))
    >>> problem = impact_problem(rod, State([0, 0, 0], [0, -1, 0]))
    >>> impulses, _ = scaled_restitution(problem, np.array([0.5, 0, 0.5, 0]), np.array([0.5, 0.5]))
    >>> impulses[[0, 2]].round(12).tolist()
    [0.75, 0.75]
    """
    preload = e * compression[problem.normals]
    if not preload.any():
        return compression, ()
    restitution = _Restitution.of(problem, compression, preload, e)
    share = _largest_share(restitution)
    answer = joint_impulse(problem, restitution.posed.c, preload=share * preload)
    return compression + answer.values, answer.warnings


@attrs.frozen(eq=False)
class _Restitution:
    """Restitution of a share of the impulse of compression, and by how much it exceeds what the energy allows.

    Attributes
    ----------
    problem : ImpactProblem
    posed : ContactProblem
        With the velocities at the end of compression.
    compression : array, (r,)
    start, slope : ImpulseQuestion and array
        The problem at the share 0, and how its right-hand side changes with the share.
    shift : array, (r,)
        What to add to the impulses of a solution, for the share 1.
    allowed : float
        Work that may be released.
    size : float
        Energy that is given and taken, to which rounding is relative.
    """

    problem: ImpactProblem
    posed: ContactProblem
    compression: Array
    start: ImpulseQuestion
    slope: Array
    shift: Array
    allowed: float
    size: float

    @classmethod
    def of(cls, problem: ImpactProblem, compression: Array, preload: Array, e: Array) -> _Restitution:
        normals = problem.normals
        posed = attrs.evolve(problem.posed, c=velocities_after(problem, compression))
        start, end = (impulse_question(problem, posed, share * preload) for share in (0.0, 1.0))
        nothing = np.zeros(start.question.n)
        shift = end.impulses(nothing) - start.impulses(nothing)
        slope = end.question.q - start.question.q
        stored = -compression[normals] * (problem.gamma + problem.G @ compression / 2)[normals]
        allowed = float(np.sum(e**2 * np.maximum(stored, 0.0)))
        size = float(np.abs(compression) @ np.abs(problem.gamma))
        return cls(problem, posed, compression, start, slope, shift, allowed, size)

    def excess(self, share: float) -> float:
        """By how much the energy exceeds the law, relative; 0 if within rounding of it."""
        question = self.start.question
        z = solved(lcp.LCP(question.M, question.q + share * self.slope))
        P = self.start.impulses(z) + share * self.shift
        normals, total = self.problem.normals, self.compression + P
        released = P[normals] @ (self.posed.c + self.posed.G @ P / 2)[normals]
        gained = total @ (self.problem.gamma + self.posed.G @ total / 2)
        excess = float(max(released - self.allowed, gained)) / self.size
        return 0.0 if abs(excess) <= _ROUNDING else excess


def _largest_share(restitution: _Restitution) -> float:
    """The share at which the excess turns positive; where it jumps, the last one below."""
    at_one = restitution.excess(1.0)
    if at_one == 0.0 or (at_one < 0.0 and restitution.excess(_MOST) <= 0.0):
        return 1.0 if at_one == 0.0 else _MOST
    # nothing is given back at the share 0: what exceeds the law there is rounding beyond that of the sums
    if at_one > 0.0 and restitution.excess(0.0) >= 0.0:
        return 0.0
    between = (0.0, 1.0) if at_one > 0.0 else (1.0, _MOST)
    share = crossing(restitution.excess, *between, xtol=_CLOSE, rtol=_CLOSE)
    return share if restitution.excess(share) <= 0.0 else max(share - 4 * _CLOSE * (1 + share), 0.0)
