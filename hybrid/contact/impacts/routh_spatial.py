"""The path of a spatial impact along the normal impulse: the slip turns (Keller 1986)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.spatial import slip_directions
from hybrid.errors import ComputationError
from hybrid.expressions import Dual, NotDifferentiable, changes, duals, implicit, must_not_change, plain, tie_means
from hybrid.tolerances import CLEAR, NOTHING, RANK, ROUNDING, STEP_ERROR

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem, Impulses

_ACCURACY = STEP_ERROR
_STOPPED = NOTHING  # slip below this share of the approach counts as stopped: its direction is no longer defined
_MAX_PHASES = 4
_AMPLE = 1e3  # of the impulse that would change velocities by their own size
_HINGED = NOTHING  # the same for derivatives, which divide by it
_STEADY = 1e-3  # of the contact's acceleration: a slip that closes more slowly still turns
_SLOW = CLEAR  # what is left of an approach that ends with its slip
_ENDLESS = "compression of a spatial contact does not end: no impulse stops its approach"
_AGAIN = (
    "Poisson's law at a spatial contact ends in approach, for a second compression follows in its restitution: "
    "the energetic law can carry it"
)


Array = NDArray[Any]  # of numbers, or of duals
RouthPhase = tuple[str, float]  # "slide" or "stick", and its normal impulse


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
        As for :func:`spatial_path`.
    """
    from hybrid.contact.impacts.impact import Impulses, Phase

    impulses, phases = spatial_path(problem.G, problem.gamma, problem.friction.tolist()[0], e, law=law)
    return Impulses(impulses, tuple(Phase(kind, impulse_N) for kind, impulse_N in phases if impulse_N > 0))


def spatial_path(
    G: Array, gamma: Array, mu: float, e: float, *, law: Literal["poisson", "energetic"]
) -> tuple[Array, list[RouthPhase]]:
    """Impulses and phases of the path of one spatial contact.

    Parameters
    ----------
    G : array, (3, 3)
        Delassus operator of the contact, 1/mass.
    gamma : array, (3,)
        Normal velocity, and both components of the slip, before the impact.
    mu : float
        Friction coefficient.
    e : float
        Coefficient of restitution.
    law : {"poisson", "energetic"}

    Returns
    -------
    impulses : array, (3,)
    phases : list of (str, float)
        ``"slide"`` or ``"stick"``, and the normal impulse.

    Raises
    ------
    ComputationError
        Compression does not end, Poisson's law ends in approach, or the path cannot be integrated.

    Examples
    --------
    >>> impulses, phases = spatial_path(np.diag([1.0, 3.5, 3.5]), np.array([-1.0, 3.0, 4.0]), 0.5, 0.5, law="poisson")
    >>> impulses.round(12).tolist(), [kind for kind, _ in phases]
    ([1.5, -0.45, -0.6], ['slide', 'slide'])
    """
    with tie_means("an impact of a contact that does not approach", is_proven=True):
        if gamma[0] >= 0 and not _dives(G, gamma, mu):
            return np.zeros(3), []
    # the law is homogeneous: velocities and impulses are taken in units in which neither is small
    speed, inertia = float(np.linalg.norm(plain(gamma))), float(np.linalg.eigvalsh(plain(G))[-1])
    G, unit = G / inertia, speed / inertia
    # unknowns: contact velocities, tangential impulses, normal work; the independent variable is the normal impulse
    state = np.concatenate([gamma / speed, np.zeros(3)])
    mobilities = np.linalg.eigvalsh(plain(G))
    # contact velocities never exceed their initial size in energy: the impulses that change them are bounded
    span = _AMPLE / float(mobilities[mobilities > RANK * mobilities[-1]][0])
    state, compression, phases = _advance(G, state, mu, until="compressed", value=0.0, span=span)
    stored, state[5] = -state[5], 0.0
    target = {"poisson": e * compression, "energetic": e**2 * stored}[law]
    if plain(target) > 0.0:
        state, restitution, more = _advance(G, state, mu, until=law, value=target, span=span)
        phases += more
        # work that is reached from below is reached while the contact separates; an impulse is reached anyhow
        sizes = 1.0 + np.abs(plain(G[0])) @ np.abs(plain(np.array([compression + restitution, *state[3:5]])))
        if plain(state[0]) < -_STOPPED * sizes:  # what a slip that counts as stopped may still bring about
            raise ComputationError(_AGAIN)
    else:
        state, restitution = _first_restitution(G, state, mu, e, compression if law == "poisson" else stored, law)
    impulses = unit * np.array([compression + restitution, state[3], state[4]])
    return impulses, [(kind, unit * float(plain(impulse_N))) for kind, impulse_N in phases]


def _first_restitution(
    G: Array, state: Array, mu: float, e: Any, stored: float, law: Literal["poisson", "energetic"]
) -> tuple[Array, float]:
    """None where ``e`` is zero; if it is a dual, what the first of it does to the state and to the normal impulse."""
    if not isinstance(e, Dual) or e.v > 0.0:
        return state, 0.0
    direction = _kind(G, state, mu)[1]
    force = np.array([1.0, *(_against(state, mu) if direction is None else direction)])
    # half the square of the normal impulse times the rate of the normal velocity is its work
    share = e * (stored if law == "poisson" else np.sqrt(2 * stored / (G[0] @ force)))
    return np.concatenate([state[:3], state[3:5] + force[1:] * share, state[5:]]), share


