"""The verdict at a state: which modes are consistent, with evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np

from hybrid.arguments import checks_arguments, explains_arguments
from hybrid.contact.branches import Branch, branch, branch_from_forces, broken_law, continuum_set, force_set
from hybrid.contact.candidates import Candidate, all_candidates, candidate, count_modes, has_few_modes, mode_of
from hybrid.contact.conditions import problem_scale
from hybrid.contact.problem import ContactProblem, posed
from hybrid.contact.sliding import can_slip
from hybrid.contact.solutions import (
    close_accelerations,
    distinct_accelerations,
    extreme_solutions,
    physical_solutions,
)
from hybrid.contact.verdict import COVER, ENUMERATION, Selection, Verdict, certified, crosscheck, doubts_of, margin_of
from hybrid.dynamics.arithmetic import is_finite
from hybrid.dynamics.derive import bound
from hybrid.dynamics.kinks import load_jumps
from hybrid.dynamics.pins import state_of
from hybrid.dynamics.positions import has_kinks
from hybrid.dynamics.state import other_positions
from hybrid.errors import ComputationError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.contact.conditions import Scale
    from hybrid.contact.pruning import SearchedModes
    from hybrid.contact.verdict import Crosscheck
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State

COVER_BUDGET = 2.0
"""Seconds for a state with several spatial contacts at rest."""

LISTED_MODES = 64
"""Modes of which each is listed with what it violates, where none is consistent; more are refuted together."""

MAX_COMBINATIONS = 4096
"""Modes beside a spatial contact at rest that are enumerated at most; beyond, Lemke's method alone is used."""


@checks_arguments
def select(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    parameters: Values | None = None,
    tolerances: Tolerances = Tolerances(),
    solver: Literal["enumeration", "lemke", "gauss"] = "enumeration",
    cover_budget: float = COVER_BUDGET,
) -> Selection:
    """Decide which contact modes are consistent at a state.

    A tie that floats cannot decide is decided exactly where the state and the parameters are known as rational numbers
    (``docs/decisions/0002-verdicts-at-ties.md``): give parameters such as 4/3 as texts, ``"4/3"``.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        Pins stand for the state that they fix (:func:`hybrid.solve_state`). Closed contacts must be
        persistent.
    parameters : mapping, optional
    tolerances : Tolerances, optional
    solver : {"enumeration", "lemke", "gauss"}
        ``enumeration`` solves every mode and can tell how many are consistent. ``lemke`` finds one solution or a ray
        and never concludes inconsistency from a ray. ``gauss`` minimises Gauss' constraint, for contacts without
        friction.
    cover_budget : float, default 2
        Seconds for several spatial contacts at rest, whose motions are divided until all parts are decided; UNDECIDED
        where they do not suffice (``docs/explanation/contacts-at-rest.md``).

    Returns
    -------
    Selection

    Raises
    ------
    StateError, ComputationError
        As :func:`contact_problem`; or the solver does not apply.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": "+0"}, parameters={"mu": 1.5})
    >>> select(rod, state, parameters={"mu": 1.5}).verdict.name
    'INCONSISTENT'
    """
    dynamics = bound(dynamics, parameters)
    state = state_of(dynamics, state, tolerances=tolerances)
    selection = _in_floats(dynamics, state, tolerances, solver, cover_budget)
    if selection.verdict is Verdict.UNDECIDED and selection.decided_by in (ENUMERATION, COVER):
        from hybrid.contact.exact_verdict import decide_exactly  # for what is in doubt alone

        selection = decide_exactly(dynamics, state, selection, tolerances=tolerances, cover_budget=cover_budget)
    return attrs.evolve(_remarked(dynamics, state, selection), dynamics=dynamics, state=state)


def select_in_floats(
    dynamics: Dynamics,
    state: State,
    *,
    tolerances: Tolerances = Tolerances(),
    solver: Literal["enumeration", "lemke", "gauss"] = "enumeration",
    cover_budget: float = COVER_BUDGET,
) -> Selection:
    """As :func:`select`, for states whose numbers are computed: no tie is decided exactly.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    tolerances, solver, cover_budget : optional
        As for :func:`select`.

    Returns
    -------
    Selection
    """
    return _remarked(dynamics, state, _in_floats(dynamics, state, tolerances, solver, cover_budget))


def _in_floats(
    dynamics: Dynamics,
    state: State,
    tolerances: Tolerances,
    solver: Literal["enumeration", "lemke", "gauss"],
    cover_budget: float,
) -> Selection:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # numbers out of range are refused below
        problem = posed(dynamics, state, tolerances)
        if not is_finite(problem.G, problem.c):
            raise ComputationError(f"{dynamics.name}: the contact problem has numbers beyond the range of floats")
        return select_problem(problem, tolerances=tolerances, solver=solver, cover_budget=cover_budget)


