"""Which mode a motion continues in, and whether others would have been consistent as well."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice, product
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity, element_names
from hybrid.contact.branches import distinct_labels
from hybrid.contact.candidates import LASTING, CandidateStatus, all_candidates, candidate, mode_of
from hybrid.contact.conditions import all_tied, problem_scale
from hybrid.contact.families import family_accelerates_alike
from hybrid.contact.guards import GuardKind
from hybrid.contact.modes import ContactMode, ElementKind, solvable_modes
from hybrid.contact.problem import pose
from hybrid.contact.selection import select_problem
from hybrid.contact.smooth import also_called
from hybrid.contact.solutions import least_determinant
from hybrid.contact.table import spatial_slides
from hybrid.contact.verdict import Selection, Verdict, with_history
from hybrid.dynamics.arithmetic import unit_vectors
from hybrid.dynamics.scales import summands_of
from hybrid.errors import ComputationError
from hybrid.motion.arcs import FollowedArc, Rest, Trial
from hybrid.motion.context import Choice, Context
from hybrid.motion.events import is_known_zero
from hybrid.motion.recorded import Termination
from hybrid.motion.spatial_slip import beginnings, begun
from hybrid.motion.steps import PLACES
from hybrid.tolerances import NOTHING, ROUNDING, SUMMED

if TYPE_CHECKING:
    from hybrid.contact.branches import Branch
    from hybrid.contact.candidates import Candidate
    from hybrid.contact.modes import ActiveElement, Mode
    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.equations import Terms
    from hybrid.motion.events import Watch
    from hybrid.motion.recorded import Arc

__all__ = ["Array", "Decision", "Moment", "continued_beside_others", "decide", "indefinite_forces"]


Array = NDArray[np.float64]

_CANCELLED = SUMMED  # of the terms that cancel: some tens of roundings
_AGAINST_HISTORY = "no consistent mode agrees with what static friction held or let go until now"
_SLIP_SIGNS = {Activity.SLIPPING_PLUS: 1.0, Activity.SLIPPING_MINUS: -1.0}
_FEW = 2  # force elements whose modes are tried before the full verdict is asked for
_ENDINGS = {
    Verdict.INCONSISTENT: Termination.INCONSISTENT,
    Verdict.INDETERMINATE: Termination.INDETERMINATE,
}


@attrs.frozen(eq=False)
class Decision:
    """How a motion continues, or why it does not.

    Attributes
    ----------
    choice : Choice or None
    selection : Selection or None
        None where a single mode holds and all others fail beyond the tolerances.
    ending : Termination or None
    note : str
    chosen_by_rule : bool
    trial : Trial or None
        The first step of the choice, where it was tried.
    """

    choice: Choice | None
    selection: Selection | None
    ending: Termination | None = None
    note: str = ""
    chosen_by_rule: bool = False
    trial: Trial | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict at the state."""
        return Verdict.UNIQUE if self.selection is None else self.selection.verdict


@attrs.frozen(eq=False)
class Moment:
    """A state with what its history tells of its contacts.

    Attributes
    ----------
    t : float
    q, v : array, (n,)
    activities : mapping of str to Activity
        Known from the event, not guessed from small numbers.
    sides : mapping of str to tuple of float
        For slips that vanish from one side.
    held : frozenset of str
        Force elements that stuck until now or have just come to rest: static friction holds them.
    broken : mapping of str to ContactMode
        Force elements whose static limit was reached, and the slide that follows.
    ended : Choice or None
        What was followed until one of its own guards fired.
    released : frozenset of str
        Force elements whose normal force has vanished in it.
    """

    t: float
    q: Array
    v: Array
    activities: Mapping[str, Activity]
    sides: Mapping[str, tuple[float, ...]] = attrs.field(factory=dict)
    held: frozenset[str] = frozenset()
    broken: Mapping[str, ContactMode] = attrs.field(factory=dict)
    ended: Choice | None = None
    released: frozenset[str] = frozenset()

    def has_ended(self, choice: Choice | None) -> bool:
        """True if a choice is what was followed until one of its own guards fired."""
        return choice is not None and self.ended is not None and choice.key == self.ended.key

    def repeats(self, other: Moment) -> bool:
        """True if but for rounding all is as it was where the mode was decided that has just ended, once more."""
        known = [(at.t, at.activities, at.sides, at.held, at.broken, at.released) for at in (self, other)]
        return known[0] == known[1] and self.has_ended(other.ended)


