"""One branch of the postures that pins allow, followed over swept quantities from a named start.

A lattice of pins over which one branch of postures spreads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.positions import PositionProblem, depends_on, is_explicit, position_problem, solve_positions
from hybrid.dynamics.postures import Steps, is_same_posture, named_posture, orientation, polished, read_start
from hybrid.dynamics.state import sort_pins
from hybrid.errors import StateError
from hybrid.tolerances import CLEAR, Tolerances

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics

__all__ = ["Lattice", "PostureBranch", "follow_branch"]


Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_SAME = CLEAR  # of coordinates: two ways to a regular posture agree to 1e-13
_LEFT_OUT = 64  # nodes that the branch does not reach at which other postures are looked for


@attrs.define(eq=False)
class Lattice:
    """Postures at the nodes of a lattice, filled from one of them.

    Attributes
    ----------
    problem : PositionProblem
        Pins at the nodes, the last axis fastest.
    shape : tuple of int, length d
    sign : int
        Orientation of the branch.
    q : array, (N, n)
        NaN where the branch does not come.
    reached : array of bool, (N,)
    ends : mapping of (int, int) to float
        Neighbouring nodes between which the branch ends, and the share of the way at which it does.
    """

    problem: PositionProblem
    shape: tuple[int, ...]
    sign: int
    q: Array = attrs.field(init=False)
    reached: NDArray[np.bool_] = attrs.field(init=False)
    ends: dict[tuple[int, int], float] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        n = int(np.prod(self.shape))
        self.q, self.reached = np.full((n, self.problem.dynamics.n), np.nan), np.zeros(n, dtype=bool)

    def fill(self, start: int, q: Array, tolerances: Tolerances) -> None:
        """Spread along one axis after the other, in turn, until nothing is left to reach."""
        self.q[start], self.reached[start] = q, True
        idle = axis = 0
        while idle < len(self.shape):
            idle = 0 if self._spread(axis) else idle + 1
            axis = (axis + 1) % len(self.shape)
        rows = np.flatnonzero(self.reached)
        self.q[rows], _ = polished(self.problem.take(rows), self.q[rows], tolerances)

    def _neighbours(self, rows: Rows, axis: int, side: int) -> Rows:
        """The next node (N,) along an axis to one side, -1 beyond the rim."""
        index = list(np.unravel_index(rows, self.shape))
        index[axis] = index[axis] + side
        inside = (index[axis] >= 0) & (index[axis] < self.shape[axis])
        index[axis] = np.where(inside, index[axis], 0)
        return np.where(inside, np.ravel_multi_index(tuple(index), self.shape), -1)

    def _spread(self, axis: int) -> bool:
        """Go along an axis from all nodes; whether any was reached."""
        source, target = self._edges(np.flatnonzero(self.reached), axis)
        if not len(source):
            return False
        steps = Steps(self.problem, self.problem, source, target, self.q[source])
        found = False
        while len(steps.source):
            steps.advance(self.sign)
            arrived = np.flatnonzero(steps.has_arrived & ~self.reached[steps.target])
            new, place = np.unique(steps.target[arrived], return_index=True)
            self.q[new], self.reached[new] = steps.q[arrived[place]], True
            found |= bool(len(new))
            for line in np.flatnonzero(~steps.is_underway & ~steps.has_arrived):
                self.ends[int(steps.source[line]), int(steps.target[line])] = float(steps.share[line])
            steps.keep(steps.is_underway & ~self.reached[steps.target])
            source, target = self._edges(new, axis)
            steps.add(source, target, self.q[source])
        return found

    def _edges(self, rows: Rows, axis: int) -> tuple[Rows, Rows]:
        """Edges from nodes along an axis to those neighbours that are neither reached nor tried."""
        source = np.concatenate([rows, rows])
        target = np.concatenate([self._neighbours(rows, axis, side) for side in (1, -1)])
        free = (target >= 0) & ~self.reached[target]
        if self.ends:
            free &= np.array([edge not in self.ends for edge in zip(source, target, strict=True)], dtype=bool)
        return source[free], target[free]

    def folds(self, nodes: Sequence[Array]) -> Array:
        """Places (f, d) between neighbouring nodes at which the branch ends."""
        found = [(*edge, share) for edge, share in self.ends.items() if not self.reached[edge[1]]]
        return np.array(
            [
                (1.0 - share) * _place(nodes, source, self.shape) + share * _place(nodes, target, self.shape)
                for source, target, share in found
            ]
        ).reshape(-1, len(nodes))

    def seams(self, nodes: Sequence[Array]) -> Array:
        """Middles (s, d) of the edges whose ends are both reached but not followed into each other."""
        found = []
        for axis in range(len(self.shape)) if len(self.shape) > 1 else ():
            rows = np.flatnonzero(self.reached)
            target = self._neighbours(rows, axis, 1)
            both = (target >= 0) & self.reached[target]
            source, target = rows[both], target[both]
            steps = Steps(self.problem, self.problem, source, target, self.q[source])
            steps.finish(self.sign)
            apart = np.max(np.abs(steps.q - self.q[target]), axis=1, initial=0.0)
            size = 1.0 + np.max(np.abs(self.q[target]), axis=1, initial=0.0)
            for line in np.flatnonzero(~(steps.has_arrived & (apart <= _SAME * size))):
                edge = (int(source[line]), int(target[line]))
                problem = self.problem.take(np.array(edge[1:]))
                if not is_same_posture(problem, steps.q[line], self.q[edge[1]]):
                    found.append(sum(_place(nodes, row, self.shape) for row in edge) / 2)
        return np.array(found).reshape(-1, len(nodes))

    def leaves_out(self, tolerances: Tolerances) -> bool:
        """Whether Newton's method finds postures at nodes that the branch does not reach."""
        left = np.flatnonzero(~self.reached)
        if not len(left):
            return False
        chosen = left[np.unique(np.linspace(0, len(left) - 1, _LEFT_OUT).astype(np.intp))]
        return bool(solve_positions(self.problem.take(chosen), tolerances)[1].any())


