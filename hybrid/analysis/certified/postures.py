"""Coordinates that equations fix, enclosed over boxes by Krawczyk's test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.certified.tape import Tape, tape_of
from hybrid.expressions import jacobian
from hybrid.tolerances import CLEAR, LAST_PLACE, ROUNDING

if TYPE_CHECKING:
    from hybrid.analysis.maps.node_states import NodeStates

__all__ = ["ClosedPostures", "closed_postures"]

Array = NDArray[np.float64]

_NEWTON = 12  # steps from the middle of the box that this one is a half of
_WIDENINGS = 5
_TIGHTENINGS = 2
_ENOUGH = 1.5  # times what the slopes in the middle say
_LEAST = ROUNDING  # of a box that is a point, where rounding decides
_NEAR = CLEAR  # from the named branch, relative: other branches are further away wherever this test succeeds


@attrs.frozen(eq=False)
class ClosedPostures:
    """The equations ``F(x, u) = 0`` of coordinates ``u`` over axes ``x``.

    For a box ``X`` of the axes, ``u_c - Y F(X, u_c) + (I - Y F_u(X, U)) (U - u_c)`` inside of ``U`` proves that the
    equations have exactly one solution in ``U`` for every ``x`` in ``X`` (Krawczyk 1969). A half of a box keeps the
    solution of the whole, as its own lies in the ``U`` of that one.

    Attributes
    ----------
    equations, values : Tape
        ``F`` over axes and coordinates; ``F``, then ``F_u``, then ``F_x``.
    named : callable
        Coordinates (N, m) on the branch that is meant, at values of the axes (N, k); NaN where it has none.
    moves : array of bool, (k,)
        Axes on which the equations depend.
    n_unknown : int
    """

    equations: Tape
    values: Tape
    named: Callable[[Array], Array]
    moves: NDArray[np.bool_]
    n_unknown: int

    @property
    def n_axes(self) -> int:
        """Number k of axes."""
        return len(self.moves)

    def start(self, boxes: Array) -> Array:
        """What is known of the coordinates before the first test, (N, m, 3): a start, and where the solution lies."""
        found = np.full((len(boxes), self.n_unknown, 3), np.inf)
        found[..., 1] = -np.inf
        found[..., 0] = self._named(boxes.mean(axis=-1), found) if self.n_unknown else 0.0
        return found

    def are_unreachable(self, boxes: Array) -> NDArray[np.bool_]:
        """Boxes (N, k, 2) in which no coordinates at all satisfy the equations."""
        if not self.n_unknown:
            return np.zeros(len(boxes), dtype=np.bool_)
        middles = boxes.mean(axis=-1)
        points = np.stack([middles, middles], axis=-1)
        anywhere = np.broadcast_to([-np.inf, np.inf], (len(boxes), self.n_unknown, 2))
        F, is_broken = self.equations(np.concatenate([boxes, anywhere], axis=1))
        at_middles, _ = self.equations(np.concatenate([points, anywhere], axis=1))
        with np.errstate(invalid="ignore"):
            mean = self._from_middles(boxes, middles, at_middles, self._read(boxes, anywhere)[2])
        least, most = np.fmax(F[..., 0], mean[..., 0]), np.fmin(F[..., 1], mean[..., 1])
        return np.asarray(((least > 0.0) | (most < 0.0)).any(axis=1) & ~is_broken)

    def enclosed(self, boxes: Array, inner: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Enclose the coordinates over boxes.

        Parameters
        ----------
        boxes : array, (N, k, 2)
        inner : array, (N, m, 3)
            A start, and the ends of the region in which the solution is the only one; infinite if none is known.

        Returns
        -------
        coordinates : array, (N, m, 2)
        inner : array, (N, m, 3)
            For the halves of the boxes.
        is_proved : array of bool, (N,)
        """
        n, m = len(boxes), self.n_unknown
        if not (m and n):
            return np.zeros((n, m, 2)), inner, np.ones(n, dtype=np.bool_)
        middles = boxes.mean(axis=-1)
        near = self._named(middles, inner)
        centre = self._newton(middles, np.where(np.isfinite(near), near, inner[..., 0]))
        points = np.stack([middles, middles], axis=-1)
        F, F_u, F_x = self._read(points, np.stack([centre, centre], axis=-1))
        with np.errstate(all="ignore"):
            is_regular = np.isfinite(centre).all(axis=1) & (np.abs(np.linalg.det(F_u.mean(axis=-1))) > 0.0)
            Y = np.zeros((n, m, m))
            Y[is_regular] = np.linalg.inv(F_u.mean(axis=-1)[is_regular])
            half = (boxes[..., 1] - boxes[..., 0]) / 2
            slopes = np.abs(Y @ F_x.mean(axis=-1))
            radius = _ENOUGH * (slopes @ half[..., None])[..., 0] + _LEAST * (1.0 + np.abs(centre))
            found = np.full((n, m, 2), np.nan)
            region = np.full((n, m, 2), np.nan)
            is_proved = np.zeros(n, dtype=np.bool_)
            for _ in range(_WIDENINGS):
                tried = np.stack([centre - radius, centre + radius], axis=-1)
                image = self._image(boxes, middles, centre, tried, F, Y)
                is_inside = ((image[..., 0] > tried[..., 0]) & (image[..., 1] < tried[..., 1])).all(axis=1)
                new = is_inside & is_regular & ~is_proved
                found[new], region[new] = image[new], tried[new]
                is_proved |= new
                if is_proved[is_regular].all():
                    break
                reach = np.nan_to_num(np.abs(image - centre[..., None]).max(axis=-1), nan=np.inf)
                radius = np.where(is_proved[:, None], radius, np.minimum(np.maximum(2 * radius, 1.2 * reach), 10.0))
            for _ in range(_TIGHTENINGS):
                image = self._image(boxes, middles, centre, found, F, Y)
                found[..., 0] = np.fmax(found[..., 0], image[..., 0])
                found[..., 1] = np.fmin(found[..., 1], image[..., 1])
        is_proved &= self._is_meant(near, found, inner)
        after = np.where(is_proved[:, None, None], np.concatenate([centre[..., None], region], axis=-1), inner)
        after[..., 0] = np.where(np.isfinite(centre), centre, inner[..., 0])
        return found, after, is_proved

    def _named(self, middles: Array, inner: Array) -> Array:
        """Coordinates (N, m) on the named branch where no box around this one has shown them; else undefined."""
        near = np.full(inner.shape[:2], np.nan)
        first = np.flatnonzero(~np.isfinite(inner[..., 1:]).all(axis=(1, 2)))
        first = first[~self.are_unreachable(np.stack([middles[first], middles[first]], axis=-1))]
        if len(first):
            near[first] = self.named(middles[first])
        return near

    def _is_meant(self, near: Array, found: Array, inner: Array) -> NDArray[np.bool_]:
        """Whether a solution is that of the box which this one is a half of; a first one, that of the named branch."""
        is_first = ~np.isfinite(inner[..., 1:]).all(axis=(1, 2))
        with np.errstate(invalid="ignore"):
            is_same = ((found[..., 0] >= inner[..., 1]) & (found[..., 1] <= inner[..., 2])).all(axis=1)
            room = _NEAR * (1.0 + np.abs(near))
            is_near = ((near >= found[..., 0] - room) & (near <= found[..., 1] + room)).all(axis=1)
        return np.asarray(np.where(is_first, is_near, is_same))

    def _newton(self, middles: Array, start: Array) -> Array:
        points, u = np.stack([middles, middles], axis=-1), start.copy()
        for _ in range(_NEWTON):
            F, F_u, _ = self._read(points, np.stack([u, u], axis=-1))
            with np.errstate(all="ignore"):
                at, slope = F.mean(axis=-1), F_u.mean(axis=-1)
                usable = np.isfinite(slope).all(axis=(1, 2)) & (np.abs(np.linalg.det(slope)) > 0.0)
                step = np.zeros_like(u)
                step[usable] = np.linalg.solve(slope[usable], at[usable][..., None])[..., 0]
            u = u - step
            if not (np.abs(step) > LAST_PLACE * (1.0 + np.abs(u))).any():
                break
        return u

    def _read(self, boxes: Array, u: Array) -> tuple[Array, Array, Array]:
        n, m, k = len(boxes), self.n_unknown, self.n_axes
        values, broken = self.values(np.concatenate([boxes, u], axis=1))
        values[broken] = (-np.inf, np.inf)
        F, F_u, F_x = np.split(values, [m, m + m * m], axis=1)
        return F, F_u.reshape(n, m, m, 2), F_x.reshape(n, m, k, 2)

    def _from_middles(self, boxes: Array, middles: Array, F: Array, F_x: Array) -> Array:
        """Mean values (N, m, 2) over boxes, from those in their middles and slopes along the axes."""
        away = np.stack([_down(boxes[..., 0] - middles), _up(boxes[..., 1] - middles)], axis=-1)
        parts = [
            [F[:, i], *(_times(F_x[:, i, j], away[:, j]) for j in range(self.n_axes))] for i in range(self.n_unknown)
        ]
        return np.stack([_total(row) for row in parts], axis=1)

    def _image(self, boxes: Array, middles: Array, centre: Array, tried: Array, F: Array, Y: Array) -> Array:
        """Krawczyk's operator; ``F`` are its values in the middle."""
        m = self.n_unknown
        _, F_u, F_x = self._read(boxes, tried)
        aside = np.stack([_down(tried[..., 0] - centre), _up(tried[..., 1] - centre)], axis=-1)
        rows = np.moveaxis(self._from_middles(boxes, middles, F, F_x), 1, 0)
        found = []
        for i in range(m):
            parts = [np.stack([centre[:, i], centre[:, i]], axis=-1)]
            parts += [_times(_point(-Y[:, i, j]), rows[j]) for j in range(m)]
            for j in range(m):
                rest = _total(
                    [_point(np.full(len(Y), float(i == j)))]
                    + [_times(_point(-Y[:, i, other]), F_u[:, other, j]) for other in range(m)]
                )
                parts.append(_times(rest, aside[:, j]))
            found.append(_total(parts))
        return np.stack(found, axis=1)


