"""Contact problems that share their carriers, decided together."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.candidates import conditions, mode_combinations, problem_scale, solve_conditions
from hybrid.contact.modes import ContactMode, Mode
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances


class CellVerdict(IntEnum):
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
class Table:
    """Verdicts of an array of states under construction; mode bits are numbered by ``labels``."""

    verdict: NDArray[np.uint8]
    modes: NDArray[np.uint64]
    margin: NDArray[np.float64]
    labels: dict[str, int] = attrs.field(factory=dict)

    def bit(self, label: str) -> np.uint64:
        """The bit of a mode, a new one if need be."""
        index = self.labels.setdefault(label, len(self.labels))
        if index >= 64:
            raise ComputationError("a map holds at most 64 different modes; classify fewer contacts at once")
        return np.uint64(1 << index)


def decide_together(
    problem: ContactProblem, where: NDArray[np.bool_], tolerances: Tolerances, table: Table
) -> NDArray[np.bool_]:
    """Enumerate the modes of all states at once; returns which states are too close to a tie."""
    shape = where.shape if where.all() else (int(where.sum()),)
    scale = problem_scale(problem)
    doubtful = np.zeros(shape, dtype=bool)
    bits = np.zeros(shape, dtype=np.uint64)
    margin = np.full(shape, np.inf)
    fits: list[NDArray[np.bool_]] = []
    accelerations: list[NDArray[np.float64]] = []
    G, c = problem.G / (scale.row[..., :, None] * scale.row[..., None, :]), problem.c
    for modes in mode_combinations(problem):
        mode = conditions(problem, modes, scale)
        norms = np.linalg.norm(mode.E, axis=-1, keepdims=True)
        regularity = np.abs(np.linalg.det(mode.E / np.where(norms > 0, norms, 1.0)))
        x, slacks = solve_conditions(mode)
        with np.errstate(invalid="ignore"):
            least = np.min(slacks, axis=-1, initial=np.inf)
            fit = np.broadcast_to(least > 0, shape)
            distance = np.minimum(np.abs(least), np.where(least > 0, regularity, np.inf))
        doubtful |= ~(np.abs(least) > tolerances.sign) | ~(regularity > tolerances.rank)
        np.minimum(margin, distance, out=margin, where=np.isfinite(distance))
        labels = {part.carrier.name: part.label for part in modes}
        if fit.any():
            bits |= np.where(fit, table.bit(_label(problem, labels)), np.uint64(0))
        fits.append(fit)
        accelerations.append((G @ x[..., None])[..., 0] + c / (scale.row * scale.size[..., None]))
    verdict = _verdicts(fits, accelerations, shape, tolerances)
    table.verdict[where] = verdict.reshape(-1)
    table.modes[where] = bits.reshape(-1)
    table.margin[where] = margin.reshape(-1)
    return doubtful.reshape(-1)


def _verdicts(
    fits: list[NDArray[np.bool_]],
    accelerations: list[NDArray[np.float64]],
    shape: tuple[int, ...],
    tolerances: Tolerances,
) -> NDArray[np.uint8]:
    count = np.sum(fits, axis=0)
    verdict = np.full(shape, CellVerdict.UNIQUE, dtype=np.uint8)
    verdict[count == 0] = CellVerdict.INCONSISTENT
    several = np.nonzero(count > 1)
    if len(several[0]):
        fit = np.stack([item[several] for item in fits])
        a = np.stack([np.broadcast_to(item, (*shape, item.shape[-1]))[several] for item in accelerations])
        verdict[several] = np.where(_distinct(fit, a, tolerances) > 1, CellVerdict.INDETERMINATE, CellVerdict.UNIQUE)
    return verdict


def _distinct(fit: NDArray[np.bool_], accelerations: NDArray[np.float64], tolerances: Tolerances) -> NDArray[np.int64]:
    """Number of different accelerations among the modes that fit; arrays (modes, states) and (modes, states, r)."""
    distinct = np.zeros(fit.shape[1], dtype=np.int64)
    for later in range(len(fit)):
        repeated = np.zeros(fit.shape[1], dtype=bool)
        for earlier in range(later):
            gap = np.max(np.abs(accelerations[later] - accelerations[earlier]), axis=-1, initial=0.0)
            size = 1.0 + np.max(np.abs(accelerations[later]), axis=-1, initial=0.0)
            with np.errstate(invalid="ignore"):
                repeated |= fit[earlier] & (gap <= tolerances.merge * size)
        distinct += fit[later] & ~repeated
    return distinct


def _label(problem: ContactProblem, labels: Mapping[str, ContactMode]) -> str:
    return Mode({name: labels.get(name, ContactMode.FREE) for name in problem.names}).label