def _place(nodes: Sequence[Array], row: int, shape: tuple[int, ...]) -> Array:
    index = np.unravel_index(row, shape)
    return np.array([column[i] for column, i in zip(nodes, index, strict=True)])


Placed = Callable[[Sequence[Array]], tuple[dict[str, Any], "Dynamics"]]

# Nodes along each of one, two or three swept quantities. Steps of a hundredth of the sweep are mostly taken whole; the
# answer does not hang on them, because steps that Newton's method does not like are halved.
_NODES = {0: 1, 1: 65, 2: 65, 3: 17}
_FEWEST = 7
_SAMPLE = 17  # nodes along each quantity among which a start is looked for, if there is none in the middle
_REACH = 2.0  # nodes: a posture further than this from all nodes that the branch reaches is not on it
_TRIED = 2  # nodes from which it is tried to reach a posture


@attrs.frozen(eq=False)
class PostureBranch:
    """A connected set of postures over swept quantities; made by :func:`follow_branch`.

    It is known at the nodes of a lattice. From the start it is followed along the first quantity, from there along the
    second, and so on; what this leaves out is reached from its neighbours. It ends at folds, where it meets another
    branch and the equations of the positions are singular.

    Attributes
    ----------
    names : tuple of str, length d
        Swept quantities on which the unknown coordinates depend.
    start : mapping of str to float
        Where it starts: values of those quantities and of the unknown coordinates, in their units.
    others : tuple of mapping of str to float
        Unknown coordinates of further postures at the start, which Newton's method finds from several starts.
    folds : array, (f, d)
        Values of the swept quantities at which the branch ends, on the lines between neighbouring nodes.
    seams : array, (s, d)
        Middles of neighbouring nodes between which two ways around lead to different postures.
    leaves_out : bool
        Whether there are postures where the branch has none: at some nodes that it does not reach, Newton's method
        finds one.
    nodes : tuple of array, (N_i,)
        Of the lattice: values of each swept quantity.
    problem : PositionProblem
        Of the start.
    q : array, (N_1, ..., N_d, n)
        Postures at the nodes; NaN where the branch has none.
    sign : int
        Of the determinant of the equations of the positions along the branch.
    """

    names: tuple[str, ...]
    start: Mapping[str, float]
    others: tuple[Mapping[str, float], ...]
    folds: Array
    seams: Array
    leaves_out: bool
    nodes: tuple[Array, ...] = attrs.field(repr=False)
    problem: PositionProblem = attrs.field(repr=False)
    q: Array = attrs.field(repr=False)
    sign: int = attrs.field(repr=False)

    def solve(self, problem: PositionProblem, tolerances: Tolerances) -> tuple[Array, NDArray[np.bool_]]:
        """Positions on the branch, as :func:`solve_positions` gives them on any.

        Parameters
        ----------
        problem : PositionProblem
            Of N states.
        tolerances : Tolerances

        Returns
        -------
        q : array, (N, n)
            NaN where the branch has no posture.
        reached : array of bool, (N,)
        """
        q = np.full((len(problem.time), problem.dynamics.n), np.nan)
        for nodes in self._near(problem).T:
            rows = np.flatnonzero(np.isnan(q[:, 0]) & (nodes >= 0))
            if not len(rows):
                continue
            steps = Steps(self.problem, problem, nodes[rows], rows, self.q[nodes[rows]])
            arrived = steps.finish(self.sign)
            q[rows[arrived]] = steps.q[arrived]
        reached = np.isfinite(q).all(axis=1)
        rows = np.flatnonzero(reached)
        q[rows], reached[rows] = polished(problem.take(rows), q[rows], tolerances)
        q[~reached] = np.nan
        return q + 0.0, reached

    def _near(self, problem: PositionProblem) -> NDArray[np.intp]:
        """Nodes (N, k) from which to go to each posture, nearest first; -1 for none."""
        shape = np.array([len(column) for column in self.nodes])
        is_reached = np.asarray(np.isfinite(self.q).all(axis=1))
        place = np.zeros((len(problem.time), len(shape)))
        for axis, name in enumerate(self.names):
            place[:, axis] = np.interp(_quantity(problem, name), self.nodes[axis], np.arange(shape[axis]))
        around = np.meshgrid(*[np.arange(-1, 3)] * len(shape), indexing="ij")
        offsets = np.stack(around, axis=-1).reshape(-1, len(shape))
        index = np.floor(place).astype(np.intp)[:, None, :] + offsets
        distance = np.linalg.norm(index - place[:, None, :], axis=-1)
        inside = np.asarray(((index >= 0) & (index < shape)).all(axis=-1))
        flat = np.ravel_multi_index(tuple(np.moveaxis(np.clip(index, 0, shape - 1), -1, 0)), tuple(shape))
        usable = inside & is_reached[flat] & (distance <= _REACH)
        order = np.argsort(np.where(usable, distance, np.inf), axis=1, kind="stable")[:, :_TRIED]
        rows = np.arange(len(place))[:, None]
        return np.asarray(np.where(usable[rows, order], flat[rows, order], -1))


