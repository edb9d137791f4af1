"""Derivatives of the impact of compliant contacts in the limit of infinite stiffness, through all of its phases."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.compliance.kinematics import ContactRows, FrozenFlow
from hybrid.contact.compliance.law import compliant_contacts
from hybrid.contact.compliance.limit import frozen_machine
from hybrid.contact.compliance.rest import holding_duals
from hybrid.contact.compliance.status import STOPPED, ContactStatus, fast_time_rate
from hybrid.errors import ComputationError
from hybrid.expressions import Dual, changes, duals, plain
from hybrid.tolerances import AGREEING, CANCELLED, CLEAR, INTEGRATED, NOTHING, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.compliance.law import KelvinVoigtLimit
    from hybrid.contact.compliance.motion import PhaseRecord
    from hybrid.contact.impacts.impact import ImpactChange, ImpactProblem

__all__ = ["Duals", "FastSlopes", "compliant_slopes", "follow", "recorded_phases"]

Array = NDArray[np.float64]

_SAME = ROOT  # of the velocities: the history that was followed is that of the law
_REST = NOTHING  # of the velocities: contacts that approach no faster are at rest


def compliant_slopes(
    problem: ImpactProblem, law: KelvinVoigtLimit, change: ImpactChange, found: Mapping[str, Array]
) -> tuple[Array, Array]:
    """Impulses under the Kelvin-Voigt limit, of any contacts, and their derivatives.

    The phases of the limit are smooth in fast time (Miller and Rubinovich 2017), so tangents pass through each by
    its variational equations, and from one to the next by the saltation of what ends it.

    Parameters
    ----------
    problem : ImpactProblem
    law : KelvinVoigtLimit
    change : ImpactChange
        Of the problem.
    found : mapping of str to array, (number of contacts, size)
        Derivatives of ``static_friction`` and ``stiffness_ratio`` of the contacts that take part.

    Returns
    -------
    array, (r,), and array, (r, size)

    Raises
    ------
    NoDerivative
        A departure from rest, or a kink of the history.
    """
    speed = float(np.max(np.abs(problem.gamma), initial=0.0))
    slowest = float(np.min(problem.gamma[problem.normals]))
    if slowest > _REST * speed:
        return np.zeros_like(problem.gamma), np.zeros_like(change.gamma)
    if slowest >= -_REST * speed:
        # a change that lifts the contact has no impact; those that keep it closed may well have a derivative
        raise NoDerivative("an impact without collision departs from rest", is_proven=False)
    contacts = tuple(
        map(_slipping, compliant_contacts(problem, law.damping), change.friction, found["static_friction"])
    )
    rows = [row for contact in contacts for row in (contact.normal, *contact.tangential)]
    place = {row: index for index, row in enumerate(rows)}
    placed = tuple(
        attrs.evolve(item, normal=place[item.normal], tangential=tuple(place[row] for row in item.tangential))
        for item in contacts
    )
    system, order = FrozenFlow.of(problem.G[np.ix_(rows, rows)], problem.gamma[rows], placed)
    order = [rows[row] for row in order]
    slopes = FastSlopes(system, _changed(system, change, order, found, law))
    try:
        phases = recorded_phases(slopes.system)
    except ComputationError as error:
        raise NoDerivative(f"the compliant impact could not be followed again: {error}", is_proven=False) from error
    end = follow(slopes, phases)[len(contacts) : -3]
    P, P_slopes = np.zeros_like(problem.gamma), np.zeros_like(change.gamma)
    P[order], P_slopes[order] = plain(end), changes(end)  # a slip without friction has no impulse
    if np.max(np.abs(problem.G @ (P - law.path(problem).impulse))) > _SAME * speed:
        raise NoDerivative("the history of the compliant impact could not be followed again", is_proven=False)
    return P, P_slopes


def _changed(
    system: FrozenFlow, change: ImpactChange, order: list[int], found: Mapping[str, Array], law: KelvinVoigtLimit
) -> FrozenFlow:
    """The fast system of duals."""
    contacts = []
    for place, contact in enumerate(system.contacts):
        slopes = (
            change.friction[place],
            change.damping[place] * (law.damping is None),
            found["stiffness_ratio"][place],
            found["static_friction"][place],
        )
        plains = (contact.friction, contact.damping, contact.stiffness_ratio, contact.holds)
        numbers: tuple[Any, ...] = tuple(map(Dual, plains, slopes))
        contacts.append(ContactRows(contact.name, contact.normal, contact.tangential, *numbers))
    return attrs.evolve(
        system,
        stiffness=np.array([contact.stiffness_ratio for contact in contacts]),
        G=duals(system.G, change.G[np.ix_(order, order)]),
        gamma=duals(system.gamma, change.gamma[order]),
        contacts=tuple(contacts),
    )


def _slipping(contact: ContactRows, *slopes: Array) -> ContactRows:
    """A contact without friction slips as one without tangential rows."""
    if not contact.tangential or contact.friction or contact.holds:
        return contact
    if any(slope.any() for slope in slopes):
        raise NoDerivative(f"friction of {contact.name!r} is zero, and can only grow", is_proven=False)
    return attrs.evolve(contact, tangential=())


Duals = NDArray[Any]


@attrs.frozen(eq=False)
class FastSlopes:
    """The fast system, and the same with the derivatives of all that it depends on: its numbers are duals."""

    system: FrozenFlow
    changed: FrozenFlow

    @property
    def size(self) -> int:
        """Number of unknowns ``y`` of the fast system."""
        return len(self.system.contacts) + len(self.system.gamma) + 3

    def rates(self, y: Duals, status: ContactStatus) -> Duals:
        """Rates of the unknowns and of their derivatives in fast time; of work and time none are needed."""
        at = self.changed.evaluate(y, status)
        return np.concatenate([at.gap_dot, at.forces, np.zeros(3)])

    def stopped(self, y: Duals, status: ContactStatus) -> Duals:
        """Without the slip of contacts that stick: what a changed impact slips there ends in no time."""
        rest = self.system.tangents(status.resting(self.system.sizes))[0]
        if not rest:
            return y
        y, G = y.copy(), self.changed.G[np.ix_(rest, rest)]
        y[[len(self.system.contacts) + row for row in rest]] += holding_duals(G, self.changed.velocities(y)[rest])
        return y


_ACCURACY = INTEGRATED  # as of the impact itself
_EDGE = NOTHING  # of a bound, or of the velocities: to one side something else happens
_EXCESS = CLEAR  # of the forces: more friction than its bound is no rounding
_LATE = CLEAR  # of a phase: an end as late as that is not a matter of accuracy
_ALIKE = AGREEING  # of the derivatives of a time
_JUMPS = ("stop", "slip")  # events at which friction jumps
_AT_ONCE = "friction of two contacts changes at once in the compliant impact"
_LONGEST = 1e9  # of the variable of integration; the end of a slip is reached exponentially


def recorded_phases(system: FrozenFlow) -> tuple[PhaseRecord, ...]:
    """Phases of a fast system from its start until all contacts have let go.

    Parameters
    ----------
    system : FrozenFlow

    Returns
    -------
    tuple of PhaseRecord
    """
    k = len(system.contacts)
    return frozen_machine(system).run(system.start(np.zeros(k)), np.ones(k, dtype=bool)).phases


def follow(slopes: FastSlopes, phases: tuple[PhaseRecord, ...]) -> Duals:
    """Carry tangents from touch to release.

    Normal forces and friction vanish continuously where a contact lets go or begins to press: the flow has no jump
    there, and a change of that time does nothing at first order. Where a slip ends, or friction no longer holds,
    friction jumps, and tangents pass by the saltation of that event.

    Parameters
    ----------
    slopes : FastSlopes
    phases : tuple of PhaseRecord

    Returns
    -------
    array of Dual, (k + r + 3,)
        The unknowns of the fast system after the impact.

    Raises
    ------
    NoDerivative
        A place where the history has a kink, or one that is not resolved.
    """
    y = duals(np.zeros(slopes.size), np.zeros((slopes.size, changes(slopes.changed.gamma).shape[-1])))
    _check_phases(phases)
    before: ContactStatus | None = None
    for number, phase in enumerate(phases):
        _check_start(slopes.system, plain(y), before, phase)
        y = slopes.stopped(y, phase.status)
        _check_holds(slopes.system, plain(y), phase.status)
        y = _punctual(slopes, _carried(slopes, y, phase), phase)
        _check_friction(slopes, y, phase.status)
        if phase.event[0] in _JUMPS:
            if number + 1 == len(phases):
                raise NoDerivative("a compliant impact whose last phase ends by its slip", is_proven=False)
            y = _through(slopes, y, phase, phases[number + 1].status)
        before = phase.status
    _check_end(slopes.system, plain(y))
    return y


def _check_phases(phases: tuple[PhaseRecord, ...]) -> None:
    """Refuse what is not resolved: directions of spatial slips from rest, and which of contacts yields first."""
    if any(any(phase.status.leaves) for phase in phases):
        raise NoDerivative("a spatial slip that begins from rest within a compliant impact", is_proven=False)
    if any(phase.event[0] == "yield" for phase in phases):
        raise NoDerivative("contacts that hold each other no longer hold in a compliant impact", is_proven=False)
    least = _EDGE * sum(phase.duration for phase in phases)
    if any(a.event[0] in _JUMPS and b.event[0] in _JUMPS and b.duration <= least for a, b in pairwise(phases)):
        raise NoDerivative(_AT_ONCE, is_proven=False)


def _check_start(system: FrozenFlow, y: Array, before: ContactStatus | None, phase: PhaseRecord) -> None:
    """Refuse contacts that begin to press and to slip at once: changed impacts slip to either side."""
    gamma = system.velocities(y)
    for index, contact in enumerate(system.contacts):
        begins = phase.status.presses[index] and not (before is not None and before.presses[index])
        slip = float(np.linalg.norm(gamma[list(contact.tangential)]))
        slides = contact.tangential and phase.status.slip[index] is not None
        if begins and slides and slip <= _EDGE * system.speed:
            raise NoDerivative(
                f"{contact.name!r} begins to press and to slip at once in the impact: a changed one may slip otherwise",
                is_proven=False,
            )


def _check_holds(system: FrozenFlow, y: Array, status: ContactStatus) -> None:
    """Refuse contacts that just stick."""
    rest = status.resting(system.sizes)
    if not rest:
        return
    at = system.evaluate(y, status)
    F = system.forces(at.under(system.beginning(at, status), at.free), status)
    rounding = CANCELLED * float(np.max(np.abs(F)))
    for index in rest:
        contact = system.contacts[index]
        if np.linalg.norm(F[list(contact.tangential)]) > (1 - _EDGE) * contact.holds * F[contact.normal] + rounding:
            raise NoDerivative(
                f"the slip of {contact.name!r} ends in the impact on the edge of its cone", is_proven=False
            )


def _check_friction(slopes: FastSlopes, y: Duals, status: ContactStatus) -> None:
    """Refuse a history whose friction exceeds its bound at the end of a phase: an event was stepped over."""
    F = plain(slopes.changed.evaluate(y, status).forces)
    size = slopes.system.speed / float(np.max(np.diag(slopes.system.G))) ** 0.5
    for index in status.resting(slopes.system.sizes):
        contact = slopes.system.contacts[index]
        excess = float(np.linalg.norm(F[list(contact.tangential)])) - contact.holds * float(F[contact.normal])
        if excess > _EXCESS * size:
            raise NoDerivative(f"friction of {contact.name!r} exceeds its bound in the impact", is_proven=False)


def _check_end(system: FrozenFlow, y: Array) -> None:
    gamma = system.velocities(y)
    for contact in system.contacts:
        if abs(gamma[contact.normal]) <= _EDGE * system.speed:
            raise NoDerivative(
                f"{contact.name!r} neither separates nor presses after the compliant impact", is_proven=False
            )


def _punctual(slopes: FastSlopes, y: Duals, phase: PhaseRecord) -> Duals:
    """The end of a phase moved to the zero of what ends it: it was recorded to the accuracy of the impact alone."""
    kind, index = phase.event
    if kind == "stop" and len(slopes.system.contacts[index].tangential) == 2:
        return y
    moved = slopes.rates(y, phase.status)
    rate = _rate(slopes, y, plain(moved), phase)
    late = -plain(_guard(slopes.changed, y, phase)) / rate if rate != 0.0 else np.inf
    return y if abs(late) > _LATE * phase.duration else np.asarray(y + late * moved)


def _carried(slopes: FastSlopes, y: Duals, phase: PhaseRecord) -> Duals:
    """Unknowns at the end of a phase, in the variable in which slips that turn die out exponentially."""
    from scipy.integrate import solve_ivp

    system, status, shape, n = slopes.system, phase.status, changes(y).shape, slopes.size
    rotating = status.rotating(system.sizes)
    ends = phase.event[0] == "stop" and phase.event[1] in rotating

    def unpacked(z: Array) -> Duals:
        return duals(z[:n], z[n:-1].reshape(shape))

    def slips(z: Array) -> list[Array]:
        return [system.slip(z[:n], index) for index in rotating]

    def rates(_: float, z: Array) -> Array:
        found = slopes.rates(unpacked(z), status)
        rate = np.concatenate([plain(found), changes(found).ravel(), [1.0]])
        return np.asarray(rate * fast_time_rate(slips(z), system.speed))

    def end(_: float, z: Array) -> float:
        if not ends:
            return float(phase.duration - z[-1])
        return float(np.linalg.norm(slips(z)[rotating.index(phase.event[1])])) - STOPPED * system.speed

    end.terminal, end.direction = True, -1.0  # type: ignore[attr-defined]
    z = np.concatenate([plain(y), changes(y).ravel(), [0.0]])
    sizes = np.maximum(np.abs(z), system.speed)
    answer = solve_ivp(rates, (0.0, _LONGEST), z, method="DOP853", rtol=_ACCURACY, atol=_ACCURACY * sizes, events=end)
    if answer.status != 1:
        raise NoDerivative("a phase of the compliant impact could not be followed", is_proven=False)
    return unpacked(answer.y[:, -1])


def _through(slopes: FastSlopes, y: Duals, phase: PhaseRecord, following: ContactStatus) -> Duals:
    """Unknowns after an event at which friction jumps."""
    flow, guard = plain(slopes.rates(y, phase.status)), _guard(slopes.changed, y, phase)
    rate = _rate(slopes, y, flow, phase)
    jump = flow - plain(slopes.rates(slopes.stopped(y, following), following))
    if np.max(np.abs(jump)) <= _EDGE * np.max(np.abs(flow)):
        return y
    if not abs(rate) > 0.0:
        name = slopes.system.contacts[phase.event[1]].name
        raise NoDerivative(f"friction of {name!r} only grazes its bound in the impact", is_proven=False)
    time = (plain(guard) - guard) / rate
    _check_together(slopes, y, phase, following, time.d)
    return np.asarray(y + jump * time)


def _check_together(slopes: FastSlopes, y: Duals, phase: PhaseRecord, following: ContactStatus, time: Array) -> None:
    """Refuse slips that end together, unless they do so in every changed impact."""
    flow = plain(slopes.rates(y, phase.status))
    for index, before in enumerate(phase.status.slip):
        stops = phase.status.presses[index] and before is not None and following.slip[index] != before
        if index == phase.event[1] or not stops or not slopes.system.contacts[index].tangential:
            continue
        other = attrs.evolve(phase, event=("stop", index))
        changed, rate = _guard(slopes.changed, y, other).d, _rate(slopes, y, flow, other)
        if not np.max(np.abs(changed + rate * time)) <= _ALIKE * np.max(np.abs(changed)):
            raise NoDerivative(_AT_ONCE, is_proven=False)


def _rate(slopes: FastSlopes, y: Duals, flow: Array, phase: PhaseRecord) -> float:
    """Rate in time of what vanishes at an event."""
    return float(_guard(slopes.system, duals(plain(y), flow[:, None]), phase).d[0])


def _guard(system: FrozenFlow, y: Duals, phase: PhaseRecord) -> Any:
    """What vanishes at an event."""
    kind, index = phase.event
    contact = system.contacts[index]
    rows = list(contact.tangential)
    if kind in ("release", "press"):
        return system.evaluate(y, phase.status).potential[index]
    if kind == "stop":
        slip = system.slip(y, index)
        return plain(phase.status.direction(index, slip)) @ slip
    F = system.evaluate(y, phase.status).forces
    return (contact.holds * F[contact.normal]) ** 2 - F[rows] @ F[rows]
