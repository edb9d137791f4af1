"""Compliant limits as solutions of systems in fast time: of one planar contact in closed form, and of several contacts.

One planar contact slides, sticks or reverses; arrays of states are answered at once. Of several, every contact presses
where ``f = -kappa Y - 2 d sqrt(kappa) w`` is positive, ``kappa`` its stiffness relative to the others; in every
combination of open, sliding and sticking contacts the system is linear (but for the slip of spatial contacts, which
turns), and its events are where a force vanishes or begins, a slip stops, or friction no longer holds.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.compliance.kinematics import ContactRows, FrozenFlow
from hybrid.contact.compliance.motion import HORIZON, PhaseMachine, PhaseRecord
from hybrid.contact.compliance.path import Array, CompliantPath, CompliantPhase, CompliantSamples
from hybrid.contact.compliance.status import NO_BILATERAL, VANISHING, BilateralContacts
from hybrid.contact.reduction import free_motion
from hybrid.errors import ComputationError
from hybrid.tolerances import CLEAR, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hybrid.dynamics.derive import Dynamics

__all__ = ["KINDS", "ContactRates", "PlanarLimit", "frozen_machine", "planar_limit", "several_limit"]


_DEPARTURE = ROUNDING  # of the velocities, in a unit of fast time: the loads of contacts at rest
_GROWN = CLEAR  # of the velocities: what loads have set off and has grown so far goes on without them
_FOLDS = 40.0  # of growth: a factor of 1e17, for the 1e6 that are wanted
_MANY = 4  # contacts of which every combination is tried
_FOREVER = 1e9  # in the time of the fastest contact
_EFFORT = 100_000  # evaluations; an impact takes some thousand
_SAME = CLEAR  # velocities that differ by less, relative to the largest, are the same outcome
_RATIO = 10.0  # by which every stiffness is changed in turn to see whether the outcome depends on it


def several_limit(
    G: Array,
    gamma: Array,
    contacts: tuple[ContactRows, ...],
    *,
    loads: Array | None = None,
    samples: int = 0,
    bilateral: BilateralContacts = NO_BILATERAL,
) -> CompliantPath:
    """Velocities after the impact of several compliant contacts.

    Contacts at rest are set off by their loads, where forces drive them deeper (an impact without collision). In the
    limit the loads vanish next to what they have set off; which contact is ahead of the others remains.

    Parameters
    ----------
    G : array, (r, r)
        Delassus operator.
    gamma : array, (r,)
        Contact velocities before. If no contact approaches, an impact without collision is looked for.
    contacts : tuple of ContactRows
    loads : array, (r,), optional
        Contact accelerations without contact forces, of which ratios count; by default contacts are pressed alike.
    samples : int, default 0
        Samples per phase to keep.
    bilateral : BilateralContacts, optional
        Rigid constraints with friction, which all forces load; ``G`` has them eliminated.

    Returns
    -------
    CompliantPath
        With a warning if the outcome depends on the ratios of the stiffnesses, or on how large they are.

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
    if np.min(gamma[normals]) < -VANISHING * speed:
        bilateral = attrs.evolve(bilateral, load=np.zeros_like(bilateral.load))

        def followed(contacts: tuple[ContactRows, ...], n: int = 0) -> CompliantPath:
            return _followed(*FrozenFlow.of(G, gamma, contacts, bilateral), samples=n)

        path = followed(contacts, samples)
        return attrs.evolve(path, warnings=_dependence(path, followed, contacts))
    if loads is None:
        loads = np.where(np.isin(np.arange(len(gamma)), normals), -1.0, 0.0)
    resting = np.where(np.abs(gamma) <= VANISHING * speed, 0.0, gamma)

    def left(contacts: tuple[ContactRows, ...], n: int = 0, departure: float = _DEPARTURE) -> CompliantPath:
        flow, order = FrozenFlow.of(G, resting, contacts, bilateral)
        return _left(flow, order, loads, departure, n) or nothing

    path = left(contacts, samples)
    if path is nothing:
        return nothing
    warnings = _dependence(path, left, contacts)
    change = float(np.max(np.abs(left(contacts, 0, _DEPARTURE * _GROWN).gamma_after - path.gamma_after)))
    if change > _SAME * speed:
        warnings += (
            "the contacts are set off at different rates, so that the limit is reached slowly: stiffnesses larger by "
            f"{1 / _GROWN**2:.0e} change contact velocities by {change:.3g}",
        )
    return attrs.evolve(path, gamma_before=gamma, warnings=warnings)


