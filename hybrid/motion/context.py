"""What stays the same during one simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import Guard, GuardKind, outer_guard
from hybrid.contact.impacts.laws import AbstractRestitutionLaw
from hybrid.contact.reduction import free_motion
from hybrid.declaration import evaluate
from hybrid.dynamics.equations import Reader
from hybrid.dynamics.kinks import load_jumps, surface_kinks
from hybrid.dynamics.positions import has_kinks
from hybrid.dynamics.scales import coordinate_sizes, motion_sizes, scales_of
from hybrid.expressions import Builder, compile_kernel, jacobian, roundings
from hybrid.motion.events import Functions, Watch
from hybrid.motion.flow import make_flow
from hybrid.motion.projection import Constraints
from hybrid.tolerances import ROUNDING

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.contact.modes import Mode
    from hybrid.contact.table import ElementMode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.kinks import LoadJumps, SurfaceKinks
    from hybrid.dynamics.scales import Scales
    from hybrid.expressions import Kernel
    from hybrid.motion.arguments import SelectionRule, Settings
    from hybrid.motion.numeric import Flow
    from hybrid.motion.rank_guard import RankGuard
    from hybrid.motion.trajectory import Trajectory

Array = NDArray[np.float64]
_EPSILON = float(np.finfo(float).eps)
_ROUNDED = (GuardKind.TOUCHDOWN, GuardKind.SLIP)
_ROUNDING = 8.0  # rounding units in a guard: a few operations on each of its terms
_ALIKE = 8.0  # slopes of 1/s at s - e, s and s + e are further apart if e is s/2 or more
_FAR_LARGER = 100.0  # the error of an arc is a share of what is taken: two digits of it may be lost
_INTEGRATED = 10.0  # errors of a step, at most, in a function of the state that the motion keeps at zero


class PointTerms:
    """The terms of a mechanism at one state, which are remembered until another is asked for.

    Parameters
    ----------
    dynamics : Dynamics

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> float(PointTerms(ball)(0.0, np.array([2.0]), np.array([0.0])).gap[0])
    2.0
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._last: tuple[float, list[float], Terms] | None = None

    def __call__(self, t: float, q: Array, v: Array) -> Terms:
        """Terms at one state, read-only; NaN or infinite where an expression is undefined."""
        y = [*q.tolist(), *v.tolist()]
        if self._last is None or self._last[0] != t or self._last[1] != y:  # one state is asked for again and again
            self._last = (t, y, self._dynamics.terms(q, v, t=t))
        return self._last[2]


@attrs.frozen(eq=False)
class Choice:
    """A mode, with what it needs besides.

    Attributes
    ----------
    mode : Mode
    force_signs : mapping of str to float
        Signs of the normal forces of bilateral contacts.
    directions : mapping of str to array (2,)
        Unit vectors of spatial slips that begin.
    key : tuple
        What tells it from others: the mode and the signs.
    """

    mode: Mode
    force_signs: Mapping[str, float] = attrs.field(factory=dict)
    directions: Mapping[str, Array] = attrs.field(factory=dict)
    key: tuple[Mode, tuple[tuple[str, float], ...]] = attrs.field(init=False, repr=False)

    @key.default
    def _mode_and_signs(self) -> tuple[Mode, tuple[tuple[str, float], ...]]:
        return self.mode, tuple(sorted(self.force_signs.items()))


def gap_floors(dynamics: Dynamics, terms: Terms, q: Array, v: Array, t: float | Array) -> Array:
    """Rounding of gaps: that of their operations, of the state, and of the time at which surfaces are where they are.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At one state or many.
    q, v : array, (..., n)
    t : float or array, (...)

    Returns
    -------
    array, (..., number of contacts)
        Eight roundings of ``abs(W_N) . abs(q) + abs(dg/dt) abs(t)``, and those of the operations of each gap, in which
        more may cancel: the height of the centre and the way down to the foot.
    """
    operations = dynamics.once(_gap_roundings)(dynamics.kernel_arguments(q, v, t))["gap"]
    across = (np.abs(terms.W_N) * np.abs(q)[..., None]).sum(axis=-2)
    drift = terms.gap_dot - (terms.W_N * v[..., None]).sum(axis=-2)
    return np.asarray(_EPSILON * (_ROUNDING * (across + np.abs(drift) * np.abs(t)[..., None]) + operations))


