"""The path of a spatial impact along the normal impulse: the slip turns (Keller 1986)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.spatial import slip_directions
from hybrid.errors import ComputationError

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem, Impulses

_ACCURACY = 1e-12
_STOPPED = 1e-9  # slip below this share of the approach counts as stopped: its direction is no longer defined
_MAX_LEGS = 4
_AMPLE = 1e3  # of the impulse that would change velocities by their own size
_RANK = 1e-10  # mobilities below this share of the largest are none: those of a hinged body's contact
_STEADY = 1e-3  # of the contact's acceleration: a slip that closes more slowly still turns
_SLOW = 1e-6  # what is left of an approach that ends with its slip
_ENDLESS = "compression of a spatial contact does not end: no impulse stops its approach"
_NOTHING = 1e-12  # of the terms that cancel


@attrs.frozen(eq=False)
class SpatialLeg:
    """One stretch of the path, in units in which neither velocities nor impulses are small.

    Attributes
    ----------
    kind : str
        ``"slide"`` or ``"stick"``.
    ratio : array, (2,) or None
        Tangential impulse per normal impulse; None while the slip turns.
    start : array, (6,)
        Contact velocities, tangential impulses, normal work since the beginning of compression or of restitution.
    duration : float
        Of the independent variable: the normal impulse, or ``sigma`` while the slip turns.
    impulse_N : float
        Normal impulse of the leg.
    ends_by : str
        ``"stop"`` of the slip, or the end of ``"compression"`` or ``"restitution"``.
    """

    kind: str
    ratio: NDArray[np.float64] | None
    start: NDArray[np.float64]
    duration: float
    impulse_N: float
    ends_by: str


@attrs.frozen(eq=False)
class SpatialPath:
    """The legs of an impact, its impulses (3,), and the units of velocities and of their response to impulses."""

    legs: tuple[SpatialLeg, ...]
    impulses: NDArray[np.float64]
    speed: float
    inertia: float


def spatial_impulses(problem: ImpactProblem, e: float, *, law: Literal["poisson", "energetic"]) -> Impulses:
    """Impulses of one spatial contact, integrated along the normal impulse through slip, stick and renewed slip.

    Parameters
    ----------
    problem : ImpactProblem
        With one spatial contact.
    e : float
        Coefficient of restitution.
    law : {"poisson", "energetic"}

    Returns
    -------
    Impulses

    Raises
    ------
    ComputationError
        The integration fails.
    """
    from hybrid.contact.impacts.impact import Impulses, Phase

    path = spatial_path(problem.G, problem.gamma, float(problem.carriers[0].friction), e, law=law)
    unit = path.speed / path.inertia
    phases = tuple(Phase(leg.kind, unit * leg.impulse_N) for leg in path.legs if leg.impulse_N > 0)
    return Impulses(path.impulses, phases)


def spatial_path(
    G: NDArray[np.float64], gamma: NDArray[np.float64], mu: float, e: float, *, law: Literal["poisson", "energetic"]
) -> SpatialPath:
    """The legs of the path of one spatial contact; arguments and errors as for :func:`spatial_impulses`.

    Examples
    --------
    >>> path = spatial_path(np.diag([1.0, 3.5, 3.5]), np.array([-1.0, 3.0, 4.0]), 0.5, 0.5, law="poisson")
    >>> [leg.kind for leg in path.legs], path.impulses.round(12).tolist()
    (['slide', 'slide'], [1.5, -0.45, -0.6])
    """
    if gamma[0] >= 0 and not _dives(G, gamma, mu):
        return SpatialPath((), np.zeros(3), 1.0, 1.0)
    # the law is homogeneous: velocities and impulses are taken in units in which neither is small
    speed, inertia = float(np.linalg.norm(gamma)), float(np.linalg.eigvalsh(G)[-1])
    G = G / inertia
    # unknowns: contact velocities, tangential impulses, normal work; the independent variable is the normal impulse
    state = np.concatenate([gamma / speed, np.zeros(3)])
    mobilities = np.linalg.eigvalsh(G)
    # contact velocities never exceed their initial size in energy: the impulses that change them are bounded
    span = _AMPLE / float(mobilities[mobilities > _RANK * mobilities[-1]][0])
    state, compression, legs = _advance(G, state, mu, until="compressed", value=0.0, span=span)
    target = {"poisson": e * compression, "energetic": -(e**2) * state[5]}[law]
    state[5] = 0.0
    state, restitution, more = _advance(G, state, mu, until=law, value=target, span=span)
    impulses = speed / inertia * np.array([compression + restitution, state[3], state[4]])
    return SpatialPath((*legs, *more), impulses, speed, inertia)


def _dives(G: NDArray[np.float64], gamma: NDArray[np.float64], mu: float) -> bool:
    """True if a normal impulse drives the contact into the surface (an impact without collision)."""
    speed = np.linalg.norm(gamma[1:])
    return bool(gamma[0] == 0 and speed > 0 and G[0, 0] - mu * (gamma[1:] / speed) @ G[0, 1:] < 0)


def _advance(
    G: NDArray[np.float64], state: NDArray[np.float64], mu: float, *, until: str, value: float, span: float
) -> tuple[NDArray[np.float64], float, list[SpatialLeg]]:
    """Follow the path until compression ends, or the impulse or the work of restitution is reached."""
    total = 0.0
    legs: list[SpatialLeg] = []
    if value <= 0.0 and until != "compressed":
        return state, 0.0, []
    for _ in range(_MAX_LEGS):
        kind, direction = _kind(G, state, mu)
        if direction is not None:
            state = _without_slip(G, state)  # rounding must not restart the slip
            if _jams(G, direction):
                # no impulse moves the contact: compression is over, and restitution does no work
                if state[0] < -_SLOW:
                    raise ComputationError(_ENDLESS)
                state[0] = 0.0
                if until != "poisson":
                    return state, total, legs
        remaining = value - (total if until == "poisson" else state[5])
        start = state
        state, share, duration, is_done = (
            _turning_leg(G, start, mu, until, remaining, span)
            if direction is None
            else _straight_leg(G, start, direction, until, remaining)
        )
        total += share
        goal = "compression" if until == "compressed" else "restitution"
        legs.append(SpatialLeg(kind, direction, start, duration, share, goal if is_done else "stop"))
        if is_done:
            return state, total, legs
    raise ComputationError("the slip of a spatial impact does not settle")


def _without_slip(G: NDArray[np.float64], state: NDArray[np.float64]) -> NDArray[np.float64]:
    """The state with what is left of its slip, at most the share that counts as stopped, taken away by an impulse."""
    rest = -_compliance(G) @ state[1:3]
    return np.concatenate([[state[0] + G[0, 1:] @ rest, 0.0, 0.0], state[3:5] + rest, state[5:]])


def _compliance(G: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tangential impulses per velocity; those that move nothing are left out."""
    scale = float(np.max(np.abs(G)))
    values, vectors = np.linalg.eigh(G[1:, 1:])
    moves = values > _RANK * scale
    return np.asarray((vectors[:, moves] / values[moves]) @ vectors[:, moves].T)


