"""Random impacts for the campaign: a mechanism whose mass matrix and directions of contact are parameters."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid import derive
from hybrid.declaration import mechanism_from_toml
from hybrid.dynamics import Dynamics

__all__ = ["Case", "declared", "drawn", "parameters"]

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Case:
    """One impact: all numbers are exact in floats, but for velocities that are made zero by a projection."""

    law: str
    M: Array
    W: Array  # columns: the normal and the tangents of each contact in turn
    v: Array
    mu: Array
    e: Array
    d: Array
    kappa: Array
    vanishing: tuple[int, ...]  # columns whose velocity is zero but for rounding


_DERIVED: dict[tuple[int, int, int], Dynamics] = {}


def declared(n: int, k: int, tangents: int) -> Dynamics:
    """A mechanism whose mass matrix and directions of contact are parameters."""
    if (n, k, tangents) not in _DERIVED:
        masses = [[f"M{min(i, j)}{max(i, j)}" for j in range(n)] for i in range(n)]
        names = sorted({name for row in masses for name in row})
        lines = ['name = "drawn"', f"coordinates = {[f'q{i}' for i in range(n)]}", "[parameters]"]
        lines += [f"{name} = {float(name[1] == name[2])}" for name in names]
        rows = [(c, r) for c in range(k) for r in range(tangents + 1)]
        lines += [f"w{c}{r}{i} = 1.0" for c, r in rows for i in range(n)]
        for c in range(k):
            lines += [f"mu{c} = 0.5", f"e{c} = 0.5", f"d{c} = 0.1", f"s{c} = 1.0"]
        lines += ["[dynamics]", f"mass_matrix = {masses}", f"forces = {['0'] * n}"]
        for c in range(k):
            gap, *along = (" + ".join(f"w{c}{r}{i}*q{i}" for i in range(n)) for r in range(tangents + 1))
            shown = f'"{along[0]}"' if tangents == 1 else str(along)
            lines += ["[[contact]]", f'name = "c{c}"', f'gap = "{gap}"', f"tangent = {shown}", f'friction = "mu{c}"']
            lines += [f'restitution = "e{c}"', f'damping = "d{c}"', f'stiffness_ratio = "s{c}"']
        _DERIVED[n, k, tangents] = derive(mechanism_from_toml("\n".join(lines)))
    return _DERIVED[n, k, tangents]


def drawn(rng: np.random.Generator, law: str, n: int, k: int, tangents: int) -> Case:
    A = rng.integers(-4, 5, size=(n, n)) / 2
    M = A @ A.T + np.eye(n) * rng.integers(1, 9) / 4
    W = rng.integers(-6, 7, size=(n, k * (tangents + 1))) / 4
    while np.linalg.matrix_rank(W) < min(W.shape):
        W = rng.integers(-6, 7, size=W.shape) / 4
    v = rng.integers(-16, 17, size=n) / 8
    step = tangents + 1
    if rng.random() < 0.8 and v @ W[:, 0] > 0:
        v = -v
    vanishing: tuple[int, ...] = ()
    if k == 1 and rng.random() < 0.2:
        vanishing = (0,) if rng.random() < 0.5 else tuple(range(1, step))
        kept = W[:, list(vanishing)]
        v = v - kept @ np.linalg.solve(kept.T @ kept, kept.T @ v)
    mu = rng.integers(0, 17, size=k) / 8
    e = rng.choice([0.0, 0.25, 0.5, 0.625, 0.875, 1.0], size=k)
    d = rng.choice([0.0, 0.125, 0.5, 1.0, 1.5], size=k)
    kappa = np.array([1.0, *rng.choice([0.25, 1.0, 2.0], size=k - 1)])
    return Case(law, M, W, v, mu, e, d, kappa, vanishing)


def parameters(case: Case, tangents: int) -> dict[str, float]:
    n = len(case.M)
    values = {f"M{i}{j}": case.M[i, j] for i in range(n) for j in range(i, n)}
    for column in range(case.W.shape[1]):
        c, r = divmod(column, tangents + 1)
        values |= {f"w{c}{r}{i}": case.W[i, column] for i in range(n)}
    for c in range(len(case.mu)):
        values |= {f"mu{c}": case.mu[c], f"e{c}": case.e[c], f"d{c}": case.d[c], f"s{c}": case.kappa[c]}
    return {name: float(value) for name, value in values.items()}
