"""Directions in which several quadratic forms vanish together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid.tolerances import AGREEING, ROOT

__all__ = ["common_zeros"]

Array = NDArray[np.float64]

_FLAT = ROOT  # share of the largest coefficient or eigenvalue below which another counts as zero
_ZERO = AGREEING  # value of a form of unit size on a unit vector that counts as zero: roots are good to 1e-8
_SAME = 1e-5  # distance of two directions that are one
_REGULAR = 1e-4  # singular value of the forms' gradients above which they meet transversally


def common_zeros(forms: Array) -> Array | None:
    """Directions in which quadratic forms of two variables, or two forms of three, vanish together.

    Two forms of three variables are two conics; a degenerate one of their pencil is a pair of lines, on which all of
    their at most four common points lie (Semple and Kneebone, Algebraic Projective Geometry, 1952, chapter 5).

    Parameters
    ----------
    forms : array, (k, d, d)
        Symmetric and linearly independent, ``k >= 2``.

    Returns
    -------
    array, (r, d), or None
        Unit vectors, one for each line; None where there are infinitely many, where some are multiple, or for numbers
        of forms and variables that are not treated.

    Examples
    --------
    >>> xy = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> cone = np.diag([1.0, 1.0, -1.0])
    >>> len(common_zeros(np.array([xy, cone])))
    4
    """
    forms = np.asarray(forms, dtype=float)
    forms = forms / np.linalg.norm(forms, axis=(1, 2), keepdims=True)
    k, d = forms.shape[:2]
    if d == 2:
        candidates = _on_plane(forms[0], np.eye(2))
    elif d == 3 and k == 2:
        planes = _degenerate(forms)
        if planes is None:
            return None
        candidates = [line for plane in planes for form in forms for line in _on_plane(form, plane)]
    else:
        return None
    found: list[Array] = []
    for line in candidates:
        is_zero = np.max(np.abs(np.einsum("kij,i,j->k", forms, line, line))) <= _ZERO
        if is_zero and all(min(np.linalg.norm(line - o), np.linalg.norm(line + o)) > _SAME for o in found):
            found.append(line)
    regular = [np.linalg.svd(forms @ line, compute_uv=False)[d - 2] > _REGULAR for line in found]
    return np.array(found).reshape(-1, d) if all(regular) else None


def _on_plane(form: Array, basis: Array) -> list[Array]:
    """Zeros of a form on the plane that two orthonormal rows span, or on the line of one; none where it is definite."""
    if len(basis) == 1:
        return [basis[0]]
    values, vectors = np.linalg.eigh(basis @ form @ basis.T)
    size = float(np.max(np.abs(values)))
    if size <= _FLAT or (np.min(np.abs(values)) > _FLAT * size and values[0] * values[1] > 0):
        return []
    slope = np.sqrt(max(-values[0] / values[1], 0.0)) if abs(values[1]) > _FLAT * size else np.inf
    if np.isinf(slope):
        return [vectors[:, 1] @ basis]
    lines = [(vectors[:, 0] + sign * slope * vectors[:, 1]) @ basis for sign in (1.0, -1.0)]
    return [line / np.linalg.norm(line) for line in lines]


def _degenerate(forms: Array) -> list[Array] | None:
    """Planes (orthonormal rows) into which a degenerate form of the pencil splits; None if all of it are degenerate."""
    angles = np.pi * (np.arange(4) + 0.5) / 4
    # det(A cos s + B sin s) = cos(s)^3 p(tan s) with a cubic p, found from four values
    values = [np.linalg.det(np.cos(s) * forms[0] + np.sin(s) * forms[1]) for s in angles]
    powers = np.array([[np.cos(s) ** (3 - j) * np.sin(s) ** j for j in range(4)] for s in angles])
    cubic = np.linalg.solve(powers, values)
    if np.max(np.abs(cubic)) <= _FLAT:
        return None
    roots = np.roots(np.trim_zeros(np.where(np.abs(cubic) <= _FLAT * np.max(np.abs(cubic)), 0.0, cubic)[::-1], "f"))
    real = [float(np.arctan(root.real)) for root in roots if abs(root.imag) <= _ZERO * (1 + abs(root))]
    if abs(cubic[3]) <= _FLAT * np.max(np.abs(cubic)):
        real.append(np.pi / 2)
    s = real[0]
    eigenvalues, vectors = np.linalg.eigh(np.cos(s) * forms[0] + np.sin(s) * forms[1])
    order = np.argsort(np.abs(eigenvalues))
    _, middle, high = eigenvalues[order]
    axis, second, first = vectors[:, order].T
    if abs(middle) <= _FLAT**0.5 * abs(high):
        return [np.array([axis, second])]
    if middle * high > 0:
        return [axis[None]]
    slope = np.sqrt(-high / middle)
    sides = [(first + sign * slope * second) / np.hypot(1, slope) for sign in (1.0, -1.0)]
    return [np.array([axis, side]) for side in sides]
