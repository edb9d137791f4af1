"""Verdicts of many states that are given by numbers, and how far their friction is from a paradox."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.batches import CellTable, CellVerdict, decide_together
from hybrid.contact.classification import PosedStates, decide_singly, decide_states
from hybrid.contact.selection import COVER_BUDGET, select_problem
from hybrid.dynamics.arithmetic import definiteness
from hybrid.numeric.critical import CriticalFactors, SlidingProblem, critical_factors, least_factor
from hybrid.numeric.problem import activities_of, contact_problem, normal_problem
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.verdict import Selection
    from hybrid.numeric.state import NumericState

__all__ = ["NumericClassification", "classify", "classify_sliding"]

_BLOCK = 65_536
"""States that are decided together: their numbers stay in the processor's cache, and memory stays bounded."""


@attrs.frozen(eq=False)
class NumericClassification:
    """Verdicts of an array of states that are given by numbers.

    Attributes
    ----------
    verdict : array of uint8, (...)
        Values of :class:`hybrid.contact.CellVerdict`; ``UNREACHABLE`` where the mass matrix is not positive definite.
    modes : mapping of str to array of bool, (...)
        By mode label, where that mode is consistent.
    margin : array, (...)
        As ``Selection.margin``, of all modes one by one, without sets of forces of two and more dimensions.
    critical : CriticalFactors
        How much the friction of the slipping contacts may grow.
    """

    verdict: NDArray[np.uint8]
    modes: dict[str, NDArray[np.bool_]]
    margin: NDArray[np.float64]
    critical: CriticalFactors

    def labels(self, place: int | tuple[int, ...]) -> tuple[str, ...]:
        """The consistent modes of one state, sorted.

        Parameters
        ----------
        place : int or tuple of int
            Of the state in the arrays.

        Returns
        -------
        tuple of str
        """
        return tuple(sorted(label for label, holds in self.modes.items() if holds[place]))


@checks_arguments
def classify_sliding(problem: SlidingProblem, *, tolerances: Tolerances = Tolerances()) -> NumericClassification:
    """Decide states whose contacts all press and slip, or separate, from the arrays of their normal problem alone.

    Parameters
    ----------
    problem : SlidingProblem
        ``G_NN`` and ``pushed`` (..., k, k) and ``b`` (..., k) of ``a_N = (G_NN - pushed) lambda_N + b`` (Genot and
        Brogliato 1999, for several contacts).
    tolerances : Tolerances, optional

    Returns
    -------
    NumericClassification
        The contacts are called ``0``, ``1`` and so on, their modes ``closed`` and ``free``. Where friction pushes and
        a continuum of forces gives the same ``a_N`` the verdict is UNDECIDED: these arrays do not tell whether it
        accelerates the mechanism alike along the tangents, too (:func:`classify` does).

    Raises
    ------
    StateError
        An array has another shape, or a number that is not finite.

    Examples
    --------
    One contact that slips beyond its critical friction: no solution where it is pressed, two where it is not.

    >>> problem = SlidingProblem(G_NN=[[1.0]], pushed=[[1.5]], b=[[-1.0], [1.0]])
    >>> found = classify_sliding(problem)
    >>> [CellVerdict(int(value)).name for value in found.verdict], found.critical.factor.round(3).tolist()
    (['INCONSISTENT', 'INDETERMINATE'], [0.667, 0.667])
    """
    k, shape = problem.b.shape[-1], problem.shape
    G, pushed = (np.broadcast_to(part, (*shape, k, k)).reshape(-1, k, k) for part in (problem.G_NN, problem.pushed))
    b = np.broadcast_to(problem.b, (*shape, k)).reshape(-1, k)
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(b), _BLOCK)]
    table, factor, dependent = CellTable.of((len(b),)), np.empty(len(b)), list[tuple[str, ...]]()

    def decide(block: slice) -> tuple[CellTable, list[tuple[int, ...]]]:
        part = CellTable.of((len(b[block]),))
        sizes = np.sqrt(np.abs(np.diagonal(G[block], axis1=-2, axis2=-1)))
        W = np.eye(k) * sizes[:, None, :]  # who depends on whom is looked up where it matters
        posed = normal_problem(G[block] - pushed[block], b[block], W)
        doubtful = decide_together(posed, np.ones(len(b[block]), dtype=bool), tolerances, part)

        def alone(place: tuple[int, ...]) -> Selection:
            at = block.start + place[0]
            return select_problem(normal_problem(G[at] - pushed[at], b[at], _root(G[at])), tolerances=tolerances)

        decide_singly(alone, np.argwhere(doubtful), part)
        is_open = (part.verdict == CellVerdict.HYPERSTATIC) & pushed[block].any(axis=(-2, -1))
        part.verdict[is_open], part.margin[is_open] = CellVerdict.UNDECIDED, 0.0
        factor[block], found = least_factor(G[block], pushed[block])
        return part, found

    with ThreadPoolExecutor() as threads:  # NumPy works on several blocks at once
        for block, (part, found) in zip(blocks, threads.map(decide, blocks), strict=True):
            table.verdict[block], table.margin[block] = part.verdict, part.margin
            for label, holds in part.modes.items():
                table.mark(label, block, holds)
            dependent += [tuple(map(str, minor)) for minor in found]
    modes = {label: holds.reshape(shape) for label, holds in table.modes.items()}
    factors = CriticalFactors(factor.reshape(shape), tuple(dict.fromkeys(dependent)), {}, {})
    return NumericClassification(table.verdict.reshape(shape), modes, table.margin.reshape(shape), factors)


