"""A rigid mechanism against springs in place of its constraints, over a ladder of stiffnesses.

By which branch a motion leaves a singular configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import explains_arguments
from hybrid.declaration.realisation import is_positive, realise, stiffness_name
from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.dynamics.consistency import check_consistency
from hybrid.dynamics.derive import bound, derive
from hybrid.errors import DeclarationError, Problem, StateError
from hybrid.motion import Settings, simulate, singular_points_of
from hybrid.motion.recorded import EventKind
from hybrid.tolerances import CLEAR, RESOLVED, STEP_ERROR

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics, Values
    from hybrid.dynamics.singular_points import SingularPoint
    from hybrid.dynamics.state import State
    from hybrid.motion import Trajectory

__all__ = ["HalfBranch", "RealisationRow", "RealisationStudy", "branch_taken", "half_branches", "realisation_study"]


Array = NDArray[np.float64]

_PATH_SAMPLES = 20_000
_NEGLIGIBLE = CLEAR  # share of a displacement below which a coordinate does not move along a branch


@attrs.frozen(eq=False)
class HalfBranch:
    """One side of a smooth branch through a singular configuration.

    Attributes
    ----------
    label : str
        Coordinates with the signs of their displacements.
    displacement : array, (n,)
        From the singular configuration to the posture at the radius.
    """

    label: str
    displacement: Array


def half_branches(space: ConfigurationSpace, point: SingularPoint, radius: float) -> tuple[HalfBranch, ...]:
    """The sides of the branches through a singular configuration, out to a radius.

    Parameters
    ----------
    space : ConfigurationSpace
    point : SingularPoint
    radius : float
        Length along the tangent.

    Returns
    -------
    tuple of HalfBranch
    """
    found = []
    for branch in point.branches:
        for side in (1.0, -1.0):
            away = branch.at(point.q, side * radius)
            posture = space.nearest(away, hold=branch.tangent)
            displacement = (away if posture is None else posture) - point.q
            found.append(HalfBranch(_label(point.coordinates, displacement), displacement))
    return tuple(found)


def _label(names: Sequence[str], displacement: Array) -> str:
    size = float(np.max(np.abs(displacement)))
    return ", ".join(
        f"{name}{'+' if value > 0 else '-'}"
        for name, value in zip(names, displacement, strict=True)
        if abs(value) > _NEGLIGIBLE * size
    )


def branch_taken(
    motion: Trajectory, q: Array, ends: Sequence[HalfBranch], radius: float, *, until: float
) -> HalfBranch | None:
    """The half branch nearest to where a motion leaves the ball around a singular configuration after passing it.

    Parameters
    ----------
    motion : Trajectory
    q : array, (n,)
        The singular configuration.
    ends : sequence of HalfBranch
    radius : float
        Of the ball.
    until : float
        The motion passes where it comes closest to the configuration before this time.

    Returns
    -------
    HalfBranch or None
        None if the motion does not enter the ball, does not leave it, or there is no branch.
    """
    t = np.linspace(motion.t_start, motion.t, _PATH_SAMPLES)
    away = motion.sample(t)[0] - q
    distance = np.linalg.norm(away, axis=1)
    closest = int(np.argmin(distance[t <= until])) if motion.t_start <= until else 0
    outside = distance[closest:] >= radius
    if not ends or distance[closest] >= radius or not outside.any():
        return None
    left = closest + int(np.argmax(outside))
    return min(ends, key=lambda end: float(np.linalg.norm(end.displacement - away[left])))


_SAMPLES = 4000
_PLACES = 1000  # of these, where the distance from the configuration space is taken
_WITHIN = 2.0  # in units of the same time: soft springs pass late
_BEFORE = 0.5  # share of the time to the first singular configuration that counts as before it


@attrs.frozen(eq=False)
class RealisationRow:
    """One stiffness of a study; distances are lengths in the space of the coordinates.

    Attributes
    ----------
    stiffness : float
        As given, N/m for a constraint that is a length.
    violation : float
        Largest constraint value, in the unit of the constraints.
    distance_to_space : float
        Largest distance from the configuration space.
    distance_before : float
        Largest distance from the rigid motion at the same time, up to half the time of the first singular
        configuration (the whole time if there is none).
    distance_at_end : float
        Distance from the rigid motion at its end.
    branch : str
        Half branch by which it leaves the first singular configuration, by the signs of the displacements along it;
        empty where there is none or it does not come near.
    is_smooth : bool or None
        True if that is the branch of the rigid motion's smooth continuation.
    energy_drift : float
        Residual of the energy balance as a share of the larger of the energies at both ends.
    n_steps : int
        Steps of the integrator.
    motion : Trajectory
    """

    stiffness: float
    violation: float
    distance_to_space: float
    distance_before: float
    distance_at_end: float
    branch: str
    is_smooth: bool | None
    energy_drift: float
    n_steps: int
    motion: Trajectory = attrs.field(repr=False)


@attrs.frozen(eq=False)
class RealisationStudy:
    """The rigid motion, continued smoothly, and its elastic realisations.

    Attributes
    ----------
    constraints : tuple of str
        Those that were realised.
    rigid : Trajectory
    singular : tuple of SingularPoint
        Where the rigid motion passed singular configurations.
    smooth_branch : str
        Half branch by which the smooth continuation leaves the first one; empty without one.
    rows : tuple of RealisationRow
        By growing stiffness.
    """

    constraints: tuple[str, ...]
    rigid: Trajectory = attrs.field(repr=False)
    singular: tuple[SingularPoint, ...]
    smooth_branch: str
    rows: tuple[RealisationRow, ...]

    @property
    def orders_before(self) -> tuple[float, ...]:
        """Observed orders in 1/stiffness of the distance before the first singular configuration, row to row."""
        distances = [row.distance_before for row in self.rows]
        stiffness = np.array([row.stiffness for row in self.rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            return tuple((-np.diff(np.log(distances)) / np.diff(np.log(stiffness))).tolist())

    def table(self) -> list[dict[str, Any]]:
        """The rows as plain values, without the motions.

        Returns
        -------
        list of dict
            One for each stiffness; numbers as in :class:`RealisationRow`.
        """
        return [
            {field.name: getattr(row, field.name) for field in attrs.fields(RealisationRow) if field.name != "motion"}
            for row in self.rows
        ]


@explains_arguments
def realisation_study(
    dynamics: Dynamics,
    state: State,
    *,
    constraints: str | Sequence[str],
    stiffness: Sequence[float] | float,
    t_end: float,
    parameters: Values | None = None,
    length: float | str | None = None,
    settings: Settings | None = None,
    radius: float = 0.3,
) -> RealisationStudy:
    """Compare the rigid motion from a state with springs of growing stiffness in place of constraints.

    At a singular configuration the rigid motion goes on smoothly. Away from such points the springs' motion tends to
    it with an error of order ``1/stiffness`` (Rubin and Ungar 1957); beyond them it may follow another branch
    (Burian 2024).

    Parameters
    ----------
    dynamics : Dynamics
        The rigid mechanism.
    state : State
        Satisfies the constraints: the springs start without tension.
    constraints : str or sequence of str
        Which to realise.
    stiffness : sequence of float, or float
        The ladder, in the unit of the constraint's energy divided by its square: N/m for a length.
    t_end : float
        When every motion ends, in s.
    parameters : mapping, optional
    length : float or str, optional
        As for :func:`hybrid.realise`.
    settings : Settings, optional
        Of the elastic motions; by default errors of 1e-10 per step, because the work grows like the square root of the
        stiffness.
    radius : float
        Distance from a singular configuration at which the branch is read off, in the units of the coordinates.

    Returns
    -------
    RealisationStudy

    Raises
    ------
    StateError
        The state violates a constraint, or the ladder is empty.
    DeclarationError
        An unknown constraint, or a stiffness or a length that is not positive.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, realisation_study, solve_state
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> start = solve_state(pendulum, {"u": 0.5, "u_dot": 0})
    >>> study = realisation_study(pendulum, start, constraints="BC", stiffness=[1e2, 1e4], t_end=1.2)
    >>> study.smooth_branch, [row.is_smooth for row in study.rows]
    ('u-, theta-', [True, True])
    """
    dynamics = bound(dynamics, parameters)
    ladder = _ladder(stiffness)
    names = (constraints,) if isinstance(constraints, str) else tuple(constraints)
    realised = derive(realise(dynamics.mechanism, names, stiffness=ladder[0], length=length))
    check_consistency(dynamics, state)
    keys = [stiffness_name(dynamics.mechanism, name) for name in names]
    rigid = simulate(dynamics, state, t_end=t_end, singular="smooth")
    points = singular_points_of(rigid)
    ends = half_branches(ConfigurationSpace(dynamics), points[0], radius) if points else ()
    met = [event.t for event in rigid.events if event.kind is EventKind.SINGULAR_CONFIGURATION]
    until = state.t + _WITHIN * (met[0] - state.t) if met else t_end
    smooth = branch_taken(rigid, points[0].q, ends, radius, until=until) if points else None
    rows = []
    for k in ladder:
        motion = simulate(
            realised,
            state,
            t_end=t_end,
            parameters={**dynamics.given, **dict.fromkeys(keys, k)},
            settings=settings or Settings(rtol=RESOLVED, atol=STEP_ERROR),
        )
        before = _BEFORE * (met[0] - state.t) if met else t_end - state.t
        taken = branch_taken(motion, points[0].q, ends, radius, until=until) if points else None
        rows.append(_row(ConfigurationSpace(dynamics), k, motion, rigid, state.t + before, taken, smooth))
    return RealisationStudy(names, rigid, points, "" if smooth is None else smooth.label, tuple(rows))


def _ladder(stiffness: Sequence[float] | float) -> list[float]:
    """Stiffnesses by size, all of them checked."""
    given = np.ravel(np.asarray(stiffness, dtype=object)).tolist()
    if not given:
        raise StateError("the ladder of stiffnesses is empty: give at least one")
    wrong = [value for value in given if not is_positive(value)]
    if wrong:
        raise DeclarationError(Problem(f"must be a positive number, not {value!r}", "stiffness") for value in wrong)
    return sorted(float(value) for value in given)


def _row(
    space: ConfigurationSpace,
    stiffness: float,
    motion: Trajectory,
    rigid: Trajectory,
    before: float,
    taken: HalfBranch | None,
    smooth: HalfBranch | None,
) -> RealisationRow:
    end = min(motion.t, rigid.t)
    t = np.linspace(motion.t_start, end, _SAMPLES)
    q, v = motion.sample(t)
    apart = np.linalg.norm(q - rigid.sample(t)[0], axis=1)
    violation = space.dynamics.kinematics(q, v, t=t)["constraint"]
    energy = motion.energy()
    scale = max(abs(energy.initial), abs(energy.final))
    return RealisationRow(
        stiffness=stiffness,
        violation=float(np.max(np.abs(violation))),
        distance_to_space=float(np.max(space.distances(q[:: _SAMPLES // _PLACES]))),
        distance_before=float(np.max(apart[t <= before])),
        distance_at_end=float(apart[-1]),
        branch="" if taken is None else taken.label,
        is_smooth=None if taken is None or smooth is None else taken.label == smooth.label,
        energy_drift=abs(energy.residual) / scale if scale > 0.0 else abs(energy.residual),
        n_steps=sum(len(arc.knots) - 1 for arc in motion.arcs),
        motion=motion,
    )
