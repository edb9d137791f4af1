"""Contact problems of the FCLIB collection (HDF5) as linear complementarity problems."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hybrid.errors import FileError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from lcp import LCP

    FloatArray = npt.NDArray[np.float64]

__all__ = ["planar_friction_lcp", "read_fclib"]

MAX_ROWS = 300  # dense from here on: nothing larger can be decided anyway
MAX_BYTES = 8_000_000
COLUMNS, ROWS = -1, -2  # values of nz

# What h5py raises at damaged files and at entries that are not what their names say.
_OF_HDF5 = (OSError, KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError, ArithmeticError)


def read_fclib(data: bytes, *, source: str) -> LCP:
    """The local problem u = W r + q with Coulomb friction in the content of an FCLIB file.

    Planar contacts (``spacedim`` 2) become three unknowns each, see `planar_friction_lcp`; spatial ones must be
    frictionless, as Coulomb's cone in space is no linear complementarity problem, and leave their normal rows.

    Parameters
    ----------
    data : bytes
        HDF5 with the group ``fclib_local``: ``W`` (triplets, compressed columns or rows), ``vectors``, ``spacedim``.
    source : str
        The name of the file, for messages.

    Returns
    -------
    LCP
        Contacts one after the other.

    Raises
    ------
    FileError
        If h5py is absent, or the file holds no such problem.
    LCPError
        If an entry is not finite.

    References
    ----------
    Acary, Bremond, Koziara and Perignon, FCLIB: a collection of discrete 3D frictional contact problems, INRIA
    technical report RT-0444 (2014).
    """
    import numpy as np

    from lcp import LCP

    try:
        import h5py
    except ImportError as error:
        raise FileError("reading HDF5 needs h5py; install it with: pip install 'painleve[fclib]'", source) from error
    try:
        with h5py.File(h5py.h5f.open_file_image(data)) as file:
            W, q, friction, dimension = _entries(source, file)
    except FileError:
        raise
    except _OF_HDF5 as error:
        raise FileError(f"not an FCLIB file: {error}", source) from error
    if dimension == 2:
        return planar_friction_lcp(W, q, friction)
    if np.any(friction):
        raise FileError("friction in space is a cone, not a linear complementarity problem", source)
    return LCP(W[::dimension, ::dimension], q[::dimension])


def _entries(source: str, file: Any) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    if "fclib_local" not in file:
        what = "only a global problem" if "fclib_global" in file else "no problem"
        raise FileError(f"{what}; the group fclib_local is needed", source)
    group = file["fclib_local"]
    if "V" in group or "R" in group:
        raise FileError("problems with bilateral constraints (V, R) are not read", source)
    W = _dense(group["W"])
    q, friction = _numbers(group["vectors"], "q"), _numbers(group["vectors"], "mu")
    dimension = _integer(group, "spacedim")
    n = q.size
    if dimension not in (2, 3) or W.shape != (n, n) or friction.size * dimension != n:
        raise ValueError(f"W {W.shape}, q {q.shape}, mu {friction.shape} and spacedim {dimension} do not match")
    return W, q, friction, dimension


def _numbers(group: Any, name: str) -> FloatArray:
    """A dataset that the file itself holds as numbers, (N,); none larger than a dense W of the largest order."""
    import numpy as np

    dataset = group[name]
    kind = dataset.dtype.kind
    if kind not in "iuf" or dataset.size > MAX_ROWS**2:
        raise ValueError(f"{name} is no array of at most {MAX_ROWS**2} numbers")
    pieces = dataset.chunks or ()  # a piece may be larger than the whole
    if math.prod(pieces) > MAX_BYTES or dataset.is_virtual or dataset.external:
        raise ValueError(f"{name} is not kept in the file as it is")
    return np.asarray(dataset, dtype=np.float64).reshape(-1)


def _integer(group: Any, name: str) -> int:
    return int(_integers(group, name)[0])


def _integers(group: Any, name: str) -> npt.NDArray[np.int64]:
    import numpy as np

    values = _numbers(group, name)
    # beyond 2**53 doubles are not told apart, far beyond all sizes that are read
    if not ((abs(values) <= 2**53) & (values == np.floor(values))).all():
        raise ValueError(f"{name} must be whole numbers")
    return values.astype(np.int64)


def _dense(group: Any) -> FloatArray:
    """Sum of the entries x; nz says how: -1 compressed columns, -2 compressed rows, otherwise nz triplets."""
    import numpy as np

    m, n, nz = (_integer(group, name) for name in ("m", "n", "nz"))
    if not (0 < m <= MAX_ROWS and 0 < n <= MAX_ROWS):
        raise ValueError(f"W has order {m} x {n}; from 1 to {MAX_ROWS} is read")
    p, i, x = _integers(group, "p"), _integers(group, "i"), _numbers(group, "x")
    if nz in (COLUMNS, ROWS):
        major = n if nz == COLUMNS else m
        if p.shape != (major + 1,) or p[0] != 0 or (np.diff(p) < 0).any() or p[-1] > min(i.size, x.size):
            raise ValueError("the pointers p do not fit W")
        along = np.repeat(np.arange(major), np.diff(p))
        i = i[: along.size]
        rows, columns = (i, along) if nz == COLUMNS else (along, i)
    elif 0 <= nz <= min(p.size, i.size, x.size):
        rows, columns = i[:nz], p[:nz]
    else:
        raise ValueError(f"nz = {nz} is no storage of a matrix")
    if rows.size and (rows.min() < 0 or columns.min() < 0 or rows.max() >= m or columns.max() >= n):
        raise ValueError("an index lies outside W")
    W = np.zeros((m, n))
    np.add.at(W, (rows, columns), x[: rows.size])
    return W


def planar_friction_lcp(W: FloatArray, q: FloatArray, friction: FloatArray) -> LCP:
    """Contacts with rows (normal, tangent) as a problem in z = (r_N, r_T + mu r_N, backward part of u_T) of each.

    The complementary w of each contact is (u_N, forward part of u_T, mu r_N - r_T). A contact
    without friction has the unknown r_N alone. Where r_N = 0 the backward part is bounded from below only, so that
    solutions with an open contact form a continuum.

    Parameters
    ----------
    W : array, (2 k, 2 k)
        Mobility of k contacts.
    q : array, (2 k,)
        Velocities of the contacts without forces.
    friction : array, (k,)
        Coefficients, without unit.

    Returns
    -------
    LCP
        Three unknowns for a contact with friction and one for a contact without.

    Raises
    ------
    LCPError
        If a friction coefficient is negative.

    References
    ----------
    Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, Wiley 1996, chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> from lcp import enumerate_solutions
    >>> problem = planar_friction_lcp(np.eye(2), np.array([-1.0, -3.0]), np.array([0.5]))  # slips backwards
    >>> enumerate_solutions(problem).isolated.tolist()
    [[1.0, 1.0, 2.5]]
    """
    import numpy as np

    from lcp import LCP, LCPError

    if not (friction >= 0).all():
        raise LCPError("friction coefficients must be >= 0")
    # r = to_force z, with r_N the first of a contact's unknowns and r_T = z_1 - mu z_0
    first = np.concatenate([[0], np.cumsum(np.where(friction > 0, 3, 1))])
    M, vector = np.zeros((first[-1], first[-1])), np.zeros(first[-1])
    to_force = np.zeros((q.size, first[-1]))
    for k, (i, mu) in enumerate(zip(first[:-1], friction, strict=True)):
        to_force[2 * k, i] = 1.0
        if mu:
            to_force[2 * k + 1, i], to_force[2 * k + 1, i + 1] = -mu, 1.0
    velocity = W @ to_force
    for k, (i, mu) in enumerate(zip(first[:-1], friction, strict=True)):
        M[i], vector[i] = velocity[2 * k], q[2 * k]
        if mu:
            M[i + 1], vector[i + 1] = velocity[2 * k + 1], q[2 * k + 1]
            M[i + 1, i + 2] += 1.0
            M[i + 2, i], M[i + 2, i + 1] = 2.0 * mu, -1.0
    return LCP(M, vector)