def _dives(G: Array, gamma: Array, mu: float) -> bool:
    """True if a normal impulse drives the contact into the surface (an impact without collision)."""
    speed = np.linalg.norm(gamma[1:])
    return bool(gamma[0] == 0 and speed > 0 and G[0, 0] - mu * (gamma[1:] / speed) @ G[0, 1:] < 0)


def _against(state: Array, mu: float) -> Array:
    """Tangential impulse per normal impulse of a slip."""
    return np.asarray(-mu * state[1:3] / np.linalg.norm(state[1:3]))


def _advance(
    G: Array, state: Array, mu: float, *, until: str, value: float, span: float
) -> tuple[Array, float, list[RouthPhase]]:
    """Follow the path until compression ends, or the impulse or the work of restitution is reached."""
    total = 0.0
    phases: list[RouthPhase] = []
    for _ in range(_MAX_PHASES):
        kind, direction = _kind(G, state, mu)
        if direction is not None:
            if until == "compressed" and not phases and kind == "slide":
                for slip in state[1:3]:
                    must_not_change(slip, "an impact without slip in which friction cannot hold: it slips to any side")
            state = _without_slip(G, state)  # rounding must not restart the slip
            if _jams(plain(G), plain(direction)):
                # no impulse moves the contact: compression is over, and restitution does no work
                if state[0] < -_SLOW:
                    raise ComputationError(_ENDLESS)
                state[0] = 0.0
                if until != "poisson":
                    return state, total, phases
        remaining = value - (total if until == "poisson" else state[5])
        state, share, is_done = (
            _rotating_segment(G, state, mu, until, remaining, span)
            if direction is None
            else _straight_segment(G, state, direction, until, remaining)
        )
        total += share
        phases.append((kind, share))
        if is_done:
            return state, total, phases
    raise ComputationError("the slip of a spatial impact does not settle")


def _without_slip(G: Array, state: Array) -> Array:
    """The state with what is left of its slip, at most the share that counts as stopped, taken away by an impulse."""
    rest = -_compliance(G) @ state[1:3]
    return np.concatenate([[state[0] + G[0, 1:] @ rest, 0.0, 0.0], state[3:5] + rest, state[5:]])


def _compliance(G: Array) -> Array:
    """Tangential impulses per velocity; those that move nothing are left out."""
    known = plain(G)
    values, vectors = np.linalg.eigh(known[1:, 1:])
    moves = values > RANK * float(np.max(np.abs(known)))
    inverse = (vectors[:, moves] / values[moves]) @ vectors[:, moves].T
    return np.asarray(inverse + inverse @ (known - G)[1:, 1:] @ inverse)  # the second term has derivatives alone


def _jams(G: Array, ratio: Array) -> bool:
    """True if a normal impulse with the tangential one that goes with it leaves the contact where it is."""
    force = np.array([1.0, *ratio])
    return bool(np.max(np.abs(G @ force)) <= RANK * float(np.max(np.abs(G) @ np.abs(force))))


def _kind(G: Array, state: Array, mu: float) -> tuple[str, Array | None]:
    """Sliding along the current slip (None), sticking (zero direction ratio), or renewed slip along a fixed ray."""
    if np.linalg.norm(plain(state[1:3])) > _STOPPED:
        return "slide", None
    if G.dtype == object:
        mobilities = np.linalg.eigvalsh(plain(G))
        if plain(mu) == 0.0 or mobilities[0] <= _HINGED * mobilities[-1]:
            # without friction slip passes zero; of a hinged body it may end just where compression does
            raise NotDifferentiable("slip that ends in the impact of a hinged body or without friction")
    ratio = -_compliance(G) @ G[1:, 0]
    with tie_means("friction can just hold a spatial contact in the impact", is_proven=True):
        if ratio @ ratio <= mu**2:
            return "stick", np.asarray(ratio)
    angles, _, _ = slip_directions(plain(G), np.array([-1.0, 0.0, 0.0]), plain(mu))
    for angle in angles:
        (found,) = implicit(lambda x, G, mu: np.array([_rate(G, mu, x[0])[1]]), np.array([angle]), G, mu)
        if _rate(G, mu, found)[0] > 0:
            return "slide", np.array([-mu * np.cos(found), -mu * np.sin(found)])
    raise ComputationError("no direction of renewed slip exists in a spatial impact")


def _rate(G: Array, mu: float, angle: float) -> tuple[float, float]:
    """Rate of the slip along an angle and across it, against the friction of a slip there."""
    u = np.array([np.cos(angle), np.sin(angle)])
    rate = G[1:, 0] - mu * G[1:, 1:] @ u
    return rate @ u, rate[1] * u[0] - rate[0] * u[1]