def _quantity(problem: PositionProblem, name: str) -> Array:
    """Values (N,) of a pinned quantity in a problem."""
    dynamics = problem.dynamics
    if name == "t":
        return problem.time
    if name in dynamics.mechanism.coordinates:
        return problem.pinned[dynamics.mechanism.coordinates.index(name)]
    if name.startswith("gap."):
        return problem.gaps[dynamics.contacts.index(name.removeprefix("gap."))]
    return np.broadcast_to(np.asarray(problem.parameters[name], dtype=float), problem.time.shape)


def follow_branch(
    dynamics: Dynamics,
    ranges: Mapping[str, tuple[float, float]],
    placed: Placed,
    *,
    start: Mapping[str, Any] | None = None,
    tolerances: Tolerances = Tolerances(),
) -> PostureBranch | None:
    """A branch of postures over ranges of swept quantities.

    Parameters
    ----------
    dynamics : Dynamics
    ranges : mapping of str to (low, high)
        The swept quantities in order.
    placed : callable
        Gives all pins, and the equations at the parameters, for values (k,) of every swept quantity.
    start : mapping of str to float or str, optional
        Names the branch: values of swept quantities (by default the middles of their ranges, or where there is a
        posture near to them) and of unknown coordinates (the posture nearest to them is taken; by default that of
        :func:`solve_state`).
    tolerances : Tolerances, optional

    Returns
    -------
    PostureBranch, or None
        None where the pins fix the posture by linear equations.

    Raises
    ------
    StateError
        A bad start, or no posture is found there.
    """
    middle = {name: (low + high) / 2 for name, (low, high) in ranges.items()}
    own_pins, own = placed([np.full(1, value) for value in middle.values()])
    pins = sort_pins(own, own_pins)
    unknown = [name for name in dynamics.mechanism.coordinates if name not in pins.positions]
    named = read_start(own, start or {}, unknown=unknown, swept=ranges)
    if is_explicit(dynamics, pins):
        if named:
            raise StateError(f"the pins fix the posture of {dynamics.name} by linear equations: there is one branch")
        return None
    names = tuple(name for name in ranges if depends_on(own, pins, name))
    place = {name: named.get(name, middle[name]) for name in names}
    nodes = [_nodes(ranges[name], place[name], _NODES.get(len(names), _FEWEST)) for name in names] or [np.zeros(1)]
    grid = [column.ravel() for column in np.meshgrid(*nodes, indexing="ij")]
    swept = dict(zip(names, grid, strict=False))
    own_pins, own = placed([swept.get(name, np.full(grid[0].shape, middle[name])) for name in ranges])
    problem, _ = position_problem(own, sort_pins(own, own_pins))
    if len(problem.time) != len(grid[0]):  # no quantity counts
        problem = problem.take(np.zeros(1, dtype=np.intp))
    is_named = any(name in named for name in names)
    index = _start_node(problem, nodes, place, tolerances, is_named=is_named)
    here = problem.take(np.array([index]))
    q, others = named_posture(here, {name: named[name] for name in unknown if name in named}, tolerances)
    lattice = Lattice(problem, tuple(map(len, nodes)), int(orientation(here, q[None])[0]))
    if lattice.sign == 0:
        raise StateError(f"the branch starts at a singular posture of {dynamics.name}: start beside it")
    lattice.fill(index, q, tolerances)

    def coordinates(posture: Array) -> dict[str, float]:
        return {name: float(posture[dynamics.mechanism.coordinates.index(name)]) for name in unknown}

    return PostureBranch(
        names=names,
        start={**{name: float(column[index]) for name, column in swept.items()}, **coordinates(lattice.q[index])},
        others=tuple(coordinates(posture) for posture in others),
        folds=lattice.folds(nodes)[:, : len(names)],
        seams=lattice.seams(nodes)[:, : len(names)],
        leaves_out=lattice.leaves_out(tolerances),
        nodes=tuple(nodes),
        problem=problem,
        q=lattice.q,
        sign=lattice.sign,
    )