def decide(context: Context, moment: Moment, t_end: float) -> Decision:
    """Select the mode at a state by the verdict; ties are resolved along the modes' own flows.

    Parameters
    ----------
    context : Context
    moment : Moment
    t_end : float

    Returns
    -------
    Decision

    Raises
    ------
    AssertionError
        A contact is said to slip against its slip: a defect of the code before.
    """
    dynamics = context.dynamics
    terms = context.terms(moment.t, moment.q, moment.v)
    _check_slips(context, moment, terms)
    activities = tuple(moment.activities[name] for name in element_names(dynamics))
    summands = summands_of(dynamics, terms, moment.q, moment.v, t=moment.t)
    problem = _without_rounding(pose(dynamics, terms, activities, sides=moment.sides, summands=summands))
    decision = _decided(context, problem, moment, t_end)
    if not (moment.released and moment.has_ended(decision.choice)):
        return decision
    # What has just ended would go on: the force that vanished is told from zero by its rounding alone.
    again = _decided(context, all_tied(problem), moment, t_end, vanishing=moment.released)
    return decision if again.choice is None or again.chosen_by_rule else again


def _check_slips(context: Context, moment: Moment, terms: Terms) -> None:
    """Modes selected for a contact that slips the other way would all be of another state."""
    for name, columns in context.dynamics.columns.items():
        sign = _SLIP_SIGNS.get(moment.activities[name], 0.0)
        slip = float(terms.slip[columns.start])
        if sign * slip >= 0.0:
            continue
        scale = context.scales(moment.t, moment.q, moment.v, terms).slip[columns.start]
        if sign * slip < -context.settings.tolerances.velocity * scale:
            raise AssertionError(f"{name!r} is said to slip with the sign {sign:+.0f}, and its slip is {slip:.6g}")


def _decided(
    context: Context, problem: ContactProblem, moment: Moment, t_end: float, *, vanishing: frozenset[str] = frozenset()
) -> Decision:
    candidates = _few_candidates(context, problem)
    definite = None if candidates is None else _definite(problem, candidates)
    if definite is not None:
        return Decision(Choice(mode_of(problem, definite), directions=_tending(moment)), None)
    selection = select_problem(problem, tolerances=context.settings.tolerances, candidates=candidates)
    branches = with_history(selection.problem, selection.branches, held=moment.held, broken=moment.broken)
    if branches or not selection.branches:
        return _among(context, selection, branches, moment, t_end, vanishing)
    decision = _among(context, selection, selection.branches, moment, t_end, vanishing)
    return attrs.evolve(decision, note="; ".join(part for part in (decision.note, _AGAINST_HISTORY) if part))