def _gap_roundings(dynamics: Dynamics) -> Kernel:
    build = Builder(dynamics.equations.graph)
    sums = {"gap": roundings(build, dynamics.equations.gap)}
    return compile_kernel(build.graph(), sums, dynamics.equations.arguments)


def slip_floors(terms: Terms, v: Array) -> Array:
    """Rounding of slips: that of the terms that cancel in them.

    Parameters
    ----------
    terms : Terms
        At one state or many.
    v : array, (..., n)

    Returns
    -------
    array, (..., number of tangential columns)
        Eight roundings of ``abs(W_T) . abs(v)``, in the unit of each slip.
    """
    return np.asarray(_ROUNDING * _EPSILON * (np.abs(terms.W_T) * np.abs(v)[..., None]).sum(axis=-2))


def _both(first: Functions | None, second: Functions) -> Functions:
    return second if first is None else lambda t, y: np.concatenate([first(t, y), second(t, y)])


def _of_kinks(dynamics: Dynamics, kinks: SurfaceKinks, places: list[int], t: Array, y: Array) -> Array:
    """What vanishes at some kinks, (number, N), at times (N,) and states (2n, N)."""
    values = kinks.values(dynamics, y[: dynamics.n].T, t)
    return np.broadcast_to(values, (len(t), len(kinks.names)))[:, places].T


@attrs.frozen(eq=False)
class UserFunctions:
    """Functions of the state and time that a user watches, compiled; made by :func:`user_functions`.

    Attributes
    ----------
    guards : tuple of Guard, length w
    """

    guards: tuple[Guard, ...]
    _dynamics: Dynamics = attrs.field(repr=False)
    _values: Kernel = attrs.field(repr=False)
    _details: Kernel = attrs.field(repr=False)

    def values(self, t: Any, y: Array) -> Array:
        """Values at N states ``y`` of shape (2n, N), (w, N), or at one of shape (2n,), (w,)."""
        found = self._at(self._values, y.T, t)["values"]
        return np.broadcast_to(found, (*np.shape(t), len(self.guards))).T

    def spread(self, t: float, y: Array, error: Array) -> Array:
        """By how much they may be wrong where the state is and time is rounded, to first order, (w,).

        Zero where a slope changes within the error, as it does beside a pole: no multiple of it says anything there.
        """
        widths, place = np.append(error, _ROUNDING * _EPSILON * abs(t)), np.append(y, t)
        found = self._at(self._details, y, t)
        with np.errstate(invalid="ignore"):
            moves = np.sign(found["slopes"]) * widths
            ends = np.stack([place + moves, place - moves])
            around = self._at(self._details, ends[..., :-1], ends[..., -1])["slopes"]
            own = range(len(self.guards))
            around = np.broadcast_to(around, (*ends.shape[:2], *moves.shape))[:, own, own]
            spreads = np.abs([found["slopes"], *around]) @ widths
            rounded = _ROUNDING * _EPSILON * found["roundings"]
            is_smooth = spreads.max(axis=0) <= _ALIKE * spreads.min(axis=0) + rounded
        return np.where(is_smooth & np.isfinite(spreads[0] + rounded), spreads[0] + rounded, 0.0)

    def _at(self, kernel: Kernel, y: Array, t: Any) -> dict[str, NDArray[Any]]:
        n = self._dynamics.n
        return kernel(self._dynamics.kernel_arguments(y[..., :n], y[..., n:], t))