def _left(flow: FrozenFlow, order: list[int], loads: Array, departure: float, samples: int) -> CompliantPath | None:
    """The history of contacts at rest that their loads set off; None where nothing grows."""
    k, bilateral = len(flow.contacts), flow.bilateral
    rates = flow.frequencies(flow.G)
    largest, slowest = float(np.max(np.abs([*loads, *bilateral.load]))), _slowest_growth(flow)
    if largest == 0.0 or slowest == math.inf:
        return None
    speed = departure * flow.speed
    unit = speed * float(np.max(rates)) / largest
    loaded = attrs.evolve(
        flow, load=unit * loads[order], grown=_GROWN * flow.speed, speed=speed,
        bilateral=attrs.evolve(bilateral, load=unit * bilateral.load),
    )  # fmt: skip
    horizon = _FOLDS / slowest if slowest else HORIZON / float(np.min(rates))
    machine = PhaseMachine(loaded, 1.0, horizon, _EFFORT, VANISHING * speed, {})
    run = machine.run(loaded.start(np.zeros(k)), np.ones(k, dtype=bool))
    if not loaded.is_over(run.at):
        return None
    unloaded = attrs.evolve(
        flow, gamma=loaded.velocities(run.end), bilateral=attrs.evolve(bilateral, load=np.zeros_like(bilateral.load))
    )
    path = _followed(unloaded, order, run.end[:k], samples)
    impulse = path.impulse + run.end[k : k + len(order)][np.argsort(order)]
    return attrs.evolve(path, impulse=impulse)


def _slowest_growth(flow: FrozenFlow) -> float:
    """Least rate at which contacts that press and slip can drive themselves deeper: infinite if none does.

    It is 0 where that is not known: of spatial contacts, many, or beside rigid constraints with friction.
    """
    k = len(flow.contacts)
    if k > _MANY or flow.bilateral.names or any(len(contact.tangential) == 2 for contact in flow.contacts):
        return 0.0
    ways = []
    for contact in flow.contacts:
        slips = np.sign(flow.gamma[list(contact.tangential)]) if contact.tangential else np.zeros(1)
        ways.append([*slips] if slips.all() or not contact.tangential else [1.0, -1.0, 0.0])
    found = [
        rate
        for slips in itertools.product(*ways)
        for size in range(1, k + 1)
        for chosen in itertools.combinations(range(k), size)
        for rate in _rates(flow, chosen, slips)
    ]
    size = float(np.max(flow.frequencies(flow.G)))  # defective pairs of zeros part by rounding
    return min((rate for rate in found if rate > CLEAR * size), default=math.inf)


def _rates(flow: FrozenFlow, pressing: tuple[int, ...], slips: tuple[float, ...]) -> Array:
    """Rates of growth while some contacts press; those with friction whose slip is 0 stick."""
    rest = [row for i in pressing if not slips[i] for row in flow.contacts[i].tangential]
    G = flow.G - flow.G[:, rest] @ np.linalg.pinv(flow.G[np.ix_(rest, rest)], hermitian=True) @ flow.G[rest]
    normals = [flow.contacts[i].normal for i in pressing]
    A = G[np.ix_(normals, normals)].copy()
    for column, i in enumerate(pressing):
        for row in flow.contacts[i].tangential:
            A[:, column] -= slips[i] * flow.contacts[i].friction * G[normals, row]
    stiffness, damping = flow.stiffness[list(pressing)], np.array([flow.contacts[i].damping for i in pressing])
    zero = np.zeros_like(A)
    system = np.block([[zero, np.eye(len(A))], [-A * stiffness, -A * (2 * damping * np.sqrt(stiffness))]])
    return np.asarray(np.linalg.eigvals(system).real)


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
    horizon = _FOREVER / (float(np.max(flow.frequencies(flow.G))) or 1.0)
    return PhaseMachine(flow, 1.0, horizon, _EFFORT, still, {}, samples)