def _among(
    context: Context,
    selection: Selection,
    branches: tuple[Branch, ...],
    moment: Moment,
    t_end: float,
    vanishing: frozenset[str],
) -> Decision:
    """Decide between the branches that history leaves."""
    if not branches:
        return _by_rule(context, selection, moment, Termination.UNDECIDED)
    elements = selection.problem.elements
    choices = [_choices(context, branch, moment, elements, vanishing) for branch in branches]
    if selection.verdict is Verdict.INDETERMINATE and (len(branches) > 1 or selection.continua):
        return _by_rule(context, selection, moment, Termination.INDETERMINATE)
    if not selection.is_exhaustive:
        return _by_rule(context, selection, moment, Termination.UNDECIDED)
    if len(branches) == 1 and len(choices[0]) == 1 and selection.verdict is not Verdict.UNDECIDED:
        return Decision(choices[0][0], selection)
    if selection.verdict is Verdict.UNDECIDED and any(
        _leaves_motion_open(context, selection, branch) for branch in branches
    ):
        return _by_rule(context, selection, moment, Termination.UNDECIDED)
    # where forces are unique, a mode whose own guard has fired is the last to go on from there
    is_last = moment.has_ended if selection.verdict is Verdict.UNIQUE else lambda choice: False
    in_turn = (c for group in choices for c in sorted(group, key=is_last))
    tried = ((c, _coherent(context, c, moment.t, moment.q, moment.v, t_end)) for c in in_turn)
    following = ((c, trial) for c, trial in tried if trial is not None)
    coherent = list(islice(following, 1 if len(branches) == 1 else None))  # the modes of one branch move alike
    if len(coherent) == 1 or (coherent and len(branches) == 1):
        choice, trial = coherent[0]
        if not np.any(moment.v):  # all stands still in a mode that holds all, and only time passes
            choice, trial = next((item for item in chain(coherent, following) if _stands(item[1])), coherent[0])
        return Decision(choice, selection, note="a tie, resolved along the flow of the mode", trial=trial)
    if selection.verdict in (Verdict.UNIQUE, Verdict.HYPERSTATIC) and not coherent:
        return Decision(choices[0][0], selection, note="a tie that no flow resolves")
    return _by_rule(context, selection, moment, Termination.UNDECIDED)


def _stands(trial: Trial) -> bool:
    held = trial.constraints
    return isinstance(trial.stepper, Rest) or (held.are_driven and not any(part.slides for part in held.parts))


def _without_rounding(problem: ContactProblem) -> ContactProblem:
    """The problem with free accelerations of zero where they are the rounding of terms that cancel, as at a release."""
    terms = np.abs(problem.W).T @ np.abs(problem.a_free)
    return attrs.evolve(problem, c=np.where(np.abs(problem.c) <= _CANCELLED * terms, 0.0, problem.c))


def _few_candidates(context: Context, problem: ContactProblem) -> tuple[Candidate, ...] | None:
    """All modes solved, where they are few and linear; None elsewhere."""
    if any(element.is_spatial_at_rest or element.kind is ElementKind.BILATERAL for element in problem.elements):
        return None
    if len(problem.elements) > _FEW or problem.redundancy:
        return None
    return all_candidates(problem, problem_scale(problem), context.settings.tolerances)


def _definite(problem: ContactProblem, candidates: tuple[Candidate, ...]) -> Candidate | None:
    """The mode, if one holds and every other fails by more than the tolerances: then the verdict is UNIQUE."""
    status = [item for item in candidates if item.status is not CandidateStatus.REFUTED]
    if len(status) != 1 or status[0].status is not CandidateStatus.CONSISTENT:
        return None
    return status[0] if len(_also_called(mode_of(problem, status[0]), problem.elements)) == 1 else None


def _also_called(mode: Mode, elements: tuple[ActiveElement, ...]) -> tuple[Mode, ...]:
    """The labels that a mode might have a moment later: its own alone where every force element has friction."""
    return also_called(mode, elements) if any(element.is_smooth for element in elements) else (mode,)


def _leaves_motion_open(context: Context, selection: Selection, branch: Branch) -> bool:
    """True if the equations of a branch's mode are met by forces that accelerate differently: no flow chooses one."""
    problem, tolerances = selection.problem, context.settings.tolerances
    if any(element.is_spatial_at_rest for element in problem.elements):
        return False
    scale = problem_scale(problem)
    of_its_labels = (
        [part for part in solvable_modes(element) if part.is_unnamed or branch.mode[element.name] is part.label]
        for element in problem.elements
    )
    for modes in product(*of_its_labels):
        found = candidate(problem, modes, scale, tolerances)
        is_its = all(branch.mode[part.element.name] is part.label for part in found.modes)
        if is_its and not family_accelerates_alike(problem, found, scale):
            return True
    return False


