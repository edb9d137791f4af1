"""The slip of spatial contacts near zero: which direction friction has there, and where the slip ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity
from hybrid.contact.guards import GuardKind
from hybrid.contact.table import ElementMode, spatial_slides
from hybrid.dynamics.arithmetic import unit_vectors
from hybrid.motion.arguments import FINE
from hybrid.motion.numeric import Reference
from hybrid.motion.steps import Step, step_along
from hybrid.tolerances import CENTRAL_STEP, CLEAR, LEAST, NOTHING, ROUNDING

if TYPE_CHECKING:
    from hybrid.contact.branches import Branch
    from hybrid.contact.guards import Guard
    from hybrid.dynamics.equations import Terms
    from hybrid.motion.arguments import Settings
    from hybrid.motion.events import Watch
    from hybrid.motion.projection import Constraints

__all__ = [
    "Reference",
    "beginnings",
    "begun",
    "has_begun",
    "passes_by",
    "references",
    "stop_of_slip",
    "unstable_beginning",
]

Array = NDArray[np.float64]

_ROUNDING = 8.0 * float(np.finfo(float).eps)  # of the terms that cancel in a slip
_SMALLEST = 1e-100
_BEGINNING = NOTHING  # of the velocities: a slower slip has the direction in which it begins, but for a multiple of it
_SLOW = CLEAR  # of the velocities: slip above which a multiple of the one before no longer disturbs its direction
_TURN = CENTRAL_STEP  # an angle, for a difference: its rounding is 1e-11 of the accelerations
_NOISE = ROUNDING  # of the velocities: slip that implicit steps leave undetermined; the end of less is told by its rate
_STIFF = 30.0  # a few steps at the limit of stability, 6, cost less than an implicit one
_BRIEF = NOTHING  # of the time that has passed: over so short a time the deceleration is constant


References = Mapping[str, Reference]


def beginnings(
    branch: Branch, activities: Mapping[str, Activity], sides: Mapping[str, tuple[float, ...]]
) -> dict[str, Array]:
    """Where spatial slips tend that begin: as the state says, or against friction, or along their acceleration.

    One that is there and decelerates, be it ever so small, as after an impact, does not begin but ends.

    Parameters
    ----------
    branch : Branch
        Of the verdict at the state.
    activities : mapping of str to Activity
        Of the force elements before it.
    sides : mapping of str to tuple of float
        For slips that vanish from one side.

    Returns
    -------
    dict of str to array, (2,)
        Unit vectors by force element.
    """
    found = {}
    for name, acceleration in branch.contact_acceleration.items():
        friction = -np.array(branch.lambda_T.get(name, ()))
        towards = np.array(sides.get(name, friction if friction.any() else acceleration.tangential))
        if len(towards) != 2 or not towards.any():
            continue
        ends = activities[name] is Activity.SLIPPING and towards @ acceleration.tangential < 0.0
        if not ends:
            found[name] = unit_vectors(towards)
    return found


def references(
    constraints: Constraints, t: float, y: Array, directions: Mapping[str, Array], settings: Settings
) -> dict[str, Reference]:
    """Directions of the spatial slips at a state.

    Parameters
    ----------
    constraints : Constraints
        Of the mode.
    t : float
    y : array, (2n,)
    directions : mapping of str to array (2,)
        Unit vectors of slips that only begin.
    settings : Settings
        With the sizes of the velocities.

    Returns
    -------
    dict of str to Reference
    """
    slides = spatial_slides(constraints.parts)
    if not slides:
        return {}
    n = len(y) // 2
    terms = constraints.terms(t, y[:n], y[n:])
    found = {}
    for part in slides:
        slip, floor = _slip(part, terms, y[n:])
        size = float(np.linalg.norm(slip))
        usual = _usual(part, terms, settings)
        if part.name in directions and size <= _SLOW * usual:
            found[part.name] = Reference(directions[part.name], _BEGINNING * usual, begins=True)
        else:
            found[part.name] = Reference(slip / max(size, LEAST), floor)
    return found


def begun(
    watch: Watch, constraints: Constraints, t: float, y: Array, directions: Mapping[str, Array]
) -> tuple[dict[str, Reference], Settings]:
    """The references of the spatial slips of an arc that begins, which its flow takes, and the settings to follow it.

    Parameters
    ----------
    watch : Watch
    constraints : Constraints
    t : float
    y : array, (2n,)
    directions : mapping of str to array, (2,)
        Those in which slips begin.

    Returns
    -------
    mapping of str to Reference, Settings
    """
    known = references(constraints, t, y, directions, watch.settings)
    watch.flow.set_references(known)
    return known, while_it_begins(watch, known)


def while_it_begins(watch: Watch, known: Mapping[str, Reference]) -> Settings:
    """Settings for slips that begin, which do not end before they are more than noise.

    Friction turns such a slip into its direction at the rate ``1/slip``, which is stiff.

    Parameters
    ----------
    watch : Watch
        Of the arc; the floors of its slips that begin are set.
    known : mapping of str to Reference
        Directions of the spatial slips.

    Returns
    -------
    Settings
        Those of the watch, with an implicit stepper where a slip begins.
    """
    beginning = [name for name, reference in known.items() if reference.begins]
    for position, guard in enumerate(watch.guards):
        if guard.kind is GuardKind.SLIP and guard.element in beginning:
            watch.floors[position] = _NOISE / _BEGINNING * known[guard.element].floor
    if not beginning:
        return watch.settings
    return attrs.evolve(watch.settings, stepper="Radau", rtol=max(watch.settings.rtol, FINE["Radau"]))


def has_begun(watch: Watch, constraints: Constraints, step: Step, y: Array) -> bool:
    """True if no spatial slip turns so fast any more that an explicit step as long as the last would be unstable.

    Parameters
    ----------
    watch : Watch
    constraints : Constraints
        Of the mode.
    step : Step
        The last one.
    y : array, (2n,)
        The state at its end.

    Returns
    -------
    bool
    """
    n = len(y) // 2
    terms = constraints.terms(step.end, y[:n], y[n:])
    lambda_T = watch.flow.observe(np.array([step.end]), y[:, None]).lambda_T[:, 0]
    for part in spatial_slides(constraints.parts):
        columns = list(part.columns)
        W = terms.W_T[:, columns]
        response = np.linalg.norm(W.T @ np.linalg.solve(terms.M, W), 2) * np.linalg.norm(lambda_T[columns])
        if (step.end - step.start) * response > _STIFF * np.linalg.norm(terms.slip[columns]):
            return False
    return True


def _usual(part: ElementMode, terms: Terms, settings: Settings) -> float:
    """The size of a slip among the velocities of the motion."""
    n = len(terms.W_T)
    speeds = np.broadcast_to(settings.sizes, 2 * n)[n:]
    return float(np.max(speeds @ np.abs(terms.W_T[:, list(part.columns)])))


def _slip(part: ElementMode, terms: Terms, v: Array) -> tuple[Array, float]:
    columns = list(part.columns)
    summands = np.abs(v) @ np.abs(terms.W_T[:, columns]) + np.abs(terms.slip[columns])
    return terms.slip[columns], max(_ROUNDING * float(np.max(summands)), _SMALLEST)


def stop_of_slip(
    watch: Watch, constraints: Constraints, start: float, t: float, y: Array, directions: Mapping[str, Array]
) -> tuple[Step, tuple[Guard, ...]] | None:
    """Where a spatial slip that is nearly zero ends, and all that end there with it.

    A slip that turns does so ever faster as it ends, as ``1/slip``, so that no step reaches the end. Its direction has
    a limit all the same, and over the last moment it decelerates uniformly. A slip that begins has its own direction
    only once it is more than noise; until then, what it does along the direction in which it begins tells if it ends.

    Feet of one body that does not turn end together. Of slips so slow that decelerate to zero within so short a time,
    none differs clearly from zero where the first ends: what is left of the others has no direction to go on in.

    Parameters
    ----------
    watch : Watch
    constraints : Constraints
    start : float
        Of the arc.
    t : float
    y : array, (2n,)
    directions : mapping of str to array (2,)
        Unit vectors of slips that only begin.

    Returns
    -------
    (Step, tuple of Guard) or None
        From the state to the end of the first, and the guards of all that end; None where none is about to end.
    """
    n = len(y) // 2
    terms = constraints.terms(t, y[:n], y[n:])
    near = []
    for part in spatial_slides(constraints.parts):
        slip, floor = _slip(part, terms, y[n:])
        size, usual = float(np.linalg.norm(slip)), _usual(part, terms, watch.settings)
        drowned = size <= 2 * floor
        if part.name in directions and size <= _NOISE * usual:
            slip = size * directions[part.name]
        if size <= watch.settings.tolerances.velocity * usual:
            near.append((part, slip, drowned))
    if not near:
        return None
    acceleration = watch.flow.observe(np.array([t]), y[:, None]).acceleration[:, 0]
    waits: dict[str, float] = {}
    for part, slip, drowned in near:
        columns = list(part.columns)
        rate = float(slip @ (acceleration @ terms.W_T[:, columns] + terms.zeta_T[columns]))
        if rate >= 0.0:
            continue
        wait = 0.0 if drowned else float(slip @ slip) / -rate
        if wait <= _BRIEF * max(abs(t), t - start):
            waits[part.name] = wait
    if not waits:
        return None
    wait = min(waits.values())
    rates = np.concatenate([y[n:] + acceleration * wait / 2, acceleration])
    step = step_along(lambda times: (y + np.outer(times - t, rates)).T, t, t + wait)
    return step, tuple(g for g in watch.guards if g.kind is GuardKind.SLIP and g.element in waits)


def unstable_beginning(watch: Watch, constraints: Constraints, t: float, y: Array, known: References) -> str | None:
    """A sentence where a slip begins in a direction that every motion nearby leaves at once.

    Friction turns a slip ``s`` at the rate ``L(theta)/s``, ``L`` the lateral acceleration where friction opposes the
    direction ``theta``. Slip may begin where ``L`` vanishes; where it grows there, no computed motion stays.

    Parameters
    ----------
    watch : Watch
    constraints : Constraints
        Of the mode.
    t : float
    y : array, (2n,)
    known : mapping of str to Reference
        The references of the flow, which has them again afterwards.

    Returns
    -------
    str or None
        None if no slip begins, or none that begins is unstable.
    """
    if not any(reference.begins for reference in known.values()):
        return None
    n = len(y) // 2
    terms = constraints.terms(t, y[:n], y[n:])
    found = None
    for part in spatial_slides(constraints.parts):
        if not known[part.name].begins:
            continue
        lateral = []
        for angle in (-_TURN, _TURN):
            (c, s), u = (np.cos(angle), np.sin(angle)), known[part.name].direction
            turned = np.array([c * u[0] - s * u[1], s * u[0] + c * u[1]])
            watch.flow.set_references({**known, part.name: attrs.evolve(known[part.name], direction=turned)})
            acceleration = watch.flow.observe(np.array([t]), y[:, None]).acceleration[:, 0]
            columns = list(part.columns)
            slip = acceleration @ terms.W_T[:, columns] + terms.zeta_T[columns]
            lateral.append(float(turned[0] * slip[1] - turned[1] * slip[0]))
        if lateral[1] > lateral[0]:
            found = (
                f"the slip of {part.name} that begins in the direction ({u[0]:.6g}, {u[1]:.6g}) is unstable: friction "
                f"turns every slip nearby away from it at once, so that this motion exists and cannot be followed"
            )
    watch.flow.set_references(known)
    return found


def passes_by(watch: Watch, constraints: Constraints, t: float, y: Array, fired: Sequence[Guard]) -> bool:
    """True if all that ended a step are spatial slips that have only turned by a right angle since its start.

    Parameters
    ----------
    watch : Watch
    constraints : Constraints
        Of the mode.
    t : float
    y : array, (2n,)
        The state at the end of the step.
    fired : sequence of Guard

    Returns
    -------
    bool
    """
    n = len(y) // 2
    terms = constraints.terms(t, y[:n], y[n:])
    slides = {part.name: part for part in spatial_slides(constraints.parts)}
    return all(
        guard.kind is GuardKind.SLIP
        and guard.element in slides
        and np.linalg.norm(_slip(slides[guard.element], terms, y[n:])[0])
        > watch.settings.tolerances.velocity * _usual(slides[guard.element], terms, watch.settings)
        for guard in fired
    )