def user_functions(dynamics: Dynamics, watched: Sequence[tuple[Guard, str]]) -> UserFunctions:
    """Compile what a user watches, with its slopes and what rounding may leave of it.

    Parameters
    ----------
    dynamics : Dynamics
    watched : sequence of (Guard, str)
        Expressions in the names of the mechanism.

    Returns
    -------
    UserFunctions

    Raises
    ------
    hybrid.errors.DeclarationError
        Unknown names, text that is no expression, or a function that has no value at any state.
    """
    equations = dynamics.equations
    reader = Reader(Builder(equations.graph), dynamics.mechanism)
    build, fields = reader.build, ["until" if g.kind is GuardKind.UNTIL else f"watch.{g.element}" for g, _ in watched]
    nodes = [reader.expression(text, field=field) for (_, text), field in zip(watched, fields, strict=True)]
    details = {"slopes": jacobian(build, nodes, equations.state), "roundings": roundings(build, nodes)}
    return UserFunctions(
        tuple(guard for guard, _ in watched),
        dynamics,
        compile_kernel(build.graph(), {"values": nodes}, equations.arguments),
        compile_kernel(build.graph(), details, equations.arguments),
    )


@attrs.frozen(eq=False)
class Context:
    """The mechanism with laws and settings of one simulation, and the flows compiled for it.

    Attributes
    ----------
    dynamics : Dynamics
        At the values of the parameters.
    settings : Settings
    law : AbstractImpactLaw or None
    rule : SelectionRule
    watched : tuple of (Guard, str)
        The user's functions.
    rank : RankGuard or None
        Watches rigid constraints for singular configurations.
    singular : {"stop", "smooth"}
        What to do at one.
    sizes : array, (2n,), or None
        Of coordinates and velocities, where they are known from having followed the motion before.
    rebounds : bool
        Whether impacts may give velocity back: not under a law whose coefficients are zero at every state.
    jumps : LoadJumps or None
        Where loads jump.
    """

    dynamics: Dynamics
    settings: Settings
    law: AbstractImpactLaw | None
    rule: SelectionRule
    watched: tuple[tuple[Guard, str], ...] = ()
    rank: RankGuard | None = None
    singular: str = "stop"
    sizes: Array | None = None
    rebounds: bool = attrs.field(init=False, repr=False)
    jumps: LoadJumps | None = attrs.field(init=False, repr=False)
    _flows: dict[Any, Flow] = attrs.field(factory=dict, repr=False)
    _reach: Array = attrs.field(init=False, repr=False)
    _taken: Array = attrs.field(init=False, repr=False)
    _terms: PointTerms = attrs.field(init=False, repr=False)
    _users: UserFunctions | None = attrs.field(init=False, repr=False)
    _kinks: SurfaceKinks | None = attrs.field(init=False, repr=False)

    @rebounds.default
    def _has_coefficients(self) -> bool:
        if not isinstance(self.law, AbstractRestitutionLaw):
            return self.law is not None
        if self.law.restitution is not None:
            return self.law.restitution > 0.0
        mechanism, values = self.dynamics.mechanism, self.dynamics.values
        declared = [mechanism.expanded(contact.restitution) for contact in mechanism.contact]
        return any(not text.names <= values.keys() or evaluate(text, values) != 0.0 for text in declared)

    @jumps.default
    def _jumps_of_loads(self) -> LoadJumps | None:
        return load_jumps(self.dynamics) if has_kinks(self.dynamics) else None

    @_reach.default
    def _none_yet(self) -> Array:
        return np.zeros((2, self.dynamics.n))

    @_taken.default
    def _no_sizes_yet(self) -> Array:
        return np.zeros(2 * self.dynamics.n)

    @_terms.default
    def _compiled(self) -> PointTerms:
        return PointTerms(self.dynamics)

    @_users.default
    def _compiled_functions(self) -> UserFunctions | None:
        return user_functions(self.dynamics, self.watched) if self.watched else None

    @_kinks.default
    def _kinks_of_surfaces(self) -> SurfaceKinks | None:
        return surface_kinks(self.dynamics) if has_kinks(self.dynamics) else None

    def flow(self, choice: Choice) -> Flow:
        """The flow of a mode, compiled once."""
        known = self._flows.get(choice.key)
        if known is None:
            is_independent = self.rank is not None and self.rank.is_full
            known = make_flow(self.dynamics, choice.mode, force_signs=choice.force_signs, independent=is_independent)
            self._flows[choice.key] = known
        return known

    def scales(self, t: float, q: Array, v: Array, terms: Terms) -> Scales:
        """Sizes of gaps and contact velocities at a state; what the motion has had before leaves its rounding."""
        self.reached(t, q, v)
        reach = (self._reach[0], self._reach[1])
        return scales_of(self.dynamics, terms, q, v, t=t, reach=reach)

    def reached(self, t: float, q: Array, v: Array) -> None:
        """Remember how large the coordinates and velocities of the motion have been."""
        sizes = coordinate_sizes(self.dynamics, q, t=t)
        np.fmax(self._reach, [sizes, np.abs(v)], out=self._reach)

    def terms(self, t: float, q: Array, v: Array) -> Terms:
        """All terms at a state."""
        return self._terms(t, q, v)

    def constraints(self, choice: Choice, t: float, q: Array) -> Constraints:
        """What a mode holds, anchored at a position."""
        constraints = self.holding(self.flow(choice).parts)
        constraints.anchor(t, q)
        return constraints

    def holding(self, parts: tuple[ElementMode, ...]) -> Constraints:
        """What force elements in given modes hold."""
        return Constraints(self.dynamics, parts, self._terms, speeds=self._taken[self.dynamics.n :])

    def watch(
        self, choice: Choice, t: float, q: Array, v: Array, *, with_rank: bool = True, with_users: bool = True
    ) -> Watch:
        """The guards of an arc that starts at a state.

        Without the one of the rank near a singular configuration, and without the user's where only the mode counts.
        """
        flow = self.flow(choice)
        guards = flow.guards
        functions: Functions | None = None
        floors: dict[int, float] = self._floors(flow, t, q, v)
        bands: dict[int, float] = {}
        if with_users and self._users is not None:
            functions = self._users.values
            guards = (*guards, *self._users.guards)
            known, bands = self._uncertain(flow, t, np.concatenate([q, v]))
            floors |= known
        if with_rank and self.rank is not None:
            guards = (*guards, outer_guard(GuardKind.RANK, *self.dynamics.rigid))
            functions = _both(functions, self.rank.function(t, q))
        held = self._kinks_of(flow)
        if held and self._kinks is not None:
            names = self._kinks.names
            guards = (*guards, *(outer_guard(GuardKind.KINK, names[place]) for place in held))
            functions = _both(functions, partial(_of_kinks, self.dynamics, self._kinks, held))
        settings = attrs.evolve(self.settings, sizes=self.sized(t, q, v))
        asked = partial(self._uncertain, flow), partial(self._rounded, flow)
        return Watch(flow, guards, functions, floors, bands, *asked, settings)

    def _kinks_of(self, flow: Flow) -> list[int]:
        """The kinks of the surfaces that a mode keeps to, by number."""
        if self._kinks is None:
            return []
        kept = {part.name for part in flow.parts if not part.is_open} | {*self.dynamics.rigid}
        return [place for place, name in enumerate(self._kinks.names) if name in kept]

    def sized(self, t: float, q: Array, v: Array) -> Array:
        """Sizes (2n,) of the coordinates and velocities of the motion so far, a state among it."""
        self.reached(t, q, v)
        own = motion_sizes(self.terms(t, q, v), *self._reach) if self.sizes is None else self.sizes
        np.fmax(self._taken, own, out=self._taken)
        return self._taken.copy()

    def smaller_sizes(self, motion: Trajectory) -> Array | None:
        """Sizes of a motion that turned out far smaller than was taken at a start without any; else None."""
        for arc in motion.arcs:
            for t, q, v in zip(arc.knots.tolist(), *arc.sample(arc.knots), strict=True):
                self.reached(t, q, v)
        terms, duration = self.terms(motion.t, motion.q, motion.v), motion.t - motion.t_start
        pushed = ROUNDING * np.abs(free_motion(terms).a_free) * duration  # what holds leaves as much
        np.fmax(self._reach, [pushed * duration, pushed], out=self._reach)
        own = motion_sizes(terms, *self._reach)
        return own if (self._taken > _FAR_LARGER * own).any() else None

    def _error(self, t: float, y: Array) -> Array:
        """What integration may leave of a state, (2n,)."""
        n = self.dynamics.n
        absolute = self.settings.atol * self.sized(t, y[:n], y[n:])
        return np.asarray(_INTEGRATED * (self.settings.rtol * np.abs(y) + absolute))

    def _uncertain(self, flow: Flow, t: float, y: Array) -> tuple[dict[int, float], dict[int, float]]:
        """Of the user's functions, by their positions among the guards: what is rounded, and what is left open."""
        if self._users is None:
            return {}, {}
        places = range(len(flow.guards), len(flow.guards) + len(self.watched))
        rounded = self._users.spread(t, y, _ROUNDING * _EPSILON * np.abs(y))
        left_open = self._users.spread(t, y, self._error(t, y))
        return dict(zip(places, rounded, strict=True)), dict(zip(places, left_open, strict=True))

    def watched_at(self, t: float, q: Array, v: Array) -> tuple[tuple[Guard, float], ...]:
        """The user's functions that differ from zero at a state by more than it may be wrong, with their signs.

        A pole, where an arc may begin, has none.
        """
        if self._users is None:
            return ()
        y = np.concatenate([q, v])
        values, slack = self._users.values(t, y).tolist(), self._users.spread(t, y, self._error(t, y))
        return tuple(
            (guard, float(np.sign(value)))
            for guard, value, least in zip(self._users.guards, values, slack, strict=True)
            if least < abs(value) < np.inf
        )

    def _floors(self, flow: Flow, t: float, q: Array, v: Array) -> dict[int, float]:
        """Rounding of every guard of a mode, from the terms that are added to form it."""
        y = np.concatenate([q, v])
        observed = flow.observe(np.array([t]), y[:, None])
        forces = np.concatenate([observed.lambda_N, observed.lambda_T])
        force = _ROUNDING * _EPSILON * float(np.max(np.abs(forces), initial=0.0))
        others = (GuardKind.SINGULAR, GuardKind.TOUCHDOWN, GuardKind.SLIP, GuardKind.FRICTION)
        floors = {position: force for position, guard in enumerate(flow.guards) if guard.kind not in others}
        return floors | self._rounded(flow, t, y)

    def _rounded(self, flow: Flow, t: float, y: Array) -> dict[int, float]:
        """Rounding of gaps and slips alone, by their positions among the guards."""
        q, v = y[: self.dynamics.n], y[self.dynamics.n :]
        terms, floors = self.terms(t, q, v), dict[int, float]()
        places = {kind: [k for k, guard in enumerate(flow.guards) if guard.kind is kind] for kind in _ROUNDED}
        if gaps := places[GuardKind.TOUCHDOWN]:
            of_gaps, contacts = gap_floors(self.dynamics, terms, q, v, t), self.dynamics.contacts
            floors |= {k: float(of_gaps[contacts.index(flow.guards[k].element)]) for k in gaps}
        if slips := places[GuardKind.SLIP]:
            of_slips, columns = slip_floors(terms, v), self.dynamics.columns
            floors |= {k: float(np.max(of_slips[columns[flow.guards[k].element]])) for k in slips}
        return floors