def _by_rule(context: Context, selection: Selection, moment: Moment, ending: Termination) -> Decision:
    branch = context.rule.choose(selection)
    if branch is None:
        return Decision(None, selection, _ENDINGS.get(selection.verdict, ending))
    note = f"{selection.verdict.value}; the rule took {branch.mode}"
    choice = _choices(context, branch, moment, selection.problem.elements)[0]
    return Decision(choice, selection, note=note, chosen_by_rule=True)


def _choices(
    context: Context,
    branch: Branch,
    moment: Moment,
    elements: tuple[ActiveElement, ...],
    vanishing: frozenset[str] = frozenset(),
) -> list[Choice]:
    """The branch's modes with the signs of bilateral normal forces, both where they vanish, the leading mode first."""
    frictional = [name for name in context.dynamics.rigid if name in context.dynamics.columns]
    signs = {name: float(np.sign(branch.lambda_N[name]) or 1.0) for name in frictional}
    either = [(sign, -sign) if name in vanishing else (sign,) for name, sign in signs.items()]
    modes = dict.fromkeys(called for mode in branch.modes for called in _also_called(mode, elements))
    spatial = any(len(element.tangential) == 2 for element in elements)
    directions = beginnings(branch, moment.activities, moment.sides) if spatial else {}
    return [
        Choice(mode, dict(zip(signs, given, strict=True)), directions) for mode in modes for given in product(*either)
    ]


def _tending(moment: Moment) -> dict[str, Array]:
    """Unit vectors of spatial slips that vanish from a side."""
    tending = (name for name, activity in moment.activities.items() if activity is Activity.TENDING)
    return {name: unit_vectors(moment.sides[name]) for name in tending}


def indefinite_forces(decision: Decision, t: float) -> str | None:
    """A sentence where the motion is unique and its contact forces are not.

    Parameters
    ----------
    decision : Decision
    t : float
        Time at which it was taken.

    Returns
    -------
    str or None
        None if the motion ends or has several modes, or the forces are unique.
    """
    if decision.choice is None or decision.selection is None or decision.selection.force_set is None:
        return None
    if decision.verdict is not Verdict.HYPERSTATIC:
        return None
    return (
        f"t = {t:.10g}: the motion in mode {decision.choice.mode} is unique, its contact forces are not: they form a "
        f"set of dimension {decision.selection.force_set.dimension}, of which one is shown"
    )


def continued_beside_others(context: Context, arc: Arc, followed: FollowedArc, watch: Watch) -> str | None:
    """A sentence where a mode went on although others had become consistent as well.

    A mode is followed until one of its own guards fires. Others are looked for at some instants of the arc, unless
    the contacts that are closed at its end have one answer to every load. Of spatial contacts at rest they are not.

    Parameters
    ----------
    context : Context
    arc : Arc
    followed : FollowedArc
        The same, with the state and the guards that fired at its end.
    watch : Watch
        Of its guards.

    Returns
    -------
    str or None
    """
    dynamics, mode = context.dynamics, arc.mode
    sticking = frozenset(name for name, label in mode.items() if label is ContactMode.STICK)
    closed = [label for label in mode.values() if label is not ContactMode.FREE]
    one_slides = len(closed) == 1 and bool(closed[0].slip_sign) and not arc.force_signs and watch.is_regular
    if {ContactMode.CLOSED}.issuperset(closed) or one_slides:
        return None
    if any(dynamics.dimension(name) > 1 for name in sticking):
        return None
    try:
        return _others_beside(context, arc, followed, sticking)
    except ComputationError:  # at a state without a verdict, as where a slip in space has just ended
        return None


