"""What compliant contacts do between two events: press or not, stick or slip.

Rigid bilateral constraints with friction beside compliant contacts: elements that are loaded by the other forces.

With all rigid constraints eliminated, the force of each of them is affine in the forces that are left, those of its own
friction among them: ``lambda_B = load + L F``. While it slides, ``lambda_T = -mu s sigma lambda_B`` with the sign ``s``
of its slip and ``sigma`` of its force, which is one linear equation more. A rough constraint is therefore a friction
element whose limit is ``mu abs(lambda_B)``; but that equation may have no solution, or several (Painleve's paradox).

Kinematics, inertia and forces of a mechanism on compliant contacts at one state.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.compliance.rest import DEPENDENT
from hybrid.contact.modes import ContactMode, Mode
from hybrid.errors import ComputationError
from hybrid.expressions import plain
from hybrid.tolerances import AGREEING, CLEAR, NOTHING, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hybrid.contact.compliance.path import Array

__all__ = [
    "NO_BILATERAL",
    "REMEDY",
    "STOPPED",
    "VANISHING",
    "BilateralContacts",
    "CompliantForces",
    "ContactStatus",
    "beyond_leaving",
    "bilateral_forces",
    "fast_time_rate",
    "has_stopped",
    "loads",
]


REMEDY = (
    "give it less friction, or let it give way: declare its stiffness in place of its friction, and a [[friction]] "
    "element of limit = friction*stiffness*abs(equation), which penalty runs follow"
)
"""What to do where a rigid bilateral constraint with friction has no force or several."""
STOPPED = AGREEING
"""Spatial slip at or below this share of the velocities has stopped; an impulse removes the rest."""
VANISHING = ROUNDING
"""Share of the velocities that is rounding."""
_LEFT = CLEAR  # slip from rest keeps its first direction up to this share of the velocities


@attrs.define(eq=False)
class ContactStatus:
    """What each element does: whether it presses, the direction of its slip (None while it sticks), and if it leaves.

    Force elements are contacts, then friction elements and rough constraints, which always press. A planar direction is
    ``(1.0,)`` or ``(-1.0,)``; that of a spatial contact is the one in which its slip began. A spatial contact leaves
    rest while its slip is too small to have a direction of its own. The force of a rough constraint that slides has the
    sign ``side``.
    """

    presses: list[bool]
    slip: list[tuple[float, ...] | None]
    leaves: list[bool]
    side: list[float]

    @classmethod
    def open(cls, count: int) -> ContactStatus:
        """Force elements that do nothing."""
        return cls([False] * count, [None] * count, [False] * count, [1.0] * count)

    def copy(self) -> ContactStatus:
        """An independent copy."""
        return ContactStatus(list(self.presses), list(self.slip), list(self.leaves), list(self.side))

    def begin_slip(self, index: int, direction: tuple[float, ...] | None) -> None:
        """Let a contact at rest slip, or stick with None."""
        self.slip[index] = direction
        self.leaves[index] = direction is not None and len(direction) == 2

    def resting(self, sizes: Sequence[int]) -> list[int]:
        """Force elements with friction that press and do not slip; ``sizes`` are their tangential dimensions."""
        return [i for i, size in enumerate(sizes) if size and self.presses[i] and self.slip[i] is None]

    def rotating(self, sizes: Sequence[int]) -> list[int]:
        """Spatial contacts whose slip turns."""
        return [
            i for i, size in enumerate(sizes)
            if size == 2 and self.presses[i] and self.slip[i] is not None and not self.leaves[i]
        ]  # fmt: skip

    def direction(self, index: int, slip: NDArray[np.float64]) -> NDArray[np.float64]:
        """Direction of the slip of a contact that slips: its own, unless it is planar or only leaves rest."""
        own = len(slip) == 2 and not self.leaves[index] and np.any(plain(slip))
        return np.asarray(slip / np.linalg.norm(slip)) if own else np.array(self.slip[index])

    def label(self, names: Sequence[str], sizes: Sequence[int]) -> str:
        """The label of the mode, as of the rigid problem: ``"a=stick,b=free"``."""
        modes = {
            name: ContactMode.of_slip(direction, size) if presses else ContactMode.FREE
            for name, presses, direction, size in zip(names, self.presses, self.slip, sizes, strict=True)
        }
        return Mode(modes).label


def has_stopped(slip: NDArray[np.float64], speed: float) -> bool:
    """True if a slip is too small, next to the velocities, to have a direction: the same at its start and its end.

    Parameters
    ----------
    slip : array, (1,) or (2,)
        Slip velocity of one contact.
    speed : float
        Size of the velocities, in the same unit.

    Returns
    -------
    bool
    """
    return bool(np.linalg.norm(slip) <= (STOPPED if len(slip) == 2 else VANISHING) * speed)


def beyond_leaving(slip: NDArray[np.float64], speed: float) -> float:
    """Quantity that is positive once a slip that began at rest is large enough to have its own direction.

    Parameters
    ----------
    slip : array, (2,)
        Slip velocity of one contact.
    speed : float
        Size of the velocities, in the same unit, next to which it is large enough.

    Returns
    -------
    float
        In the unit of the velocities.
    """
    return float(np.linalg.norm(slip)) - _LEFT * speed


def fast_time_rate(slips: Sequence[NDArray[np.float64]], speed: float) -> float:
    """Rate of fast time while spatial slips turn: their speeds, so that each dies out exponentially (Batlle 1996).

    Parameters
    ----------
    slips : sequence of array, (2,)
        Slip velocities that turn.
    speed : float
        Size of the velocities.

    Returns
    -------
    float
        1 if none turns.
    """
    sizes = [float(np.linalg.norm(slip)) for slip in slips]
    if not sizes:
        return 1.0
    return 0.0 if min(sizes) == 0.0 else 1.0 / sum(speed / size for size in sizes)


_UNDETERMINED = 1e-8  # by which a force differs from itself where constraints are redundant; rounding makes 1e-12
_ROUNDING = AGREEING  # share of what loads a constraint: its force has the other sign beyond it
_PARADOX = NOTHING  # share of its value without friction at which the coefficient of a sliding force has vanished
_MOST = 12  # sliding constraints, of which all combinations of signs are tried


@attrs.frozen(eq=False)
class BilateralContacts:
    """The rough constraints at one state, and what loads them.

    Attributes
    ----------
    names : tuple of str
    first : int
        Number of the first one among the force elements.
    rows : tuple of int
        Tangential row of each among the forces.
    friction : array, (m,)
    load : array, (m,)
        Forces of the constraints without contact forces.
    L : array, (m, r)
        Their forces per unit of every other.
    """

    names: tuple[str, ...]
    first: int
    rows: tuple[int, ...]
    friction: Array
    load: Array
    L: Array

    def normal(self, forces: Array) -> Array:
        """Forces of the constraints, (m,), under the others, (r,)."""
        return np.asarray(self.load + self.L @ forces) if self.names else self.load

    def bounds(self, forces: Array) -> Array:
        """Largest friction forces, (m,)."""
        return np.asarray(self.friction * np.abs(self.normal(forces)))

    def sliding(self, status: ContactStatus) -> list[int]:
        """Those that slide, by number among the constraints."""
        return [j for j in range(len(self.names)) if status.slip[self.first + j] is not None]

    def margins(self, force: float) -> Array:
        """What is rounding of the forces of the constraints, (m,), where contact forces have the size ``force``."""
        sizes = np.max(np.abs(self.L), axis=1, initial=0.0)
        return VANISHING * (force or 1.0) * np.where(sizes > 0.0, sizes, 1.0)

    def in_words(self, which: Sequence[int] | None = None) -> str:
        """What those are that have any friction, with their names: the beginning of every refusal."""
        among = range(len(self.names)) if which is None else which
        picked = [self.names[j] for j in among if self.friction[j]]
        one = len(picked) == 1
        kind = "a rigid bilateral constraint" if one else "rigid bilateral constraints"
        return f"{', '.join(picked)}: {kind} with friction"

    def factor(self, G: Array, held: Sequence[int], status: ContactStatus) -> float:
        """What friction leaves of the coefficient of the forces of the sliding constraints, 1 without it.

        The equation ``lambda + D abs(lambda) = b`` has exactly one solution for every ``b`` if and only if the
        determinants of ``1 + D diag(sigma)`` have one sign for all signs ``sigma``: the pieces of the map then keep
        its orientation (Rohn 1989). Without friction it is positive; this is the least of them.

        Parameters
        ----------
        G : array, (r, r)
        held : sequence of int
            Tangential rows of force elements at rest.
        status : ContactStatus

        Returns
        -------
        float

        Raises
        ------
        ComputationError
            Too many slide at once.
        """
        slides = self.sliding(status)
        if len(slides) > _MOST:
            raise ComputationError(f"{self.in_words(slides)} slide at once; no more than {_MOST} are decided")
        if not slides:
            return 1.0
        drag, h = _drag(self, status, slides, sided=False), list(held)
        given = drag - np.eye(len(G))[:, h] @ (np.linalg.pinv(G[np.ix_(h, h)], hermitian=True) @ (G[h] @ drag))
        D = -self.L[slides] @ given
        signs = np.array(list(product((1.0, -1.0), repeat=len(slides))))
        return float(np.min(np.linalg.det(np.eye(len(slides)) + D * signs[:, None, :])))

    def check(self, factor: float, status: ContactStatus) -> None:
        """Raise ComputationError where the factor says that sliding constraints may have no forces, or several."""
        if factor <= _PARADOX:
            raise ComputationError(
                f"{self.in_words(self.sliding(status))} so large that its own force has no value or several while it "
                f"slides (Painleve's paradox of the constraint itself: the factor of its force, 1 without friction, is "
                f"{factor:.3g}), which a surface that gives way elsewhere does not decide; {REMEDY}"
            )

    def verify(self, forces: Array, status: ContactStatus, force: float) -> None:
        """Raise ComputationError where the force of a sliding constraint has not the sign that was taken."""
        normal, slides = self.normal(forces), self.sliding(status)
        if not slides:
            return
        sizes = _ROUNDING * (np.abs(self.load) + np.abs(self.L) @ np.abs(forces)) + 10 * self.margins(force)
        if lost := [j for j in slides if status.side[self.first + j] * normal[j] < -sizes[j]]:
            raise ComputationError(f"{self.in_words(lost)}: the sign of its force could not be followed")


NO_BILATERAL = BilateralContacts((), 0, (), np.zeros(0), np.zeros(0), np.zeros((0, 0)))
"""Of a mechanism without rough constraints."""


def loads(mobility: Array, driven: Array, rough: Sequence[int], names: tuple[str, ...], friction: Array) -> Array:
    """Forces of rough constraints that keep them, (m, c), where each column of ``driven`` would accelerate them.

    Parameters
    ----------
    mobility : array, (b, b)
        ``J M^-1 J^T`` over all rigid constraints.
    driven : array, (b, c)
        Their accelerations without their forces.
    rough : sequence of int
        Rows of those with friction.
    names : tuple of str
        Of those.
    friction : array, (m,)
        Of those; without it their force has no consequence.

    Returns
    -------
    array, (m, c)

    Raises
    ------
    ComputationError
        Constraints are redundant, and how they share their load, which their friction depends on, is not determined.

    Examples
    --------
    >>> loads(np.array([[0.5]]), np.array([[-1.0]]), [0], ("rail",), np.array([0.2])).tolist()
    [[2.0]]
    """
    inverse = np.linalg.pinv(mobility, rcond=DEPENDENT, hermitian=True)
    picked = list(rough)
    shares = (inverse @ mobility)[picked] - np.eye(len(mobility))[picked]
    sizes = np.where(friction > 0.0, np.max(np.abs(shares), axis=1, initial=0.0), 0.0)
    loose = [name for name, size in zip(names, sizes, strict=True) if size > _UNDETERMINED]
    if loose:
        raise ComputationError(
            f"{', '.join(loose)}: constraints with friction that are redundant here: how they share the load, on which "
            f"their friction depends, is not determined; {REMEDY}"
        )
    return np.asarray(-inverse[picked] @ driven)


def _drag(bilateral: BilateralContacts, status: ContactStatus, slides: Sequence[int], *, sided: bool) -> Array:
    """Forces, (r, p), per unit force of each sliding constraint; of unit magnitude of it unless ``sided``."""
    drag = np.zeros((bilateral.L.shape[1], len(slides)))
    for column, j in enumerate(slides):
        slip, side = status.slip[bilateral.first + j], status.side[bilateral.first + j]
        drag[bilateral.rows[j], column] = -bilateral.friction[j] * (slip or (0.0,))[0] * (side if sided else 1.0)
    return drag


def bilateral_forces(
    G: Array, free: Array, bilateral: BilateralContacts, known: Array, held: Sequence[int], status: ContactStatus
) -> Array:
    """All forces by row, where some force elements are held and rough constraints slide with their side and direction.

    Parameters
    ----------
    G, free : array, (r, r) and (r,)
    bilateral : BilateralContacts
    known : array, (r,)
        Forces that are given; zero in the rows of constraints and of what is held.
    held : sequence of int
        Tangential rows of force elements at rest; where they are redundant, the least forces that hold them.
    status : ContactStatus

    Returns
    -------
    array, (r,)
    """
    slides, h = bilateral.sliding(status), list(held)
    drag, L = _drag(bilateral, status, slides, sided=True), bilateral.L[slides]
    # rows of accelerations next to rows of forces: both of unit size
    p, rows = len(slides), G[h]
    size = float(np.max(np.abs(rows[:, h]))) or 1.0 if h else 1.0
    system = np.empty((p + len(h), p + len(h)))
    system[:p, :p], system[:p, p:] = np.eye(p) - L @ drag, -L[:, h]
    system[p:, :p], system[p:, p:] = rows @ drag / size, rows[:, h] / size
    given = np.concatenate([bilateral.load[slides] + L @ known, -(free[h] + rows @ known) / size])
    if len(system) == 1 and system[0, 0]:
        found = given / system[0]
    else:
        found = np.linalg.lstsq(system, given, rcond=DEPENDENT)[0]
    forces = known + drag @ found[:p]
    forces[h] += found[p:]
    return np.asarray(forces)


@attrs.frozen(eq=False)
class CompliantForces:
    """Kinematics, inertia and forces at one state.

    Attributes
    ----------
    gap, gap_dot, slip : array, (k,), (k,), (p,)
    potential : array, (k,)
        ``-K gap - 2 d sqrt(K) gap_dot``: the normal force where a contact presses.
    damper : array, (k,)
        Force per velocity, ``2 d sqrt(K)``.
    a_free, response : array, (n,) and (n, k + p)
        Acceleration without contact forces, and per unit force.
    G, free : array, (k + p, k + p) and (k + p,)
        Delassus operator and contact accelerations without contact forces.
    friction, static_friction : array, (k,)
    limit, static_limit : array, (e,)
        Largest friction forces of the friction elements.
    forces : array, (k + p,)
    bilateral : BilateralContacts
        The rigid constraints with friction.
    """

    gap: Array
    gap_dot: Array
    slip: Array
    potential: Array
    damper: Array
    a_free: Array
    response: Array
    G: Array
    free: Array
    friction: Array
    static_friction: Array
    limit: Array
    static_limit: Array
    forces: Array
    bilateral: BilateralContacts

    @property
    def given_bound(self) -> Array:
        """Largest friction forces of contacts and elements while they slip, (k + e,)."""
        return np.concatenate([self.friction * self.potential, self.limit])

    @property
    def holds(self) -> Array:
        """Largest friction force of every force element while it sticks, (k + e + m,)."""
        given = [self.static_friction * self.potential, self.static_limit]
        return np.concatenate([*given, self.bilateral.bounds(self.forces)] if self.bilateral.names else given)

    def under(self, normal: Array, free: Array, *, limited: bool = True) -> CompliantForces:
        """The same state under other normal forces; ``limited=False`` leaves friction elements and other loads out."""
        if limited:
            return attrs.evolve(self, potential=normal, free=free)
        bilateral = attrs.evolve(self.bilateral, load=0 * self.bilateral.load)
        limits = {"limit": 0 * self.limit, "static_limit": 0 * self.static_limit}
        return attrs.evolve(self, potential=normal, free=free, bilateral=bilateral, **limits)

    @property
    def acceleration(self) -> Array:
        """Generalised accelerations, (n,)."""
        return np.asarray(self.a_free + self.response @ self.forces)

    def slip_power(self) -> Any:
        """Power of the tangential forces."""
        return self.forces[len(self.gap) :] @ self.slip