def _straight_segment(G: Array, state: Array, ratio: Array, until: str, remaining: float) -> tuple[Array, float, bool]:
    """Sticking, or slip that keeps its direction, up to the goal: linear in the normal impulse."""
    force = np.array([1.0, *ratio])
    rates = G @ force
    is_nothing = np.abs(plain(rates)) <= ROUNDING * (np.abs(plain(G)) @ np.abs(plain(force)))
    rates = np.where(is_nothing, rates - plain(rates), rates)
    v, rate = state.tolist()[0], rates.tolist()[0]
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
    return moved, share, True


def _rotating_segment(
    G: Array, state: Array, mu: float, until: str, remaining: float, span: float
) -> tuple[Array, float, bool]:
    """One stretch of sliding: the state, the normal impulse, and whether the goal is met.

    The independent variable is ``sigma`` with ``dP = abs(slip) d sigma``: slip then dies out exponentially and its
    direction, undefined at zero, is never integrated across it (Batlle 1996).
    """

    def rates(y: Array, G: Array = G, mu: float = mu) -> Array:
        speed, tangential = np.linalg.norm(y[1:3]), -mu * y[1:3]
        return np.concatenate([G @ [speed, *tangential], tangential, [y[0] * speed, speed]])

    def stopped(y: Array) -> Any:
        return np.linalg.norm(y[1:3]) - _STOPPED

    def finished(y: Array) -> Any:
        return {"compressed": y[0], "poisson": y[6] - remaining}.get(until, y[5] - state[5] - remaining)

    known = plain(G), plain(mu)
    y, start = np.append(state, 0.0), plain(np.append(state, 0.0))
    guards = [lambda y: plain(stopped(y)), lambda y: plain(finished(y)), lambda y: float(y[6] - span)]
    # slip decays by friction at the rate mu G_TT at least once the drive is gone: this is beyond any phase
    end, duration, ended = _integrated(lambda y: rates(y, *known), start, guards, span / max(known[1], 1e-3))
    is_done = ended == 1
    if y.dtype == object:
        end = _carried(rates, y, duration)
        end = _at_zero(finished if is_done else stopped, end, rates(plain(end), *known))
    if not is_done:
        end = _stopped(G, end, mu)
    return end[:6], end[6], is_done


def _integrated(
    rates: Callable[[Array], Array], y: Array, guards: list[Callable[[Array], float]], horizon: float
) -> tuple[Array, float, int]:
    """Where a flow first meets a guard, falling through the first and rising through others: state, time, which."""
    from scipy.integrate import solve_ivp

    events = [lambda _, y, guard=guard: guard(y) for guard in guards]
    for event, direction in zip(events, (-1.0, 1.0, 1.0), strict=True):
        event.terminal = True  # type: ignore[attr-defined]
        event.direction = direction  # type: ignore[attr-defined]
    answer = solve_ivp(
        lambda _, y: rates(y), (0.0, horizon), y, method="DOP853", rtol=_ACCURACY, atol=_ACCURACY, events=events
    )
    if answer.status != 1 or len(answer.t_events[2]):
        raise ComputationError(f"the path of a spatial impact could not be integrated: {answer.message}")
    return np.array(answer.y[:, -1]), float(answer.t[-1]), int(len(answer.t_events[1]) > 0)


def _carried(rates: Callable[[Array], Array], y: Array, duration: float) -> Array:
    """Duals after a given time of a flow, which carries their derivatives along."""
    from scipy.integrate import solve_ivp

    start = changes(y)
    n = len(start)

    def both(_: float, z: Array) -> Array:
        found = rates(duals(z[:n], z[n:].reshape(start.shape)))
        return np.concatenate([plain(found), changes(found).ravel()])

    z = np.concatenate([plain(y), start.ravel()])
    answer = solve_ivp(both, (0.0, duration), z, method="DOP853", rtol=_ACCURACY, atol=_ACCURACY)
    return duals(answer.y[:n, -1], answer.y[n:, -1].reshape(start.shape))


def _at_zero(guard: Callable[[Array], Any], y: Array, flow: Array) -> Array:
    """Duals of a flow, moved to the changed time at which a guard vanishes."""
    missed, known = guard(y), plain(y)
    rate = (guard(duals(known, flow[:, None])) - guard(known)).d.flat[0]
    return np.asarray(y + flow * ((plain(missed) - missed) / rate))


def _stopped(G: Array, y: Array, mu: float) -> Array:
    """The last stretch of a slip that is about to stop, in which its direction changes no more."""
    slip = np.linalg.norm(y[1:3])
    force = np.array([1.0, *_against(y, mu)])
    rates = G @ force
    closing = -(rates[1:] @ y[1:3]) / slip
    is_steady = plain(closing) > _STEADY * float(np.max(np.abs(plain(rates))))
    share = slip / closing if is_steady else 0.0
    work = y[5] + y[0] * share + rates[0] * share**2 / 2
    y = np.concatenate([y[:3] + rates * share, y[3:5] + force[1:] * share, [work, y[6] + share]])
    return np.append(_without_slip(G, y[:6]), y[6])