def _others_beside(context: Context, arc: Arc, followed: FollowedArc, sticking: frozenset[str]) -> str | None:
    dynamics, mode, signs = context.dynamics, arc.mode, arc.force_signs.items()
    activities = tuple(LASTING[mode[name]] for name in element_names(dynamics))

    def posed(t: float, q: Array, v: Array) -> ContactProblem:
        terms = context.terms(t, q, v)
        return pose(dynamics, terms, activities, sides={}, summands=summands_of(dynamics, terms, q, v, t=t))

    problem = posed(followed.t, *np.split(followed.y, 2))
    least = least_determinant(problem)
    remembers = any(element.static_friction != element.friction for element in problem.elements)
    if least is not None and least > NOTHING and not remembers:
        return None
    at_some = len(problem.elements) <= _FEW or not followed.y[dynamics.n :].any()  # what rests does so in one step
    instants = np.linspace(arc.start, arc.end, _INSTANTS + 1)[1:] if at_some else arc.knots[-2:]
    for t in instants[: -1 if followed.fired else None].tolist():
        selection = select_problem(posed(t, *arc.sample(t)), tolerances=context.settings.tolerances)
        branches = with_history(selection.problem, selection.branches, held=sticking, broken={})
        # a guide that presses to its other side is another motion of the same mode
        own = [mode in one.modes and all(one.lambda_N[at] * sign >= 0.0 for at, sign in signs) for one in branches]
        others = [name for name, is_own in zip(distinct_labels(branches), own, strict=True) if not is_own]
        if selection.verdict is Verdict.INDETERMINATE and 0 < len(others) < len(branches):
            return f"t = {t:.10g}: {mode} goes on, although a motion could go on in {' or '.join(others)} as well"
    return None


_INSTANTS = 8  # of an arc of few elements; of others, whose verdicts take longer, its last step
_NOISE = ROUNDING  # relative to the guard's values over a trial step; forces have about 1e-14 of rounding
_DISTINCT = 4.0  # roundings by which an inequality must differ from zero
_SOON: Array = np.concatenate([[0.0], 2.0 ** np.arange(-30, 1)])


def _coherent(context: Context, choice: Choice, t: float, q: Array, v: Array, t_end: float) -> Trial | None:
    """A trial step along a mode's own flow if the inequalities that are tight at a state become satisfied on it.

    The sign of the first non-vanishing derivative decides: that at the first point at which one differs from zero.
    """
    if not t < t_end:
        t_end = t + max(1.0, abs(t))  # at the end as if the motion went on
    constraints = context.constraints(choice, t, q)
    q, v = constraints.project(t, q, v)
    y = np.concatenate([q, v])
    watch = context.watch(choice, t, q, v, with_users=False)
    settings = watch.settings.of_beginning
    if spatial_slides(constraints.parts):
        _, settings = begun(watch, constraints, t, y, choice.directions)
    if constraints.hold_everything(t, q, v):
        resting = Rest(watch, t, y, t_end)
        rest = resting.step()
        values = watch.oriented(rest.time(_SOON), np.repeat(y[:, None], len(_SOON), axis=1))
        # what comes soon decides, also where it is little next to what comes later
        stays = _stays_positive(watch, values, np.maximum.accumulate(np.abs(values), axis=1), values[:, 1])
        return Trial(watch, constraints, resting, rest) if stays else None
    stepper = watch.stepper(t, y, t_end, settings)
    step = stepper.step()
    if step is None:
        return None
    values, soon = watch.oriented(step.time(PLACES), step.at_places()), _SOON[1:2]
    next_to = watch.oriented(step.time(soon), step.at(soon))[:, 0]
    stays = _stays_positive(watch, values, np.max(np.abs(values), axis=1, keepdims=True), next_to)
    return Trial(watch, constraints, stepper, step) if stays else None


def _stays_positive(watch: Watch, values: Array, sizes: Array, next_to: Array) -> bool:
    for position, guard in enumerate(watch.guards):
        if guard.kind is GuardKind.SINGULAR:
            continue
        row = values[position]
        floor = np.maximum(_NOISE * sizes[position], _DISTINCT * watch.floors.get(position, 0.0))
        if not is_known_zero(watch, position, row):
            if row[0] < 0 or next_to[position] < -floor.max():  # at once, as where redundant conditions part
                return False
            continue
        clear = np.abs(row - row[0]) > floor
        if clear.any() and row[np.argmax(clear)] < row[0]:
            return False
    return True