def closed_postures(states: NodeStates, named: Callable[[Array], Array]) -> ClosedPostures:
    """Write the equations of the coordinates as operations on intervals.

    Parameters
    ----------
    states : NodeStates
    named : callable
        As of :class:`ClosedPostures`.

    Returns
    -------
    ClosedPostures
    """
    n_axes = len(states.axes)
    axes, unknown = states.names[:n_axes], states.names[n_axes:]
    by_unknown, by_axes = (jacobian(states.build, states.conditions, names) for names in (unknown, axes))
    roots = [*states.conditions, *by_unknown.ravel().tolist(), *by_axes.ravel().tolist()]
    graph = states.build.graph()
    equations, values = (tape_of(graph, nodes, states.names) for nodes in (states.conditions, roots))
    moves = np.array(
        [any(states.build.value(int(node)) != 0 for node in column) for column in by_axes.T], dtype=np.bool_
    )
    return ClosedPostures(equations, values, named, moves, len(unknown))


def _down(values: Array) -> Array:
    return np.nextafter(values, -np.inf)


def _up(values: Array) -> Array:
    return np.nextafter(values, np.inf)


def _point(values: Array) -> Array:
    return np.stack([values, values], axis=-1)


def _times(first: Array, second: Array) -> Array:
    """Products (N, 2) of intervals."""
    products = np.stack([first[:, i] * second[:, j] for i in range(2) for j in range(2)])
    found = np.stack([_down(products.min(axis=0)), _up(products.max(axis=0))], axis=-1)
    found[np.isnan(products).any(axis=0)] = (-np.inf, np.inf)
    return found


def _total(parts: Sequence[Array]) -> Array:
    """Sums (N, 2) of intervals."""
    low, high = parts[0][:, 0], parts[0][:, 1]
    for part in parts[1:]:
        low, high = _down(low + part[:, 0]), _up(high + part[:, 1])
    return np.stack([low, high], axis=-1)
