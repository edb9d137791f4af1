"""How many degrees of freedom a mode leaves, measured at postures in which its contacts are closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.automaton.structure import FREE, STICK, NodeMode
from hybrid.contact.active_elements import ElementKind
from hybrid.contact.table import ForceElement
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

_N_SAMPLES = 8  # postures; a generic rank is found at the first with probability one, the others guard against NaN
_N_STEPS = 25  # Newton steps; quadratic convergence takes fewer than ten from nearby


@attrs.frozen(eq=False)
class Samples:
    """Postures at which the closed contacts of a mode touch, with arbitrary velocities.

    Attributes
    ----------
    q, v : array, (s, n)
    t : array, (s,)
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    t: NDArray[np.float64]


def closed_postures(dynamics: Dynamics, closed: Sequence[int]) -> Samples:
    """Postures in which given contacts touch, by Newton's method from scattered starts.

    Parameters
    ----------
    dynamics : Dynamics
    closed : sequence of int
        Positions of the contacts.

    Returns
    -------
    Samples
        Starting postures instead, if no iteration converges. Found once for every set of contacts.
    """
    key = (Samples, tuple(closed))
    if key not in dynamics.programs:
        dynamics.programs[key] = _closed_postures(dynamics, closed)
    found: Samples = dynamics.programs[key]
    return found


def _closed_postures(dynamics: Dynamics, closed: Sequence[int]) -> Samples:
    random = np.random.default_rng(20130567)
    q = random.uniform(-1.0, 1.0, (_N_SAMPLES, dynamics.n))
    v = random.uniform(-1.0, 1.0, (_N_SAMPLES, dynamics.n))
    t = random.uniform(0.0, 1.0, _N_SAMPLES)
    start = q
    for _ in range(_N_STEPS):
        found = dynamics.kinematics(q, v, t=t)
        columns = [found["W_N"][..., index] for index in closed]
        columns += [found["J"][..., row, :] for row in range(found["J"].shape[-2])]
        if not columns:
            break
        residuals = [found["gap"][..., index] for index in closed]
        residuals += [found["constraint"][..., row] for row in range(found["constraint"].shape[-1])]
        jacobian = np.stack([np.broadcast_to(column, q.shape) for column in columns], axis=-2)
        residual = np.stack([np.broadcast_to(value, q.shape[:-1]) for value in residuals], axis=-1)
        finite = np.isfinite(jacobian).all(axis=(-2, -1)) & np.isfinite(residual).all(axis=-1)
        step = np.linalg.pinv(np.where(finite[:, None, None], jacobian, 0.0)) @ residual[..., None]
        q = q - np.where(finite[:, None], step[..., 0], 0.0)
        error = np.where(finite, np.max(np.abs(residual), axis=-1), np.inf)
    else:
        met = error <= Tolerances().gap
        if met.any():
            return Samples(q[met], v[met], t[met])
        q = start
    return Samples(q, v, t)


def active_rows(
    dynamics: Dynamics, parts: Sequence[ForceElement], node: NodeMode, samples: Samples
) -> NDArray[np.float64]:
    """Directions in which a mode permits no acceleration, rigid constraints included.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ForceElement
    node : NodeMode
    samples : Samples
        s states.

    Returns
    -------
    array, (s, k, n)
        Rows of ``J`` first; not scaled.
    """
    terms = dynamics.kinematics(samples.q, samples.v, t=samples.t)
    rows = [terms["J"][..., row, :] for row in range(terms["J"].shape[-2])]
    for part in parts:
        label = node.mode[part.name]
        if part.kind is ElementKind.CONTACT and label is not FREE:
            rows.append(terms["W_N"][..., part.index])
        if label is STICK:
            rows += [terms["W_T"][..., column] for column in part.columns]
    size, n = samples.q.shape
    if not rows:
        return np.zeros((size, 0, n))
    return np.stack([np.broadcast_to(row, (size, n)) for row in rows], axis=-2)


def rank_of(rows: NDArray[np.float64]) -> int:
    """The largest rank among the samples; directions are scaled to unit length.

    Parameters
    ----------
    rows : array, (s, k, n)
        Directions at s states; states with an entry that is not finite are left out.

    Returns
    -------
    int
        0 if there is no state.
    """
    rows = rows[np.isfinite(rows).all(axis=(-2, -1))]
    if not rows.size:
        return 0
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit = rows / np.where(norms > 0, norms, 1.0)
    return int(np.max(np.linalg.matrix_rank(unit, tol=np.sqrt(Tolerances().rank))))
