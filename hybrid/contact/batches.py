"""Contact problems that share their force elements, decided together."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.candidates import mode_combinations
from hybrid.contact.componentwise import ModeSolution, solve_mode
from hybrid.contact.conditions import ScaledProblem, conditions, dependence, problem_scale
from hybrid.contact.families import ALIKE, SharedConditions, families
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.smooth import unnamed_labels
from hybrid.errors import ComputationError
from hybrid.numbered import NumberedEnum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hybrid.contact.modes import ModeConditions
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

Flags = NDArray[np.bool_]


class CellVerdict(NumberedEnum):
    """Verdict of a state of a map, including states at which no acceleration-level question arises.

    ``MISSING`` marks the cells that an interrupted map leaves out; no state gets it.
    """

    UNIQUE = 0
    INDETERMINATE = 1
    HYPERSTATIC = 2
    INCONSISTENT = 3
    UNDECIDED = 4
    IMPACT = 5
    PENETRATING = 6
    UNREACHABLE = 7
    MISSING = 8


@attrs.define(eq=False)
class CellTable:
    """Verdicts of an array of states under construction, and by label where each mode is consistent."""

    verdict: NDArray[np.uint8]
    margin: NDArray[np.float64]
    modes: dict[str, Flags] = attrs.field(factory=dict)

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> CellTable:
        """A table in which no state has been reached."""
        return cls(np.full(shape, CellVerdict.UNREACHABLE, np.uint8), np.full(shape, np.inf))

    def mark(self, label: str, where: Any, holds: Any = True) -> None:
        """Say where a mode is consistent."""
        if label not in self.modes:
            self.modes[label] = np.zeros(self.verdict.shape, dtype=bool)
        self.modes[label][where] = holds

    def forget(self, place: tuple[Any, ...]) -> None:
        """Take back what was said about the modes of a state."""
        for holds in self.modes.values():
            holds[place] = False

    def bits(self) -> NDArray[np.uint64]:
        """The modes of every state as bits, in the order of their labels.

        Raises
        ------
        ComputationError
            There are more than 64 of them.
        """
        if len(self.modes) > 64:
            raise ComputationError("a map holds at most 64 different modes; classify fewer contacts at once")
        bits = np.zeros(self.verdict.shape, dtype=np.uint64)
        for index, holds in enumerate(self.modes.values()):
            bits |= np.where(holds, np.uint64(1 << index), np.uint64(0))
        return bits


@attrs.frozen(eq=False)
class _Outcome:
    """How one mode fares at all states of a batch.

    ``modes`` are those of the elements, ``is_family`` marks where they leave forces undetermined, ``is_tied`` where an
    inequality holds or fails by less than the tolerance, ``is_open`` where it cannot be decided together with others;
    ``family_forces`` are forces where ``has_forces`` marks that the equations, though singular, are met.
    """

    modes: tuple[ModeConditions, ...]
    fits: Flags
    is_family: Flags
    is_tied: Flags
    is_open: Flags
    distance: NDArray[np.float64]
    solution: ModeSolution
    has_forces: Flags
    family_forces: NDArray[np.float64]

    def forces(self, r: int, where: tuple[NDArray[np.intp], ...]) -> NDArray[np.float64]:
        """Scaled forces (k, r) at some of the states."""
        entries = [np.broadcast_to(force, self.fits.shape)[where] for force in self.solution.forces(r)]
        forces = np.stack(entries, axis=-1) if entries else np.zeros((len(where[0]), 0))
        if self.family_forces.size:
            number = np.cumsum(self.has_forces.ravel()).reshape(self.fits.shape)[where] - 1
            of_family = self.has_forces[where]
            forces[of_family] = self.family_forces[number[of_family]]
        return forces


def decide_together(
    problem: ContactProblem, where: Flags, tolerances: Tolerances, table: CellTable, *, marks_close: bool = True
) -> Flags:
    """Enter the verdicts, modes and margins of states that share a pattern, by enumerating their modes all at once.

    Parameters
    ----------
    problem : ContactProblem
        At the states where ``where`` is True, in one row; in the table's shape if those are all.
    where : array of bool, (...)
        States of the table that are decided.
    tolerances : Tolerances
    table : CellTable
        Its entries there are filled in.
    marks_close : bool, default True
        Without, solutions that are next to each other do not count as a tie, for searches of its place.

    Returns
    -------
    array of bool, (number of states)
        Those that are too close to a tie; their margin in the table is 0.
    """
    shape = where.shape if where.all() else (int(where.sum()),)
    parts = ScaledProblem.of(problem, problem_scale(problem))
    doubtful = np.zeros(shape, dtype=bool)
    margin = np.full(shape, np.inf)
    outcomes: list[_Outcome] = []
    for modes in mode_combinations(problem):
        outcome = _outcome(problem, parts, modes, shape, tolerances)
        doubtful |= outcome.is_open
        np.fmin(margin, outcome.distance, out=margin)
        if outcome.fits.any() or outcome.is_tied.any():
            outcomes.append(outcome)
    found: dict[str, Flags] = {}
    for outcome in outcomes:
        belongs, is_near = _belongs(parts, outcome, outcomes, tolerances)
        doubtful |= is_near | (outcome.is_tied & ~belongs)
        listed = outcome.fits & ~belongs
        for label, holds in _labels(problem, parts, outcome, listed, tolerances):
            found[label] = found.get(label, np.zeros(shape, dtype=bool)) | holds
    verdict = _verdicts(parts, outcomes, shape, tolerances)
    if marks_close:
        doubtful |= _is_unclear(parts, outcomes, shape, tolerances)
    table.verdict[where] = verdict.reshape(-1)
    for label, consistent in found.items():
        table.mark(label, where, consistent.reshape(-1))
    table.margin[where] = np.where(doubtful, 0.0, margin).reshape(-1)
    return doubtful.reshape(-1)


def _outcome(
    problem: ContactProblem,
    parts: ScaledProblem,
    modes: tuple[ModeConditions, ...],
    shape: tuple[int, ...],
    tolerances: Tolerances,
) -> _Outcome:
    with np.errstate(all="ignore"):
        solution = solve_mode(parts, modes)
        least, regularity = solution.least, solution.regularity
        least_regularity, limit = thresholds(parts, solution, tolerances)
        is_singular = np.broadcast_to(~(regularity > least_regularity), shape)
        is_tied = np.broadcast_to(~(np.abs(least) > limit), shape) & ~is_singular
        fits = np.broadcast_to(least > limit, shape) & ~is_singular
        # a mode that fails is as far from fitting as its worst slack tells, however close to singular
        distance = np.where(fits, np.minimum(np.abs(least), regularity), np.abs(least))
    nothing = np.zeros(shape, dtype=bool)
    if not is_singular.any():
        distance = np.where(is_tied, np.nan, distance)
        return _Outcome(modes, fits, nothing, is_tied, nothing, distance, solution, nothing, np.zeros((0, 0)))
    found = families(_shared(problem, modes, is_singular, shape), tolerances)
    is_family, is_open, has_forces = nothing.copy(), nothing.copy(), nothing.copy()
    is_dependent = np.broadcast_to(regularity <= dependence(problem), shape)[is_singular]
    is_family[is_singular] = found.is_consistent & is_dependent
    is_tied[is_singular] = found.is_tied & is_dependent
    has_forces[is_singular] = (found.is_consistent | found.is_tied) & is_dependent
    is_open[is_singular] = ~(has_forces[is_singular] | found.is_refuted)
    distance = np.where(is_tied | is_singular, np.nan, distance)
    distance[is_singular] = np.where(
        is_family[is_singular], found.in_middle, np.where(found.is_refuted, found.distance, np.nan)
    )
    forces = found.forces[has_forces[is_singular]]
    return _Outcome(modes, fits | is_family, is_family, is_tied, is_open, distance, solution, has_forces, forces)


def thresholds(parts: ScaledProblem, solution: ModeSolution, tolerances: Tolerances) -> tuple[Any, Any]:
    """Regularity down to which the equations of a mode count as singular, and slack that has a sign.

    Rounding of the equations changes their solution, and slacks with it, by the inverse of the regularity: no entry of
    the inverse of a matrix with rows of length one is larger (Hadamard's inequality for its minors).

    Parameters
    ----------
    parts : ScaledProblem
    solution : ModeSolution
    tolerances : Tolerances

    Returns
    -------
    least_regularity, limit : array, (...)
    """
    return np.maximum(tolerances.rank, parts.lost), np.maximum(
        tolerances.sign, parts.lost * solution.size / solution.regularity
    )


def contrast(later: Any, earlier: Any) -> tuple[Any, Any]:
    """How far the accelerations of two modes are apart, and next to what that is judged.

    Parameters
    ----------
    later, earlier : sequence of array, (...)
        Scaled contact accelerations, one for every row.

    Returns
    -------
    gap, size : array, (...)
    """
    gaps = [np.abs(one - other) for one, other in zip(later, earlier, strict=True)]
    return reduce(np.maximum, gaps, np.zeros(())), 1.0 + reduce(np.maximum, map(np.abs, later), np.zeros(()))


def _shared(
    problem: ContactProblem, modes: tuple[ModeConditions, ...], chosen: Flags, shape: tuple[int, ...]
) -> SharedConditions:
    """Conditions of a mode at the chosen states of a batch, its matrices once for all states that share them."""
    scale = problem_scale(problem)
    mode = conditions(problem, modes, scale)
    G = problem.G / (scale.row[..., :, None] * scale.row[..., None, :])
    own = np.broadcast_shapes(mode.E.shape[:-2], mode.A.shape[:-2], G.shape[:-2])
    number = np.arange(int(np.prod(own))).reshape(own)

    def matrices(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.broadcast_to(array, (*own, *array.shape[-2:])).reshape(-1, *array.shape[-2:])

    def constants(array: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.broadcast_to(array, (*shape, array.shape[-1]))[chosen]

    return SharedConditions(
        E=matrices(mode.E),
        A=matrices(mode.A),
        G=matrices(G),
        which=np.broadcast_to(number, shape)[chosen],
        e=constants(mode.e),
        b=constants(mode.b),
        lost=np.broadcast_to(scale.lost, shape)[chosen],
    )


def _verdicts(
    parts: ScaledProblem, outcomes: list[_Outcome], shape: tuple[int, ...], tolerances: Tolerances
) -> NDArray[np.uint8]:
    count = np.zeros(shape, dtype=np.uint8)
    has_family = np.zeros(shape, dtype=bool)
    for outcome in outcomes:
        count += outcome.fits
        has_family |= outcome.is_family
    verdict = np.where(count == 0, np.uint8(CellVerdict.INCONSISTENT), np.uint8(CellVerdict.UNIQUE))
    verdict[has_family] = CellVerdict.HYPERSTATIC
    several = np.nonzero(count > 1)
    if len(several[0]):
        fit = np.stack([outcome.fits[several] for outcome in outcomes])
        accelerations = np.stack([_accelerations(parts, outcome, several) for outcome in outcomes])
        is_split = _distinct(fit, accelerations, tolerances) > 1
        # two solutions that accelerate alike differ in their forces
        verdict[several] = np.where(is_split, np.uint8(CellVerdict.INDETERMINATE), np.uint8(CellVerdict.HYPERSTATIC))
    return verdict


def _accelerations(parts: ScaledProblem, outcome: _Outcome, where: tuple[NDArray[np.intp], ...]) -> NDArray[np.float64]:
    """Scaled contact accelerations (k, r) of a mode at some of the states."""
    found = np.zeros((len(where[0]), len(parts.c)))

    def at(entry: Any) -> Any:
        return np.broadcast_to(entry, outcome.fits.shape)[where] if np.size(entry) > 1 else np.ravel(entry)

    with np.errstate(invalid="ignore"):  # a mode that is singular at a state does not fit there
        x = outcome.forces(len(parts.c), where)
        for row, (line, c) in enumerate(zip(parts.G, parts.c, strict=True)):
            found[:, row] = sum(at(entry) * x[:, column] for column, entry in enumerate(line)) + at(c)
    return found


def _belongs(
    parts: ScaledProblem, outcome: _Outcome, outcomes: list[_Outcome], tolerances: Tolerances
) -> tuple[Flags, Flags]:
    """Where the forces of a mode are among those that another mode leaves undetermined, and where they may be.

    Those are no solution of its own: they accelerate alike, up to rounding.
    """
    belongs, is_near = np.zeros(outcome.fits.shape, dtype=bool), np.zeros(outcome.fits.shape, dtype=bool)
    for other in outcomes:
        if not other.is_family.any():
            continue
        where = np.nonzero((outcome.fits | outcome.is_tied) & ~outcome.is_family & other.is_family)
        first, second = (_accelerations(parts, item, where) for item in (outcome, other))
        size = 1 + np.max(np.abs(outcome.forces(len(parts.c), where)), axis=-1)
        with np.errstate(invalid="ignore"):
            gap = np.max(np.abs(first - second), axis=-1)
            is_alike = gap <= ALIKE * np.broadcast_to(parts.lost, outcome.fits.shape)[where] * size
            belongs[where] |= is_alike
            is_near[where] |= ~is_alike & (gap <= tolerances.merge * size)
    return belongs, is_near


def _distinct(fit: NDArray[np.bool_], accelerations: NDArray[np.float64], tolerances: Tolerances) -> NDArray[np.int64]:
    """Number of different accelerations among the modes that fit; arrays (modes, states) and (modes, states, r)."""
    distinct = np.zeros(fit.shape[1], dtype=np.int64)
    for later in range(len(fit)):
        repeated = np.zeros(fit.shape[1], dtype=bool)
        for earlier in range(later):
            with np.errstate(invalid="ignore"):
                gap, size = contrast(accelerations[later].T, accelerations[earlier].T)
                repeated |= fit[earlier] & (gap <= tolerances.merge * size)
        distinct += fit[later] & ~repeated
    return distinct


def _is_unclear(
    parts: ScaledProblem, outcomes: list[_Outcome], shape: tuple[int, ...], tolerances: Tolerances
) -> Flags:
    """Where two modes fit with almost the same forces, or different forces and almost the same accelerations."""
    unclear = np.zeros(shape, dtype=bool)
    for later, outcome in enumerate(outcomes):
        for other in outcomes[:later]:
            where = np.nonzero(outcome.fits & other.fits & ~outcome.is_family & ~other.is_family)
            if not len(where[0]):
                continue
            first, second = (item.forces(len(parts.c), where) for item in (outcome, other))
            one, two = (_accelerations(parts, item, where).T for item in (outcome, other))
            gap, size = contrast(one, two)
            apart = np.max(np.abs(first - second), axis=-1, initial=0.0)
            same = apart <= tolerances.merge * (1 + np.max(np.abs(first), axis=-1, initial=0.0))
            unclear[where] |= (gap <= tolerances.merge * size) & (same | (gap > tolerances.sign * size))
    return unclear


def _labels(
    problem: ContactProblem, parts: ScaledProblem, outcome: _Outcome, listed: Flags, tolerances: Tolerances
) -> Iterator[tuple[str, Flags]]:
    """Labels of a mode, and where each of them holds among the states where the mode is to be listed."""
    if not listed.any():
        return
    accelerations: dict[int, NDArray[np.float64]] = {}
    limit = np.zeros(())
    if any(mode.is_unnamed for mode in outcome.modes):
        where = np.nonzero(listed)
        found = np.full((*listed.shape, len(parts.c)), np.nan)
        found[where] = _accelerations(parts, outcome, where)
        accelerations = {row: found[..., row] for row in range(len(parts.c))}
        # the equations of a family say nothing of the size of its forces
        limit = np.fmax(tolerances.sign, np.where(outcome.is_family, 0.0, parts.lost * outcome.solution.size))
    for labels, holds in unnamed_labels(outcome.modes, accelerations, limit):
        if (listed & holds).any():
            yield Mode({name: labels.get(name, ContactMode.FREE) for name in problem.names}).label, listed & holds
