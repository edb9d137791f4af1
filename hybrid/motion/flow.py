"""The smooth flow of one mode: right-hand side, contact forces and guards."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.guards import Guard, guards_of
from hybrid.contact.table import ElementMode, rows_of, spatial_slides
from hybrid.expressions import Term, dot
from hybrid.motion.elimination import ModeNodes, Solved, eliminate, is_eliminable
from hybrid.motion.numeric import Flow, NumericFlow, Observation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.contact.modes import Mode
    from hybrid.contact.table import ForceElement
    from hybrid.dynamics.derive import Dynamics
    from hybrid.expressions import Program
    from hybrid.motion.numeric import Reference

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
    sides: Mapping[str, float] | None = None,
    independent: bool = False,
) -> Flow:
    """Compile the flow of a mode.

    Parameters
    ----------
    dynamics : Dynamics
    mode : Mode
    sides : mapping of str to float, optional
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
    parts = rows_of(dynamics, mode, sides)
    if not is_eliminable(dynamics, parts, independent=independent):
        return NumericFlow(mode, parts, guards_of(parts), dynamics)
    key = (FlowProgram, parts)
    if key not in dynamics.programs:
        dynamics.programs[key] = _program(dynamics, parts)
    program = dynamics.programs[key]
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

    def gap(self, part: ForceElement) -> Term:
        """Signed distance of a contact."""
        return self._term(self.nodes.equations.gap[part.index])

    def slip(self, part: ForceElement) -> tuple[Term, ...]:
        """Tangential velocity."""
        return tuple(self._term(self.nodes.equations.slip[column]) for column in part.columns)

    def speed(self, part: ForceElement) -> Term:
        """Slip along the reference direction, so that it falls through zero."""
        along = self.nodes.references[part.name][:2]
        return self._term(dot(self.nodes.build, [term.node for term in self.slip(part)], along))

    def lambda_N(self, part: ForceElement) -> Term:
        """Normal force."""
        return self._term(self.solved.lambda_N[part.index])

    def lambda_T(self, part: ForceElement) -> tuple[Term, ...]:
        """Tangential force."""
        return tuple(self._term(self.solved.lambda_T[column]) for column in part.columns)

    def static_friction(self, part: ForceElement) -> Term:
        """Coefficient of static friction, or the static limit of a friction element."""
        return self._term(self.nodes.equations.coefficients[part.friction_term(is_static=True)][part.index])

    def determinant(self) -> Term:
        """Determinant of the mode's equations."""
        return self._term(self.solved.determinant)

    def norm(self, components: tuple[Term, ...]) -> Term:
        """Euclidean norm."""
        return self._term(self.nodes.length([term.node for term in components]))
