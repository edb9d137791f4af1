"""All motions from one state: where several modes are consistent, every one of them is followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.branches import distinct_labels
from hybrid.dynamics import state_of
from hybrid.dynamics.derive import bound
from hybrid.motion.arguments import SelectionRule, Settings, Stop, Take, check_arguments
from hybrid.motion.context import Context
from hybrid.motion.rank_guard import rank_guard
from hybrid.motion.recorded import Termination
from hybrid.motion.run import Run
from hybrid.motion.transitions import moment_at_start
from hybrid.progress import OnInterrupt, interruptible, keeps_partial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State
    from hybrid.motion.selecting import Moment
    from hybrid.motion.trajectory import Trajectory

_ROUNDING = 64 * float(np.finfo(float).eps)  # relative: of a state that is left and projected back in the same instant
_CHOICES = (Termination.INDETERMINATE, Termination.UNDECIDED)


@attrs.frozen(eq=False)
class MotionBranch:
    """A part of a tree of motions, between two choices.

    Attributes
    ----------
    motion : Trajectory
    parent : int or None
        Number of the part from whose end it starts.
    choice : str
        Label of the mode taken there, with the direction where several slide; empty for the first part.
    """

    motion: Trajectory
    parent: int | None
    choice: str


@attrs.frozen(eq=False)
class MotionTree:
    """All motions that follow from one state, a mode being followed until one of its own guards fires.

    Attributes
    ----------
    branches : tuple of MotionBranch
        The first starts at the state; every other one at the end of its parent.
    is_complete : bool
        False if the bound on the number of parts was reached, the computation was interrupted, or a choice has motions
        that are not listed: further solutions that its verdict does not exclude, or a continuum between its branches.
        Or others became consistent while a mode went on, so that it might be left at any instant (``warnings``).
    """

    branches: tuple[MotionBranch, ...]
    is_complete: bool

    @property
    def leaves(self) -> tuple[MotionBranch, ...]:
        """The parts that no other continues."""
        parents = {branch.parent for branch in self.branches}
        return tuple(branch for number, branch in enumerate(self.branches) if number not in parents)

    def graph(self) -> Any:
        """The tree as a networkx DiGraph, with the time and the choice on each edge.

        Returns
        -------
        networkx.DiGraph
            Nodes are numbers with the attributes ``motion`` and ``termination``.
        """
        from hybrid.automaton.graph import tree_graph  # loads networkx, and no other part of a motion does

        return tree_graph(
            [
                (number, {"motion": branch.motion, "termination": branch.motion.termination.name})
                for number, branch in enumerate(self.branches)
            ],
            [
                (branch.parent, number, {"t": branch.motion.t_start, "choice": branch.choice})
                for number, branch in enumerate(self.branches)
                if branch.parent is not None
            ],
        )


@checks_arguments
def simulate_branches(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    t_end: float,
    parameters: Values | None = None,
    law: AbstractImpactLaw | None = None,
    settings: Settings | None = None,
    max_branches: int = 64,
    on_interrupt: OnInterrupt = "raise",
) -> MotionTree:
    """Follow every consistent mode wherever the rigid problem has several answers.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    t_end : float
        When to stop, in s.
    parameters : mapping, optional
    law : AbstractImpactLaw, optional
    settings : Settings, optional
    max_branches : int
        Bound on the number of parts of the tree.
    on_interrupt : {"raise", "keep"}, optional
        What Ctrl-C does: raise ``KeyboardInterrupt``, or return the parts until then.

    Returns
    -------
    MotionTree

    Raises
    ------
    StateError
        As :func:`hybrid.simulate`.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> start = solve_state(rod, {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1}, parameters={"mu": 1.5})
    >>> tree = simulate_branches(rod, start, t_end=0.05, parameters={"mu": 1.5})
    >>> sorted(branch.choice for branch in tree.leaves)
    ['free', 'slide+']
    """
    dynamics = bound(dynamics, parameters)
    state = state_of(dynamics, state)
    keeps = keeps_partial(on_interrupt)
    check_arguments(dynamics, state, t_end=t_end)
    rank = rank_guard(dynamics, state.t, state.q)
    context = Context(dynamics, settings or Settings(), law, Stop(), rank=rank)
    start = moment_at_start(context, state.t, state.q, state.v, state.sides)
    branches: list[MotionBranch] = []
    is_listed = True
    waiting: list[tuple[Moment, int | None, SelectionRule, str]] = [(start, None, Stop(), "")]
    while waiting and len(branches) < max_branches:
        moment, parent, rule, choice = waiting.pop(0)
        run = Run(attrs.evolve(context, rule=rule), t_end)
        with interruptible(keeps=keeps):
            motion = run.follow(moment)
        branch, is_listed = len(branches), is_listed and not run.is_one_of_several
        branches.append(MotionBranch(motion, parent, choice))
        if motion.termination is Termination.INTERRUPTED:
            if not keeps:
                raise KeyboardInterrupt
            return MotionTree(tuple(branches), False)
        if motion.termination in _CHOICES and motion.selection is not None and run.last is not None:
            is_listed = is_listed and motion.selection.is_exhaustive and not motion.selection.continua
            if choice and _leads_back(moment, run.last, motion, t_end):
                continue  # the choice led back to the state, where it would be offered again for ever
            names = distinct_labels(motion.selection.branches)
            waiting += [(run.last, branch, Take(number), name) for number, name in enumerate(names)]
    return MotionTree(tuple(branches), is_listed and not waiting)


def _leads_back(start: Moment, end: Moment, motion: Trajectory, t_end: float) -> bool:
    """True if a choice changes nothing but by rounding: no time passes, no impact, and the same touches and slips."""
    span = max(abs(start.t), t_end - start.t)
    is_at_once = end.t - start.t <= _ROUNDING * span and all(event.impact is None for event in motion.events)
    return is_at_once and dict(start.activities) == dict(end.activities)
