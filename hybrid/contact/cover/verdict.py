"""The verdict on several spatial contacts at rest, from what the search through the cover has proved."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import explains_arguments
from hybrid.contact.branches import Branch, ForceSet, Slack, branch_from_forces, force_names
from hybrid.contact.conditions import problem_scale, weight_of
from hybrid.contact.cover.certificate import CoverCertificate, verify_cover
from hybrid.contact.cover.freedom import KnownDirections, freedom_of, holding_forces
from hybrid.contact.cover.parts import PRESSING, CoverPart, has_disc, sticking
from hybrid.contact.cover.programs import Programs
from hybrid.contact.cover.search import CoverNode, ProvedSolution, bounds_alike, posed, search_cover, sign_limit
from hybrid.contact.modes import ContactMode, ElementKind, Mode, Row
from hybrid.contact.spatial import DISC, N_POLYGON, disc_slack
from hybrid.contact.verdict import COVER, Selection, Verdict, about_tie
from hybrid.dynamics.arithmetic import unit_vectors
from hybrid.tolerances import CLEAR, NOTHING, UNSEEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hybrid.contact.conditions import Scale
    from hybrid.contact.cover.freedom import Freedom, Rows
    from hybrid.contact.modes import ActiveElement
    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances

__all__ = ["select_by_cover"]

Array = NDArray[np.float64]


@explains_arguments
def select_by_cover(
    problem: ContactProblem,
    *,
    tolerances: Tolerances,
    budget: float,
    bodies: Mapping[str, str] | None = None,
    directions: tuple[Rows, Rows] | None = None,
) -> Selection:
    """Decide a problem with spatial contacts at rest by refuting what no solution can do.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    tolerances : Tolerances
    budget : float
        Seconds; UNDECIDED where they do not suffice.
    bodies : mapping of str to str, optional
        Of contacts with what does not move, the rigid bodies on which they act, where that is known.
    directions : pair of list of list of Fraction, (n, r) and (m, n), optional
        Directions of the forces and gradients of the constraints, where these are known better than in floats.

    Returns
    -------
    Selection
    """
    scale, programs, known = problem_scale(problem), Programs(), KnownDirections(bodies or {}, directions)
    for parts, note in _at_rest(problem, scale):
        held = _held(problem, parts, scale, tolerances, programs)
        if held is not None:
            margin = float(np.min(held.slacks))
            return _one_acceleration(problem, held, scale, tolerances, programs, known, margin, (note,))
    root = search_cover(problem, scale, tolerances, budget=budget, programs=programs)
    leaves = list(root.leaves())
    solutions = _distinct(problem, [leaf.solution for leaf in leaves if leaf.solution is not None], scale, tolerances)
    n_open = sum(leaf.reason == "open" for leaf in leaves)
    margin = _margin(leaves, solutions)
    left = (f"{n_open} of {len(leaves)} parts of the cover are left open (--standing-budget {budget:g} s)",)
    if len(solutions) > 1:
        branches = tuple(_branch(problem, item) for item in solutions)
        notes = (f"further solutions are not excluded: {left[0]}",) if n_open else ()
        return Selection(
            problem, Verdict.INDETERMINATE, branches, margin, decided_by=COVER, notes=notes, is_exhaustive=not n_open
        )
    if n_open:
        branches = tuple(_branch(problem, item) for item in solutions)
        tied = [_tied(problem, leaf.parts, scale, tolerances, programs) for leaf in leaves if leaf.reason == "open"]
        equal = [item for item in tied if item is not None]
        is_tie = len(equal) == n_open and len(_distinct(problem, [*solutions, *equal], scale, tolerances)) == 1
        if is_tie:
            branches, left = _one_of_ties(problem, [*solutions, *equal], scale, tolerances)
        return Selection(problem, Verdict.UNDECIDED, branches, 0.0, decided_by=COVER, notes=left, is_exhaustive=is_tie)
    cover = CoverCertificate(problem, root)
    if solutions:
        found = _one_acceleration(problem, solutions[0], scale, tolerances, programs, known, margin, ())
        return attrs.evolve(found, cover=cover)
    if not verify_cover(cover, tolerances=tolerances):
        notes = ("no motion is consistent, but the certificate fails its check in exact arithmetic",)
        return Selection(problem, Verdict.UNDECIDED, (), 0.0, decided_by=COVER, notes=notes, is_exhaustive=False)
    return Selection(problem, Verdict.INCONSISTENT, (), margin, certificate=cover, decided_by=COVER, cover=cover)


def _at_rest(problem: ContactProblem, scale: Scale) -> Iterator[tuple[tuple[CoverPart, ...], str]]:
    """Ways to keep all contacts at rest that exclude every other motion, and why they do."""
    if any(element.kind is not ElementKind.CONTACT or element.direction is not None for element in problem.elements):
        return
    pressed = tuple(_pressed(element) for element in problem.elements)
    # for any other solution, d = lambda - lambda* has 0 <= d G d = d a = a_T lambda_T - a_N lambda*_N <= 0, so that
    # G d = 0, which is a = 0
    yield pressed, "normal forces alone hold the contacts at rest, so that no other motion is consistent"
    if _has_weak_friction(problem, scale):
        yield tuple(map(_inside, pressed)), "friction is too weak for forces of another solution"


def _has_weak_friction(problem: ContactProblem, scale: Scale) -> bool:
    """Whether at most one force solves the problem, whatever the load.

    The difference ``d`` of two solutions has ``d G d <= sum of mu_i |d_Ni| |(G d)_Ti|``, as every solution has the
    greatest dissipation, and this is at most ``d G d`` times the sum of ``mu_i sqrt((G^-1)_NiNi lambda_max(G_TiTi))``.
    """
    if any(element.static_friction != element.friction for element in problem.elements):
        return False
    G = problem.G / (scale.row[:, None] * scale.row)
    values = np.linalg.eigvalsh(G)
    if not values[0] > CLEAR * values[-1]:  # rounding, of 1e-16/CLEAR in the inverse, must not decide
        return False
    inverse, total = np.linalg.inv(G), 0.0
    for element in problem.elements:
        tangential = list(element.tangential)
        if tangential:
            normal = element.rows[0]
            pulled = np.linalg.eigvalsh(problem.G[np.ix_(tangential, tangential)])[-1] / scale.row[normal] ** 2
            total += float(element.friction) * float(np.sqrt(inverse[normal, normal] * pulled))
    return total < 1.0 - CLEAR


def _held(
    problem: ContactProblem, parts: tuple[CoverPart, ...], scale: Scale, tolerances: Tolerances, programs: Programs
) -> ProvedSolution | None:
    """Forces by which contacts are at rest as some parts say, all inequalities strict."""
    given = posed(problem, parts, scale)
    found = programs.least_slack(given)
    if found.forces is None or not found.value > max(tolerances.sign, float(scale.lost)):
        return None
    if np.max(np.abs(given.conditions.E @ found.forces + given.conditions.e)) > tolerances.sign:
        return None
    forces = given.polished(found.forces)
    return ProvedSolution(parts, forces, given.slacks(forces))


def _pressed(element: ActiveElement) -> CoverPart:
    """At rest by a normal force alone."""
    rows = [Row("a = 0", alpha={row: 1.0}) for row in element.rows]
    rows += [Row("lambda_T = 0", beta={row: 1.0}) for row in element.tangential]
    label = ContactMode.STICK if element.tangential else ContactMode.CLOSED
    presses = Row(PRESSING, beta=dict.fromkeys(element.rows[:1], 1.0))
    return CoverPart(element, label, None, tuple(rows), (presses,))


def _one_acceleration(
    problem: ContactProblem,
    solution: ProvedSolution,
    scale: Scale,
    tolerances: Tolerances,
    programs: Programs,
    known: KnownDirections,
    margin: float,
    notes: tuple[str, ...],
) -> Selection:
    """UNIQUE where the directions of the forces are independent; HYPERSTATIC where a change of them is proved."""
    found, bearing = _branch(problem, solution), _bearing(problem, solution, scale, tolerances)
    free = freedom_of(problem, bearing, scale, tolerances, known=known)
    if not free.n_proved:
        is_certain = not free.n_small
        if is_certain and (free.least > UNSEEN or any(part.label is ContactMode.SLIDE for part in solution.parts)):
            return Selection(problem, Verdict.UNIQUE, (found,), margin, decided_by=COVER, notes=notes)
        only = _only_forces(problem, solution, bearing, scale, tolerances, any_number=is_certain)
        if only is not None:
            margin, notes = min(margin, float(np.min(only.slacks))), (*notes, _EXACT_FORCES)
            return Selection(problem, Verdict.UNIQUE, (_branch(problem, only),), margin, decided_by=COVER, notes=notes)
        note = f"the accelerations are unique, the contact forces not so surely: {_NEARLY.format(least=free.least)}"
        return Selection(problem, Verdict.UNDECIDED, (found,), free.least, decided_by=COVER, notes=(*notes, note))
    corners = _extreme_forces(problem, solution, scale, programs)
    size = 1.0 + float(np.max(np.abs(solution.forces)))
    if max(float(np.max(np.abs(corner - solution.forces))) for corner in corners) <= tolerances.merge * size:
        note = "the accelerations are unique, and whether the contact forces are was not decided"
        return Selection(problem, Verdict.UNDECIDED, (found,), 0.0, decided_by=COVER, notes=(*notes, note))
    forces = np.array(corners[1:]) * scale.size / scale.row
    forces = np.where(np.abs(forces) <= tolerances.merge * np.max(np.abs(forces)), 0.0, forces)
    pressing = [row for part in solution.parts if part.label is not ContactMode.FREE for row in part.element.rows]
    free = freedom_of(problem, np.eye(problem.n_rows)[:, pressing], scale, tolerances, known=known)
    listed = ForceSet(force_names(problem), free.dimension, forces, np.zeros((0, problem.n_rows)), free.kernel)
    note = "of the set of forces those are listed in which one normal force is least or largest, friction in a polygon"
    return Selection(
        problem,
        Verdict.HYPERSTATIC,
        (attrs.evolve(found, force_set=listed),),
        margin,
        decided_by=COVER,
        notes=(*notes, *_proofs(free, listed.names), note),
    )


_NEARLY = "in some combination their directions, of length 1, differ from nothing by {least:.1e}"
_EXACT_FORCES = "directions of forces nearly depend on each other; the forces are those of exact rational arithmetic"


def _proofs(free: Freedom, names: Sequence[str]) -> Iterator[str]:
    """What changes of the forces are proved to accelerate nothing."""
    for force in free.kernel[:1]:
        terms = [f"{name} {float(value):+.6g}" for name, value in zip(names, force, strict=True) if value]
        yield f"changes of the forces by multiples of {', '.join(terms)} accelerate nothing, exactly"
    for body, contacts in free.within.items():
        yield f"forces along the lines between {', '.join(contacts)} cancel in {body}"
    if free.n_proved < free.dimension:
        yield f"{free.n_proved} of the {free.dimension} dimensions of the set are proved, the others hold to rounding"


def _only_forces(
    problem: ContactProblem,
    solution: ProvedSolution,
    bearing: Array,
    scale: Scale,
    tolerances: Tolerances,
    *,
    any_number: bool,
) -> ProvedSolution | None:
    """The only forces of a solution whose directions are nearly dependent, if these meet its inequalities."""
    rows = np.flatnonzero(bearing.any(axis=1)).tolist()
    held = holding_forces(problem, rows, any_number=any_number) if len(rows) == bearing.shape[1] else None
    if held is None:
        return None
    given = posed(problem, tuple(map(_inside, solution.parts)), scale)
    forces = np.array(held, dtype=float) * scale.row / scale.size
    slacks = given.slacks(forces)
    limit = max(tolerances.sign, float(scale.lost)) * (1.0 + float(np.max(np.abs(forces))))
    return ProvedSolution(solution.parts, forces, slacks) if np.min(slacks) > limit else None


def _bearing(problem: ContactProblem, solution: ProvedSolution, scale: Scale, tolerances: Tolerances) -> Array:
    """Directions (r, k) of the forces that the accelerations leave open, where these are unique.

    A contact that separates carries none; one that begins to slip, or has no friction, one along a line; any other one
    all of its rows.
    """
    a = problem.G @ (solution.forces * scale.size / scale.row) + problem.c
    limit = max(tolerances.sign, float(scale.lost) * float(np.max(np.abs(solution.forces), initial=0.0)))
    columns: list[Array] = []
    for element in problem.elements:
        rows = np.eye(problem.n_rows)[list(element.rows)]
        if element.kind is not ElementKind.CONTACT or element.normal is None:
            columns += list(rows)
            continue
        moved = np.abs(a[list(element.rows)]) / (scale.row[list(element.rows)] * scale.size)
        slip = np.array(element.direction or a[list(element.tangential)], dtype=float)
        if moved[0] > limit:
            continue
        if len(rows) == 1 or not (element.friction or element.static_friction):
            columns.append(rows[0])
        elif element.direction is not None or np.max(moved[1:]) > limit:
            columns.append(rows[0] - float(element.friction) * (unit_vectors(slip) @ rows[1:]))
        else:
            columns += list(rows)
    return np.array(columns).reshape(-1, problem.n_rows).T


def _tied(
    problem: ContactProblem, parts: tuple[CoverPart, ...], scale: Scale, tolerances: Tolerances, programs: Programs
) -> ProvedSolution | None:
    """Forces of a part without slip that hold or fail by rounding, if its accelerations are unique; else None."""
    if any(part.label is None or part.is_sector for part in parts):
        return None
    given = posed(problem, parts, scale)
    found = programs.least_slack(given).forces
    if found is None:
        return None
    forces = given.polished(found)
    tied = ProvedSolution(parts, forces, given.slacks(forces))
    if _branch(problem, tied).margin < -sign_limit(forces, scale, tolerances):
        return None
    return tied if bounds_alike(problem, given, tied, scale, tolerances, programs) is not None else None


def _one_of_ties(
    problem: ContactProblem, tied: Sequence[ProvedSolution], scale: Scale, tolerances: Tolerances
) -> tuple[tuple[Branch], tuple[str]]:
    """The branch of solutions of one acceleration that rounding tells from none, and a sentence about it.

    Where an inequality is an equation, the force element may just as well leave or begin to slip.
    """
    modes: dict[Mode, None] = {}
    branches = [_branch(problem, item) for item in tied]
    for item, branch in zip(tied, branches, strict=True):
        limit = sign_limit(item.forces, scale, tolerances)
        ends = {(slack.contact, slack.inequality) for slack in branch.slacks if slack.scaled <= limit}
        choices = []
        for name, label in branch.mode.items():
            slides = [ContactMode.SLIDE] if (name, DISC) in ends else []
            opens = [ContactMode.FREE] if (name, PRESSING) in ends else []
            choices.append([(name, mode) for mode in (label, *slides, *opens)])
        modes |= dict.fromkeys(Mode(dict(labels)) for labels in product(*choices))
    leading = min(branches, key=lambda branch: branch.margin)
    worst = min(leading.slacks, key=lambda slack: slack.scaled)
    note = about_tie(leading.mode, abs(worst.scaled), worst.contact, worst.inequality)
    others = tuple(mode for mode in modes if mode != leading.mode)
    return (attrs.evolve(leading, equivalent_modes=others),), (note,)


def _extreme_forces(problem: ContactProblem, solution: ProvedSolution, scale: Scale, programs: Programs) -> list[Array]:
    """Forces of a solution, and others with its accelerations in which one normal force is least or largest."""
    a = problem.G @ (solution.forces * scale.size / scale.row) + problem.c
    alike = tuple(
        attrs.evolve(
            part,
            equations=(
                *_inside(part).equations,
                *(Row("a", alpha={row: 1.0}, constant=-float(a[row])) for row in part.element.rows),
            ),
            inequalities=_inside(part).inequalities,
        )
        for part in solution.parts
    )
    given = posed(problem, alike, scale)
    found = [solution.forces]
    for element in problem.elements:
        for sign in (1.0, -1.0) if element.normal is not None else ():
            function = np.zeros(problem.n_rows)
            function[element.normal] = sign
            forces = programs.greatest(given, function).forces
            if forces is not None and not any(np.allclose(forces, other, rtol=0, atol=NOTHING) for other in found):
                found.append(forces)
    return found


def _inside(part: CoverPart) -> CoverPart:
    """What holds by normal forces may stick by friction as well."""
    if has_disc(part.element) and part.label is ContactMode.STICK:
        return sticking(part.element, share=float(np.cos(np.pi / N_POLYGON)))
    return part


def _branch(problem: ContactProblem, solution: ProvedSolution) -> Branch:
    scale = problem_scale(problem)
    forces = solution.forces * scale.size / scale.row
    forces[[row for part in solution.parts if part.label is ContactMode.FREE for row in part.element.rows]] = 0.0
    labels = {part.element.name: part.label or ContactMode.FREE for part in solution.parts}
    mode = Mode({name: labels.get(name, ContactMode.FREE) for name in problem.names})
    slacks = tuple(_slacks(problem, solution, forces, scale))
    margin = min((slack.scaled for slack in slacks), default=float("inf"))
    return attrs.evolve(branch_from_forces(problem, forces, mode), slacks=slacks, margin=margin)


def _slacks(problem: ContactProblem, solution: ProvedSolution, forces: Array, scale: Scale) -> Iterator[Slack]:
    """Inequalities of a solution, with that of the disc of friction in place of those of a polygon."""
    unit = scale.row.tolist()
    for part in solution.parts:
        element = part.element
        for row in part.inequalities:
            if row.label == DISC:
                continue
            a = problem.G @ forces + problem.c
            value = sum(factor * a[index] for index, factor in row.alpha.items())
            value += sum(factor * forces[index] for index, factor in row.beta.items()) + row.constant
            yield Slack(element.name, row.label, float(value), float(value / (weight_of(row, unit) * scale.size)))
        if has_disc(element) and part.label is ContactMode.STICK:
            value, size = disc_slack(element, forces, scale)
            yield Slack(element.name, DISC, value, value / size)


def _distinct(
    problem: ContactProblem, solutions: Sequence[ProvedSolution], scale: Scale, tolerances: Tolerances
) -> list[ProvedSolution]:
    """Solutions of which no two have the same accelerations, up to what has no sign."""
    G = problem.G / (scale.row[:, None] * scale.row)
    kept: list[ProvedSolution] = []
    for item in solutions:
        limit = sign_limit(item.forces, scale, tolerances)
        if all(np.max(np.abs(G @ (item.forces - other.forces))) > limit for other in kept):
            kept.append(item)
    return kept


def _margin(leaves: Sequence[CoverNode], solutions: Sequence[ProvedSolution]) -> float:
    refuted = [-leaf.bounds[0].value for leaf in leaves if leaf.reason == "empty"]
    return min([*refuted, *(float(np.min(item.slacks, initial=np.inf)) for item in solutions)], default=float("inf"))
