"""The compliant limit of several contacts at once: a linear complementarity system in fast time.

Every contact presses where ``f = -kappa Y - 2 d sqrt(kappa) w`` is positive, ``kappa`` its stiffness relative to the
others; in every combination of open, sliding and sticking contacts the system is linear (but for the slip of spatial
contacts, which turns), and its events are where a force vanishes or begins, a slip stops, or friction no longer holds.
"""

from __future__ import annotations

import attrs
import numpy as np

from hybrid.contact.compliance.kinematics import ContactRows, FrozenFlow
from hybrid.contact.compliance.motion import PhaseMachine, PhaseRecord
from hybrid.contact.compliance.path import Array, CompliantPath, CompliantPhase, CompliantSamples
from hybrid.contact.compliance.status import NO_BILATERAL, VANISHING, BilateralContacts
from hybrid.errors import ComputationError
from hybrid.tolerances import CLEAR, NOTHING

__all__ = ["frozen_machine", "several_limit"]


_DEPARTURE = NOTHING  # approach, relative to the velocities, from which contacts at rest are tested for an impact
_FOREVER = 1e9  # fast time
_EFFORT = 100_000  # evaluations; an impact takes some thousand
_SAME = CLEAR  # velocities that differ by less, relative to the largest, are the same outcome
_RATIO = 10.0  # by which every stiffness is changed in turn to see whether the outcome depends on it


def several_limit(
    G: Array,
    gamma: Array,
    contacts: tuple[ContactRows, ...],
    *,
    samples: int = 0,
    bilateral: BilateralContacts = NO_BILATERAL,
) -> CompliantPath:
    """Velocities after the impact of several compliant contacts.

    Parameters
    ----------
    G : array, (r, r)
        Delassus operator.
    gamma : array, (r,)
        Contact velocities before. If no contact approaches, an impact without collision is looked for.
    contacts : tuple of ContactRows
    samples : int, default 0
        Samples per phase to keep.
    bilateral : BilateralContacts, optional
        Rigid constraints with friction, which all forces load and nothing else does; ``G`` has them eliminated.

    Returns
    -------
    CompliantPath
        With a warning if the outcome depends on the ratios of the stiffnesses.

    Raises
    ------
    ComputationError
        The impact does not end; or friction of a rigid constraint leaves its force without a value, or with several.

    Examples
    --------
    Three equal balls in a row, the first moving: equal undamped springs give neither Newton's nor the sequential
    answer.

    >>> from hybrid.contact.compliance.kinematics import ContactRows
    >>> G = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> balls = tuple(ContactRows(name, i, (), 0.0, 0.0) for i, name in enumerate(("left", "right")))
    >>> several_limit(G, np.array([-1.0, 0.0]), balls).gamma_after.round(3)
    array([0.28, 0.83])
    """
    speed = float(np.max(np.abs(gamma), initial=0.0))
    normals = [contact.normal for contact in contacts]
    nothing = CompliantPath(gamma, gamma.copy(), np.zeros(len(gamma)), ())
    if speed == 0.0 or np.min(gamma[normals]) > VANISHING * speed:
        return nothing
    start = gamma.copy()
    is_at_rest = bool(np.min(gamma[normals]) >= -VANISHING * speed)
    if is_at_rest:
        start[normals] = np.where(np.abs(gamma[normals]) <= VANISHING * speed, -_DEPARTURE * speed, gamma[normals])
    path = _followed(G, start, contacts, bilateral, samples)
    if is_at_rest:
        if np.max(np.abs(path.gamma_after - start)) <= _SAME * speed:
            return nothing
        path = attrs.evolve(path, gamma_before=gamma)
    return attrs.evolve(path, warnings=_dependence(G, start, contacts, path, bilateral))


def frozen_machine(flow: FrozenFlow, *, samples: int = 0) -> PhaseMachine:
    """The motion of contacts at frozen position, which has no horizon and no unit of its own.

    Parameters
    ----------
    flow : FrozenFlow
    samples : int, default 0
        Samples per phase to keep.

    Returns
    -------
    PhaseMachine
        With stiffness 1, so that its time is the fast time.
    """
    still = VANISHING * flow.speed
    return PhaseMachine(flow, 1.0, _FOREVER, _EFFORT, still, {}, samples)


def _followed(
    G: Array, gamma: Array, contacts: tuple[ContactRows, ...], bilateral: BilateralContacts, samples: int = 0
) -> CompliantPath:
    """The history from touch to release, in the rows of the problem."""
    flow, order = FrozenFlow.of(G, gamma, contacts, bilateral)
    k, r = len(contacts), len(gamma)
    run = frozen_machine(flow, samples=samples).run(flow.start(np.zeros(k)), np.ones(k, dtype=bool))
    if not run.has_separated:
        raise ComputationError(
            f"a compliant impact of several contacts does not end: in {run.label} no force vanishes and no slip "
            f"changes; friction locks the mechanism"
        )
    back = np.argsort(order)
    kept = run.samples
    if kept is not None:
        kept = CompliantSamples(
            kept.s, kept.Y, kept.gamma[:, back], kept.force[:, back], kept.impulse[:, :r][:, back]
        )  # fmt: skip
    impulse = run.end[k : k + r][back] + 0.0
    phases = tuple(_joined(flow, label, parts) for label, parts in run.named_phases)
    return CompliantPath(gamma, gamma + G @ impulse, impulse, phases, samples=kept)


def _joined(flow: FrozenFlow, label: str, parts: list[PhaseRecord]) -> CompliantPhase:
    """Successive phases of one label as one; work of impulses over velocities that change in proportion."""
    k, r = len(flow.contacts), len(flow.gamma)
    pressed = work = work_T = duration = 0.0
    for part in parts:
        change = part.end - part.start
        impulse, mean = change[k : k + r], (flow.velocities(part.start) + flow.velocities(part.end)) / 2
        pressed += float(np.sum(impulse[:k]))
        work += float(impulse @ mean)
        work_T += float(change[-3])
        duration += part.duration
    name = label if len(flow.names) > 1 else f"{flow.names[0]}={label}"
    return CompliantPhase(name, pressed, duration, work - work_T, work_T)


def _dependence(
    G: Array, gamma: Array, contacts: tuple[ContactRows, ...], path: CompliantPath, bilateral: BilateralContacts
) -> tuple[str, ...]:
    """A warning for every contact whose relative stiffness changes the outcome."""
    warnings, size = [], float(np.max(np.abs(gamma)))
    for index, contact in enumerate(contacts[1:], start=1):
        changes, failures = [0.0], []
        for factor, word in ((_RATIO, "stiffer"), (1 / _RATIO, "softer")):
            changed = attrs.evolve(contact, stiffness_ratio=contact.stiffness_ratio * factor)
            others = (*contacts[:index], changed, *contacts[index + 1 :])
            try:
                other = _followed(G, gamma, others, bilateral)
            except ComputationError as error:
                failures.append(f"{_RATIO:g} times {word}: {error}")
                continue
            changes.append(float(np.max(np.abs(other.gamma_after - path.gamma_after))))
        found = failures
        if max(changes) > _SAME * size:
            found = [f"{_RATIO:g} times stiffer or softer changes contact velocities by {max(changes):.3g}", *failures]
        if found:
            warnings.append(
                f"the outcome depends on the stiffness ratio of contact {contact.name!r} to the others (taken as "
                f"{contact.stiffness_ratio:g}): "
                + "; ".join(found)
                + ("; declare stiffness_ratio" if contact.stiffness_ratio == 1.0 else "")
            )
    return tuple(warnings)