@explains_arguments
def select_problem(
    problem: ContactProblem,
    *,
    tolerances: Tolerances = Tolerances(),
    solver: Literal["enumeration", "lemke", "gauss"] = "enumeration",
    candidates: tuple[Candidate, ...] | None = None,
    cover_budget: float = COVER_BUDGET,
    bodies: Mapping[str, str] | None = None,
) -> Selection:
    """Decide a contact problem that is already posed, and maybe solved for every mode; otherwise as :func:`select`.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    tolerances, solver, cover_budget : optional
        As for :func:`select`.
    candidates : tuple of Candidate, optional
        Of every mode, if they are known.
    bodies : mapping of str to str, optional
        Of contacts with what does not move, the rigid bodies on which they act, where that is known: forces between
        points of one body leave it at rest, whatever rounding their directions carry.

    Returns
    -------
    Selection
    """
    if solver == "gauss":
        return _from_method(problem, "gauss", tolerances)
    n_spatial = sum(element.is_spatial_at_rest for element in problem.elements)
    if solver == "lemke" or (n_spatial == 1 and count_modes(problem) > MAX_COMBINATIONS):
        return _from_method(problem, "lemke", tolerances)
    if n_spatial > 1:
        return _by_cover(problem, tolerances, cover_budget, bodies)
    found = _by_enumeration(problem, tolerances, candidates)
    if n_spatial and not found.branches:  # no certificate but that of a cover refutes all directions of slip
        other = _by_cover(problem, tolerances, cover_budget, bodies)
        return other if other.verdict is Verdict.INCONSISTENT else found
    return found


def _by_cover(
    problem: ContactProblem, tolerances: Tolerances, budget: float, bodies: Mapping[str, str] | None
) -> Selection:
    from hybrid.contact.cover.verdict import select_by_cover  # HiGHS, for what modes alone do not decide

    return select_by_cover(problem, tolerances=tolerances, budget=budget, bodies=bodies)


def _by_enumeration(
    problem: ContactProblem, tolerances: Tolerances, solved: tuple[Candidate, ...] | None = None
) -> Selection:
    scale = problem_scale(problem)
    searched: SearchedModes | None = None
    if solved is not None:
        candidates = solved
    elif any(element.is_spatial_at_rest for element in problem.elements):
        from hybrid.contact.spatial import resting_spatial_candidates

        candidates = resting_spatial_candidates(problem, scale, tolerances)
    elif not has_few_modes(problem):
        searched = _searched(problem, tolerances)
        if searched.doubt:
            known = _from_method(problem, "lemke", tolerances)
            return attrs.evolve(known, notes=(searched.doubt, *known.notes))
        candidates = tuple(candidate(problem, modes, scale, tolerances) for modes in searched.modes)
    else:
        candidates = all_candidates(problem, scale, tolerances)
    if not any(item.holds for item in candidates):
        return _without_solution(problem, candidates, searched, scale, tolerances)
    solutions = physical_solutions(problem, candidates, scale, tolerances)
    continua = [solution for solution in solutions if solution.is_continuum]
    points = [point for solution in solutions for point in extreme_solutions(problem, solution, scale, tolerances)]
    distinct = distinct_accelerations(points, tolerances)
    branches = tuple(branch(problem, group[0], force_set=force_set(problem, group)) for group in distinct)
    check = crosscheck(problem, solutions, scale, tolerances)
    doubts = doubts_of(problem, candidates, solutions, scale, tolerances) + close_accelerations(distinct, tolerances)
    doubts += [sentence for item in branches if (sentence := broken_law(problem, item, scale, tolerances))]
    disagreement = _disagreement(check)
    doubts += disagreement
    leading = [solution.leading for solution in continua]
    sets = tuple(continuum_set(problem, item, scale, tolerances) for item in leading)
    return Selection(
        problem=problem,
        verdict=_verdict(problem, branches, doubts, has_continuum=bool(continua)),
        branches=branches,
        margin=min(margin_of(candidates, solutions), np.inf if searched is None else searched.margin),
        continua=sets,
        crosscheck=check,
        notes=(
            *doubts,
            *(
                f"mode {mode_of(problem, item).label} {found.describe()}"
                for item, found in zip(leading, sets, strict=True)
            ),
            *_polygon_notes(problem, branches),
            *_redundancy_notes(problem),
        ),
        is_exhaustive=not disagreement,
    )


