"""The motion of a mechanism, as it is handed to users.

The energy balance of a motion.

Distance between motions with jumps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.contact.reduction import pseudo_inverse
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.dynamics.scales import scales_of
from hybrid.motion.recorded import AbstractMotion, EventKind
from hybrid.motion.samples import motion_columns, motion_dataset
from hybrid.tables import dataframe
from hybrid.tolerances import CLEAR, LEAST, NEARLY, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.dynamics.equations import Terms
    from hybrid.motion.recorded import Arc, Event

__all__ = ["Array", "Curve", "EnergyBalance", "Trajectory", "distance", "energy_balance", "open_balance"]


_LEAK = CLEAR  # of the energy that moves, or the error of a step if that is more: a hundred thousand steps lose less
_LEAK_OF_STEPS = 0.1  # a scheme of first order that is on its way to the motion loses far less
_WORKS = ("initial", "final", "applied", "friction", "impacts", "dissipated", "residual")
_GAUSS_POINTS, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(12)


@attrs.frozen
class EnergyBalance:
    """Where the energy went; ``initial + applied + friction + impacts - final`` is the residual.

    Attributes
    ----------
    initial, final : float
        Kinetic plus potential energy, or kinetic energy alone where the mechanism is declared by its equations.
    applied : float
        Work of applied forces without a potential, of moving guides, and of explicit dependence on time.
    friction : float
        Work of friction, at most zero.
    impacts : float
        Sum of the energy changes in impacts, less the work of moving guides in them.
    moved : float
        What passed from one form to another: the largest kinetic energy on the way, the sizes of the works above, and
        the size of the change. The residual is judged against it.
    rounding : float
        What counts as none: of the energy, and of what the forces would give to the bodies if nothing held them.
    """

    initial: float
    final: float
    applied: float
    friction: float
    impacts: float
    moved: float
    rounding: float

    @property
    def residual(self) -> float:
        """What does not add up: the error of integration and quadrature."""
        return self.initial + self.applied + self.friction + self.impacts - self.final

    @property
    def dissipated(self) -> float:
        """Energy lost to friction and impacts."""
        return -(self.friction + self.impacts)

    def as_mapping(self) -> Mapping[str, float]:
        """The numbers by name.

        Returns
        -------
        mapping of str to float
            The works, then ``dissipated`` and ``residual``; in J if the declaration is in SI units.

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import derive, simulate
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> list(simulate(ball, {"y": 1, "y_dot": 0}, t_end=0.1).energy().as_mapping())
        ['initial', 'final', 'applied', 'friction', 'impacts', 'dissipated', 'residual']
        """
        return {name: getattr(self, name) for name in _WORKS}


def energy_balance(trajectory: AbstractMotion) -> EnergyBalance:
    """Integrate the power of friction and of applied forces along a motion.

    Gauss' rule with twelve points in every step of the integrator; the energies at both ends are exact functions of
    the states there, so the residual measures the error of the motion. In a motion made by time-stepping the rule is
    the scheme's own, one point in the middle of every step, and the work of normal impulses counts as impacts.

    Parameters
    ----------
    trajectory : AbstractMotion

    Returns
    -------
    EnergyBalance
    """
    dynamics = trajectory.dynamics
    initial, _ = dynamics.energy(trajectory.q_start, trajectory.v_start, t=trajectory.t_start)
    ending = trajectory.dynamics_at(trajectory.t)  # springs are unstretched where they take over
    final, _ = ending.energy(trajectory.q, trajectory.v, t=trajectory.t)
    friction = applied = impacts = kinetic = unheld = 0.0
    for event in trajectory.events:
        if event.impact is not None or event.kind is EventKind.ACCUMULATION:
            worked = _guides_in_jump(trajectory, event)
            applied += worked
            impacts += _energy_change(trajectory, event) - worked
    for arc in trajectory.arcs:
        t, weights = _quadrature(arc)
        if not t.size:
            continue
        rubbed, brought, struck, living, free = _powers(trajectory, arc, t)
        friction += float(weights @ rubbed)
        applied += float(weights @ brought)
        impacts += float(weights @ struck)
        kinetic, unheld = max(kinetic, float(np.max(living))), max(unheld, float(np.max(free)))
    moved = kinetic + abs(applied) + abs(friction) + abs(impacts) + abs(float(final - initial))
    none = ROUNDING * (float(abs(initial) + abs(final)) + unheld * (trajectory.t - trajectory.t_start) ** 2)
    return EnergyBalance(float(initial), float(final), applied, friction, float(impacts), moved, none)


@checks_arguments
def open_balance(trajectory: AbstractMotion, balance: EnergyBalance) -> tuple[str, ...]:
    """A sentence where energy is lost or won that no force accounts for: the motion is not that of its equations.

    Parameters
    ----------
    trajectory : AbstractMotion
    balance : EnergyBalance
        Of this motion; in J if the declaration is in SI units.

    Returns
    -------
    tuple of str
        One sentence, or none; none of a motion that was given up, which has its cause.
    """
    if trajectory.termination.is_given_up:
        return ()
    stepped = trajectory.method == "time-stepping"
    coarsest = 0.0 if trajectory.settings is None else trajectory.settings.rtol
    share = _LEAK_OF_STEPS if stepped else max(_LEAK, coarsest)
    if not abs(balance.residual) > share * balance.moved + balance.rounding:
        return ()
    advice = "the steps are too long for this motion" if stepped else "the motion is not to be relied on"
    return (f"the energy balance is off by {balance.residual:.3g}, of {balance.moved:.3g} that moved: {advice}",)


def _energy_change(trajectory: AbstractMotion, event: Event) -> float:
    """Energy after an impact less before, with what brings contacts that stay closed to rest exactly."""
    before, after = (trajectory.dynamics.energy(event.q, v, t=event.t)[0] for v in (event.v_before, event.v_after))
    return float(after - before)


def _guides_in_jump(trajectory: AbstractMotion, event: Event) -> float:
    """Work of moving guides in a jump of the velocities: impulses times the velocities of the surfaces.

    The law's impulses are known; what brings contacts that stay closed to rest, and rigid constraints, take the rest.
    """
    dynamics, impact = trajectory.dynamics, event.impact
    terms = dynamics.terms(event.q, event.v_after, t=event.t)
    scales = scales_of(dynamics, terms, event.q, event.v_after, t=event.t)
    far = (terms.gap > NEARLY * scales.gap).tolist()
    open_ = {name for name, is_far in zip(dynamics.contacts, far, strict=True) if is_far and name not in event.elements}
    normal = [index for index, name in enumerate(dynamics.contacts) if name not in open_]
    tangential = [column for name in dynamics.columns if name not in open_ for column in dynamics.columns_of(name)]
    W = np.hstack([terms.W_N[:, normal], terms.W_T[:, tangential], terms.J.T])
    rates = np.concatenate([terms.gap_dot[normal], terms.slip[tangential], terms.constraint_dot])
    surfaces = event.v_after @ W - rates
    if not surfaces.any():
        return 0.0
    of_law_N, of_law_T = np.zeros(len(dynamics.contacts)), np.zeros(terms.slip.size)
    if impact is not None:
        for name in set(dynamics.contacts) & set(impact.impulse_N):
            of_law_N[dynamics.contacts.index(name)] = impact.impulse_N[name]
        for name in set(dynamics.columns) & set(impact.impulse_T):
            of_law_T[dynamics.columns[name]] = impact.impulse_T[name]
    impulses = np.concatenate([of_law_N[normal], of_law_T[tangential], np.zeros(len(dynamics.rigid))])
    left = terms.M @ (event.v_after - event.v_before) - W @ impulses
    lengths = np.maximum(np.linalg.norm(W, axis=0), LEAST)
    return float((impulses + np.linalg.lstsq(W / lengths, left, rcond=None)[0] / lengths) @ surfaces)


def _quadrature(arc: Arc) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    lengths = np.diff(arc.knots)
    if arc.means is not None:
        return (arc.knots[:-1] + arc.knots[1:]) / 2, lengths
    points = arc.knots[:-1, None] + lengths[:, None] * (_GAUSS_POINTS + 1) / 2
    return points.ravel(), (lengths[:, None] * _GAUSS_WEIGHTS / 2).ravel()


def _powers(trajectory: AbstractMotion, arc: Arc, t: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Power of friction; of everything applied (forces without potential, moving guides); of impulses over a step.

    The fourth is the kinetic energy, the fifth that which the forces would bring in one unit of time, held by nothing.
    """
    dynamics = trajectory.dynamics_at(arc.start)
    q, v = arc.sample(t)
    observed = trajectory.forces(arc, t)
    terms = dynamics.terms(q, v, t=t)
    lambda_N, lambda_T = observed.lambda_N.T, observed.lambda_T.T
    friction = np.sum(lambda_T * terms.slip, axis=-1)
    guided = np.sum(lambda_N * ((v[:, None, :] @ terms.W_N)[:, 0, :] - terms.gap_dot), axis=-1)
    guided += np.sum(lambda_T * ((v[:, None, :] @ terms.W_T)[:, 0, :] - terms.slip), axis=-1)
    if terms.J.shape[-2]:
        # what the equations of motion leave to the constraints, and in time-stepping the error of its steps as well
        contact = (terms.W_N @ lambda_N[..., None] + terms.W_T @ (lambda_T - terms.mean_T)[..., None])[..., 0]
        left = (terms.M @ observed.acceleration.T[..., None])[..., 0] - terms.h - contact
        guided += np.sum(left * _carried(terms, v), axis=-1)
    _, power = dynamics.energy(q, v, t=t)
    struck = np.zeros(len(t)) if arc.means is None else np.sum(lambda_N * terms.gap_dot, axis=-1)
    kinetic = np.einsum("...i,...ij,...j", v, terms.M, v) / 2
    unheld = np.sum(terms.h * np.linalg.solve(terms.M, terms.h[..., None])[..., 0], axis=-1) / 2
    return friction, power + guided, struck, kinetic, unheld


