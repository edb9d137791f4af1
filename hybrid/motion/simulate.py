"""Simulation of a mechanism through its automaton."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.guards import Guard, GuardKind, outer_guard
from hybrid.declaration.names import nearest
from hybrid.dynamics import state_of
from hybrid.dynamics.derive import bound
from hybrid.dynamics.state import other_positions
from hybrid.errors import StateError
from hybrid.motion.arguments import SelectionRule, Settings, Stop, check_arguments
from hybrid.motion.context import Context, user_functions
from hybrid.motion.on_springs import continued_on_springs
from hybrid.motion.rank_guard import rank_guard
from hybrid.motion.recorded import Termination
from hybrid.motion.run import Run
from hybrid.motion.springs import ElasticRealisation
from hybrid.motion.timestepping import time_stepping
from hybrid.motion.transitions import moment_at_start
from hybrid.progress import OnInterrupt, interruptible, keeps_partial

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.state import State
    from hybrid.motion.trajectory import Trajectory

METHODS = ("event-driven", "time-stepping")
AT_SINGULAR = ("stop", "smooth")


@checks_arguments
def simulate(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    t_end: float,
    parameters: Values | None = None,
    law: AbstractImpactLaw | None = None,
    rule: SelectionRule | None = None,
    until: str | None = None,
    watch: Mapping[str, str] | None = None,
    settings: Settings | None = None,
    singular: str | ElasticRealisation = "stop",
    method: str = "event-driven",
    step: float | None = None,
    progress: Callable[[float, float], None] | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> Trajectory:
    """Follow the motion of a mechanism from a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        At its time ``state.t``. Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    t_end : float
        When to stop, in s; later than ``state.t``.
    parameters : mapping, optional
        Values that replace those of the declaration.
    law : AbstractImpactLaw, optional
        Decides impacts. Without one the motion ends at the first contact that closes with a velocity.
    rule : SelectionRule, optional
        Decides where the rigid problem has no or several answers; by default the motion ends there and says so.
    until : str, optional
        An expression of coordinates, velocities and ``t`` whose first change of sign ends the motion; where a gap
        closes or a slip ends, also one that would come if the motion did not turn there.
    watch : mapping of str to str, optional
        Expressions by name; each change of sign is recorded as an event, a double zero is none.
    settings : Settings, optional
    singular : {"stop", "smooth"} or ElasticRealisation
        What to do where rigid constraints become dependent and branches of motion meet: end there with a list of the
        branches, go on along the smooth continuation of the motion, or go on with springs in place of constraints,
        ``ElasticRealisation("BC", stiffness=1e6)``, to the end of the time.
    method : {"event-driven", "time-stepping"}
        Arcs between located events, or :func:`hybrid.motion.time_stepping` with Newton's law of impact and no
        rule, which goes on where the rigid problem has several answers and takes one of them.
    step : float, optional
        Longest time step in s, needed for time-stepping and only there; shorter where it does not divide the time.
    progress : callable, optional
        Called now and then with the time that has passed and the whole time.
    on_interrupt : {"raise", "keep"}, optional
        What Ctrl-C does: raise ``KeyboardInterrupt``, or return the motion until then, whose ``termination`` is
        ``INTERRUPTED``.

    Returns
    -------
    Trajectory
        Also where the motion could not be followed to the end: see its ``termination`` and ``cause``.

    Raises
    ------
    StateError
        The start penetrates a contact, violates a constraint, or approaches a closed contact without an impact law;
        or ``t_end`` is not later than the start; or an argument that the method does not know; or what is watched has
        no value where the motion begins.
    DeclarationError
        ``ElasticRealisation`` names a constraint that there is not, or a stiffness that is not positive.
    ComputationError
        Nothing could be computed; after a first arc the motion so far is returned.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, simulate, solve_state
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> start = solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0})
    >>> motion = simulate(rod, start, t_end=2)
    >>> [(round(event.t, 6), event.mode_after.label) for event in motion.events]
    [(0.16127, 'slide-'), (1.842626, 'slide+')]
    """
    dynamics = bound(dynamics, parameters)
    state = state_of(dynamics, state)
    keeps = keeps_partial(on_interrupt)
    check_arguments(dynamics, state, t_end=t_end)
    _check_names(dynamics, method, singular)
    if method == "time-stepping":
        at_singular = None if singular == "stop" else singular
        asked = {"rule": rule, "until": until, "watch": watch, "settings": settings, "singular": at_singular}
        _check_stepping(step, law, [name for name, value in asked.items() if value is not None])
        return _remarked(
            state,
            time_stepping(
                dynamics, state, t_end=t_end, step=float(step or 0.0), progress=progress, on_interrupt=on_interrupt
            ),
        )
    if step is not None:
        raise StateError("the event-driven method chooses its steps: give no step, or method='time-stepping'")
    context = Context(
        dynamics,
        settings or Settings(),
        law,
        rule or Stop(),
        _watched(until, dict(watch or {})),
        rank_guard(dynamics, state.t, state.q) if dynamics.rigid else None,
        singular if isinstance(singular, str) else "stop",
    )
    with interruptible(keeps=keeps):
        motion = _followed(context, state, float(t_end), singular, progress)
        is_from_zero = not (state.q.any() or state.v.any()) and motion.termination is not Termination.INTERRUPTED
        sizes = context.smaller_sizes(motion) if is_from_zero else None
        if sizes is not None:  # errors are a share of them
            motion = _followed(attrs.evolve(context, sizes=sizes), state, float(t_end), singular, progress)
    if motion.termination is Termination.INTERRUPTED and not keeps:
        raise KeyboardInterrupt
    if motion.termination is Termination.UNDEFINED and motion.t == state.t:
        _refuse_undefined(context, state)
    return _remarked(state, motion)


def _remarked(state: State, motion: Trajectory) -> Trajectory:
    """With what is to be said of the pins of its start."""
    others = other_positions(motion.dynamics, state)
    return attrs.evolve(motion, warnings=(*others, *motion.warnings)) if others else motion


def _refuse_undefined(context: Context, state: State) -> None:
    """Refuse what a user watches where it is why a motion cannot begin."""
    watched = user_functions(context.dynamics, context.watched)
    values = watched.values(state.t, np.concatenate([state.q, state.v]))
    for (guard, text), value in zip(context.watched, values, strict=True):
        if np.isnan(value):
            field = "until" if guard.kind is GuardKind.UNTIL else f"watch.{guard.element}"
            raise StateError(f"{field}: {text!r} has no finite value at the start, t = {state.t:g}")


def _followed(
    context: Context,
    state: State,
    t_end: float,
    singular: str | ElasticRealisation,
    progress: Callable[[float, float], None] | None,
) -> Trajectory:
    run = Run(context, t_end, progress=progress)
    motion = run.follow(moment_at_start(context, state.t, state.q, state.v, state.sides))
    if isinstance(singular, ElasticRealisation) and motion.termination is Termination.SINGULAR_CONFIGURATION:
        return continued_on_springs(context, run.signs, motion, singular, t_end, progress=progress)
    return motion


def _check_names(dynamics: Dynamics, method: str, singular: str | ElasticRealisation) -> None:
    _check_known("method", method, METHODS)
    if isinstance(singular, ElasticRealisation):
        singular.realised(dynamics.mechanism)  # raises now what would otherwise be found at the singular configuration
    else:
        other = ", or give a hybrid.motion.ElasticRealisation"
        _check_known("rule at singular configurations", singular, AT_SINGULAR, other)


def _check_known(what: str, value: str, known: tuple[str, ...], further: str = "") -> None:
    if value not in known:
        raise StateError(f"the {what} {value!r} is not known; {_known(value, known)}{further}")


def _known(name: str, known: tuple[str, ...]) -> str:
    meant = nearest(str(name), known)
    return f"did you mean {meant!r}?" if meant else f"known are {' and '.join(known)}"


def _check_stepping(step: float | None, law: AbstractImpactLaw | None, refused: list[str]) -> None:
    """Refuse what time-stepping would leave unheard."""
    from hybrid.contact import NewtonImpact

    if step is None:
        raise StateError("time-stepping needs a step: give the time step, for example step=1e-3")
    if refused:
        raise StateError(f"time-stepping locates no events and selects no modes: leave out {' and '.join(refused)}")
    if law is not None and law != NewtonImpact():
        raise StateError("time-stepping decides impacts by Newton's law and the declared restitution: leave out law")


def _watched(until: str | None, watch: Mapping[str, str]) -> tuple[tuple[Guard, str], ...]:
    items = [(outer_guard(GuardKind.WATCH, name), text) for name, text in watch.items()]
    return (*items, (outer_guard(GuardKind.UNTIL, until), until)) if until is not None else tuple(items)
