"""What a compliant contact does from touch to release: phases, impulses, work, and samples along the way.

The same of one contact, for plots: forces, velocities and penetration over fast time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.modes import ElementKind
from hybrid.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.contact.modes import ActiveElement
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State

__all__ = [
    "Array",
    "CompliantMotion",
    "CompliantPath",
    "CompliantPhase",
    "CompliantSamples",
    "ContactHistory",
    "check_samples",
    "histories_of_motion",
    "histories_of_path",
    "joined_samples",
    "linear_samples",
    "times_to_stick",
]

MAX_SAMPLES = 100_000
"""Of a phase: tens of megabytes, and more than any plot shows."""


def check_samples(samples: int) -> None:
    """Refuse what is no number of samples of a phase.

    Parameters
    ----------
    samples : int

    Raises
    ------
    ArgumentError
        It is below 0 or above ``MAX_SAMPLES``.
    """
    if not 0 <= samples <= MAX_SAMPLES:
        raise ArgumentError(f"samples must be from 0 to {MAX_SAMPLES}")


@attrs.frozen(eq=False)
class ContactHistory:
    """Samples of one compliant contact over fast time ``s = sqrt(K) t``.

    Attributes
    ----------
    s : array, (N,)
    penetration : array, (N,)
        Stretched, ``-sqrt(K) gap``; a velocity times a fast time.
    gap_dot : array, (N,)
    slip : array, (N, d)
    force_N : array, (N,)
        Divided by ``sqrt(K)``.
    force_T : array, (N, d)
    impulse_N : array, (N,)
    impulse_T : array, (N, d)
    """

    s: NDArray[np.float64]
    penetration: NDArray[np.float64]
    gap_dot: NDArray[np.float64]
    slip: NDArray[np.float64]
    force_N: NDArray[np.float64]
    force_T: NDArray[np.float64]
    impulse_N: NDArray[np.float64]
    impulse_T: NDArray[np.float64]


def _history(samples: CompliantSamples, contact: int, normal: int, tangential: Sequence[int]) -> ContactHistory:
    rows = list(tangential)
    return ContactHistory(
        s=samples.s,
        penetration=-samples.Y[:, contact],
        gap_dot=samples.gamma[:, normal],
        slip=samples.gamma[:, rows],
        force_N=samples.force[:, normal],
        force_T=samples.force[:, rows],
        impulse_N=samples.impulse[:, normal],
        impulse_T=samples.impulse[:, rows],
    )


def histories_of_motion(samples: CompliantSamples, dynamics: Dynamics) -> dict[str, ContactHistory]:
    """Histories of all contacts of a motion of finite stiffness.

    Parameters
    ----------
    samples : CompliantSamples
        With the rows of the mechanism: normal ones of all contacts, then tangential ones.
    dynamics : Dynamics

    Returns
    -------
    dict of str to ContactHistory
    """
    k, found = len(dynamics.contacts), {}
    for index, name in enumerate(dynamics.contacts):
        columns = dynamics.columns.get(name, slice(0, 0))
        found[name] = _history(samples, index, index, range(k + columns.start, k + columns.stop))
    return found


def histories_of_path(samples: CompliantSamples, elements: Sequence[ActiveElement]) -> dict[str, ContactHistory]:
    """Histories of all contacts of a compliant limit.

    Parameters
    ----------
    samples : CompliantSamples
        With the rows of the problem.
    elements : sequence of ActiveElement
        Force elements of the problem.

    Returns
    -------
    dict of str to ContactHistory
        Of its contacts; rigid constraints with friction have none.
    """
    return {
        element.name: _history(samples, index, element.rows[0], element.tangential)
        for index, element in enumerate(elements)
        if element.kind is ElementKind.CONTACT  # they come before the rigid constraints with friction
    }


def times_to_stick(phases: Sequence[tuple[str, float]], contacts: Sequence[str]) -> Mapping[str, float]:
    """Fast time after which each contact sticks first, of those that do.

    Parameters
    ----------
    phases : sequence of (str, float)
        Labels, ``"stick"`` or ``"a=stick,b=free"``, and durations.
    contacts : sequence of str
        Names, to which a label without a name belongs if there is but one.

    Returns
    -------
    mapping of str to float
        Infinite after the departure from rest of an impact without collision.

    Examples
    --------
    >>> times_to_stick([("slide+", 0.5), ("stick", 1.5)], ["tip"])
    {'tip': 0.5}
    >>> times_to_stick([("a=stick,b=slide-", 0.5), ("a=stick,b=stick", 1.5)], ["a", "b"])
    {'a': 0.0, 'b': 0.5}
    """
    found: dict[str, float] = {}
    passed = [0.0]
    for _, duration in phases:
        passed.append(passed[-1] + duration)
    for (label, _), begin in zip(phases, passed, strict=False):
        for part in label.split(","):
            name, _, kind = part.rpartition("=")
            if kind == "stick":
                found.setdefault(name or contacts[0], begin)
    return found


Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class CompliantPhase:
    """One phase of a compliant impact.

    Attributes
    ----------
    kind : str
        ``"slide+"``, ``"slide-"``, ``"slide"`` (spatial), ``"stick"``, ``"closed"`` (without friction), or for several
        contacts the label of each, ``"a=stick,b=free"``.
    impulse_N : float
        Normal impulse, summed over the contacts.
    duration : float
        In fast time, sqrt(kg); infinite for the departure from rest of an impact without collision.
    work_N, work_T : float
        Work of the normal and the tangential forces.
    """

    kind: str
    impulse_N: float
    duration: float
    work_N: float
    work_T: float


@attrs.frozen(eq=False)
class CompliantSamples:
    """Samples along a path in fast time, for plots.

    Attributes
    ----------
    s : array, (N,)
        Fast time ``sqrt(K) t``.
    Y : array, (N, k)
        Stretched gap of every contact ``sqrt(K) gap``; negative in penetration.
    gamma, force, impulse : array, (N, r)
        Contact velocities, forces divided by ``sqrt(K)``, and impulses, by row of the problem.
    """

    s: Array
    Y: Array
    gamma: Array
    force: Array
    impulse: Array


@attrs.frozen(eq=False)
class CompliantPath:
    """The limit of an impact of compliant contacts as their stiffness tends to infinity.

    Attributes
    ----------
    gamma_before, gamma_after, impulse : array, (r,)
        Contact velocities and impulses by row of the problem.
    phases : tuple of CompliantPhase
        None if there is no impact.
    slip_min : float or None
        Least slip speed met while the slip of a spatial contact turned.
    warnings : tuple of str
    samples : CompliantSamples or None
    """

    gamma_before: Array
    gamma_after: Array
    impulse: Array
    phases: tuple[CompliantPhase, ...]
    slip_min: float | None = None
    warnings: tuple[str, ...] = ()
    samples: CompliantSamples | None = None

    @property
    def duration(self) -> float:
        """Fast time from touch to release, the sum over the phases."""
        return sum((phase.duration for phase in self.phases), 0.0)

    @property
    def work_N(self) -> float:
        """Work of the normal forces; negative, a loss in the dampers."""
        return sum((phase.work_N for phase in self.phases), 0.0)

    @property
    def work_T(self) -> float:
        """Work of friction, never positive."""
        return sum((phase.work_T for phase in self.phases), 0.0)


@attrs.frozen(eq=False)
class CompliantMotion:
    """The motion of a mechanism on compliant contacts.

    Attributes
    ----------
    state : State
        At its end.
    has_separated : bool
        True if every contact let go and none came back; False if the horizon, or the end of the effort, came first.
    label : str
        What the contacts do at the end, as a mode: ``"free"``, ``"stick"``, ``"tip=slide+,wall=free"``.
    phases : tuple of (str, float)
        What the contacts did, with durations in fast time ``sqrt(K) t``.
    force_N, impulse_N : mapping of str to float
        Normal forces at the end, and normal impulses; of contacts and of rigid constraints with friction.
    impulse_T : mapping of str to tuple of float
    gap_dot_after : mapping of str to float
    slip_after : mapping of str to tuple of float
    energy_change : float
        Of the kinetic energy.
    work_T : float
        Work of friction.
    samples : CompliantSamples or None
        Rows are the normal ones of all contacts, then the tangential ones; impulses of rigid constraints with friction
        come last.
    is_cut : bool
        True if the run was ended because its effort was spent.
    posture_change : float
        Largest change of the Delassus operator of the contacts on the way, relative to the one at the start: the limit
        of infinite stiffness is at frozen position and neglects it.
    """

    state: State
    has_separated: bool
    label: str
    phases: tuple[tuple[str, float], ...]
    force_N: Mapping[str, float]
    impulse_N: Mapping[str, float]
    impulse_T: Mapping[str, tuple[float, ...]]
    gap_dot_after: Mapping[str, float]
    slip_after: Mapping[str, tuple[float, ...]]
    energy_change: float
    work_T: float
    samples: CompliantSamples | None = None
    is_cut: bool = False
    posture_change: float = 0.0

    @property
    def duration(self) -> float:
        """Fast time from start to end."""
        return sum((duration for _, duration in self.phases), 0.0)


def linear_samples(
    A: float,
    d: float,
    start: tuple[float, float],
    duration: float,
    rates: NDArray[np.float64],
    ratio: NDArray[np.float64],
    n: int,
) -> CompliantSamples:
    """Sample a phase in which the force keeps its direction.

    Parameters
    ----------
    A, d : float
        Inertia factor and damping.
    start : tuple of float
        Penetration and normal velocity at its start.
    duration : float
    rates : array, (r,)
        Change of the contact velocities per normal impulse.
    ratio : array, (r,)
        Impulses per normal impulse.
    n : int
        Number of samples.

    Returns
    -------
    CompliantSamples
        Velocities and impulses counted from the start of the phase; the caller adds where it starts from.
    """
    from hybrid.contact.compliance.linear import impulse_until, sampled

    s, w0 = np.linspace(0.0, duration, n), start[1]
    Y, w = sampled(A, d, start[0], w0, s)
    F = np.maximum(-Y - 2 * d * w, 0.0)
    # in closed form for every A: from w = w0 + A P it is lost where A P is rounding next to w0
    P = np.array([impulse_until(A, d, start[0], w0, float(time)) for time in s])
    return CompliantSamples(s, Y[:, None], P[:, None] * rates, F[:, None] * ratio, P[:, None] * ratio)


def joined_samples(parts: list[CompliantSamples]) -> CompliantSamples | None:
    """Samples of successive phases as one, given from one start.

    Parameters
    ----------
    parts : list of CompliantSamples

    Returns
    -------
    CompliantSamples or None
        None if there is no phase.
    """
    if not parts:
        return None
    names = [field.name for field in attrs.fields(CompliantSamples)]
    return CompliantSamples(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
