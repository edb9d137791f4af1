"""Singular configurations: what kind they are and which smooth branches of motion pass through them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.configuration import LOST
from hybrid.dynamics.contact_order import Spine, spine_of
from hybrid.dynamics.quadratic_forms import common_zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid.dynamics.configuration import ConfigurationSpace

__all__ = ["SingularPoint", "SingularityKind", "SmoothBranch", "classify_configuration"]

Array = NDArray[np.float64]

_FLAT = 1e-4  # an eigenvalue of the quadratic form below this share of the largest counts as zero
_SAME_FORM = 1e-6  # relative size below which a further quadratic form adds no condition
_DASH = "'"
_SHOWN = (1e-9, 1e-9, 1e-3)  # size below which components of q, a tangent, a curvature are shown as 0, as a share of
_LARGE = (1.0, 1.0, 1e-3)  # the largest of them, or of this if that is larger
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
        """Posture at a small length from the singular point, to second order."""
        bend = np.where(np.isfinite(self.curvature), self.curvature, 0.0)
        return np.asarray(q + s * self.tangent + s * s * bend / 2)


@attrs.frozen(eq=False)
class SingularPoint:
    """A posture at which rigid constraints become dependent.

    Attributes
    ----------
    q : array, (n,)
    t : float
        Time, for constraints that depend on it.
    kind : SingularityKind
    branches : tuple of SmoothBranch
        Two for a crossing (up to four where two constraints are lost at once) or a tangency, one for a cusp (it ends
        there), none for an isolated point or a cone.
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
        """The point and its branches in one sentence."""
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


def classify_configuration(space: ConfigurationSpace, q: Array, *, lost: float = LOST) -> SingularPoint | None:
    """Classify a posture of the configuration space by the constraint that is lost there.

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
    ...     found = classify_configuration(ConfigurationSpace(pendulum, {"b": b}), np.zeros(2))
    ...     print(b, found.kind.value, len(found.branches))
    3 transversal crossing 2
    2 tangency 2
    1.8 isolated point 0
    """
    q = np.array(q, dtype=float)
    regularity = space.regularity(q, lost=lost)
    if not regularity.is_singular:
        return None
    left, _, right = np.linalg.svd(space.jacobian(q))
    kernel = right[regularity.rank :].T
    lost_ones = _lost_constraints(space, q, left[:, regularity.rank :], kernel)
    forms = np.array([_form(space, q, w, kernel) for w in lost_ones]).reshape(-1, kernel.shape[1], kernel.shape[1])
    point = SingularPoint(
        q=q,
        t=space.t,
        kind=SingularityKind.UNDECIDED,
        branches=(),
        rank=regularity.rank,
        regular_rank=regularity.regular_rank,
        kernel=kernel,
        forms=forms,
        order=0,
        coordinates=space.dynamics.mechanism.coordinates,
    )
    if not len(forms):
        return attrs.evolve(point, note="the lost constraint vanishes to second order")
    return _by_form(space, point, lost_ones[0]) if len(forms) == 1 else _by_forms(space, point)


def _form(space: ConfigurationSpace, q: Array, w: Array, kernel: Array) -> Array:
    rows = np.array([w @ space.curvature(q, direction) @ kernel for direction in kernel.T])
    return np.asarray(rows + rows.T) / 2


def _lost_constraints(space: ConfigurationSpace, q: Array, dependent: Array, kernel: Array) -> list[Array]:
    """Combinations of constraints whose gradients vanish and that restrict the velocities, each in its own way."""
    forms = np.array([_form(space, q, w, kernel).ravel() for w in dependent.T])
    left, sizes, _ = np.linalg.svd(forms)
    return [dependent @ left[:, i] for i, size in enumerate(sizes) if size > _SAME_FORM * sizes[0]]


def _by_forms(space: ConfigurationSpace, point: SingularPoint) -> SingularPoint:
    """Several constraints are lost at once: branches leave along the directions in which all their forms vanish."""
    k, d = point.forms.shape[:2]
    lines = common_zeros(point.forms)
    if lines is None:
        note = (
            f"{k} constraints are lost at once, and their forms in {d} directions do not tell a finite set of branches"
        )
        return attrs.evolve(point, note=note)
    branches = tuple(_traced(space, point.q, point.kernel @ line) for line in lines)
    if not branches:
        return attrs.evolve(point, kind=SingularityKind.ISOLATED)
    kind = SingularityKind.TRANSVERSAL if len(branches) > 1 else SingularityKind.UNDECIDED
    note = "" if len(branches) > 1 else f"{k} constraints are lost at once, and one branch passes"
    return attrs.evolve(point, kind=kind, branches=branches, order=1, note=note)


def _by_form(space: ConfigurationSpace, point: SingularPoint, w: Array) -> SingularPoint:
    values, vectors = np.linalg.eigh(point.forms[0])
    size = float(np.max(np.abs(values)))
    flat = np.abs(values) <= _FLAT * size
    if not flat.any():
        if (values > 0).all() or (values < 0).all():
            return attrs.evolve(point, kind=SingularityKind.ISOLATED)
        if len(values) > 2:
            note = f"its tangents fill a cone in {len(values)} directions"
            return attrs.evolve(point, kind=SingularityKind.CONE, note=note)
        slope = np.sqrt(-values[0] / values[1])
        lines = [point.kernel @ (vectors[:, 0] + sign * slope * vectors[:, 1]) for sign in (1.0, -1.0)]
        branches = tuple(_traced(space, point.q, line) for line in lines)
        return attrs.evolve(point, kind=SingularityKind.TRANSVERSAL, branches=branches, order=1)
    if len(values) != 2 or flat.all():
        return attrs.evolve(point, note="its quadratic form is degenerate in more than two directions")
    along, across = (point.kernel @ vectors[:, int(i)] for i in (np.argmax(flat), np.argmin(flat)))
    spine = spine_of(space, point.q, w, point.rank, along, across)
    return _by_spine(space, attrs.evolve(point, q=point.q if spine is None else spine.q), spine, along, across)


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
    leading = float(unit[np.argmax(np.abs(unit) > 1e-9)])
    clean: Array = np.where(np.abs(unit) <= 1e-15, 0.0, unit)
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
