"""Modes that meet at states of many motions, and which of them goes on along its own flow."""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity
from hybrid.contact.batches import contrast, thresholds
from hybrid.contact.candidates import mode_combinations
from hybrid.contact.componentwise import accelerations, solve_mode
from hybrid.contact.conditions import ScaledProblem, problem_scale
from hybrid.contact.guards import GuardKind
from hybrid.contact.modes import ContactMode, Mode
from hybrid.contact.table import rows_of
from hybrid.motion.recorded import EventKind
from hybrid.motion.together.descents import KNOWN
from hybrid.motion.together.fleet import KIND_NUMBERS, NOWHERE
from hybrid.motion.together.holding import settled
from hybrid.motion.together.stepping import looked_along
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem
    from hybrid.motion.together.fleet import Fleet

__all__ = ["ended_modes", "modes_of_ties", "zeros_at_start"]

Array = NDArray[np.float64]
Lanes = NDArray[np.intp]
Flags = NDArray[np.bool_]

_NOISE = ROUNDING  # relative to a guard's values over a trial step


@attrs.frozen(eq=False)
class _ModeAtTie:
    """A mode at states where modes meet.

    Attributes
    ----------
    mode : Mode
    holds, is_tied : array of bool, (m,)
        Where its inequalities hold, or fail by no more than the tolerance; and where one is within the tolerance.
    determinant : array, (m,)
        Whose sign is that of the map from forces to free accelerations.
    accelerations, forces : list of array, (m,)
        Scaled, one for every row.
    """

    mode: Mode
    holds: Flags
    is_tied: Flags
    determinant: Array
    accelerations: list[Array]
    forces: list[Array]


def ended_modes(fleet: Fleet, lanes: Lanes) -> Lanes:
    """Numbers of the modes that motions have followed until one of their own guards fired; -1 elsewhere.

    Parameters
    ----------
    fleet : Fleet
    lanes : array of int, (m,)

    Returns
    -------
    array of int, (m,)
    """
    is_over = ~np.isin(fleet.pending[lanes], [NOWHERE, KIND_NUMBERS[EventKind.IMPACT]])
    return np.where(is_over, fleet.mode[lanes], NOWHERE)


def modes_of_ties(fleet: Fleet, problem: ContactProblem, lanes: Lanes, tied: Flags) -> Lanes:
    """Modes in which motions go on from states where modes meet, as :mod:`hybrid.motion.selecting` has one motion go.

    Where all modes accelerate alike, the one that its own flow keeps consistent goes on; the one that has just ended is
    the last to be asked. Where they do not, a verdict that several are consistent would be in the way. It cannot be
    given where the number of solutions changes with the data, and then, too, the only one goes on that its flow keeps.

    Parameters
    ----------
    fleet : Fleet
    problem : ContactProblem
        At the states of the motions.
    lanes : array of int, (m,)
    tied : array of bool, (m,)
        Motions that are asked about.

    Returns
    -------
    array of int, (m,)
        Numbers of modes; -1 where it is not one of them alone, and for motions that are not asked about.
    """
    numbers, n_coherent = np.full(lanes.shape, NOWHERE), np.zeros(lanes.shape, dtype=int)
    if not tied.any():
        return numbers
    modes, is_regular = _modes_at_tie(fleet, problem, tied)
    is_alike, is_doubtful = _compared(modes, fleet.settings.tolerances.merge, lanes.shape)
    ended, names = ended_modes(fleet, lanes), {element.name for element in problem.elements}
    for one_mode in modes:
        number = fleet.number_of(one_mode.mode)
        is_asked = is_doubtful | (is_alike & (ended != number))
        asked = np.flatnonzero(tied & is_regular & one_mode.holds & is_asked)
        if len(asked):
            coherent = asked[_is_coherent(fleet, one_mode.mode, lanes[asked], names)]
            n_coherent[coherent] += 1
            numbers[coherent] = number
    return np.where(n_coherent == 1, numbers, NOWHERE)