def _nodes(ends: tuple[float, float], place: float, count: int) -> Array:
    low, high = min(ends[0], place), max(ends[1], place)
    return np.unique(np.append(np.linspace(low, high, count), place))


def _start_node(
    problem: PositionProblem,
    nodes: Sequence[Array],
    place: Mapping[str, float],
    tolerances: Tolerances,
    *,
    is_named: bool,
) -> int:
    """Row of the node at the named place, or the one nearest to the middle at which there is a posture."""
    shape = tuple(map(len, nodes))
    centre = [int(np.argmin(np.abs(column - value))) for column, value in zip(nodes, place.values(), strict=False)]
    here = int(np.ravel_multi_index(tuple(centre), shape)) if centre else 0
    if is_named or solve_positions(problem.take(np.array([here])), tolerances)[1].all():
        return here
    coarse = [np.unique(np.linspace(0, size - 1, _SAMPLE).astype(np.intp)) for size in shape]
    index = np.stack(np.meshgrid(*coarse, indexing="ij"), axis=-1).reshape(-1, len(shape))
    rows = np.asarray(np.ravel_multi_index(tuple(index.T), shape), dtype=np.intp)
    reached = solve_positions(problem.take(rows), tolerances)[1]
    distance = np.linalg.norm((index - np.array(centre or [0])) / np.array(shape), axis=1)
    return int(rows[np.argmin(np.where(reached, distance, np.inf))])