def _followed(flow: FrozenFlow, order: list[int], gaps: Array | None = None, samples: int = 0) -> CompliantPath:
    """The history from touch to release, in the rows of the problem; ``order`` has them in those of the flow."""
    k, r = len(flow.contacts), len(flow.gamma)
    begun = flow.start(np.zeros(k) if gaps is None else gaps)
    run = frozen_machine(flow, samples=samples).run(begun, np.ones(k, dtype=bool))
    if not run.has_separated:
        if run.is_cut:
            why = f"it takes more than {_EFFORT} evaluations, the last of them in {run.label}"
        elif run.at.forces[: len(flow.contacts)].any():
            why = f"in {run.label} no force vanishes and no slip changes; friction locks the mechanism"
        else:
            why = f"contacts have let go, and one of them takes longer to come back than can be followed ({run.label})"
        raise ComputationError(f"a compliant impact of several contacts does not end: {why}")
    back = np.argsort(order)
    kept = run.samples
    if kept is not None:
        kept = CompliantSamples(
            kept.s, kept.Y, kept.gamma[:, back], kept.force[:, back], kept.impulse[:, :r][:, back]
        )  # fmt: skip
    impulse = run.end[k : k + r]
    after = (flow.gamma + flow.G @ impulse)[back]
    phases = tuple(_joined(flow, label, parts) for label, parts in run.named_phases)
    return CompliantPath(flow.gamma[back], after, impulse[back] + 0.0, phases, samples=kept)


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
    path: CompliantPath,
    followed: Callable[[tuple[ContactRows, ...]], CompliantPath],
    contacts: tuple[ContactRows, ...],
) -> tuple[str, ...]:
    """A warning for every contact whose relative stiffness changes the outcome."""
    warnings, size = [], float(np.max(np.abs(path.gamma_before)))
    for index, contact in enumerate(contacts[1:], start=1):
        changes, failures = [0.0], []
        for factor, word in ((_RATIO, "stiffer"), (1 / _RATIO, "softer")):
            changed = attrs.evolve(contact, stiffness_ratio=contact.stiffness_ratio * factor)
            others = (*contacts[:index], changed, *contacts[index + 1 :])
            try:
                other = followed(others)
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


@attrs.frozen(eq=False)
class ContactRates:
    """What the forces of the contact do at many states; row 0 is the normal one.

    Attributes
    ----------
    gap, gap_dot, slip : array, (N,)
    a_free : array, (N, n)
    response : array, (N, n, 2)
        Generalised acceleration per unit normal and tangential force.
    G : array, (N, 2, 2)
    c : array, (N, 2)
        Contact accelerations without contact forces.
    friction, static_friction, damping, stiffness_ratio : array, (N,)
    """

    gap: Array
    gap_dot: Array
    slip: Array
    a_free: Array
    response: Array
    G: Array
    c: Array
    friction: Array
    static_friction: Array
    damping: Array
    stiffness_ratio: Array

    @classmethod
    def at(cls, dynamics: Dynamics, q: Array, v: Array, t: Array) -> ContactRates:
        """Evaluate at states, (N, n)."""
        terms = dynamics.terms(q, v, t=t)
        motion = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid))))
        count, n = q.shape
        W = np.concatenate(np.broadcast_arrays(terms.W_N, terms.W_T), axis=-1)
        response = np.broadcast_to(motion.response @ W, (count, n, 2))
        a_free = np.broadcast_to(motion.a_free, (count, n))
        zeta = np.concatenate(np.broadcast_arrays(terms.zeta_N, terms.zeta_T), axis=-1)
        c = np.einsum("...ij,...i->...j", W, a_free) + zeta

        def flat(values: Any) -> Array:
            return np.asarray(np.broadcast_to(values, (count, 1))[:, 0])

        G = np.broadcast_to(np.swapaxes(W, -1, -2) @ response, (count, 2, 2))
        return cls(
            flat(terms.gap), flat(terms.gap_dot), flat(terms.slip), a_free, response, G,
            np.broadcast_to(c, (count, 2)), flat(terms.friction), flat(terms.static_friction), flat(terms.damping),
            flat(terms.stiffness_ratio),
        )  # fmt: skip

    def held(self, normal: Array) -> Array:
        """Tangential force that holds the contact at rest under a normal force."""
        return np.asarray(-(self.c[:, 1] + self.G[:, 1, 0] * normal) / self.G[:, 1, 1])

    def acceleration(self, forces: Array) -> Array:
        """Generalised accelerations, (N, n), under forces, (N, 2)."""
        return np.asarray(self.a_free + np.einsum("ijk,ik->ij", self.response, forces))