def _carried(terms: Terms, v: NDArray[np.float64]) -> NDArray[np.float64]:
    """The part of velocities (N, n) that moving constraints prescribe: their forces do no work on the rest.

    Of all velocities that satisfy the constraints it has the least kinetic energy; it is zero where guides are at rest.
    """
    surfaces = (terms.J @ v[..., None])[..., 0] - terms.constraint_dot
    lift = np.linalg.solve(terms.M, np.swapaxes(terms.J, -1, -2))
    return np.asarray((lift @ (pseudo_inverse(terms.J @ lift, terms.J) @ surfaces[..., None]))[..., 0])


Array = NDArray[np.float64]


class Curve(Protocol):
    """Anything that can be drawn as a curve in time and state."""

    def graph(self, points: int) -> Array:
        """Points of the completed graph.

        Parameters
        ----------
        points : int
            About so many.

        Returns
        -------
        array, (number of points, 1 + 2n)
            Rows ``(t, q, v)``; t in s.
        """


@checks_arguments
def distance(first: Curve, second: Curve, *, points: int = 2000, scale: Any = 1.0) -> float:
    """Hausdorff distance of the completed graphs of two motions.

    In the uniform norm two motions with a jump at slightly different times are never close; as curves in the space
    of time and state, with the jumps filled in by straight lines, they are (Schatzman 1978; Moreau 1988).

    Parameters
    ----------
    first, second : Trajectory
    points : int
        Points on each curve; the distance is exact to about their spacing times the speed.
    scale : float or array, (1 + 2n,)
        Units of time, coordinates and velocities.

    Returns
    -------
    float
        In those units.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> high, low = (simulate(ball, State([h], [0.0]), t_end=0.1) for h in (1.0, 0.9))
    >>> round(distance(high, low), 6)
    0.1
    """
    from scipy.spatial import cKDTree

    one, other = (_dense(motion.graph(points) / np.asarray(scale), points) for motion in (first, second))
    return float(max(_to_curve(cKDTree, one, other), _to_curve(cKDTree, other, one)))


