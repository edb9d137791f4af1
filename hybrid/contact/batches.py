"""Contact problems that share their carriers, decided together."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.candidates import mode_combinations
from hybrid.contact.componentwise import Components, ModeSolution, components, solve_mode
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
    parts = components(problem)
    doubtful = np.zeros(shape, dtype=bool)
    bits = np.zeros(shape, dtype=np.uint64)
    margin = np.full(shape, np.inf)
    count = np.zeros(shape, dtype=np.uint8)
    found: list[tuple[NDArray[np.bool_], ModeSolution]] = []
    for modes in mode_combinations(problem):
        with np.errstate(all="ignore"):
            mode = solve_mode(parts, modes)
            fit = mode.least > 0
            sure = np.abs(mode.least)
            doubtful |= ~(sure > tolerances.sign) | ~(mode.regularity > tolerances.rank)
            # a mode that fails is further from fitting than its worst slack tells, however singular
            distance = np.where(fit, np.minimum(sure, mode.regularity), sure)
            np.fmin(margin, distance, out=margin)
        if not fit.any():
            continue
        labels = {part.carrier.name: part.label for part in modes}
        bits |= np.where(fit, table.bit(_label(problem, labels)), np.uint64(0))
        count += fit
        found.append((np.broadcast_to(fit, shape), mode))
    verdict = _verdicts(parts, count, found, tolerances)
    table.verdict[where] = verdict.reshape(-1)
    table.modes[where] = bits.reshape(-1)
    table.margin[where] = margin.reshape(-1)
    return doubtful.reshape(-1)


def _verdicts(
    parts: Components,
    count: NDArray[np.uint8],
    found: list[tuple[NDArray[np.bool_], ModeSolution]],
    tolerances: Tolerances,
) -> NDArray[np.uint8]:
    verdict = np.where(count == 0, np.uint8(CellVerdict.INCONSISTENT), np.uint8(CellVerdict.UNIQUE))
    several = np.nonzero(count > 1)
    if len(several[0]):
        r, shape = len(parts.c), count.shape
        fit = np.stack([item[several] for item, _ in found])
        G = np.stack([np.stack([np.broadcast_to(g, shape)[several] for g in line], -1) for line in parts.G], -2)
        c = np.stack([np.broadcast_to(item, shape)[several] for item in parts.c], axis=-1)
        x = np.stack([mode.forces(r, several, shape) for _, mode in found])
        distinct = _distinct(fit, (G @ x[..., None])[..., 0] + c, tolerances)
        verdict[several] = np.where(distinct > 1, np.uint8(CellVerdict.INDETERMINATE), np.uint8(CellVerdict.UNIQUE))
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