def _root(G: NDArray[np.float64]) -> NDArray[np.float64]:
    """Directions of which a symmetric matrix is the Delassus operator, with unit mass."""
    values, vectors = np.linalg.eigh(G)
    # an eigenvalue that is rounding is that of directions that depend on each other: its root would tell them apart
    known = np.where(values > len(G) * np.finfo(float).eps * values[-1], values, 0.0)
    return np.asarray((vectors * np.sqrt(known)) @ vectors.T)


@checks_arguments
def classify(
    state: NumericState, *, tolerances: Tolerances = Tolerances(), cover_budget: float = COVER_BUDGET
) -> NumericClassification:
    """Decide an array of states, those with the same pattern of contacts together.

    Parameters
    ----------
    state : NumericState
        One, or an array of them. A contact that is absent at some has a positive ``gap`` there.
    tolerances : Tolerances, optional
    cover_budget : float, default 2
        Seconds for each state with several spatial contacts at rest; with 0 these are left open.

    Returns
    -------
    NumericClassification

    Examples
    --------
    A block that slips on a floor, pressed at the first state and lifted at the second.

    >>> from hybrid.numeric import NumericContact, NumericState
    >>> foot = NumericContact("foot", W_N=[0.0, 1.0], W_T=[1.0, 0.0], slip=[0.3], friction=0.5)
    >>> found = classify(NumericState(M=[[2.0, 0.0], [0.0, 2.0]], h=[[0.0, -20.0], [0.0, 20.0]], contacts=[foot]))
    >>> [found.labels(k) for k in range(2)]
    [('slide+',), ('free',)]
    """
    if not state.shape:
        alone = attrs.evolve(state, M=state.M[None])
        return _first(classify(alone, tolerances=tolerances, cover_budget=cover_budget))
    shape, found = state.shape, activities_of(state)
    massive = np.broadcast_to(definiteness(state.terms.M) > tolerances.rank, shape)

    def decide(place: tuple[int, ...]) -> Selection:
        problem = contact_problem(state.at(place), tolerances=tolerances)
        return select_problem(problem, tolerances=tolerances, cover_budget=cover_budget, bodies=state.bodies)

    posed = PosedStates(state.structure, state.terms, None, found, state.sides)
    table = decide_states(posed, massive, decide, tolerances=tolerances)
    for verdict, label in ((CellVerdict.IMPACT, "impact"), (CellVerdict.PENETRATING, "penetrating")):
        where = table.verdict == verdict
        if where.any():
            table.mark(label, where)
    factors = critical_factors(state, found, massive)
    return NumericClassification(table.verdict, table.modes, table.margin, factors)


def _first(found: NumericClassification) -> NumericClassification:
    """What is known of the first state, without the leading axis."""

    def first(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {name: array[0, ...] for name, array in arrays.items()}

    factors = found.critical
    critical = CriticalFactors(factors.factor[0, ...], factors.dependent, first(factors.friction), first(factors.worst))
    return NumericClassification(found.verdict[0, ...], first(found.modes), found.margin[0, ...], critical)