def _jams(G: NDArray[np.float64], ratio: NDArray[np.float64]) -> bool:
    """True if a normal impulse with the tangential one that goes with it leaves the contact where it is."""
    force = np.array([1.0, *ratio])
    return bool(np.max(np.abs(G @ force)) <= _RANK * float(np.max(np.abs(G) @ np.abs(force))))


def _kind(G: NDArray[np.float64], state: NDArray[np.float64], mu: float) -> tuple[str, NDArray[np.float64] | None]:
    """Sliding along the current slip (None), sticking (zero direction ratio), or renewed slip along a fixed ray."""
    if np.linalg.norm(state[1:3]) > _STOPPED:
        return "slide", None
    ratio = -_compliance(G) @ G[1:, 0]
    if np.linalg.norm(ratio) <= mu:
        return "stick", np.asarray(ratio, dtype=np.float64)
    angles, _, _ = slip_directions(G, np.array([-1.0, 0.0, 0.0]), mu)
    for angle in angles:
        u = np.array([np.cos(angle), np.sin(angle)])
        if (G[1:, 0] - mu * G[1:, 1:] @ u) @ u > 0:
            return "slide", np.asarray(-mu * u, dtype=np.float64)
    raise ComputationError("no direction of renewed slip exists in a spatial impact")


