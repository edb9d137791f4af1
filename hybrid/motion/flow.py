"""The smooth flow of one mode: right-hand side, contact forces and guards, eliminated into a straight-line program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import Guard, guards_of, possible_exit
from hybrid.contact.modes import ElementKind
from hybrid.contact.table import ElementMode, ForceElement, ForceLaw, ForceRow, force_law, rows_of, spatial_slides
from hybrid.expressions import Builder, Term, dot, solve_definite
from hybrid.motion.numeric import NO_SIDE, Flow, NumericFlow, Observation
from hybrid.tolerances import LEAST, RANK

if TYPE_CHECKING:
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Equations
    from hybrid.expressions import Program
    from hybrid.motion.numeric import Reference


MAX_ROWS = 2  # Cramer's rule; larger systems need pivoting
N_REFERENCES = 3  # extra arguments of every spatial slide: a direction and the rounding of the slip
_TINY = Fraction(1, 10**300)  # what no slip is as small as, and what decides its side where it vanishes
_POSTURES = (0.3, -1.1, 2.3)  # no particular ones


@attrs.define
class ModeRows:
    """Conditions ``R_i . v' + zeta_i = 0`` and the force columns ``F_i`` that meet them, all of nodes.

    Attributes
    ----------
    R, F : list of columns of length n
    zeta : list
    labels : list of ForceRow or None
        The force of each row; None for a bilateral constraint.
    load : list of length n
        Generalised forces that need no elimination.
    """

    R: list[list[int]]
    F: list[list[int]]
    zeta: list[int]
    labels: list[ForceRow | None]
    load: list[int]


@attrs.frozen(eq=False)
class Solved:
    """Nodes of the accelerations, of the forces of every contact and column, and of the singularity guard."""

    acceleration: list[int]
    lambda_N: list[int]
    lambda_T: list[int]
    determinant: int


@attrs.frozen(eq=False)
class ModeNodes:
    """The equations of a mechanism, a builder of their graph, and what the parts of a mode contribute.

    Attributes
    ----------
    equations : Equations
    build : Builder
    parts : tuple of ElementMode
    references : mapping of str to tuple of int
        For every spatial slide the two components of a direction and the rounding of the slip, looked up at each call.
    """

    equations: Equations
    build: Builder
    parts: tuple[ElementMode, ...]
    references: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, dynamics: Dynamics, parts: Sequence[ElementMode]) -> ModeNodes:
        """The nodes of a mode."""
        build = Builder(dynamics.equations.graph)
        slides = spatial_slides(parts)
        # no name of a declaration has a space
        names = {part.name: tuple(build.name(f"{part.name} {i}") for i in range(N_REFERENCES)) for part in slides}
        return cls(dynamics.equations, build, tuple(parts), names)

    @property
    def extra(self) -> list[int]:
        """The references, in order."""
        return [node for nodes in self.references.values() for node in nodes]

    def slips(self, part: ElementMode) -> list[int]:
        """Tangential velocities of a part."""
        return [int(self.equations.slip[column]) for column in part.columns]

    @property
    def law(self) -> ForceLaw:
        """Which forces are unknown, and the nodes of the factors of the others."""
        coefficients = self.equations.coefficients

        def friction(element: ForceElement) -> Term:
            name = element.friction_term(is_static=False)
            return Term(self.build, int(coefficients[name][element.index]))

        def direction(row: ElementMode) -> list[Term]:
            return [Term(self.build, node) for node in self.directions(row)]

        return force_law(self.parts, friction=friction, direction=direction)

    def directions(self, part: ElementMode) -> list[int]:
        """The direction of slip: a sign in the plane, in space a unit vector that runs straight on through zero.

        In space it keeps to the side of a reference direction, and is that direction where there is no slip. A slip
        that is as good as none has no side: friction would push it away from the reference where it lies behind.
        """
        build = self.build
        if len(part.columns) < 2:
            return [build.number(int(part.slip_sign))] * len(part.columns)
        *along, floor = self.references[part.name]
        tiny = build.number(_TINY)
        none = build.add(build.multiply(floor, build.number(NO_SIDE)), tiny)
        side = build.call("sign", dot(build, self.slips(part), along, none))
        kept = [build.multiply(slip, side) for slip in self.slips(part)]
        kept = [build.add(slip, build.multiply(floor, way)) for slip, way in zip(kept, along, strict=True)]
        size = build.call("max", self.length(kept), tiny)
        return [build.divide(slip, size) for slip in kept]

    def length(self, vector: Sequence[int]) -> int:
        """Euclidean length of a vector."""
        return self.build.call("sqrt", dot(self.build, vector, vector))


def is_eliminable(dynamics: Dynamics, parts: Sequence[ElementMode], *, independent: bool) -> bool:
    """True if the mode can be solved without pivoting and without pseudo-inverses.

    Parameters
    ----------
    dynamics : Dynamics
    parts : sequence of ElementMode
    independent : bool
        True if the rigid constraints are known to be independent, but for singular configurations.

    Returns
    -------
    bool
    """
    rows = sum(len(part.held) for part in parts) + len(dynamics.rigid)
    frictional = any(part.kind is ElementKind.BILATERAL for part in parts)
    if frictional or (len(dynamics.rigid) > 1 and not independent) or rows > min(MAX_ROWS, dynamics.n):
        return False
    if rows < 2:
        return True
    return dynamics.once(_is_independent, tuple(parts), depends_on_values=True)


def _is_independent(dynamics: Dynamics, parts: Sequence[ElementMode]) -> bool:
    """True if the conditions of a mode are independent somewhere; those of a hinged link's end on a floor never are.

    They are as independent as :class:`hybrid.motion.numeric.NumericFlow` tells them from redundant ones.
    """
    for posture in _POSTURES:
        q = posture + np.linspace(0.0, 0.5, dynamics.n)
        terms = dynamics.terms(q, np.zeros(dynamics.n))
        directions = np.array([*terms.J, *(row.direction(terms) for part in parts for row in part.held)])
        if not (np.isfinite(directions).all() and np.isfinite(terms.M).all()):
            return True
        G = directions @ np.linalg.pinv(terms.M, hermitian=True) @ directions.T
        sizes = np.sqrt(np.maximum(np.diag(G), LEAST))
        if np.linalg.matrix_rank(G / np.outer(sizes, sizes), rtol=RANK, hermitian=True) == len(directions):
            return True
    return False


def _mode_rows(nodes: ModeNodes, law: ForceLaw) -> ModeRows:
    """A row for every rigid constraint, then for every force that a law leaves unknown; the builder gets the others."""
    equations, build = nodes.equations, nodes.build
    J = equations.J.tolist()
    directions = [*J, *(row.direction(equations).tolist() for row in law.unknown)]
    zeta = [*equations.zeta_B.tolist(), *(int(row.zeta(equations)) for row in law.unknown)]
    labels = [*([None] * len(J)), *law.unknown]
    rows = ModeRows(directions, list(directions), zeta, labels, equations.h.tolist())
    for given in law.given:
        along = given.row.direction(equations).tolist()
        if given.leader is None:
            rows.load = _moved(build, rows.load, given.factor.node, along)
        else:
            place = rows.labels.index(given.leader)
            rows.F[place] = _moved(build, rows.F[place], given.factor.node, along)
    return rows


def _moved(build: Builder, start: Sequence[int], factor: int, along: Sequence[int]) -> list[int]:
    """``start + factor*along``."""
    return [build.add(x, build.multiply(factor, w)) for x, w in zip(start, along, strict=True)]


def eliminate(nodes: ModeNodes) -> Solved:
    """Write the solution of a mode's equations of motion.

    Parameters
    ----------
    nodes : ModeNodes
        Of a mode with at most two conditions.

    Returns
    -------
    Solved
    """
    equations, build = nodes.equations, nodes.build
    law = nodes.law
    rows = _mode_rows(nodes, law)
    a_free, *responses = solve_definite(build, equations.M, [rows.load, *rows.F])
    G = [[dot(build, R, Y) for Y in responses] for R in rows.R]
    c = [dot(build, R, a_free, zeta) for R, zeta in zip(rows.R, rows.zeta, strict=True)]
    forces, determinant = _solve(build, G, c)
    acceleration = a_free
    for Y, x in zip(responses, forces, strict=True):
        acceleration = _moved(build, acceleration, x, Y)
    found = {row.place: force for row, force in zip(rows.labels, forces, strict=True) if row is not None}
    for given in law.given:
        factor = given.factor.node
        found[given.row.place] = factor if given.leader is None else build.multiply(factor, found[given.leader.place])
    lambda_N, lambda_T = (
        [found.get((block, column), build.number(0)) for column in range(len(of))]
        for block, of in (("N", equations.gap), ("T", equations.slip))
    )
    return Solved(acceleration, lambda_N, lambda_T, _relative(nodes, rows, determinant))


def _solve(build: Builder, G: list[list[int]], c: list[int]) -> tuple[list[int], int]:
    if not c:
        return [], build.number(1)
    if len(c) == 1:
        return [build.divide(build.negate(c[0]), G[0][0])], G[0][0]
    determinant = _cross(build, G[0], G[1])
    first = _cross(build, [row[1] for row in G], c)
    second = _cross(build, c, [row[0] for row in G])
    return [build.divide(first, determinant), build.divide(second, determinant)], determinant


def _cross(build: Builder, a: Sequence[int], b: Sequence[int]) -> int:
    """``a_0 b_1 - a_1 b_0``."""
    return build.subtract(build.multiply(a[0], b[1]), build.multiply(a[1], b[0]))


def _relative(nodes: ModeNodes, rows: ModeRows, determinant: int) -> int:
    """The determinant over that of the same contacts without friction, dimensionless."""
    build = nodes.build
    if not rows.R or determinant == build.number(1):
        return build.number(1)
    for R, Y in zip(rows.R, solve_definite(build, nodes.equations.M, rows.R), strict=True):
        determinant = build.divide(determinant, dot(build, R, Y))
    return determinant


Array = NDArray[np.float64]
Rows = Callable[[Array, Array], Array]

_FEW = 3  # states up to which plain floats are quicker than arrays of them


@attrs.frozen(eq=False)
class FlowProgram:
    """The flow of a mode, compiled for any parameters."""

    guards: tuple[Guard, ...]
    make_rate: Callable[..., Callable[[float, Sequence[float]], tuple[float, ...]]]
    observation: Program
    guard_values: Program
    n_references: int


@attrs.frozen(eq=False)
class CompiledFlow:
    """A flow whose linear system was eliminated when its program was written."""

    mode: Mode
    parts: tuple[ElementMode, ...]
    guards: tuple[Guard, ...]
    _rate: Callable[[float, Sequence[float]], tuple[float, ...]]
    guard_values: Rows
    _observation: Rows
    _n_contacts: int
    _references: list[float]

    def derivative(self, t: float, y: Array) -> Sequence[float]:
        """Right-hand side at one state."""
        return self._rate(t, y.tolist())

    def observe(self, t: Array, y: Array) -> Observation:
        """Accelerations, forces and guards at N states."""
        table, n, k = self._observation(t, y), len(y) // 2, self._n_contacts
        return Observation(table[:n], table[n : n + k], table[n + k :], self.guard_values(t, y))

    def set_references(self, references: Mapping[str, Reference]) -> None:
        """Tell what is known of the spatial slips at the start of a step."""
        known = [references[part.name] for part in spatial_slides(self.parts)]
        self._references[:] = [float(value) for each in known for value in (*each.direction, each.floor)]


def make_flow(
    dynamics: Dynamics,
    mode: Mode,
    *,
    force_signs: Mapping[str, float] | None = None,
    independent: bool = False,
) -> Flow:
    """Compile the flow of a mode.

    Parameters
    ----------
    dynamics : Dynamics
    mode : Mode
    force_signs : mapping of str to float, optional
        Signs of the normal forces of bilateral contacts with friction.
    independent : bool
        True if the rigid constraints are known to be independent, but for singular configurations.

    Returns
    -------
    Flow

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Mode, derive
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> flow = make_flow(rod, Mode({"tip": "stick"}))
    >>> [abs(round(value, 12)) for value in flow.derivative(0.0, np.array([0, 1, np.pi / 2, 0, 0, 0]))]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    parts = rows_of(dynamics, mode, force_signs)
    if not is_eliminable(dynamics, parts, independent=independent):
        return NumericFlow(mode, parts, guards_of(parts), dynamics)
    program = dynamics.once(_program, parts)
    # without a reference, zero, friction is against the slip itself
    values, references = dynamics.arguments, [0.0] * program.n_references
    observed, guards = (_rows(one, values, references) for one in (program.observation, program.guard_values))
    rate = program.make_rate(values, references)
    return CompiledFlow(mode, parts, program.guards, rate, guards, observed, len(dynamics.contacts), references)


