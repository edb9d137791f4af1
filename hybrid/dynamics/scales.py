"""Sizes against which gaps and velocities are judged, made from the problem's own numbers: no unit is preferred.

A gap or a velocity is zero if it is small next to what cancels in it. Where nothing need cancel, as of a rod that lies
flat on the floor, the problem has lengths all the same: an angle turns by one radian, whatever the unit of length.

The magnitudes of the terms that forces and acceleration remainders are sums of say how large their rounding is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.arithmetic import MAX_IN_FLOATS, arithmetic_of
from hybrid.expressions import Builder, Kernel, compile_kernel, magnitudes, straight_line
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.arithmetic import Arithmetic
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Equations, Terms
    from hybrid.expressions import Nodes, StraightLine

__all__ = [
    "FARTHEST",
    "Scales",
    "Summands",
    "coordinate_sizes",
    "may_turn_far",
    "motion_sizes",
    "scales_of",
    "single_terms",
    "summand_nodes",
    "summands_of",
    "with_sums",
    "without_rounding",
]

Array = NDArray[np.float64]

_ROUNDING = 32 * float(np.finfo(np.float64).eps)  # of the terms: those of a linear solve for pins and of a product
_OF_TIME = 32 * float(np.finfo(np.float64).eps) / Tolerances().gap  # what is its rounding counts as zero
_LEFT_BEHIND = 32 * float(np.finfo(np.float64).eps) / Tolerances().velocity  # of other coordinates, in a computed state


@attrs.frozen(eq=False)
class Scales:
    """Sizes of gaps and contact velocities at states.

    Attributes
    ----------
    gap, gap_dot : array, (..., k)
        Of every contact, in the units of gaps and their rates.
    slip : array, (..., p)
        Of every tangential column, in units of slip.
    constraint, constraint_dot : array, (..., m)
        Of every rigid constraint.
    """

    gap: Array
    gap_dot: Array
    slip: Array
    constraint: Array
    constraint_dot: Array


def coordinate_sizes(dynamics: Dynamics, q: Any, *, t: Any = 0.0, radians: Array | None = None) -> Array:
    """Sizes of the coordinates at positions: their values, or what turns an angle by one radian if that is more.

    Parameters
    ----------
    dynamics : Dynamics
    q : array_like, (..., n)
    t : array_like, (...)
    radians : array, (n,), optional
        What turns angles by one radian, where that is known to be the same everywhere.

    Returns
    -------
    array, (..., n)

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> coordinate_sizes(rod, [0.0, 2.0, 0.3]).tolist()
    [0.0, 2.0, 1.0]
    """
    q = np.asanyarray(q)
    if radians is None:
        radians = dynamics.radians
    return np.asanyarray(np.fmax(np.abs(q), dynamics.radians_at(q, t) if radians is None else radians))


FARTHEST = 1e5
"""Radians beyond which angles are refused: a gap is zero within 1e-9 of them, 1e-4 of the length that turns."""


def may_turn_far(dynamics: Dynamics, q: Array, t: Any) -> bool:
    """Whether any argument of a function, in loads too, may exceed 1e5 at postures (..., n) and times (...)."""
    radians = dynamics.radians_at(q, t) if dynamics.radians is None else dynamics.radians
    return bool(((np.abs(q) > FARTHEST * radians) & (radians > 0.0)).any())


def scales_of(
    dynamics: Dynamics,
    terms: Terms,
    q: Any,
    v: Any,
    *,
    t: Any = 0.0,
    reach: tuple[Array, Array] | None = None,
) -> Scales:
    """Sizes of all gaps and contact velocities at one state or many.

    A gap ``g`` has the size ``|W_N|^T |q|``, where a body that turns has a length, its radius of gyration; where its
    surface moves, the rounding of the time, times the rate ``dg/dt``, may be more than a tolerance of that. A velocity
    ``gamma = W^T v + drift`` has that of its summands or, if it is more, that which the accelerations ``M^-1 h`` give
    within the size of the position: a rod of length l under gravity moves at about ``sqrt(g l)``. Where summands are
    themselves the rounding of a state that was computed, the other coordinates tell how large that may be.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At the states.
    q, v : array_like, (..., n)
    t : array_like, (...)
    reach : (array, array), (n,) each, optional
        Sizes of the coordinates and velocities that a motion has had before, which left rounding behind.

    Returns
    -------
    Scales

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> at = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    >>> scales_of(rod, rod.terms(*at), *at).gap.round(6).tolist()
    [1.57735]
    """
    q, v, times = np.asanyarray(q), np.asanyarray(v), np.asanyarray(t, dtype=float)[..., None]
    radians = dynamics.radians
    turns = dynamics.radians_at(q, t) if radians is None else radians
    of_terms = (terms.M, terms.W_N, terms.W_T, terms.J, terms.h, terms.gap_dot, terms.slip, terms.constraint_dot)
    arrays: tuple[Any, ...] = (*of_terms, times, q, v, turns, *(reach or ()))
    if q.ndim == 1 and q.size <= MAX_IN_FLOATS:
        found = dynamics.once(_straight_line, terms.slip.shape[-1], len(arrays))(*arrays)
        if found is not None:
            return Scales(*found)
    with np.errstate(invalid="ignore", over="ignore"):  # states that are no states have no sizes
        return Scales(*_sizes(*arrays, places=_places(dynamics)))


def _places(dynamics: Dynamics) -> tuple[tuple[int, ...], ...]:
    """The tangential columns of every contact."""
    return tuple(map(dynamics.columns_of, dynamics.contacts))


def _straight_line(dynamics: Dynamics, n_slips: int, n_arrays: int) -> StraightLine:
    """What :func:`scales_of` does at one state."""
    n, contacts, rigid = dynamics.n, len(dynamics.contacts), len(dynamics.rigid)
    of_terms = ((n, n), (n, contacts), (n, n_slips), (rigid, n), (n,), (contacts,), (n_slips,), (rigid,), (1,))
    return _straight((*of_terms, *[(n,)] * (n_arrays - len(of_terms))), _places(dynamics))


@cache
def _straight(shapes: tuple[tuple[int, ...], ...], places: tuple[tuple[int, ...], ...]) -> StraightLine:
    rng = np.random.default_rng(0)
    samples = [rng.uniform(1.0, 2.0, shape) for shape in shapes]
    samples[0] = samples[0] + 4 * np.diag(samples[0].sum(axis=0))  # its diagonal dominates: no pivots
    return straight_line(partial(_sizes, places=places), samples)


def _sizes(
    M: Any,
    W_N: Any,
    W_T: Any,
    J: Any,
    h: Any,
    gap_dot: Any,
    slip: Any,
    constraint_dot: Any,
    times: Any,
    q: Any,
    v: Any,
    turns: Any,
    *reach: Any,
    places: tuple[tuple[int, ...], ...],
) -> tuple[Array, Array, Array, Array, Array]:
    """What :class:`Scales` holds; ``places`` are the tangential columns of every contact."""
    kind = arithmetic_of(h, q, v, gap_dot, slip, constraint_dot, matrices=(M, W_N, W_T, J))
    along = _sizes_along(M, h, times, q, v, turns, reach, kind)
    normal = [along(*row) for row in _columns(W_N, gap_dot, kind)]
    tangential = [along(*row) for row in _columns(W_T, slip, kind)]
    bilateral = list(map(along, kind.matrix(J), kind.vector(constraint_dot)))
    pushes = [push for _, _, push in tangential]
    for index, columns in enumerate(places):  # what presses a contact together moves it along, too
        for column in columns:
            pushes[column] = kind.larger(pushes[column], normal[index][2])
    slides = [(length, rate, push) for (length, rate, _), push in zip(tangential, pushes, strict=True)]
    (gap, gap_speed), (_, slip_speed), (constraint, constraint_speed) = (
        (
            kind.stacked([length for length, _, _ in rows]),
            kind.stacked([kind.larger(rate, kind.root(length * lift)) for length, rate, lift in rows]),
        )
        for rows in (normal, slides, bilateral)
    )
    return gap, gap_speed, slip_speed, constraint, constraint_speed


def _columns(directions: Array, rates: Array, kind: Arithmetic) -> Iterator[tuple[Sequence[Any], Any]]:
    """Columns of directions (..., n, c), each with its rate."""
    return zip(zip(*kind.matrix(directions), strict=True), kind.vector(rates), strict=True)


def _sizes_along(
    M: Any, h: Any, times: Any, q: Any, v: Any, turns: Any, reach: tuple[Any, ...], kind: Arithmetic
) -> Callable[[Sequence[Any], Any], tuple[Any, Any, Any]]:
    """Sizes of a length with a gradient and a rate: its own, that of the rate by summands, and of its acceleration."""
    larger, total, velocities, turned = kind.larger, kind.total, kind.vector(v), kind.vector(turns)
    inertia, speeds = _inertia(M, kind), list(map(abs, velocities))
    gyration = _of_like_energy(turned, inertia, kind)
    sizes = [
        larger(abs(x), kind.chosen(turn > 0.0, turn, length))  # an angle of a light body is no larger for a heavy one
        for x, turn, length in zip(kind.vector(q), turned, gyration, strict=True)
    ]
    if reach:
        sizes = list(map(larger, sizes, kind.vector(reach[0])))
        speeds = list(map(larger, speeds, kind.vector(reach[1])))
    sizes, speeds = (
        [larger(x, _LEFT_BEHIND * like) for x, like in zip(items, _of_like_energy(items, inertia, kind), strict=True)]
        for items in (sizes, speeds)
    )
    accelerations = _accelerations(M, h, inertia, kind)
    (time,) = kind.vector(times)
    late = _OF_TIME * abs(time)

    def along(gradient: Sequence[Any], rate: Any) -> tuple[Any, Any, Any]:
        across, drift = list(map(abs, gradient)), abs(rate - total(map(operator.mul, gradient, velocities)))
        return (
            total(map(operator.mul, across, sizes)) + late * drift,
            total(map(operator.mul, across, speeds)) + drift,
            total(map(operator.mul, across, accelerations)),
        )

    return along


def _inertia(M: Any, kind: Arithmetic) -> list[Any]:
    """Roots of the diagonal of the mass matrix."""
    return [kind.root(abs(entry)) for entry in kind.vector(M.diagonal(0, -2, -1))]


def _of_like_energy(speeds: Sequence[Any], inertia: Sequence[Any], kind: Arithmetic) -> list[Any]:
    """Speeds of the energy of the fastest coordinate; zero for a coordinate without inertia."""
    fastest = kind.largest(map(operator.mul, inertia, speeds))
    return [kind.chosen(item > 0.0, fastest, 0.0) / kind.chosen(item > 0.0, item, 1.0) for item in inertia]


def motion_sizes(terms: Terms, sizes: Array, speeds: Array) -> Array:
    """Sizes of the coordinates and velocities of motions, (..., 2n), also of those that are zero, from those of others.

    What moves one coordinate moves all of them, at speeds of like energy: ``M_ii v_i^2`` is of the size of the largest.

    Parameters
    ----------
    terms : Terms
        At one state or many.
    sizes, speeds : array, (..., n)
        Of the coordinates and velocities themselves, as far as they have any.

    Returns
    -------
    array, (..., 2n)
        1 where neither the position nor the forces have any size.
    """
    kind = arithmetic_of(terms.h, sizes, speeds, matrices=(terms.M,))
    inertia = _inertia(terms.M, kind)
    length, speed, force = (
        kind.largest(map(operator.mul, inertia, items))
        for items in (kind.vector(sizes), kind.vector(speeds), _accelerations(terms.M, terms.h, inertia, kind))
    )
    speed = kind.larger(speed, kind.root(length * force))
    pushed = kind.chosen(force > 0.0, force, 1.0)
    length = kind.chosen((length == 0.0) & (force > 0.0), speed * speed / pushed, length)
    units = [kind.chosen(item > 0.0, item, 1.0) for item in inertia]
    found = kind.stacked([*(length / unit for unit in units), *(speed / unit for unit in units)])
    return np.where(np.isfinite(found) & (found > 0.0), found, 1.0)


def _accelerations(M: Any, h: Any, inertia: Sequence[Any], kind: Arithmetic) -> list[Any]:
    """Sizes of the accelerations that the forces give; zero where the mass matrix has no inverse.

    Contacts turn forces into any direction: ``M_ii a_i^2`` is of the size of the largest for all coordinates.
    """
    found = kind.solution(M, h)
    return [0.0] * len(inertia) if found is None else _of_like_energy(list(map(abs, found)), inertia, kind)


_FIELDS = ("h", "zeta_N", "zeta_T", "zeta_B")


@attrs.frozen(eq=False)
class Summands:
    """Magnitudes of the terms of sums, each of the shape of what it belongs to.

    Attributes
    ----------
    h : array, (..., n)
    zeta_N, zeta_T, zeta_B : array, (..., k), (..., p) and (..., m)
    """

    h: Array
    zeta_N: Array
    zeta_T: Array
    zeta_B: Array


def single_terms(terms: Terms) -> Summands:
    """Summands where nothing cancels: the magnitudes of the terms themselves.

    Parameters
    ----------
    terms : Terms

    Returns
    -------
    Summands
    """
    return Summands(*(np.abs(getattr(terms, field)) for field in _FIELDS))


def summands_of(dynamics: Dynamics, terms: Terms, q: Any, v: Any, *, t: Any = 0.0) -> Summands | None:
    """Magnitudes of the terms at one state or many.

    The square ``(p . v + b)**2`` of a rate that vanishes, the force of a spring that carries a weight: such numbers are
    the rounding of what cancels in them, and do not say how large that is.

    Parameters
    ----------
    dynamics : Dynamics
    terms : Terms
        At the states.
    q, v : array_like, (..., n)
    t : array_like, (...)

    Returns
    -------
    Summands or None
        None where no quantity is a sum: nothing can cancel in any.

    Examples
    --------
    >>> from hybrid import EnergyDynamics, Mechanism, derive
    >>> hung = derive(
    ...     Mechanism(
    ...         name="hung", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2/2", potential="5*x**2 - 2*x")
    ...     )
    ... )
    >>> terms = hung.terms([0.2], [0.0])
    >>> float(terms.h[0]), float(summands_of(hung, terms, [0.2], [0.0]).h[0])
    (0.0, 4.0)
    """
    kernel = dynamics.once(_compiled)
    if not kernel.shapes:
        return None
    return with_sums(terms, kernel(dynamics.kernel_arguments(q, v, t)))


def with_sums(terms: Terms, sums: Mapping[str, Array]) -> Summands:
    """Summands of terms of which some are known to be sums.

    Parameters
    ----------
    terms : Terms
    sums : mapping of str to array
        Magnitudes of their terms, by field.

    Returns
    -------
    Summands
    """
    plain = single_terms(terms)
    larger = {field: np.fmax(getattr(plain, field), sizes) for field, sizes in sums.items()}
    return attrs.evolve(plain, **larger)


def summand_nodes(build: Builder, equations: Equations) -> dict[str, Nodes]:
    """Magnitudes of the terms of the quantities in which something may cancel, as nodes.

    Parameters
    ----------
    build : Builder
        Of the graph of the equations.
    equations : Equations

    Returns
    -------
    dict of str to array of int
        Empty if there is none.
    """
    graph, blocks = equations.graph, {field: getattr(equations, field) for field in _FIELDS}
    return {
        field: magnitudes(build, block)
        for field, block in blocks.items()
        if any(graph.operations[node] == "+" for node in graph.needed(np.ravel(block)))
    }


def _compiled(dynamics: Dynamics) -> Kernel:
    build = Builder(dynamics.equations.graph)
    sums = summand_nodes(build, dynamics.equations)
    return compile_kernel(build.graph(), sums, dynamics.equations.arguments)


def without_rounding(gamma: NDArray[Any], W: NDArray[Any], v: NDArray[Any]) -> NDArray[np.float64]:
    """Contact velocities (..., r) along directions (..., n, r), exactly zero where they cancel to their rounding.

    Parameters
    ----------
    gamma : array, (..., r)
    W : array, (..., n, r)
    v : array, (..., n)

    Returns
    -------
    array, (..., r)
    """
    across = np.swapaxes(W, -1, -2)
    drift = np.abs(gamma - (across @ v[..., None])[..., 0])
    summands = (np.abs(across) @ np.abs(v)[..., None])[..., 0] + drift
    return np.asarray(np.where(np.abs(gamma) <= _ROUNDING * summands, 0.0, gamma))