def _modes_at_tie(fleet: Fleet, problem: ContactProblem, tied: Flags) -> tuple[list[_ModeAtTie], Flags]:
    """Modes that hold somewhere up to the tolerance, and where the equations of all modes are regular."""
    parts, shape = ScaledProblem.of(problem, problem_scale(problem)), tied.shape
    found, all_regular = list[_ModeAtTie](), np.ones(shape, dtype=bool)
    for modes in mode_combinations(problem):
        with np.errstate(all="ignore"):
            solution = solve_mode(parts, modes)
            least_regularity, limit = thresholds(parts, solution, fleet.settings.tolerances)
            is_regular = np.broadcast_to(solution.regularity > least_regularity, shape)
            holds = np.broadcast_to(~(solution.least < -limit), shape) & is_regular
            all_regular &= is_regular
            if not (holds & tied).any():
                continue
            labels = {item.element.name: item.label for item in modes}
            found.append(
                _ModeAtTie(
                    Mode({name: labels.get(name, ContactMode.FREE) for name in fleet.names}),
                    holds,
                    holds & np.broadcast_to(solution.least <= limit, shape),
                    np.broadcast_to(solution.determinant, shape),
                    accelerations(parts, solution),
                    solution.forces(len(parts.c)),
                )
            )
    return found, all_regular


def _compared(modes: list[_ModeAtTie], merge: float, shape: tuple[int, ...]) -> tuple[Flags, Flags]:
    """Where all modes that hold accelerate alike, and where the verdict on them is certainly UNDECIDED.

    So it is where a tied mode has a solution of its own, which a change of the data takes away, or where two modes of
    one solution have determinants of different signs: changes leave both of them or none (Robinson 1992, as in
    :mod:`hybrid.contact.solutions`).
    """
    is_alike, is_doubtful = np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool)
    is_alone = [one_mode.is_tied.copy() for one_mode in modes]
    with np.errstate(invalid="ignore"):
        for (i, one), (j, other) in combinations(enumerate(modes), 2):
            both = one.holds & other.holds
            gap, size = contrast(other.accelerations, one.accelerations)
            is_alike &= ~both | (gap <= merge * size)
            limit = merge * (1.0 + np.maximum(_largest(one.forces), _largest(other.forces)))
            is_same = both & (gap <= limit) & (contrast(other.forces, one.forces)[0] <= limit)
            is_doubtful |= is_same & (np.sign(one.determinant) != np.sign(other.determinant))
            is_alone[i] &= ~is_same
            is_alone[j] &= ~is_same
    return is_alike, reduce(np.logical_or, is_alone, is_doubtful)


def _largest(values: list[Array]) -> Any:
    return reduce(np.maximum, map(np.abs, values), np.zeros(()))


def _is_coherent(fleet: Fleet, mode: Mode, lanes: Lanes, names: set[str]) -> Flags:
    """Where the inequalities of a mode that are tight at a state become satisfied along its own flow, or may do so."""
    flow = fleet.flow(fleet.number_of(mode))
    if flow is None:
        return np.ones(len(lanes), dtype=bool)
    zero = zeros_at_start(fleet, mode, lanes, names)
    q, v, _ = settled(fleet, lanes, rows_of(fleet.dynamics, mode, None))
    values, is_accurate = looked_along(fleet, flow, lanes, np.concatenate([q.T, v.T]))
    keeps = is_accurate
    for number, guard in enumerate(flow.guards):
        if guard.kind is GuardKind.SINGULAR:
            continue
        row = values[number]
        size = np.max(np.abs(row), axis=0)
        if guard.kind in (GuardKind.TOUCHDOWN, GuardKind.SLIP):
            starts = zero[fleet.names.index(guard.element)]
        else:
            starts = np.abs(row[0]) <= KNOWN * size
        clear = np.abs(row - row[0]) > _NOISE * size
        first = np.argmax(clear, axis=0)
        falls = clear.any(axis=0) & (row[first, np.arange(len(lanes))] < row[0])
        keeps = keeps & np.where(starts, ~falls, row[0] >= 0.0)
    return keeps


def zeros_at_start(fleet: Fleet, mode: Mode, lanes: Lanes, names: set[str]) -> Flags:
    """Gaps and slips that are zero where a mode begins.

    Parameters
    ----------
    fleet, lanes
        As of :func:`modes_of_ties`.
    mode : Mode
    names : set of str
        Force elements that take part.

    Returns
    -------
    array of bool, (number of force elements, m)
    """
    zero = np.zeros((len(fleet.names), len(lanes)), dtype=bool)
    for index, name in enumerate(fleet.names):
        if mode[name] is ContactMode.FREE:
            zero[index] = fleet.touches[index, lanes] | (name in names)
        elif mode[name].slip_sign:
            zero[index] = fleet.activities[index, lanes] == Activity.RESTING
    return zero
