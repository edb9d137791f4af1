"""Ties decided exactly: every mode of a contact problem in rational numbers, where all data are known.

Floats leave a state undecided where an inequality holds or fails by rounding and the number of solutions depends on
it. Here the mechanism's own expressions are evaluated at rational data, and the set of forces of every mode is found
without any tolerance. What is decided is the state with exactly these data, and no other one near it.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.branches import ForceSet, branch_from_forces, force_names
from hybrid.contact.candidates import has_few_modes
from hybrid.contact.exact_data import ExactProblem, exact_directions, exact_problem
from hybrid.contact.known_numbers import Clock, UnknownNumberError, dot
from hybrid.contact.mode_certificate import exact_condition, rows_of_modes
from hybrid.contact.modes import ContactMode, Mode, ModeConditions, solvable_modes
from hybrid.contact.pruning import search_modes
from hybrid.contact.verdict import COVER, Selection, Verdict
from hybrid.tolerances import Tolerances
from lcp.exact.certificate import integer_row
from lcp.polytopes import cone_generators

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State

__all__ = ["decide_exactly"]

Vector = tuple[Fraction, ...]

_SECONDS = 20.0
"""A tie that takes longer stays undecided."""


@attrs.frozen(eq=False)
class _Set:
    """All forces of one mode, with its labels."""

    mode: Mode
    vertices: tuple[Vector, ...]
    rays: tuple[Vector, ...]
    accelerations: frozenset[Vector]
    n_tight: int

    @property
    def is_continuum(self) -> bool:
        return len(self.accelerations) > 1


def decide_exactly(
    dynamics: Dynamics,
    state: State,
    undecided: Selection,
    *,
    tolerances: Tolerances = Tolerances(),
    cover_budget: float = 0.0,
) -> Selection:
    """Decide a state that floats leave undecided, if its data are known exactly and rational.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    undecided : Selection
        By enumeration of all modes, or by a cover.
    tolerances : Tolerances, optional
        With which a search refutes most modes of many.
    cover_budget : float, optional
        Seconds for a cover.

    Returns
    -------
    Selection
        The one given, with a note why, if a number is not known or not rational, if no mode is consistent, or if it
        takes too long.
    """
    problem = undecided.problem
    if undecided.decided_by == COVER:
        return _by_cover(dynamics, state, undecided, tolerances, cover_budget)
    try:
        exact = exact_problem(dynamics, state, problem, Clock(_SECONDS))
        sets = _sets(exact, problem, tolerances, Clock(_SECONDS))
    except UnknownNumberError as error:
        return attrs.evolve(undecided, notes=(*undecided.notes, f"not decided exactly either: {error}"))
    if not sets:
        note = "in exact arithmetic no mode is consistent, but there is no certificate in floating point"
        return attrs.evolve(undecided, notes=(*undecided.notes, note))
    return _selection(problem, exact, sets, undecided)


def _by_cover(
    dynamics: Dynamics, state: State, undecided: Selection, tolerances: Tolerances, budget: float
) -> Selection:
    """With the rank of exact directions, where the accelerations are unique and the forces in doubt."""
    from hybrid.contact.cover import select_by_cover

    if not undecided.margin:  # a part of the cover is left open: it is not the rank that is in doubt
        return undecided
    try:
        exact = exact_directions(dynamics, state, undecided.problem, Clock(_SECONDS))
    except UnknownNumberError as error:
        return attrs.evolve(undecided, notes=(*undecided.notes, f"not decided exactly either: {error}"))
    return select_by_cover(undecided.problem, tolerances=tolerances, budget=budget, directions=exact)


def _sets(exact: ExactProblem, problem: ContactProblem, tolerances: Tolerances, clock: Clock) -> list[_Set]:
    """The sets of forces of all modes that have some."""
    choices = [solvable_modes(element) for element in exact.elements]
    places: Iterable[tuple[int, ...]] = itertools.product(*(range(len(modes)) for modes in choices))
    if not has_few_modes(problem):
        searched = search_modes(problem, tolerances)
        if searched.doubt:
            raise UnknownNumberError(searched.doubt)
        places = searched.places
    combinations = [tuple(modes[i] for modes, i in zip(choices, chosen, strict=True)) for chosen in places]
    found = []
    for modes in combinations:
        clock.check()
        one = _forces(exact, problem, modes)
        if one is not None:
            found.append(one)
    return found


def _forces(exact: ExactProblem, problem: ContactProblem, modes: tuple[ModeConditions, ...]) -> _Set | None:
    """The set of forces of one mode; None if it is empty."""
    equations, inequalities = (
        [(*line, constant) for line, constant in (exact_condition(exact.G, exact.c, row) for row in rows)]
        for rows in rows_of_modes(modes)
    )
    r = len(exact.c)
    generators = cone_generators(
        [[0] * r + [1], *map(integer_row, inequalities)],
        dimension=r + 1,
        tolerance=0,
        unit=1,
        equalities=list(map(integer_row, equations)),
    )
    vertices = tuple(tuple(Fraction(x, ray[-1]) for x in ray[:-1]) for ray in generators.rays if ray[-1])
    if not vertices:
        return None
    directions = [ray for ray in generators.rays if not ray[-1]]
    directions += [*generators.lines, *([-x for x in line] for line in generators.lines)]
    rays = tuple(tuple(Fraction(x, max(map(abs, ray[:-1]))) for x in ray[:-1]) for ray in directions)
    moved = [tuple(a + b for a, b in zip(vertices[0], ray, strict=True)) for ray in rays]
    accelerations = frozenset(_acceleration(exact, forces) for forces in (*vertices, *moved))
    centre = tuple(sum(column, Fraction(0)) / len(vertices) for column in zip(*(vertices + rays), strict=True))
    if not r:
        centre = ()
    n_tight = sum(not dot(row, (*centre, 1)) for row in inequalities)
    labels = {part.element.name: _label(exact, part, centre) for part in modes}
    mode = Mode({name: labels.get(name, ContactMode.FREE) for name in problem.names})
    return _Set(mode, vertices, rays, accelerations, n_tight)


def _acceleration(exact: ExactProblem, forces: Vector) -> Vector:
    return tuple(a + dot(row, forces) for a, row in zip(exact.a_free, exact.response_W, strict=True))


def _label(exact: ExactProblem, part: ModeConditions, forces: Vector) -> ContactMode:
    if not part.is_unnamed:
        return part.label
    row = part.element.tangential[0]
    a = dot(exact.G[row], forces) + exact.c[row]
    if not a:
        return ContactMode.STICK
    return ContactMode.SLIDE_PLUS if a > 0 else ContactMode.SLIDE_MINUS


def _selection(problem: ContactProblem, exact: ExactProblem, sets: list[_Set], undecided: Selection) -> Selection:
    """The verdict and its branches; the sets that hold most freely lead."""
    sets = sorted(sets, key=lambda one: (one.n_tight, -len(one.vertices) - len(one.rays)))
    accelerations = list(dict.fromkeys(a for one in sets for a in sorted(one.accelerations)))
    continua = [one for one in sets if one.is_continuum]
    branches = []
    for acceleration in accelerations:
        points = [(one, v) for one in sets for v in one.vertices if _acceleration(exact, v) == acceleration]
        if not points:
            continue  # only the far end of a ray
        leading = points[0][0]
        middle = [v for one, v in points if one is leading]
        mean = np.array([[float(x) for x in v] for v in middle]).reshape(len(middle), -1).mean(axis=0)
        sharing = [one for one in sets if one.accelerations == {acceleration}]
        equivalent = dict.fromkeys(one.mode for one, _ in points if one.mode != leading.mode)
        found = branch_from_forces(problem, mean, leading.mode)
        shared = _shared_set(problem, sharing)
        branches.append(attrs.evolve(found, equivalent_modes=tuple(equivalent), margin=0.0, force_set=shared))
    if len(accelerations) > 1:
        verdict = Verdict.INDETERMINATE
    elif branches[0].force_set is not None or problem.redundancy:
        verdict = Verdict.HYPERSTATIC
    else:
        verdict = Verdict.UNIQUE
    known = f"decided exactly, for {exact.known}; beside it the number of solutions may be another"
    own = tuple(_force_set(problem, [one]) for one in continua)
    return attrs.evolve(
        undecided,
        verdict=verdict,
        branches=tuple(branches),
        margin=0.0,
        continua=own,
        decided_by="exact rational arithmetic",
        notes=(*(f"mode {one.mode.label} {found.describe()}" for one, found in zip(continua, own, strict=True)), known),
        is_exhaustive=True,
    )


def _shared_set(problem: ContactProblem, sets: Sequence[_Set]) -> ForceSet | None:
    """All forces of the sets of one acceleration; None if there is one alone."""
    is_unique = len({vertex for one in sets for vertex in one.vertices}) <= 1 and not any(one.rays for one in sets)
    return None if is_unique else _force_set(problem, sets)


def _force_set(problem: ContactProblem, sets: Sequence[_Set]) -> ForceSet:
    r = problem.n_rows
    vertices = list(dict.fromkeys(v for one in sets for v in one.vertices))
    rays = list(dict.fromkeys(ray for one in sets for ray in one.rays))
    return ForceSet(
        names=force_names(problem),
        dimension=max(_dimension(one) for one in sets),
        vertices=np.array(vertices, dtype=float).reshape(-1, r) + problem.mean,
        rays=np.array(rays, dtype=float).reshape(-1, r),
    )


def _dimension(one: _Set) -> int:
    """Dimension of a set: the rank of its edges and rays."""
    edges = [tuple(x - y for x, y in zip(v, one.vertices[0], strict=True)) for v in one.vertices[1:]]
    rows, n = [integer_row(edge) for edge in (*edges, *one.rays)], len(one.vertices[0])
    return n - len(cone_generators([], dimension=n, tolerance=0, unit=1, equalities=rows).lines)
