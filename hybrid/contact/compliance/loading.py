"""Who sticks and who slips beside rough constraints, whose friction is bounded by what the others load them with.

The convex problem of contacts at rest has given bounds. Here all combinations of sticking and slipping, and of the
signs of the forces of constraints that slide, are tried; where more than one motion is found, or none, that is said.

Directions of a slip that an acceleration is parallel to, when it depends on the slip through its friction.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.compliance.status import REMEDY, VANISHING, ContactStatus
from hybrid.contact.spatial import Misalignment
from hybrid.errors import ComputationError
from hybrid.tolerances import AGREEING, NEARLY, NOTHING, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hybrid.contact.compliance.path import Array
    from hybrid.contact.compliance.status import BilateralContacts

__all__ = ["LoadedRest", "parallel_directions"]


_CIRCLE = NEARLY  # distance from the unit circle of roots that may lie on it: those of a double root differ by 1e-8
_EXACT = ROUNDING  # of its coefficients: a root
_STEPS = 50


def parallel_directions(c: Array, B: Array) -> list[tuple[float, float]]:
    """Unit vectors ``u``, at most four, for which ``c + B u`` is a multiple of ``u``, of either sign.

    Parameters
    ----------
    c, B : array, (2,) and (2, 2)

    Returns
    -------
    list of (float, float)
        None where every direction is one.

    Examples
    --------
    >>> found = parallel_directions(np.array([0.0, 3.0]), -np.eye(2))
    >>> sorted((round(x, 9) + 0.0, round(y, 9)) for x, y in found)
    [(0.0, -1.0), (0.0, 1.0)]
    """
    turned = Misalignment.of(c, B)
    exact = _EXACT * float(np.sum(np.abs(turned.coefficients)))
    if np.max(np.abs(turned.coefficients)) <= exact:
        return []
    roots = turned.roots(exact)
    angles = np.angle(roots[np.abs(np.abs(roots) - 1.0) <= _CIRCLE])
    angles = turned.refined(angles, steps=_STEPS, exact=exact)
    found = angles[np.abs(turned.value(angles)) <= exact].tolist()
    return [(math.cos(angle), math.sin(angle)) for angle in found]


_CLOSE = NOTHING  # of what a force or an acceleration is a sum of: zero
_SAME = AGREEING  # accelerations that differ by less are one motion
_VANISHED = 4.0  # times what is rounding of a force: an event is not found more exactly
_MOST = 20_000  # combinations that are tried


@attrs.frozen(eq=False)
class LoadedRest:
    """Force elements at one moment, some of them at rest, and rough constraints.

    Attributes
    ----------
    G, free : array, (r, r) and (r,)
    bilateral : BilateralContacts
    tangential : sequence of sequence of int
        Tangential rows of every force element.
    bounds, holds : array
        Largest friction forces, slipping and sticking, of the force elements before the constraints.
    forces : callable
        Forces by row, (r,), when the force elements do something.
    force : float
        Size of the forces of the contacts in the whole history; next to it others vanish.
    """

    G: Array
    free: Array
    bilateral: BilateralContacts
    tangential: Sequence[Sequence[int]]
    bounds: Array
    holds: Array
    forces: Callable[[ContactStatus], Array]
    force: float

    def settle(
        self,
        status: ContactStatus,
        undecided: Sequence[int],
        *,
        reversible: Sequence[int] | None = None,
        breaking: int | None = None,
    ) -> None:
        """Decide whether elements at rest stick and else where they slip, with the signs of the constraints' forces.

        Parameters
        ----------
        status : ContactStatus
            Changed.
        undecided : sequence of int
            Force elements at rest; others at rest hold.
        reversible : sequence of int, optional
            Constraints whose sign is found if they slide; by default all.
        breaking : int, optional
            A force element whose friction has just reached its static bound.

        Raises
        ------
        ComputationError
            No motion is consistent, or several are.
        """
        found = list(self._consistent(status, undecided, reversible, breaking))
        if not found:
            raise self._refusal("no motion is consistent with it")
        # a static friction that exceeds the kinetic one holds as long as it can: the only choice that is made
        hysteretic = [i for i in undecided if i < self.bilateral.first and self.holds[i] > self.bounds[i]]
        slipping = [sum(trial.slip[i] is not None for i in hysteretic) for trial, _, _ in found]
        found = [one for one, count in zip(found, slipping, strict=True) if count == min(slipping)]
        chosen, a, size = found[0]
        same = _SAME * size + _VANISHED * VANISHING * self.force * np.max(np.abs(self.G), axis=1)
        if any((np.abs(other - a) > same).any() for _, other, _ in found):
            raise self._refusal("several motions are consistent with it")
        for i in undecided:
            rows = list(self.tangential[i])
            moves = i == breaking or np.linalg.norm(a[rows]) > _CLOSE * np.linalg.norm(size[rows])
            status.begin_slip(i, chosen.slip[i] if moves else None)
        status.side[:] = chosen.side

    def holds_still(self, status: ContactStatus, rest: Sequence[int]) -> bool:
        """True if some distribution of forces holds the force elements at rest."""
        rows = [row for i in rest for row in self.tangential[i]]
        found = self._consistent(status, rest, [], None)
        return any(np.linalg.norm(a[rows]) <= _SAME * np.linalg.norm(size[rows]) for _, a, size in found)

    def unloaded(self, status: ContactStatus) -> list[int]:
        """Numbers of the force elements that are constraints and feel no force."""
        forces, bilateral = self.forces(status), self.bilateral
        return [
            bilateral.first + int(j) for j in np.flatnonzero(np.abs(bilateral.normal(forces)) <= self._rounding(forces))
        ]

    def _rounding(self, forces: Array) -> Array:
        """Forces of the constraints, (m,), that are none."""
        sizes = np.abs(self.bilateral.load) + np.abs(self.bilateral.L) @ np.abs(forces)
        return np.asarray(_CLOSE * sizes + _VANISHED * self.bilateral.margins(self.force))

    def _consistent(
        self, status: ContactStatus, undecided: Sequence[int], reversible: Sequence[int] | None, breaking: int | None
    ) -> Iterator[tuple[ContactStatus, Array, Array]]:
        """What the elements can do, with accelerations and what these are sums of; those that stick come first."""
        for trial in self._trials(status, undecided, reversible, breaking):
            forces = self.forces(trial)
            a, size = self.free + self.G @ forces, np.abs(self.free) + np.abs(self.G) @ np.abs(forces)
            if self._is_consistent(trial, undecided, reversible, forces, a, size):
                yield trial, a, size

    def _trials(
        self, status: ContactStatus, undecided: Sequence[int], reversible: Sequence[int] | None, breaking: int | None
    ) -> Iterator[ContactStatus]:
        choices = [self._choices(i, status, breaking) for i in undecided]
        if math.prod(map(len, choices)) * 2 ** len(self.bilateral.names) > _MOST:
            raise self._refusal(f"more than {_MOST} combinations would have to be tried", is_many=True)
        if sum(len(self.tangential[i]) == 2 for i in undecided) > 1:
            raise ComputationError(
                f"{self.bilateral.in_words()} beside several spatial contacts at rest: who of these begins to slip, "
                f"and where, is not decided"
            )
        for slips in product(*choices):
            trial = status.copy()
            for i, slip in zip(undecided, slips, strict=True):
                trial.begin_slip(i, slip)
            yield from self._sided(trial, undecided, reversible, breaking)

    def _sided(
        self, trial: ContactStatus, undecided: Sequence[int], reversible: Sequence[int] | None, breaking: int | None
    ) -> Iterator[ContactStatus]:
        """A trial with all signs of the forces of sliding constraints and all slips of a spatial contact."""
        turned = [j for j in self.bilateral.sliding(trial) if self._turns(j, undecided, reversible)]
        spatial = [i for i in undecided if len(self.tangential[i]) == 2 and i != breaking]
        for signs in product((1.0, -1.0), repeat=len(turned)):
            other = trial.copy()
            for j, sign in zip(turned, signs, strict=True):
                other.side[self.bilateral.first + j] = sign
            yield other
            if spatial:
                yield from self._slipping(other, spatial[0])

    def _slipping(self, trial: ContactStatus, i: int) -> Iterator[ContactStatus]:
        """A trial with every slip of one spatial contact along which it would accelerate, or opposite to which."""
        rows = list(self.tangential[i])

        def accelerated(*slip: float) -> Array:
            begun = trial.copy()
            begun.begin_slip(i, slip)
            return np.asarray(self.free[rows] + self.G[rows] @ self.forces(begun))

        one, back, two = accelerated(1.0, 0.0), accelerated(-1.0, 0.0), accelerated(0.0, 1.0)
        still = (one + back) / 2
        for slip in parallel_directions(still, np.column_stack([one - still, two - still])):
            begun = trial.copy()
            begun.begin_slip(i, slip)
            yield begun

    def _turns(self, j: int, undecided: Sequence[int], reversible: Sequence[int] | None) -> bool:
        """True if the sign of a sliding constraint's force is to be found."""
        i = self.bilateral.first + j
        return reversible is None or i in reversible or i in undecided

    def _choices(self, i: int, status: ContactStatus, breaking: int | None) -> list[tuple[float, ...] | None]:
        if len(self.tangential[i]) == 1:
            slides: list[tuple[float, ...] | None] = [(1.0,), (-1.0,)]
            return slides if i == breaking else [None, *slides]
        if i != breaking:
            return [None]
        force = self.forces(status)[list(self.tangential[i])]
        return [tuple(float(x) for x in -force / np.linalg.norm(force))]

    def _is_consistent(
        self,
        trial: ContactStatus,
        undecided: Sequence[int],
        reversible: Sequence[int] | None,
        forces: Array,
        a: Array,
        size: Array,
    ) -> bool:
        bilateral, normal = self.bilateral, self.bilateral.normal(forces)
        rounding = self._rounding(forces)
        for j in bilateral.sliding(trial):
            if self._turns(j, undecided, reversible) and trial.side[bilateral.first + j] * normal[j] < -rounding[j]:
                return False
        for i in undecided:
            rows, slip = list(self.tangential[i]), trial.slip[i]
            if slip is not None:
                if a[rows] @ np.array(slip) < -_CLOSE * np.linalg.norm(size[rows]):
                    return False
                continue
            friction, j = float(np.linalg.norm(forces[rows])), i - bilateral.first
            bound = bilateral.friction[j] * abs(normal[j]) if j >= 0 else self.holds[i]
            slack = bilateral.friction[j] * rounding[j] if j >= 0 else 0.0
            held = np.linalg.norm(a[rows]) <= _SAME * np.linalg.norm(size[rows])
            if not held or friction > bound + slack + _CLOSE * friction:
                return False
        return True

    def _refusal(self, what: str, *, is_many: bool = False) -> ComputationError:
        said = f"{self.bilateral.in_words()} beside a compliant contact: {what}"
        if is_many:
            return ComputationError(said)
        return ComputationError(
            f"{said}: friction decides who sticks and who slips and depends on what it decides (Painleve's paradox of "
            f"the constraint itself), which a surface that gives way elsewhere does not resolve; {REMEDY}"
        )