def _dense(curve: Array, points: int) -> Array:
    """The same polygon with its long sides, the jumps, divided."""
    lengths = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    spacing = float(lengths.sum()) / points
    if spacing <= 0.0:
        return curve
    pieces = np.maximum(np.ceil(lengths / spacing).astype(int), 1)
    start = np.repeat(np.arange(len(pieces)), pieces)
    inside = np.arange(len(start)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = (inside / pieces[start])[:, None]
    return np.vstack([curve[start] * (1 - share) + curve[start + 1] * share, curve[-1:]])


def _to_curve(tree: Any, points: Array, curve: Array) -> float:
    """Largest distance of points from a polygonal curve: to the two segments that meet at the nearest vertex."""
    _, nearest = tree(curve).query(points)
    best = np.linalg.norm(points - curve[nearest], axis=1)
    for shift in (-1, 0):
        start = np.clip(nearest + shift, 0, len(curve) - 2)
        a, b = curve[start], curve[start + 1]
        along = b - a
        length = np.maximum(np.sum(along**2, axis=1), LEAST)
        s = np.clip(np.sum((points - a) * along, axis=1) / length, 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(points - a - s[:, None] * along, axis=1))
    return float(np.max(best))


@attrs.frozen(eq=False)
class Trajectory(AbstractMotion, AbstractDisplayed):
    """A motion that was followed as far as its law allows; made by :func:`hybrid.simulate`.

    Its attributes are those of :class:`hybrid.motion.recorded.AbstractMotion`.
    """

    def __repr__(self) -> str:
        return one_line(
            f"Trajectory {self.dynamics.name}",
            f"t = {self.t_start:.6g} to {self.t:.6g}",
            f"{len(self.arcs)} arcs",
            f"{len(self.events)} events",
            self.termination.name,
        )

    @checks_arguments
    def graph(self, points: int) -> Array:
        """Points of the completed graph: jumps of the velocity are filled in.

        Parameters
        ----------
        points : int
            About so many, evenly in time, and both ends of every arc; of time-stepping its own points.

        Returns
        -------
        array, (number of points, 1 + 2n)
            Rows ``(t, q, v)``; t in s. A jump is two rows at one time.

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import derive, simulate
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> simulate(ball, {"y": 1, "y_dot": 0}, t_end=0.4).graph(5)[[2, -1]].round(2).tolist()
        [[0.08, 0.97, -0.78], [0.4, 0.22, -3.92]]
        """
        total = max(self.t - self.t_start, LEAST)
        rows = [np.concatenate([[self.t_start], self.q_start, self.v_start])]
        for arc in self.arcs:
            count = max(2, int(np.ceil(points * (arc.end - arc.start) / total)) + 1)
            t = np.linspace(arc.start, arc.end, count) if arc.means is None else arc.knots
            rows += [*np.column_stack([t, *arc.sample(t)])]
        return np.array([*rows, np.concatenate([[self.t], self.q, self.v])])

    def energy(self) -> EnergyBalance:
        """The energy balance over the whole motion, by quadrature over every step.

        Returns
        -------
        EnergyBalance
        """
        return energy_balance(self)

    def to_xarray(self, *, points: int = 1000) -> Any:
        """The motion as an ``xarray.Dataset``; needs xarray (the extra ``store``).

        Parameters
        ----------
        points : int
            About so many instants, evenly in time, and both ends of every arc.

        Returns
        -------
        xarray.Dataset
            ``position`` and ``velocity`` over (time, coordinate), ``lambda_N`` over (time, contact), ``lambda_T`` over
            (time, tangent), ``mode`` over (time, element), ``arc`` over time; units as coordinates, the events and
            parameters as JSON in the attributes. Where the velocity jumps, the instant has two rows, of two arcs.

        Raises
        ------
        ComputationError
            xarray is not installed.

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import State, derive, simulate
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> table = simulate(ball, State([1.0], [0.0]), t_end=0.4).to_xarray(points=5)
        >>> table.position.sel(coordinate="y").round(2).values.tolist()
        [1.0, 0.95, 0.8, 0.56, 0.22]
        >>> table.time.units, table.position_units.values.tolist(), table.mode.values[0].tolist()
        ('s', ['m'], ['free'])
        """
        return motion_dataset(self, points=points)

    def to_dataframe(self, *, points: int = 1000) -> Any:
        """The motion as a ``pandas.DataFrame``, a row for every sample.

        Parameters
        ----------
        points : int
            As of :meth:`to_xarray`.

        Returns
        -------
        pandas.DataFrame
            Columns ``t``, the coordinates, the velocities, ``lambda_N.NAME``, ``lambda_T.NAME``, ``mode.NAME`` and
            ``arc``, the number of the arc.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import derive, simulate
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> table = simulate(ball, {"y": 1, "y_dot": 0}, t_end=0.4).to_dataframe(points=5)
        >>> list(table), table.y.round(2).tolist()
        (['t', 'y', 'y_dot', 'lambda_N.floor', 'mode.floor', 'arc'], [1.0, 0.95, 0.8, 0.56, 0.22])
        """
        return dataframe(motion_columns(self, points=points))
