"""What penalty contacts and exact time stepping do from one frame of a log, over stiffness and over the step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import StateError
from hybrid.numeric.classification import classify
from hybrid.numeric.frames import AbstractBackend, Frame, GeometricContact
from hybrid.numeric.posing import Thresholds, persistent_velocities, posed_frame, states_of
from hybrid.numeric.problem import select
from hybrid.tolerances import Tolerances

__all__ = ["PenaltyRun", "ResolvedFrame", "ResolvedFriction", "SteppingRun", "resolved_frame"]

Array = NDArray[np.float64]

STIFFNESSES = (1e6, 1e7, 1e8, 1e9, 1e10)
STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
BELOW_CRITICAL = 0.85
"""Of the critical factor: friction at which every method must agree."""

_ANGLE = 0.02  # rad of the fastest compression a step: the explicit scheme's error of a peak is half of it
_MOST_STEPS = 5000  # some ten times what a compression takes at 0.85 of the critical friction


@attrs.frozen
class PenaltyRun:
    """A run with elastic contacts.

    Attributes
    ----------
    stiffness : float
        N/m of every contact (N m/rad of a joint's limit).
    force : dict of str to float
        Largest normal force (N) of every contact.
    duration : float
        Seconds until the run ended.
    ending : str
        ``"slip"``: a contact stopped slipping; ``"rebound"``: the first compression was over; ``"steps"``: neither
        after 5000 steps.
    """

    stiffness: float
    force: dict[str, float]
    duration: float
    ending: str


@attrs.frozen
class SteppingRun:
    """One step of exact Coulomb friction, decided at its end.

    Attributes
    ----------
    step : float
        Seconds.
    verdict : str
    forces : tuple of dict of str to float
        Normal impulses over the step (N), for each solution.
    """

    step: float
    verdict: str
    forces: tuple[dict[str, float], ...]


@attrs.frozen
class ResolvedFriction:
    """Both kinds of runs at one friction: that in force times a factor."""

    factor: float
    penalty: tuple[PenaltyRun, ...]
    time_stepping: tuple[SteppingRun, ...]


@attrs.frozen
class ResolvedFrame:
    """A frame with its runs.

    Attributes
    ----------
    frame : int
    verdict : str
        Of the state without normal velocities of its contacts, from which all runs start.
    critical_factor : float
    runs : tuple of ResolvedFriction
        At the friction in force, and at 0.85 of the critical one where there is one.
    """

    frame: int
    verdict: str
    critical_factor: float
    runs: tuple[ResolvedFriction, ...]


def resolved_frame(
    backend: AbstractBackend,
    row: Mapping[str, Array],
    frame: int,
    *,
    thresholds: Thresholds,
    largest_factor: float,
    stiffnesses: Sequence[float] = STIFFNESSES,
    steps: Sequence[float] = STEPS,
    tolerances: Tolerances = Tolerances(),
) -> ResolvedFrame:
    """Run a frame on with penalty contacts and with time stepping.

    Both start without normal velocities, and with all contacts that close just touching.

    Parameters
    ----------
    backend : AbstractBackend
    row : mapping of str to array
        Columns of the log at the frame.
    frame : int
        Its number.
    thresholds : Thresholds
    largest_factor : float
        Critical factors above are none.
    stiffnesses, steps : sequence of float
        N/m and s.
    tolerances : Tolerances, optional

    Returns
    -------
    ResolvedFrame

    Raises
    ------
    StateError
        The frame is left out, or a contact of it rests.
    """
    posed = posed_frame(backend, row, thresholds)
    if isinstance(posed, str) or posed.rests:
        why = "has a contact at rest" if not isinstance(posed, str) else f"is left out: {posed.replace('_', ' ')}"
        raise StateError(f"--resolve: frame {frame} {why}; runs start where all frictional contacts slip")
    row = {**row, backend.velocity: persistent_velocities(posed.frame, posed.contacts)}
    names = {contact.name for contact in posed.contacts}
    start = backend.frame(row, near=thresholds.gap)
    contacts = tuple(contact for contact in start.contacts if contact.name in names)
    posed = attrs.evolve(posed, frame=start, contacts=contacts)
    state = states_of([posed], attrs.evolve(thresholds, slip_min=0.0), backend.name)
    critical = float(classify(state, tolerances=tolerances).critical.factor[0])
    factors = [1.0] + ([BELOW_CRITICAL * critical] if critical <= largest_factor else [])
    return ResolvedFrame(
        frame,
        select(state.at(0), tolerances=tolerances).verdict.name,
        critical,
        tuple(
            ResolvedFriction(
                factor,
                tuple(
                    _penalty_run(backend, row, start, contacts, stiffness, factor, thresholds)
                    for stiffness in stiffnesses
                ),
                tuple(_stepping_run(start, contacts, step, factor, backend.name, tolerances) for step in steps),
            )
            for factor in factors
        ),
    )


def _penalty_run(
    backend: AbstractBackend,
    row: Mapping[str, Array],
    start: Frame,
    contacts: Sequence[GeometricContact],
    stiffness: float,
    factor: float,
    thresholds: Thresholds,
) -> PenaltyRun:
    """Semi-implicit Euler steps of the whole model until a slip ends or the first compression is over."""
    compliance = max(float(contact.W_N @ np.linalg.solve(start.M, contact.W_N)) for contact in contacts)
    dt = _ANGLE / float(np.sqrt(stiffness * compliance))
    touching = {contact.name: min(contact.gap, 0.0) for contact in start.contacts}
    touching |= {contact.name: contact.gap for contact in contacts}
    slips = {contact.name: contact.slip for contact in contacts if contact.slip is not None}
    peak = {contact.name: 0.0 for contact in contacts}
    frame, duration, ending = start, 0.0, "steps"
    for _ in range(_MOST_STEPS):
        force, pressing = np.array(frame.h), list[GeometricContact]()
        for contact in frame.contacts:
            pressed = stiffness * max(touching.get(contact.name, 0.0) - contact.gap, 0.0)
            if pressed > 0.0:
                pressing.append(contact)
                peak[contact.name] = max(peak.get(contact.name, 0.0), pressed)
                force += pressed * _push(contact, factor)
        if pressing and all(contact.gap_dot > 0.0 for contact in pressing):
            ending = "rebound"
            break
        for element in frame.friction:
            force -= element.limit * np.sign(element.slip) * element.W_T
        v = frame.v + dt * _acceleration(frame, force)
        duration += dt
        row = {**backend.moved(row, dt * v), backend.velocity: v}
        frame = backend.frame(row, near=thresholds.gap)
        now = {contact.name: contact.slip for contact in frame.contacts if contact.slip is not None}
        if any(float(slips[name] @ now[name]) <= 0.0 for name in slips.keys() & now.keys()):
            ending = "slip"
            break
    return PenaltyRun(stiffness, peak, duration, ending)


def _push(contact: GeometricContact, factor: float) -> Array:
    """Generalised force per normal force of a contact that slips."""
    if contact.W_T is None or contact.slip is None:
        return contact.W_N
    speed = float(np.linalg.norm(contact.slip))
    along = contact.W_T @ (contact.slip / speed) if speed > 0.0 else np.zeros_like(contact.W_N)
    return np.asarray(contact.W_N - factor * contact.friction * along)


def _acceleration(frame: Frame, force: Array) -> Array:
    """Accelerations under given forces that satisfy the rigid constraints."""
    if frame.J is None or frame.zeta_B is None:
        return np.asarray(np.linalg.solve(frame.M, force))
    free, response = np.linalg.solve(frame.M, force), np.linalg.solve(frame.M, frame.J.T)
    bearing = np.linalg.lstsq(frame.J @ response, -frame.zeta_B - frame.J @ free, rcond=None)[0]
    return np.asarray(free + response @ bearing)


def _stepping_run(
    start: Frame,
    contacts: Sequence[GeometricContact],
    step: float,
    factor: float,
    name: str,
    tolerances: Tolerances,
) -> SteppingRun:
    """One step from the start: its contact problem is that of a state at rest whose remainders carry the slip.

    ``slip at the end / step = W_T . v' + zeta_T + slip / step`` has in ``v'`` the form of a tangential acceleration.
    """
    posed = []
    for contact in contacts:
        closed = contact.closed(at_rest=True)
        if contact.slip is not None and contact.zeta_T is not None:
            friction = factor * contact.friction
            closed = attrs.evolve(closed, zeta_T=contact.zeta_T + contact.slip / step, friction=friction)
        posed.append(closed)
    found = select(start.state(posed, name=name), tolerances=tolerances)
    return SteppingRun(step, found.verdict.name, tuple(dict(branch.lambda_N) for branch in found.branches))