def _rows(program: Program, values: Sequence[float], references: list[float]) -> Rows:
    """What a program gives at N states as a table with a row for each result."""
    at_one, at_many = program.scalar(values, references), program.vector(values, references)

    def rows(t: Array, y: Array) -> Array:
        if t.size <= _FEW:
            try:
                return np.array([at_one(*state) for state in zip(t.tolist(), y.T.tolist(), strict=True)]).T
            except (ValueError, ArithmeticError):  # undefined for plain floats; arrays say where
                pass
        with np.errstate(all="ignore"):
            found = at_many(t, y)
        table = np.empty((len(found), t.size))
        for index, row in enumerate(found):
            table[index] = row
        return table

    return rows


def _program(dynamics: Dynamics, parts: Sequence[ElementMode]) -> FlowProgram:
    nodes = ModeNodes.of(dynamics, parts)
    equations, extra = nodes.equations, nodes.extra
    solved = eliminate(nodes)
    forces = [*solved.lambda_N, *solved.lambda_T]
    guards = guards_of(parts)
    distances = [guard.distance(NodeView(nodes, solved)).node for guard in guards]
    rate = equations.program(nodes.build, [*equations.velocities, *solved.acceleration], extra=extra)
    observed = equations.program(nodes.build, [*solved.acceleration, *forces], extra=extra)
    ends = equations.program(nodes.build, distances, extra=extra)
    return FlowProgram(guards, rate.scalar, observed, ends, len(extra))


