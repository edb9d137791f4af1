"""What a motion is asked for, checked before it is followed.

How finely a motion is computed, and where it is given up.

What to do where the rigid problem has no or several answers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import attrs

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity
from hybrid.contact.compliance.resolution import lift_off
from hybrid.contact.impacts.impact import AbstractImpactLaw
from hybrid.contact.modes import ContactMode
from hybrid.contact.problem import check_inertia
from hybrid.contact.table import check_friction
from hybrid.dynamics.consistency import check_consistency
from hybrid.errors import ArgumentError, StateError
from hybrid.tolerances import NOTHING, STEP_ERROR, SUMMED, Tolerances

if TYPE_CHECKING:
    from hybrid.contact.branches import Branch
    from hybrid.contact.verdict import Selection
    from hybrid.dynamics import Dynamics, State

__all__ = ["Penalty", "Prefer", "SelectionRule", "Settings", "Stop", "Take", "check_arguments", "check_start"]


def _is_positive(_: object, attribute: attrs.Attribute[Any], value: float) -> None:
    if not value > 0.0 or math.isnan(value):
        raise ArgumentError(f"{attribute.name} must be positive, not {value!r}")


def _is_error(_: object, attribute: attrs.Attribute[Any], value: float) -> None:
    if not 0.0 < value <= _COARSEST:
        raise ArgumentError(f"{attribute.name} must be a share above 0, {_COARSEST:g} at most, not {value!r}")


FINE: Mapping[str, float] = {"DOP853": STEP_ERROR, "Radau": NOTHING}
"""Errors per step with which either method gives event times to about 1e-11 over a few time units."""
_COARSEST = 1e-3  # of a quantity in one step: with larger errors nothing is left of a motion of many steps


@checks_arguments
@attrs.frozen(kw_only=True)
class Settings:
    """Accuracy and bounds of a simulation.

    Attributes
    ----------
    stepper : {"DOP853", "Radau"}
        Explicit Runge-Kutta method of order 8, which goes over to the other one where an arc turns out to be stiff and
        comes back where that takes shorter steps, or an implicit one of order 5 from the start. Radau's error estimate
        is of order 3: a relative error of 1e-9 already gives event times to about 1e-12, and 1e-12 takes five times as
        many steps. Its series within a step is a cubic, with about the error asked for.
    rtol, atol : float
        Error per step, as a share of each coordinate and velocity itself and of its size in the motion (`sizes`); 0.001
        at most.
        Event times inherit it: 1e-12 gives them to about 1e-11 over a few time units.
    max_step : float
        Largest step, in units of time. A load pulse shorter than it may be missed, and so may an obstacle narrower
        than the way that is made in it.
    max_events : int
        A motion with more events ends there and says so; those that changed nothing count too.
    crowd : int
        So many events without progress in time end a motion as well.
    burst : int
        So many instants with events within a ten-thousandth of the time asked for end it too, unless they are impacts
        that converge to a limit foretold by the first of them.
    zeno_rest : float
        An accumulation of impacts is completed when what remains of it takes less than this share of it.
    tolerances : Tolerances
        Of the decisions on modes, as :func:`hybrid.select` takes them.
    sizes : float or array, (2n,)
        Of the coordinates and velocities; a simulation finds those of its own motion.
    """

    stepper: Literal["DOP853", "Radau"] = attrs.field(
        default="DOP853", validator=attrs.validators.in_(("DOP853", "Radau"))
    )
    rtol: float = attrs.field(default=STEP_ERROR, converter=float, validator=_is_error)
    atol: float = attrs.field(default=SUMMED, converter=float, validator=_is_error)
    max_step: float = attrs.field(default=math.inf, converter=float, validator=_is_positive)
    max_events: int = attrs.field(default=100_000, converter=int, validator=_is_positive)
    crowd: int = attrs.field(default=50, converter=int, validator=_is_positive)
    burst: int = attrs.field(default=1000, converter=int, validator=_is_positive)
    zeno_rest: float = attrs.field(default=1e-7, converter=float, validator=_is_positive)
    tolerances: Tolerances = Tolerances()
    sizes: Any = attrs.field(default=1.0, eq=False)

    @property
    def of_beginning(self) -> Settings:
        """Settings of the first steps of an arc: of the default method and accuracy, or finer ones.

        What rises from zero there is less than what a coarser series leaves open, and its sign decides on the mode.
        """
        if self.stepper == "DOP853" and self.rtol <= STEP_ERROR:
            return self
        return attrs.evolve(self, stepper="DOP853", rtol=min(self.rtol, STEP_ERROR), atol=min(self.atol, SUMMED))


class SelectionRule(ABC):
    """Chooses a branch where the verdict is not unique. Subclass it to add one; it must be final itself."""

    @abstractmethod
    def choose(self, selection: Selection) -> Branch | None:
        """The branch to follow, or None to end the motion there.

        Parameters
        ----------
        selection : Selection

        Returns
        -------
        Branch or None
        """


@attrs.frozen
class Stop(SelectionRule):
    """End the motion and report the state; the default."""

    def choose(self, selection: Selection) -> Branch | None:
        """Choose nothing.

        Parameters
        ----------
        selection : Selection

        Returns
        -------
        None
        """
        return None


def _as_modes(modes: tuple[ContactMode | str, ...]) -> tuple[ContactMode, ...]:
    return tuple(ContactMode(mode) for mode in modes)


@checks_arguments
@attrs.frozen
class Prefer(SelectionRule):
    """Follow the branch that has the most contacts in the first of the named modes, then in the second, and so on.

    Attributes
    ----------
    modes : tuple of ContactMode or str
        ``Prefer(("free",))`` follows separation, ``Prefer(("stick", "slide+", "slide-"))`` keeps contact.
    """

    modes: tuple[ContactMode, ...] = attrs.field(converter=_as_modes)

    def choose(self, selection: Selection) -> Branch | None:
        """Choose by the named modes.

        Parameters
        ----------
        selection : Selection

        Returns
        -------
        Branch or None
            None if no branch has any of them, or two have them equally.
        """

        def rank(branch: Branch) -> tuple[int, ...]:
            labels = list(branch.mode.values())
            return tuple(labels.count(mode) for mode in self.modes)

        ranked = sorted(selection.branches, key=rank, reverse=True)
        if not ranked or not any(rank(ranked[0])) or (len(ranked) > 1 and rank(ranked[0]) == rank(ranked[1])):
            return None
        return ranked[0]


@checks_arguments
@attrs.frozen
class Penalty(SelectionRule):
    """Hand the state to the compliant contact in the limit of infinite stiffness.

    Where no mode is consistent that is an impact without collision; where several are and one contact slips, it lifts
    off, because a persistent contact does not approach (Hogan and Kristiansen 2017). Several modes of several contacts
    are not decided: the motion ends as without a rule. Where the force of a contact that slides alone
    grows beyond bounds (Genot and Brogliato 1999) the impact without collision of vanishing mobility stops the slip.
    Every such impact is an event with its law, phases and energy.

    Attributes
    ----------
    law : AbstractImpactLaw or None
        The law of the impact without collision; by default ``KelvinVoigtLimit()``.
    """

    law: AbstractImpactLaw | None = None

    def choose(self, selection: Selection) -> Branch | None:
        """The branch that lifts off, if one contact slips and several modes are consistent.

        Parameters
        ----------
        selection : Selection

        Returns
        -------
        Branch or None
            None where there is no such branch.
        """
        return lift_off(selection)


@attrs.frozen(eq=False)
class Take(SelectionRule):
    """Follow one given branch at the first choice and stop at the next; used to follow a tree of motions.

    Attributes
    ----------
    number : int
        Of the branch, in the order of the verdict.
    """

    number: int
    _taken: list[Branch] = attrs.field(factory=list)

    def choose(self, selection: Selection) -> Branch | None:
        """Choose the branch at the first choice."""
        if self._taken:
            return None
        self._taken.append(selection.branches[self.number])
        return self._taken[0]


def check_arguments(
    dynamics: Dynamics,
    state: State,
    *,
    t_end: float,
    tolerances: Tolerances = Tolerances(),
) -> None:
    """Refuse a start that has no inertia, or an end before it.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    t_end : float
    tolerances : Tolerances, optional

    Returns
    -------
    None
        A motion can be followed with these arguments.

    Raises
    ------
    StateError
        Says what is wrong with which argument.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> check_arguments(derive(mechanisms.load("bouncing_ball")), State([1], [0]), t_end=0)
    Traceback (most recent call last):
    ...
    hybrid.errors.StateError: t_end must be a time later than the start, t = 0; it is 0
    """
    if not (math.isfinite(t_end) and t_end > state.t):
        raise StateError(f"t_end must be a time later than the start, t = {state.t:g}; it is {t_end:g}")
    terms = dynamics.terms(state.q, state.v, t=state.t)
    check_inertia(dynamics, state, terms, rank=tolerances.rank)


def check_start(
    dynamics: Dynamics,
    state: State,
    activities: Mapping[str, Activity],
    *,
    collides: bool,
    tolerances: Tolerances = Tolerances(),
) -> None:
    """Refuse a start that a motion cannot have: within a surface, off a constraint, with friction below zero.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    activities : mapping of str to Activity
        What the contacts do at the state.
    collides : bool
        True if something decides impacts.
    tolerances : Tolerances, optional

    Returns
    -------
    None
        A motion can start there.

    Raises
    ------
    StateError
        Names the contact or the constraint, or the least friction.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive
    >>> ball, state = derive(mechanisms.load("bouncing_ball")), State([-1.0], [0.0])
    >>> check_start(ball, state, {"floor": Activity.PENETRATING}, collides=True)
    Traceback (most recent call last):
    ...
    hybrid.errors.StateError: contact 'floor' penetrates at the start: gap = -1; start with gap >= 0
    """
    terms = dynamics.terms(state.q, state.v, t=state.t)
    check_friction(dynamics, terms)
    for name, gap, rate in zip(dynamics.contacts, terms.gap, terms.gap_dot, strict=True):
        if activities[name] is Activity.PENETRATING:
            raise StateError(penetration(name, gap))
        if activities[name] is Activity.APPROACHING and not collides:
            raise StateError(approach(name, rate))
    if dynamics.rigid:
        check_consistency(dynamics, state, tolerances=tolerances)


def penetration(name: str, gap: float) -> str:
    """Why a start within a surface is refused.

    Parameters
    ----------
    name : str
        Of the contact.
    gap : float

    Returns
    -------
    str
    """
    return f"contact {name!r} penetrates at the start: gap = {gap:.6g}; start with gap >= 0"


def approach(name: str, rate: float) -> str:
    """Why a start that collides is refused where no law decides impacts.

    Parameters
    ----------
    name : str
        Of the contact.
    rate : float
        Of its gap.

    Returns
    -------
    str
    """
    return f"contact {name!r} is closed and approaches at the start (gap_dot = {rate:.6g}): give an impact law"
