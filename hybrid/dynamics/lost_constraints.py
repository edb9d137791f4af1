"""Where constraints become dependent: their lost combinations, the quadratic forms of these, and the posture itself."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.tolerances import CLEAR, LAST_PLACE

__all__ = ["LostConstraints", "lost_at", "placed"]


Array = NDArray[np.float64]

_SAME_FORM = CLEAR  # relative size below which a further quadratic form adds no condition
_ROUNDS = 12
_SETTLED = LAST_PLACE  # a step of Newton's method below this share of the posture's size is rounding
_ROUNDED = 10.0  # multiple of the estimate of a form's rounding error that still counts as such
_SHRINKING = 0.1  # an eigenvalue that changes by this share in the last step goes to zero at the singular posture


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
    """

    q: Array
    kernel: Array
    combinations: Array
    forms: Array
    values: Array
    axes: Array
    flat: NDArray[np.bool_]

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


def placed(space: ConfigurationSpace, q: Array, rank: int) -> LostConstraints:
    """The singular posture near a given one, by Newton's method on the gradient of its one lost constraint.

    The steps tell the error of the form: at a nondegenerate posture they shrink to nothing and the eigenvalues settle.
    Where one of these vanishes at the singular posture, the method only closes in by a constant factor, and that
    eigenvalue shrinks on: it counts as flat. Where it would move by more than half the reach, the posture stays.

    Parameters
    ----------
    space : ConfigurationSpace
    q : array, (n,)
    rank : int

    Returns
    -------
    LostConstraints
    """
    first = lost = lost_at(space, q, rank)
    for _ in range(_ROUNDS):
        if len(lost.forms) != 1:
            return first
        step = _newton(space, lost, rank)
        if not np.isfinite(step).all() or np.linalg.norm(lost.q + step - q) > space.reach / 2:
            return first
        if np.linalg.norm(step) <= _SETTLED * (np.linalg.norm(q) + space.reach):
            return lost
        other = lost_at(space, lost.q + step, rank)
        if len(other.forms) == 1:
            facing = np.sign(lost.combinations[:, 0] @ other.combinations[:, 0])
            before = lost.values if facing > 0 else -lost.values[:, ::-1]
            shrinks = np.abs(other.values - before) > _SHRINKING * np.abs(other.values)
            other = attrs.evolve(other, flat=other.flat | shrinks)
        lost = other
    return lost


def _newton(space: ConfigurationSpace, lost: LostConstraints, rank: int) -> Array:
    """Step to where the lost constraint is stationary among the postures that the others allow."""
    left, sizes, right = np.linalg.svd(space.jacobian(lost.q))
    back = right[:rank].T @ ((left[:, :rank].T @ space.values(lost.q)) / sizes[:rank])
    values, axes = lost.values[0], lost.axes[0]
    chosen = np.abs(values) > _rounding(space, lost.q) * float(np.max(np.abs(values)))
    gradient = lost.combinations[:, 0] @ space.jacobian(lost.q) @ axes
    return np.asarray(-back - axes[:, chosen] @ (gradient[chosen] / values[chosen]))