@attrs.frozen(eq=False)
class NodeView:
    """Quantities of a mode as terms of its graph."""

    nodes: ModeNodes
    solved: Solved

    def _term(self, node: int) -> Term:
        return Term(self.nodes.build, int(node))

    def declared(self, name: str, index: int) -> Term:
        """A quantity of the declaration, or one of its coefficients."""
        return self._term(self.nodes.equations.terms()[name][index])

    def direction(self, part: ForceElement) -> tuple[Term, ...]:
        """Components of the direction to which a slip in space keeps."""
        return tuple(self._term(node) for node in self.nodes.references[part.name][:2])

    def force(self, row: ForceRow) -> Term:
        """One component of a contact force."""
        block, column = row.place
        return self._term({"N": self.solved.lambda_N, "T": self.solved.lambda_T}[block][column])

    def determinant(self) -> Term:
        """Determinant of the mode's equations."""
        return self._term(self.solved.determinant)

    def root(self, square: Term) -> Term:
        """Square root."""
        return self._term(self.nodes.build.call("sqrt", square.node))


def check_exit(dynamics: Dynamics, before: Mode, fired: Sequence[Guard], after: Mode, *, t: float) -> None:
    """The verdict selects among the exits of the guards that fired, however it was reached.

    Parameters
    ----------
    dynamics : Dynamics
    before, after : Mode
        Without a jump of the velocities between them.
    fired : sequence of Guard
        At least one.
    t : float
        Time of the event, in s.

    Raises
    ------
    RuntimeError
        The mode that was selected is none that may follow: a defect.
    """
    if not possible_exit(rows_of(dynamics, before), fired).admits(after):
        names = ", ".join(f"{guard.kind.value} of {guard.element}" for guard in fired)
        raise RuntimeError(f"t = {t:.10g}: {after} is no exit of {before} at {names}")