def _without_solution(
    problem: ContactProblem,
    candidates: tuple[Candidate, ...],
    searched: SearchedModes | None,
    scale: Scale,
    tolerances: Tolerances,
) -> Selection:
    """What is said where no mode holds: inconsistent with a proof, else undecided."""
    check = crosscheck(problem, (), scale, tolerances)
    doubts = doubts_of(problem, candidates, (), scale, tolerances) + _disagreement(check)
    certificate = None
    if not doubts:
        if searched is not None and count_modes(problem) <= LISTED_MODES:
            candidates, searched = all_candidates(problem, scale, tolerances), None
        certificate, doubts = certified(problem, candidates, searched)
    return Selection(
        problem=problem,
        verdict=_verdict(problem, (), doubts, has_continuum=False),
        branches=(),
        margin=min(margin_of(candidates, ()), np.inf if searched is None else searched.margin),
        certificate=certificate,
        crosscheck=check,
        notes=(*doubts, *_redundancy_notes(problem)),
        is_exhaustive=not doubts,
    )


def _disagreement(check: Crosscheck | None) -> list[str]:
    """The doubt, if any, that another method found what the enumeration of modes did not."""
    return [] if check is None or check.agrees is not False else [f"{check.sentence}: the two methods disagree"]


def _searched(problem: ContactProblem, tolerances: Tolerances) -> SearchedModes:
    from hybrid.contact.pruning import search_modes  # not needed where modes are few

    return search_modes(problem, tolerances)


def _verdict(
    problem: ContactProblem,
    branches: Sequence[Branch],
    doubts: Sequence[str],
    *,
    has_continuum: bool,
) -> Verdict:
    if doubts:
        return Verdict.UNDECIDED
    if not branches:
        return Verdict.INCONSISTENT
    if len(branches) > 1 or has_continuum:
        return Verdict.INDETERMINATE
    return Verdict.HYPERSTATIC if branches[0].force_set is not None or problem.redundancy else Verdict.UNIQUE


def _remarked(dynamics: Dynamics, state: State, selection: Selection) -> Selection:
    """With what is to be said about the state itself: other positions of its pins, jumps, sides of no slip."""
    problem, jumping = selection.problem, load_jumps(dynamics) if has_kinks(dynamics) else None
    given = [item for item in problem.elements if item.name in state.sides and item.direction is not None]
    fixed = tuple(
        f"{element.name} cannot slip while it is closed: the side that is given is only the direction of its friction"
        for element in given
        if not can_slip(problem, element.name)
    )
    met = () if jumping is None else jumping.met(dynamics, state.q, state.v, state.t)
    said = (*other_positions(dynamics, state), *fixed, *(jump.sentence for jump in met))
    return attrs.evolve(selection, notes=selection.notes + said) if said else selection


def _polygon_notes(problem: ContactProblem, branches: Sequence[Branch]) -> tuple[str, ...]:
    """What is to be said of sets of forces with a round edge: corners of an inscribed polygon stand for them."""
    round_ = [element.name for element in problem.elements if element.is_spatial_at_rest]
    if not round_ or all(item.force_set is None for item in branches):
        return ()
    return (f"the set of forces is listed by a polygon inside the circular cone of {', '.join(round_)}",)


def _redundancy_notes(problem: ContactProblem) -> tuple[str, ...]:
    if not problem.redundancy:
        return ()
    return (f"{problem.redundancy} of the bilateral constraints are redundant: their multipliers are not unique",)


def _from_method(problem: ContactProblem, solver: Literal["lemke", "gauss"], tolerances: Tolerances) -> Selection:
    from hybrid.contact.methods import by_gauss, by_lemke, mode_from_forces  # asked for, or where modes are too many

    is_gauss = solver == "gauss"
    answer = by_gauss(problem, tolerances) if is_gauss else by_lemke(problem)
    decided_by = "Gauss' principle of least constraint" if is_gauss else "Lemke's method"
    if answer.forces is None:
        return Selection(
            problem, Verdict.UNDECIDED, (), 0.0, decided_by=decided_by, notes=answer.notes, is_exhaustive=False
        )
    mode = mode_from_forces(problem, answer.forces, tolerances)
    found = branch_from_forces(problem, answer.forces, mode)
    verdict = {True: Verdict.UNIQUE, False: Verdict.HYPERSTATIC, None: Verdict.UNDECIDED}[answer.is_unique]
    return Selection(
        problem, verdict, (found,), found.margin, decided_by=decided_by, notes=answer.notes,
        is_exhaustive=verdict is not Verdict.UNDECIDED,
    )  # fmt: skip