def _straight_leg(
    G: NDArray[np.float64],
    state: NDArray[np.float64],
    ratio: NDArray[np.float64],
    until: str,
    remaining: float,
) -> tuple[NDArray[np.float64], float, float, bool]:
    """Sticking, or slip that keeps its direction, up to the goal: linear in the normal impulse, as for the next one."""
    force = np.array([1.0, *ratio])
    rates = G @ force
    rates[np.abs(rates) <= _NOTHING * (np.abs(G) @ np.abs(force))] = 0.0
    v, rate = float(state[0]), float(rates[0])
    if until == "compressed":
        if v < 0.0 and rate <= 0.0:
            raise ComputationError(_ENDLESS)
        share = max(-v / rate, 0.0) if rate > 0.0 else 0.0
    elif until == "poisson":
        share = remaining
    else:
        # v x + rate x^2/2 = remaining, written without cancellation; the work is positive as long as slip is renewed
        share = 2 * remaining / (v + np.sqrt(v * v + 2 * rate * remaining))
    work = state[5] + v * share + rate * share**2 / 2
    moved = np.concatenate([state[:3] + rates * share, state[3:5] + ratio * share, [work]])
    if until == "compressed":
        moved[0] = 0.0
    return moved, share, share, True


def _turning_leg(
    G: NDArray[np.float64],
    state: NDArray[np.float64],
    mu: float,
    until: str,
    remaining: float,
    span: float,
) -> tuple[NDArray[np.float64], float, float, bool]:
    """One stretch of sliding: the state, the normal impulse, the duration, and whether the goal is met.

    The independent variable is ``sigma`` with ``dP = abs(slip) d sigma``: slip then dies out exponentially and its
    direction, undefined at zero, is never integrated across it (Batlle 1996).
    """
    from scipy.integrate import solve_ivp

    start_work = state[5]

    def rates(_: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        pace, tangential = np.linalg.norm(y[1:3]), -mu * y[1:3]
        return np.concatenate([G @ [pace, *tangential], tangential, [y[0] * pace, pace]])

    def stopped(_: float, y: NDArray[np.float64]) -> float:
        return float(np.linalg.norm(y[1:3]) - _STOPPED)

    def finished(_: float, y: NDArray[np.float64]) -> float:
        return float({"compressed": y[0], "poisson": y[6] - remaining}.get(until, y[5] - start_work - remaining))

    def endless(_: float, y: NDArray[np.float64]) -> float:
        return float(y[6] - span)

    events = [stopped, finished, endless]
    for event, direction in zip(events, (-1.0, 1.0, 1.0), strict=True):
        event.terminal = True  # type: ignore[attr-defined]
        event.direction = direction  # type: ignore[attr-defined]
    # slip decays by friction at the rate mu G_TT at least once the drive is gone: this is beyond any leg
    horizon = span / max(mu, 1e-3)
    answer = solve_ivp(
        rates, (0.0, horizon), np.append(state, 0.0), method="DOP853", rtol=_ACCURACY, atol=_ACCURACY, events=events
    )
    if answer.status != 1 or len(answer.t_events[2]):
        raise ComputationError(f"the path of a spatial impact could not be integrated: {answer.message}")
    end = np.array(answer.y[:, -1])
    is_done = len(answer.t_events[1]) > 0
    if not is_done:
        end = _stopped(G, end, mu)
    return end[:6], float(end[6]), float(answer.t[-1]), is_done


def _stopped(G: NDArray[np.float64], y: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """The last stretch of a slip that is about to stop, in which its direction changes no more."""
    slip = float(np.linalg.norm(y[1:3]))
    force = np.array([1.0, *(-mu * y[1:3] / slip)])
    rates = G @ force
    closing = -float(rates[1:] @ y[1:3]) / slip
    share = slip / closing if closing > _STEADY * float(np.max(np.abs(rates))) else 0.0
    work = y[5] + y[0] * share + rates[0] * share**2 / 2
    y = np.concatenate([y[:3] + rates * share, y[3:5] + force[1:] * share, [work, y[6] + share]])
    return np.append(_without_slip(G, y[:6]), y[6])
