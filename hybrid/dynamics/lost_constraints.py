"""Where constraints become dependent: their lost combinations, the quadratic forms of these, and the posture itself."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.tolerances import CLEAR, LAST_PLACE

__all__ = ["LostConstraints", "Slice", "lasting_directions", "lost_at", "placed"]


Array = NDArray[np.float64]

_SAME_FORM = CLEAR  # relative size below which a further quadratic form adds no condition
_ROUNDS = 12
_SETTLED = LAST_PLACE  # a step of Newton's method below this share of the posture's size is rounding
_ROUNDED = 10.0  # multiple of the estimate of a form's rounding error that still counts as such
_SHRINKING = 0.1  # an eigenvalue that changes by this share in the last step goes to zero at the singular posture


@attrs.frozen(eq=False)
class Slice(ConfigurationSpace):
    """The postures of a configuration space on a plane through a posture.

    Attributes
    ----------
    normals : array, (r, n)
        Orthonormal.
    origin : array, (n,)
    """

    normals: Array = attrs.field(kw_only=True, repr=False)
    origin: Array = attrs.field(kw_only=True, repr=False)

    def _at(self, q: Any) -> dict[str, NDArray[Any]]:
        at = super()._at(q)
        rows = np.broadcast_to(self.normals, (*np.shape(q)[:-1], *self.normals.shape))
        return {
            "constraint": np.concatenate([at["constraint"], (q - self.origin) @ self.normals.T], axis=-1),
            "J": np.concatenate([at["J"], rows], axis=-2),
        }


@attrs.frozen(eq=False)
class LostConstraints:
    """The combinations of constraints without gradients at a posture, to second order.

    Attributes
    ----------
    q : array, (n,)
    kernel : array, (n, d)
        Orthonormal basis of the velocities that the other constraints allow.
    combinations : array, (m, k)
        Of the constraints; each restricts the velocities in its own way.
    forms : array, (k, d, d)
        Their second derivatives on the kernel.
    values : array, (k, d)
        Eigenvalues of the forms with respect to the kinetic energy, ascending: ratios of them do not depend on the
        units of the coordinates.
    axes : array, (k, n, d)
        Velocities of unit kinetic energy that belong to them.
    flat : array, (k, d)
        True where an eigenvalue is zero up to its error.
    settled : bool
        True if Newton's method has placed the posture up to rounding.
    """

    q: Array
    kernel: Array
    combinations: Array
    forms: Array
    values: Array
    axes: Array
    flat: NDArray[np.bool_]
    settled: bool = True

    @property
    def is_definite(self) -> bool:
        """True if there is one form, and it is definite: no velocity of the kernel is left."""
        one_sign = (self.values > 0.0).all() or (self.values < 0.0).all()
        return bool(len(self.forms) == 1 and one_sign and not self.flat.any())


def lost_at(space: ConfigurationSpace, q: Array, rank: int) -> LostConstraints:
    """The lost combinations at a posture at which so many constraints stay independent.

    Parameters
    ----------
    space : ConfigurationSpace
        Of k constraints.
    q : array, (n,)
        A posture, singular or close to one.
    rank : int
        Number of constraints that stay independent there.

    Returns
    -------
    LostConstraints
    """
    left, _, right = np.linalg.svd(space.jacobian(q))
    kernel, dependent = right[rank:].T, left[:, rank:]
    d = kernel.shape[1]
    columns, sizes, _ = np.linalg.svd(np.array([_form(space, q, w, kernel).ravel() for w in dependent.T]))
    count = int(np.sum(sizes > _SAME_FORM * sizes[0])) if sizes.size else 0
    combinations = dependent @ columns[:, :count]
    forms = np.array([_form(space, q, w, kernel) for w in combinations.T]).reshape(-1, d, d)
    unit = _of_unit_energy(space, q, kernel)
    values, vectors = np.linalg.eigh(unit.T @ forms @ unit)
    flat = np.abs(values) <= _rounding(space, q) * np.max(np.abs(values), axis=-1, initial=0.0, keepdims=True)
    return LostConstraints(q, kernel, combinations, forms, values, kernel @ unit @ vectors, flat)


def _form(space: ConfigurationSpace, q: Array, w: Array, kernel: Array) -> Array:
    rows = np.array([w @ space.curvature(q, direction) @ kernel for direction in kernel.T])
    return np.asarray(rows + rows.T) / 2


def _of_unit_energy(space: ConfigurationSpace, q: Array, kernel: Array) -> Array:
    """Basis of a kernel that is orthonormal in the mass matrix; as it is where that is not positive definite on it."""
    M = np.asarray(space.dynamics.terms(q, np.zeros(space.n), t=space.t).M, dtype=float)
    inertia = kernel.T @ M @ kernel
    if not np.isfinite(inertia).all():
        return np.eye(len(inertia))
    try:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(inertia)).T)
    except np.linalg.LinAlgError:
        return np.eye(len(inertia))


def _rounding(space: ConfigurationSpace, q: Array) -> float:
    """Share of a form's size below which an eigenvalue is rounding.

    A gradient is rounded by ``eps |form| (|q| + reach)``, so that an eigenvalue ``e`` places the singular posture up to
    that over ``e``, in which the form changes by ``|form| / reach``: ``e`` is no larger than its own error where
    ``(e / |form|)^2 <= eps (1 + |q| / reach)``.
    """
    return _ROUNDED * float(np.sqrt(np.finfo(float).eps * (1.0 + np.linalg.norm(q) / space.reach)))


def placed(
    space: ConfigurationSpace, q: Array, rank: int, *, keep: int | None = None, reach: float | None = None
) -> LostConstraints:
    """The singular posture near a given one, by Newton's method on the gradient of its one lost constraint.

    The steps tell the error of the form: at a nondegenerate posture they shrink to nothing and the eigenvalues settle.
    Where one of these vanishes at the singular posture, the method only closes in by a constant factor, and that
    eigenvalue shrinks on: it counts as flat.

    Parameters
    ----------
    space : ConfigurationSpace
    q : array, (n,)
    rank : int
    keep : int, optional
        Number of axes across which it is placed, those with the largest eigenvalues; by default all that are not flat.
    reach : float, optional
        It moves no further than this, or stays where it is; by default half the reach of the space.

    Returns
    -------
    LostConstraints
    """
    first = lost = lost_at(space, q, rank)
    reach = space.reach / 2 if reach is None else reach
    for _ in range(_ROUNDS):
        if len(lost.forms) != 1:
            return first
        step = _newton(space, lost, rank, keep)
        if not np.isfinite(step).all() or np.linalg.norm(lost.q + step - q) > reach:
            return attrs.evolve(first, settled=False)
        if np.linalg.norm(step) <= _SETTLED * (np.linalg.norm(q) + space.reach):
            return lost
        other = lost_at(space, lost.q + step, rank)
        if len(other.forms) == 1:
            facing = np.sign(lost.combinations[:, 0] @ other.combinations[:, 0])
            before = lost.values if facing > 0 else -lost.values[:, ::-1]
            shrinks = np.abs(other.values - before) > _SHRINKING * np.abs(other.values)
            other = attrs.evolve(other, flat=other.flat | shrinks)
        lost = other
    return attrs.evolve(lost, settled=False)


def _newton(space: ConfigurationSpace, lost: LostConstraints, rank: int, keep: int | None) -> Array:
    """Step to where the lost constraint is stationary among the postures that the others allow."""
    left, sizes, right = np.linalg.svd(space.jacobian(lost.q))
    back = right[:rank].T @ ((left[:, :rank].T @ space.values(lost.q)) / sizes[:rank])
    values, axes = lost.values[0], lost.axes[0]
    if keep is None:
        size = float(np.max(np.abs(values)))
        chosen = np.abs(values) > _rounding(space, lost.q) * size
    else:
        chosen = np.argsort(np.abs(values))[len(values) - keep :]
    gradient = lost.combinations[:, 0] @ space.jacobian(lost.q) @ axes
    return np.asarray(-back - axes[:, chosen] @ (gradient[chosen] / values[chosen]))


def lasting_directions(space: ConfigurationSpace, lost: LostConstraints, rank: int) -> Array:
    """Flat directions of a form along which the constraints stay dependent.

    The lost constraint, stationary across the other directions, is a function on the flat ones that starts with third
    powers (splitting lemma). It does not depend on those to which its gradients at postures around are orthogonal.

    Parameters
    ----------
    space : ConfigurationSpace
    lost : LostConstraints
        With one form, some of whose eigenvalues are flat.
    rank : int
        Number of constraints that stay independent.

    Returns
    -------
    array, (n, r)
        Orthonormal; none where that function could not be followed.
    """
    flat, none = lost.flat[0], np.zeros((space.n, 0))
    basis = np.linalg.qr(lost.axes[0][:, flat])[0]
    size = space.reach * float(np.max(np.abs(lost.forms)))
    around = np.random.default_rng(1).normal(size=(4 * basis.shape[1], basis.shape[1]))
    gradients = []
    lengths = space.reach * np.linspace(1.0, 0.5, len(around))
    for length, direction in zip(lengths, around, strict=True):
        start = lost.q + length * basis @ direction / np.linalg.norm(direction)
        other = placed(space, start, rank, keep=int(np.sum(~flat)), reach=space.reach)
        if not other.settled or len(other.forms) != 1:
            return none
        gradients.append(other.combinations[:, 0] @ space.jacobian(other.q) @ basis / size)
    _, sizes, right = np.linalg.svd(np.array(gradients))
    # the share of a gradient that is rounding: the square of that of an eigenvalue
    return np.asarray(basis @ right[sizes <= _rounding(space, lost.q) ** 2].T)
