"""Random problems by kind; every entry is a small dyadic fraction, so that floats state them exactly."""

import numpy as np

from lcp import LCP


def dyadic(rng, *shape, scale=64.0):
    return np.round(rng.normal(size=shape) * scale) / scale


def p_matrix(rng, n):
    A = dyadic(rng, n, n)
    return LCP(
        A @ A.T + np.diag(rng.integers(1, 65, n) / 64) + np.triu(S := dyadic(rng, n, n), 1) - np.triu(S, 1).T,
        dyadic(rng, n),
    )


def p_not_psd(rng, n):
    """Triangular with positive diagonal and large entries, then permuted: P, and for most not PSD.

    The entries shrink with n, as the inverse of a triangular matrix grows like (1 + their variance)**n.
    """
    T = np.tril(dyadic(rng, n, n) * 2.0 ** (1 - np.round(np.log2(n) / 2)), -1) + np.diag(rng.integers(48, 129, n) / 64)
    order = rng.permutation(n)
    return LCP(T[np.ix_(order, order)], dyadic(rng, n))


def psd(rng, n):
    """Positive semidefinite of random rank; q in its range for half of them."""
    rank = int(rng.integers(0, n + 1))
    A = rng.integers(-3, 4, (n, rank)).astype(float)
    M = A @ A.T
    q = M @ rng.integers(-2, 3, n) if rng.random() < 0.5 else rng.integers(-3, 4, n)
    return LCP(M, q)


def copositive(rng, n):
    M = np.abs(dyadic(rng, n, n)) * (rng.random((n, n)) < 0.7)
    return LCP(M, dyadic(rng, n))


def gaussian(rng, n):
    return LCP(dyadic(rng, n, n, scale=2.0**30), dyadic(rng, n, scale=2.0**30))


def degenerate(rng, n):
    return LCP(rng.integers(-2, 3, (n, n)), rng.integers(-1, 2, n))


def contacts(rng, *, resting, slipping, dof=None, mu=None):
    """Planar contacts of a random body: resting ones with three unknowns, slipping ones with one."""
    k = resting + slipping
    dof = int(rng.integers(2, 2 * k + 2)) if dof is None else dof
    W_N, W_T = dyadic(rng, dof, k, scale=8.0), dyadic(rng, dof, k, scale=8.0)
    mu = rng.integers(0, 25, k) / 8 if mu is None else np.full(k, mu)
    sign = rng.choice([-1.0, 1.0], k)
    bias_N, bias_T = dyadic(rng, k, scale=8.0), dyadic(rng, k, scale=8.0)
    rest, slip = slice(0, resting), slice(resting, k)
    # unknowns: normal forces, then lambda_R and a_L of the resting contacts; forces act along W_N - s mu W_T
    # (slipping) or W_N - mu W_T (resting, with lambda_T = lambda_R - mu lambda_N)
    pressed = np.concatenate(
        [W_N[:, rest] - mu[rest] * W_T[:, rest], W_N[:, slip] - sign[slip] * mu[slip] * W_T[:, slip]], axis=1
    )
    force = np.concatenate([pressed, W_T[:, rest], np.zeros((dof, resting))], axis=1)
    M = np.zeros((k + 2 * resting, k + 2 * resting))
    M[:k] = W_N.T @ force
    M[k : k + resting] = W_T[:, rest].T @ force
    M[k : k + resting, k + resting :] = np.eye(resting)
    M[k + resting :, :resting] = np.diag(2 * mu[rest])
    M[k + resting :, k : k + resting] = -np.eye(resting)
    return LCP(M, np.concatenate([bias_N, bias_T[rest], np.zeros(resting)]))


def friction(rng, n):
    """One to six planar contacts in any mixture with at most n unknowns."""
    while True:
        k = int(rng.integers(1, 7))
        resting = int(rng.integers(0, k + 1))
        if k + 2 * resting <= n:
            return contacts(rng, resting=resting, slipping=k - resting)


def painleve(rng, n):
    """Slipping tips of slender rods beyond the critical friction, weakly coupled: diagonal of M negative."""
    k = int(rng.integers(1, min(n, 6) + 1))
    M = 0.25 * dyadic(rng, k, k)
    np.fill_diagonal(M, -np.abs(np.diag(M)) - 1 / 64)
    return LCP(M, dyadic(rng, k))


FAMILIES = {
    "P": p_matrix,
    "P, not PSD": p_not_psd,
    "PSD": psd,
    "copositive": copositive,
    "gaussian": gaussian,
    "degenerate": degenerate,
    "friction": friction,
    "Painleve": painleve,
}


def nearly_degenerate(rng, n, family):
    """A problem of a family, half of them with a planted degenerate solution, perturbed by 2**-20 to 2**-49."""
    problem = FAMILIES[family](rng, n)
    M, q = problem.M.copy(), problem.q.copy()
    if rng.random() < 0.5:
        z = np.where(rng.random(problem.n) < 0.5, rng.integers(0, 3, problem.n), 0.0)
        q = np.where(z > 0, 0.0, rng.integers(0, 2, problem.n)) - M @ z
    step = 2.0 ** -int(rng.integers(20, 50))
    q += step * rng.integers(-2, 3, q.shape) * (rng.random(q.shape) < 0.6)
    if rng.random() < 0.5:
        M += step * rng.integers(-2, 3, M.shape) * (rng.random(M.shape) < 0.4)
    return LCP(M, q)
