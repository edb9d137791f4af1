"""Kelvin-Voigt contacts: the motion from touch to release at finite stiffness, and the impact law that is its limit."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.activity import closed_contacts
from hybrid.contact.compliance.kinematics import ContactRows, MovingFlow, without_bilateral
from hybrid.contact.compliance.limit import KINDS, planar_limit, several_limit
from hybrid.contact.compliance.motion import HORIZON, CompliantRun, PhaseMachine
from hybrid.contact.compliance.path import (
    Array,
    CompliantMotion,
    CompliantPath,
    CompliantPhase,
    CompliantSamples,
    check_samples,
    joined_samples,
    linear_samples,
)
from hybrid.contact.compliance.spatial import spatial_limit
from hybrid.contact.compliance.status import STOPPED, VANISHING, ContactStatus
from hybrid.contact.impacts.impact import AbstractImpactLaw, ImpactProblem, Impulses, Phase
from hybrid.contact.modes import ElementKind
from hybrid.declaration.fields import DAMPING
from hybrid.dynamics.state import State
from hybrid.errors import ArgumentError, ComputationError, StateError
from hybrid.tolerances import CLEAR, UNSEEN, Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hybrid.contact.compliance.status import CompliantForces
    from hybrid.dynamics.derive import Dynamics, Values


def check_damping(instance: object, attribute: Any, value: Any) -> None:
    """Refuse a damping that is no number, below 0 or too large to be squared; it may be left out.

    Parameters
    ----------
    instance : object
        Whose field it is; attrs hands it to every validator.
    attribute : attrs.Attribute
        The field.
    value : object

    Returns
    -------
    None
        The value is a number of that range, or None.

    Raises
    ------
    ArgumentError
    """
    if value is not None and not (_is_number(value) and 0.0 <= value <= DAMPING.high):
        limits = f"must be a number between 0 and {DAMPING.high:g}"
        raise ArgumentError(f"the damping of a compliant contact {limits}, got {value!r}")


def check_stiffness(instance: object, attribute: Any, value: Any) -> None:
    """Refuse a stiffness that is no number above 0.

    Parameters
    ----------
    instance : object
        Whose field it is; attrs hands it to every validator.
    attribute : attrs.Attribute
        The field.
    value : object

    Returns
    -------
    None
        The value is a number above 0.

    Raises
    ------
    ArgumentError
    """
    if not (_is_number(value) and value > 0.0):
        raise ArgumentError(f"the stiffness of a compliant contact must be a number above 0, got {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


_RESOLVED = UNSEEN  # of the velocities: what rounding of positions may make of them
_EFFORT = 12_000  # an undamped oscillation to the horizon takes 10 000, an impact a few hundred


@checks_arguments
@attrs.frozen
class KelvinVoigt:
    """Compliant contact ``F_N = max(0, -K y - 2 d sqrt(K) y')`` with Coulomb's law, set-valued and not smoothed.

    It holds from touch (``y <= 0``) until the force vanishes; a contact that is open above has none. Friction elements
    and rigid constraints with friction take part, with all loads. The law is that of Miller and
    Rubinovich (2017), with ``2 d`` for their ``delta``.

    Attributes
    ----------
    stiffness : float
        ``K`` in N/m, of a contact with ``stiffness_ratio = 1``.
    damping : float, optional
        ``d`` in sqrt(kg); replaces the declared one of every contact.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap_dot.floor": -1})
    >>> motion = KelvinVoigt(stiffness=1e10, damping=0.0).pass_through(ball, state)
    >>> motion.has_separated, round(motion.gap_dot_after["floor"], 6)
    (True, 1.0)
    """

    stiffness: float = attrs.field(validator=check_stiffness)
    damping: float | None = attrs.field(default=None, validator=check_damping)

    def pass_through(
        self,
        dynamics: Dynamics,
        state: State,
        *,
        parameters: Values | None = None,
        tolerances: Tolerances = Tolerances(),
        horizon: float | None = None,
        effort: int = _EFFORT,
        samples: int = 0,
    ) -> CompliantMotion:
        """Follow the motion from a state with closed contacts until they let go.

        Parameters
        ----------
        dynamics : Dynamics
        state : State
        parameters : mapping, optional
        tolerances : Tolerances, optional
        horizon : float, optional
            Fast time after which a motion that keeps contact is ended; by default 400 times that of the slowest
            contact, ``1 / sqrt(G_NN)`` with its stiffness ratio.
        effort : int
            Evaluations of the equations of motion after which it is ended, wherever it is: a soft contact may press
            for longer than the mechanism takes to swing to and fro many times.
        samples : int, default 0
            Samples per phase to keep.

        Returns
        -------
        CompliantMotion

        Raises
        ------
        StateError
            No contact is closed, or those that are separate already; a horizon not above 0.
        ArgumentError
            The number of samples is out of its range.
        ComputationError
            Friction of a rigid bilateral constraint leaves its force without a value, or with several; the stiffness is
            so large that penetrations are rounding of positions; or the integration fails.
        """
        check_samples(samples)
        dynamics = dynamics.at(parameters)
        closed = closed_contacts(dynamics, state, wanted="compliant motion", tolerances=tolerances)
        terms = dynamics.terms(state.q, state.v, t=state.t)
        damping = None if self.damping is None else np.full(len(dynamics.contacts), self.damping)
        flow = MovingFlow.of(dynamics, self.stiffness * terms.stiffness_ratio, damping)
        if horizon is not None and not horizon > 0.0:
            raise StateError(f"the horizon of a compliant motion is a fast time above 0, got {horizon:g}")
        y = flow.start(np.concatenate([state.q, state.v]), state.t)
        at = flow.evaluate(y, ContactStatus.open(len(flow.names)))
        if horizon is None:
            rates = np.diag(at.G)[: len(closed)][closed] * terms.stiffness_ratio[closed]
            horizon = HORIZON / math.sqrt(float(np.min(rates)))
        flow = self._scaled(flow, at, state.q, terms.W_N, closed)
        still = tolerances.velocity
        machine = PhaseMachine(flow, self.stiffness, horizon, effort, still, state.sides, samples)
        return _named(flow, state, machine.run(y, closed))

    def _scaled(
        self, flow: MovingFlow, at: CompliantForces, q: Array, W_N: Array, closed: NDArray[np.bool_]
    ) -> MovingFlow:
        """The flow with the sizes of its velocities.

        They are those at the start or, where these are zero or rounding, what free acceleration makes before the
        contact answers: accelerations over its frequency. None is told from what a position in its last digit does.
        """
        squares = (flow.stiffness * np.diag(at.G)[: len(closed)])[closed]
        fast, slow = (math.sqrt(float(pick(squares))) for pick in (np.max, np.min))
        rounding = float(np.finfo(float).eps * np.max(np.abs(W_N[:, closed]).T @ np.abs(q)) * fast)
        fastest = float(np.max(np.abs(np.concatenate([at.gap_dot, at.slip, at.free / slow]))))
        if rounding > _RESOLVED * fastest > 0.0:
            most = self.stiffness * (_RESOLVED * fastest / rounding) ** 2
            raise ComputationError(
                f"at a stiffness of {self.stiffness:g} penetrations are rounding of positions: take at most {most:.1g}"
            )
        return attrs.evolve(flow, speed=max(fastest, rounding / STOPPED) or 1.0, rounding=rounding)


def _named(flow: MovingFlow, start: State, run: CompliantRun) -> CompliantMotion:
    """Name what the unknowns say at the end of a motion."""
    n, dynamics, y, at = flow.dynamics.n, flow.dynamics, run.end, run.at
    M = dynamics.terms(start.q, start.v, t=start.t).M
    M_end = dynamics.terms(y[:n], y[n : 2 * n], t=float(y[-2])).M
    energy = float(y[n : 2 * n] @ M_end @ y[n : 2 * n] - start.v @ M @ start.v) / 2
    impulses, k, rough = y[2 * n : -3], len(dynamics.contacts), flow.rough
    forces = [*at.forces, *at.bilateral.normal(at.forces)]
    rows = {name: tangential for name, (_, tangential) in zip(flow.names, flow.rows, strict=True)}
    normals = {name: i for i, name in enumerate(dynamics.contacts)}
    pressed = normals | {name: len(at.forces) + j for j, name in enumerate(rough)}
    return CompliantMotion(
        state=State(y[:n], y[n : 2 * n], float(y[-2])),
        has_separated=run.has_separated,
        is_cut=run.is_cut,
        posture_change=run.posture_change,
        label=run.label,
        phases=tuple((label, sum(phase.duration for phase in parts)) for label, parts in run.named_phases),
        force_N={name: float(forces[row]) for name, row in pressed.items()},
        impulse_N={name: float(impulses[row]) for name, row in pressed.items()},
        impulse_T={name: tuple(float(impulses[row]) for row in rows[name]) for name in pressed},
        gap_dot_after={name: float(at.gap_dot[row]) for name, row in normals.items()},
        slip_after={name: tuple(float(at.slip[row - k]) for row in rows[name]) for name in pressed},
        energy_change=energy,
        work_T=float(y[-3]),
        samples=run.samples,
    )


@checks_arguments
@attrs.frozen
class KelvinVoigtLimit(AbstractImpactLaw):
    """Impact of a contact with ``F_N = max(0, -K y - 2 d sqrt(K) y')`` and Coulomb friction, in the limit ``K -> inf``.

    In fast time the contact velocities obey a fast system at frozen position, which always ends with exactly one
    answer, for any friction coefficient (Miller and Rubinovich 2017). One planar contact is solved in closed form, one
    spatial contact by integration of the rotating slip, several by phases. Contacts stick up to their static friction.
    Rigid constraints with friction are loaded by the contacts and slide or stick with them.

    Attributes
    ----------
    damping : float, optional
        ``d``, in units of the square root of a mass; replaces the declared damping of every contact.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> from hybrid.contact import resolve_impact
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap_dot.floor": -1})
    >>> float(resolve_impact(ball, state, law=KelvinVoigtLimit(damping=0.0)).v_after[0])
    1.0
    """

    damping: float | None = attrs.field(default=None, validator=check_damping)

    @property
    def name(self) -> str:
        """Name of the law."""
        return "kelvin-voigt"

    def impulses(self, problem: ImpactProblem) -> Impulses:
        """Impulses of the limit, with the durations of its phases in fast time.

        Parameters
        ----------
        problem : ImpactProblem

        Returns
        -------
        Impulses
            In N s, with durations in fast time, sqrt(kg).
        """
        path = self.path(problem)
        phases = tuple(Phase(phase.kind, phase.impulse_N, phase.duration) for phase in path.phases)
        return Impulses(path.impulse, phases, path.duration, path.warnings)

    def path(self, problem: ImpactProblem, *, samples: int = 0) -> CompliantPath:
        """The whole history of the impact: phases with durations and works, and samples of it.

        Parameters
        ----------
        problem : ImpactProblem
        samples : int, default 0
            Samples per phase to keep.

        Returns
        -------
        CompliantPath

        Raises
        ------
        StateError
            A damping is negative, or too large to be squared.
        ArgumentError
            The number of samples is out of its range.
        ComputationError
            An impact that cannot end; friction of a rigid constraint that leaves its force without a value, or with
            several.
        """
        check_samples(samples)
        reduced = without_bilateral(problem)
        if reduced is not None:
            contacts = compliant_contacts(problem, self.damping, reduced.place)
            bilateral = attrs.evolve(reduced.bilateral, load=reduced.base)
            path = several_limit(
                reduced.G, reduced.gamma, contacts, loads=reduced.loads, samples=samples, bilateral=bilateral
            )  # fmt: skip
            return _without_elements(problem, reduced.restored(path))
        contacts = compliant_contacts(problem, self.damping)
        rows = len(problem.elements[0].rows)
        if len(contacts) > 1:
            path = several_limit(problem.G, problem.gamma, contacts, loads=problem.posed.c, samples=samples)
            return _without_elements(problem, path)
        contact = contacts[0]
        if rows == 3:
            return spatial_limit(
                problem.G, problem.gamma, friction=contact.friction, damping=contact.damping, samples=samples,
                static_friction=contact.static_friction,
            )  # fmt: skip
        return _planar_path(problem, contact, samples)


def _without_elements(problem: ImpactProblem, path: CompliantPath) -> CompliantPath:
    """The path, with a word where loads have set contacts off and friction elements are not among them."""
    slowest = float(np.min(problem.gamma[problem.normals]))
    is_set_off = path.impulse.any() and slowest >= -VANISHING * float(np.max(np.abs(problem.gamma)))
    if not (is_set_off and np.any(problem.posed.terms.limit)):
        return path
    note = "which contacts are set off, and in which order, is decided without the friction elements"
    return attrs.evolve(path, warnings=(*path.warnings, note))


def compliant_contacts(
    problem: ImpactProblem, damping: float | None = None, place: Mapping[int, int] | None = None
) -> tuple[ContactRows, ...]:
    """The contacts of an impact.

    Parameters
    ----------
    problem : ImpactProblem
    damping : float, optional
        In place of the declared one.
    place : mapping of int to int, optional
        Where their rows are once others have been eliminated.

    Returns
    -------
    tuple of ContactRows

    Raises
    ------
    StateError
        A damping below 0 or too large to be squared, or a stiffness ratio not above 0.
    """
    found, terms = [], problem.posed.terms
    for element in problem.elements:
        if element.kind is not ElementKind.CONTACT:
            continue
        index = problem.posed.names.index(element.name)
        d = float(terms.damping[index]) if damping is None else damping
        if not 0.0 <= d <= DAMPING.high:
            raise StateError(f"contact {element.name!r} has damping {d:g}; it must lie between 0 and {DAMPING.high:g}")
        ratio = float(terms.stiffness_ratio[index])
        if not ratio > 0.0:
            raise StateError(f"contact {element.name!r} has stiffness_ratio {ratio:g}; it must be above 0")
        mu, static = (float(x) if element.tangential else 0.0 for x in (element.friction, element.static_friction))
        normal, *tangential = (row if place is None else place[row] for row in element.rows)
        found.append(ContactRows(element.name, normal, tuple(tangential), mu, d, ratio, static))
    return tuple(found)


def _planar_path(problem: ImpactProblem, contact: ContactRows, samples: int) -> CompliantPath:
    """One planar contact, or one without friction as a planar one whose tangential row cannot move."""
    size = len(problem.gamma)
    G, gamma = np.zeros((2, 2)), np.zeros(2)
    G[:size, :size], gamma[:size] = problem.G, problem.gamma
    answer = planar_limit(
        G, gamma, friction=contact.friction, damping=contact.damping, static_friction=contact.static_friction
    )
    if not np.isfinite(answer.impulse).all():
        raise ComputationError(
            f"the impact of contact {contact.name!r} on a compliant surface cannot end: once its slip has stopped, "
            f"friction locks the mechanism and the normal force does not vanish"
        )
    phases = tuple(
        CompliantPhase(
            kind=KINDS[kind] if size == 2 else "closed",
            impulse_N=float(answer.impulse_N[index]),
            duration=float(answer.duration[index]),
            work_N=float(answer.work_N[index]),
            work_T=float(answer.work_T[index]),
        )
        for index, kind in enumerate(answer.kind)
        if kind
    )
    path = CompliantPath(problem.gamma, answer.gamma[:size], answer.impulse[:size], phases)
    return attrs.evolve(path, samples=_samples(G, gamma, contact, phases, samples)) if samples else path


def _samples(
    G: Array, start: Array, contact: ContactRows, phases: tuple[CompliantPhase, ...], n: int
) -> CompliantSamples | None:
    """Samples of planar phases in closed form; a departure from rest begins at a millionth of its end."""
    from hybrid.contact.compliance.linear import exponents

    parts, Y, at = [], 0.0, 0.0
    gamma, impulse = start.copy(), np.zeros(2)
    held = -G[0, 1] / G[1, 1] if G[1, 1] > 0 else 0.0
    d = contact.damping
    for phase in phases:
        ratio = np.array([1.0, {"slide+": -contact.friction, "slide-": contact.friction}.get(phase.kind, held)])
        rates = G @ ratio
        A, end = float(rates[0]), gamma[0] + float(rates[0]) * phase.impulse_N
        duration, begin = phase.duration, (Y, float(gamma[0]))
        if not np.isfinite(duration):
            upper = exponents(A, d)[0]
            duration, begin = np.log(1 / CLEAR) / upper, (CLEAR * end / upper, CLEAR * end)
        part = linear_samples(A, d, begin, duration, rates, ratio, n)
        parts.append(CompliantSamples(at + part.s, part.Y, gamma + part.gamma, part.force, impulse + part.impulse))
        Y, at = float(part.Y[-1, 0]), at + duration
        gamma, impulse = gamma + rates * phase.impulse_N, impulse + ratio * phase.impulse_N
    return joined_samples(parts)
