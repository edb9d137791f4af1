"""Singular configurations: what kind they are and which smooth branches of motion pass through them.

How closely branches touch: the lost constraint along the curve on which it is stationary across their tangent.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.dynamics.configuration import LOST
from hybrid.dynamics.lost_constraints import lost_at, placed
from hybrid.tolerances import AGREEING, LAST_PLACE, NEARLY, NOTHING, RESOLVED, SQUARED, SUMMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.dynamics.configuration import ConfigurationSpace
    from hybrid.dynamics.lost_constraints import LostConstraints

__all__ = ["SingularPoint", "SingularityKind", "SmoothBranch", "Spine", "classify_configuration", "spine_of"]


Array = NDArray[np.float64]

_NODES = 21
_DEGREE = 10
_LEADING = 1e-2  # the leading term dominates on a short curve; what is below this share of it is of higher or no order
_PLACED = SQUARED  # of the curve's half length: the point is found when it moves by less
_APART = AGREEING  # share of the leading term above which a lower one is no misplaced point (its square)
_ROUNDS = 8
_ITERATIONS = 40


@attrs.frozen(eq=False)
class Spine:
    """The curve on which a lost constraint is stationary across a degenerate direction (splitting lemma).

    Attributes
    ----------
    q : array, (n,)
        The singular point on it.
    along : array, (n,)
        Its tangent.
    points : array, (7, n)
        Its postures as a polynomial in the length along the tangent.
    power : int
        ``p`` of the constraint's growth ``e s^p`` along it.
    ratio : float
        ``e / a`` with the growth ``a r^2`` across it: branches lie at ``r^2 = -(e/a) s^p``.
    """

    q: Array
    along: Array
    points: Array
    power: int
    ratio: float

    def at(self, s: float) -> Array:
        """The posture at a length along the tangent."""
        return np.asarray(polynomial.polyval(s, self.points))


def spine_of(space: ConfigurationSpace, q: Array, w: Array, rank: int, along: Array, across: Array) -> Spine | None:
    """The stationary curve through a degenerate singular point, and the point placed on it.

    Parameters
    ----------
    space : ConfigurationSpace
    q : array, (n,)
        Near the singular point.
    w : array, (m,)
        The lost combination of constraints.
    rank : int
        Number of constraints that stay independent.
    along, across : array, (n,)
        Zero direction of the quadratic form, and the other one.

    Returns
    -------
    Spine or None
    """
    half = space.reach
    s = half * np.cos((2 * np.arange(_NODES) + 1) * np.pi / (2 * _NODES))
    curvature = float(w @ space.curvature(q, across) @ across) / 2
    first: tuple[Array, Array, Array] | None = None
    for _ in range(_ROUNDS):
        postures = [_stationary(space, q, w, rank, along, across, float(length)) for length in s]
        if any(posture is None for posture in postures):
            return None
        values = np.array([float(w @ space.values(posture)) for posture in postures if posture is not None])
        growth = polynomial.polyfit(s / half, values, _DEGREE)
        sizes = np.abs(growth)
        power = int(np.argmax(sizes > _LEADING * sizes.max()))
        if sizes.max() == 0.0 or power > _DEGREE - 2:
            return None
        points = polynomial.polyfit(s, np.array(postures), 6)
        first = first or (q, points, growth)
        # completing the power: (s - c)^p = s^p - p c s^(p-1) + ...
        shift = -float(growth[power - 1]) / (power * float(growth[power])) if power else 1.0
        if power < 2 or abs(shift) > 0.5:
            return None
        q = np.asarray(polynomial.polyval(shift * half, points))
        if abs(shift) <= _PLACED:
            if np.max(sizes[: power - 1]) > _APART * sizes[power]:  # not all roots of the growth lie at one point
                q, points, growth = first
                power = int(np.argmax(np.abs(growth) > _APART * np.max(np.abs(growth))))
            if power < 2:
                return None
            return Spine(q, along, points, power, float(growth[power]) / half**power / curvature)
    return None


def _stationary(
    space: ConfigurationSpace, q: Array, w: Array, rank: int, along: Array, across: Array, s: float
) -> Array | None:
    """The posture at a length ``s`` along the tangent where the lost constraint is stationary across it."""
    x = np.asarray(q + s * along)
    for _ in range(_ITERATIONS):
        left = np.linalg.svd(space.jacobian(x))[0]
        kept = left[:, :rank].T
        rows = np.vstack([kept @ space.jacobian(x), along])
        free = np.linalg.svd(rows)[2][rank + 1 :]  # what may vary: the kernel but the tangent
        free = free[np.argmax(np.abs(free @ across))]
        slope = float(w @ space.jacobian(x) @ free)
        bend = w @ space.curvature(x, free)
        system = np.vstack([rows, bend])
        residual = np.concatenate([kept @ space.values(x), [float(along @ (x - q)) - s], [slope]])
        change, *_ = np.linalg.lstsq(system, residual, rcond=None)
        if not np.isfinite(change).all():
            return None
        x = np.asarray(x - change)
        if np.max(np.abs(change)) <= SUMMED * (1.0 + np.max(np.abs(x))):
            return x
    return x if np.max(np.abs(change)) <= RESOLVED else None


_DASH = "'"
# Size below which components of q, a tangent, a curvature are shown as 0, as a share of the largest of them, or of what
# follows if that is larger.
_SHOWN = (NOTHING, NOTHING, NEARLY)
_LARGE = (1.0, 1.0, NEARLY)
_TRACED = 0.2  # share of the reach at which a branch's curvature is read off


class SingularityKind(Enum):
    """How the configuration space looks at a singular point; the value is the word shown."""

    TRANSVERSAL = "transversal crossing"
    TANGENCY = "tangency"
    CUSP = "cusp"
    ISOLATED = "isolated point"
    CONE = "cone"
    UNDECIDED = "of undecided kind"


@attrs.frozen(eq=False)
class SmoothBranch:
    """A smooth curve of postures through a singular point: ``q + s tangent + s^2 curvature / 2``.

    Attributes
    ----------
    tangent : array, (n,)
        Unit vector; its first component that is not zero is positive.
    curvature : array, (n,)
        Second derivative by the length ``s``; NaN where it could not be traced.
    """

    tangent: Array
    curvature: Array

    def at(self, q: Array, s: float) -> Array:
        """Posture at a small length from the singular point, to second order.

        Parameters
        ----------
        q : array, (n,)
            The singular point.
        s : float
            Length along the tangent, in units of the coordinates.

        Returns
        -------
        array, (n,)
        """
        bend = np.where(np.isfinite(self.curvature), self.curvature, 0.0)
        return np.asarray(q + s * self.tangent + s * s * bend / 2)


@attrs.frozen(eq=False)
class SingularPoint:
    """A posture at which rigid constraints become dependent.

    Attributes
    ----------
    q : array, (n,)
    t : float
        Time in s, for constraints that depend on it.
    kind : SingularityKind
    branches : tuple of SmoothBranch
        Two for a crossing or a tangency, one for a cusp (it ends there), none for an isolated point or a cone.
    rank, regular_rank : int
        Independent constraints there, and nearby.
    kernel : array, (n, d)
        Orthonormal basis of the velocities that the constraints allow to first order.
    forms : array, (k, d, d)
        Quadratic forms of the k lost constraints on the kernel: their common zeros are the tangents of the branches.
    order : int
        Order of contact of two branches: 1 if they cross, 2 and more if they touch; 0 where there are none.
    coordinates : tuple of str
    note : str
        Why the kind is undecided.
    """

    q: Array
    t: float
    kind: SingularityKind
    branches: tuple[SmoothBranch, ...]
    rank: int
    regular_rank: int
    kernel: Array
    forms: Array
    order: int
    coordinates: tuple[str, ...]
    note: str = ""

    def describe(self) -> str:
        """The point and its branches in one sentence.

        Returns
        -------
        str
        """
        text = f"{self.kind.value} of the configuration space at {_named(self.coordinates, self.q)}"
        tangents = [f"({_named(self.coordinates, branch.tangent, order=1)})" for branch in self.branches]
        if self.kind is SingularityKind.TANGENCY:
            bends = " and ".join(f"({_named(self.coordinates, b.curvature, order=2)})" for b in self.branches)
            text += f": two branches along {tangents[0]} with contact of order {self.order}, curvatures {bends}"
        elif tangents:
            text += f": {'branches' if len(tangents) > 1 else 'a branch'} along {' and '.join(tangents)}"
        return text + (f": {self.note}" if self.note else "")


def _named(names: Sequence[str], values: Array, *, order: int = 0) -> str:
    """Values by name, with so many dashes for derivatives; what is small next to the others is rounding."""
    size = float(np.max(np.abs(values), initial=0.0))
    clean = np.where(np.abs(values) <= _SHOWN[order] * max(size, _LARGE[order]), 0.0, values)
    return ", ".join(f"{name}{order * _DASH} = {value + 0.0:.6g}" for name, value in zip(names, clean, strict=True))


@checks_arguments
def classify_configuration(space: ConfigurationSpace, q: Array, *, lost: float = LOST) -> SingularPoint | None:
    """The kind of a posture of the configuration space, by the constraint that is lost there.

    To second order the space is the zero set of the lost constraint's quadratic form on the velocities that the other
    constraints allow. In two such directions an indefinite form has two lines: branches cross. A definite one has
    none: the point is isolated. Where the form has a zero direction, the constraint along the curve on which it is
    stationary across that direction grows like ``e s^p`` (splitting lemma): with ``p`` even, branches touch
    or the point is isolated; with ``p`` odd there is a cusp (Arnold, Gusein-Zade and Varchenko 1985, chapter 11).

    Parameters
    ----------
    space : ConfigurationSpace
    q : array, (n,)
        A posture of the space.
    lost : float
        A singular value of the Jacobian below this share of its size nearby counts as lost.

    Returns
    -------
    SingularPoint or None
        None where the constraints keep their rank.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.dynamics.configuration import ConfigurationSpace
    >>> pendulum = derive(mechanisms.load("singular_pendulum"))
    >>> for b in (3, 2, 1.8):
    ...     found = classify_configuration(ConfigurationSpace(pendulum.at({"b": b})), np.zeros(2))
    ...     print(b, found.kind.value, len(found.branches))
    3 transversal crossing 2
    2 tangency 2
    1.8 isolated point 0
    """
    q = np.array(q, dtype=float)
    regularity = space.regularity(q, lost=lost)
    if not regularity.is_singular:
        return None
    rank, missing = regularity.rank, regularity.regular_rank - regularity.rank
    there = placed(space, q, rank) if missing == 1 else lost_at(space, q, rank)
    point = SingularPoint(
        q=there.q,
        t=space.t,
        kind=SingularityKind.UNDECIDED,
        branches=(),
        rank=rank,
        regular_rank=regularity.regular_rank,
        kernel=there.kernel,
        forms=there.forms,
        order=0,
        coordinates=space.dynamics.mechanism.coordinates,
    )
    if not len(there.forms):
        return attrs.evolve(point, note="the lost constraint vanishes to second order")
    lost_at_once = max(missing, len(there.forms))
    if lost_at_once > 1 and not there.is_definite:
        return attrs.evolve(point, note=f"{lost_at_once} constraints are lost at once")
    return _by_form(space, point, there, rank)


def _by_form(space: ConfigurationSpace, point: SingularPoint, lost: LostConstraints, rank: int) -> SingularPoint:
    """One constraint is lost: its form tells the branches, or the growth along its zero direction does."""
    axes, flat = lost.axes[0], lost.flat[0]
    if not flat.any():
        return _nondegenerate(space, point, lost)
    if len(flat) != 2 or flat.all():
        return attrs.evolve(point, note=f"its quadratic form in {len(flat)} directions is degenerate")
    along = _oriented(axes[:, int(np.argmax(flat))])
    first, second = along @ lost.kernel
    aside = lost.kernel @ np.array([-second, first])
    spine = spine_of(space, lost.q, lost.combinations[:, 0], rank, along, aside)
    return _by_spine(space, point if spine is None else attrs.evolve(point, q=spine.q), spine, along, aside)


def _nondegenerate(space: ConfigurationSpace, point: SingularPoint, lost: LostConstraints) -> SingularPoint:
    values, axes = lost.values[0], lost.axes[0]
    if lost.is_definite:
        return attrs.evolve(point, kind=SingularityKind.ISOLATED)
    if len(values) > 2:
        note = f"its tangents fill a cone in {len(values)} directions"
        return attrs.evolve(point, kind=SingularityKind.CONE, note=note)
    return _crossing(space, point, axes[:, 0], np.sqrt(-values[0] / values[1]) * axes[:, 1])


def _crossing(space: ConfigurationSpace, point: SingularPoint, along: Array, aside: Array) -> SingularPoint:
    branches = [_traced(space, point.q, along + sign * aside) for sign in (1.0, -1.0)]
    branches.sort(key=lambda branch: tuple(np.round(branch.tangent, 9)), reverse=True)
    return attrs.evolve(point, kind=SingularityKind.TRANSVERSAL, branches=tuple(branches), order=1)


def _by_spine(
    space: ConfigurationSpace, point: SingularPoint, spine: Spine | None, along: Array, across: Array
) -> SingularPoint:
    if spine is None:
        return attrs.evolve(point, note="its branches could not be told apart to any order")
    if spine.power % 2:
        branch = SmoothBranch(_oriented(along), np.full(len(along), np.nan))
        return attrs.evolve(point, kind=SingularityKind.CUSP, branches=(branch,), order=spine.power // 2)
    if spine.ratio > 0:
        return attrs.evolve(point, kind=SingularityKind.ISOLATED)
    if spine.power == 2:
        return _crossing(space, point, spine.points[1], np.sqrt(-spine.ratio) * across)
    tangent = _oriented(along)
    h = _TRACED * space.reach
    branches = []
    for sign in (1.0, -1.0):
        offset = sign * np.sqrt(-spine.ratio) * h ** (spine.power // 2)
        ends = [_on_branch(space, spine, side * h, offset, along, across) for side in (1.0, -1.0)]
        bend = np.full(len(tangent), np.nan)
        if ends[0] is not None and ends[1] is not None:
            bend = (ends[0] - 2 * point.q + ends[1]) / h**2
        branches.append(SmoothBranch(tangent, bend))
    kind, order = SingularityKind.TANGENCY, spine.power // 2
    return attrs.evolve(point, kind=kind, branches=tuple(branches), order=order)


def _on_branch(
    space: ConfigurationSpace, spine: Spine, s: float, offset: float, along: Array, across: Array
) -> Array | None:
    """The posture of a branch at a length along the common tangent."""
    side = offset if spine.power % 4 == 0 else offset * np.sign(s)
    return space.nearest(spine.at(s) + side * across, hold=along)


def _oriented(direction: Array) -> Array:
    unit = direction / np.linalg.norm(direction)
    leading = float(unit[np.argmax(np.abs(unit) > NOTHING)])
    clean: Array = np.where(np.abs(unit) <= LAST_PLACE, 0.0, unit)
    return clean if leading > 0 else -clean


def _traced(space: ConfigurationSpace, q: Array, line: Array) -> SmoothBranch:
    """A branch with its curvature, from postures on both sides at two distances."""
    tangent = _oriented(line)
    bends = []
    for h in (_TRACED * space.reach, _TRACED * space.reach / 2):
        ends = [space.nearest(q + side * h * tangent, hold=tangent) for side in (1.0, -1.0)]
        if ends[0] is None or ends[1] is None:
            return SmoothBranch(tangent, np.full(len(tangent), np.nan))
        bends.append((ends[0] - 2 * q + ends[1]) / h**2)
    return SmoothBranch(tangent, (4 * bends[1] - bends[0]) / 3)