KINDS = ("none", "slide+", "slide-", "stick")


@attrs.frozen(eq=False)
class PlanarLimit:
    """Outcome of the compliant limit at one or many states of a planar contact.

    Attributes
    ----------
    gamma : array, (..., 2)
        Normal and tangential velocity after the impact.
    impulse : array, (..., 2)
        Normal and tangential impulse.
    kind : array of int8, (..., 2)
        Index into ``KINDS`` of the first and second phase.
    impulse_N : array, (..., 2)
        Normal impulse of each phase.
    duration : array, (..., 2)
        Duration of each phase in fast time; infinite for the first phase of an impact without collision, and for
        a last phase that cannot end: the contact is locked, velocities and impulses are not finite.
    work_N, work_T : array, (..., 2)
        Work of the normal force and of friction in each phase.
    """

    gamma: Array
    impulse: Array
    kind: NDArray[np.int8]
    impulse_N: Array
    duration: Array
    work_N: Array
    work_T: Array


def planar_limit(G: Any, gamma: Any, *, friction: Any, damping: Any, static_friction: Any = None) -> PlanarLimit:
    """Velocities after the impact of a compliant contact whose stiffness tends to infinity.

    The fast system of Miller and Rubinovich (2017): ``dY/ds = gamma_N``, ``d gamma/ds = G (F_N, F_T)`` with ``F_N = -Y
    - 2 d gamma_N`` and Coulomb friction, at frozen position, until the force vanishes. An approach of zero is its limit
    from below: an impact without collision where ``G_NN - s mu G_NT < 0``, no impact elsewhere.

    Parameters
    ----------
    G : array_like, (..., 2, 2)
        Delassus operator, 1/mass; positive definite, or with a zero tangential row.
    gamma : array_like, (..., 2)
        Normal and tangential velocity before.
    friction, damping : array_like, (...)
        Friction coefficient, and ``d`` in units of the square root of a mass.
    static_friction : array_like, (...), optional
        Coefficient up to which the contact sticks; by default ``friction``.

    Returns
    -------
    PlanarLimit

    Examples
    --------
    Restitution of a damped contact without friction (Schwager and Poeschel 2007) is ``exp(-pi/2)`` for ``d = 1/sqrt2``:

    >>> planar_limit(np.eye(2), [-1.0, 0.0], friction=0.0, damping=0.5**0.5).gamma[0].round(12)
    np.float64(0.207879576351)
    """
    from hybrid.contact.compliance.linear import COLUMNS, limits

    G, gamma = np.asarray(G, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    mu, d = np.asarray(friction, dtype=np.float64), np.asarray(damping, dtype=np.float64)
    static = mu if static_friction is None else np.asarray(static_friction, dtype=np.float64)
    shape = np.broadcast_shapes(G.shape[:-2], gamma.shape[:-1], mu.shape, d.shape, static.shape)
    flat = [
        np.ascontiguousarray(np.broadcast_to(item, shape)).reshape(-1)
        for item in (G[..., 0, 0], G[..., 0, 1], G[..., 1, 1], gamma[..., 0], gamma[..., 1], mu, static, d)
    ]
    answers, kinds = np.empty((flat[0].size, COLUMNS)), np.empty((flat[0].size, 2), dtype=np.int8)
    G_NN, G_NT, G_TT, w, u, friction, holds, damping = flat
    limits(G_NN, G_NT, G_TT, w, u, friction, holds, damping, answers, kinds)
    parts = answers.reshape((*shape, COLUMNS // 2, 2))
    gamma_after, impulse, impulse_N, duration, work_N, work_T = (parts[..., i, :] for i in range(COLUMNS // 2))
    return PlanarLimit(gamma_after, impulse + 0.0, kinds.reshape((*shape, 2)), impulse_N, duration, work_N, work_T)
