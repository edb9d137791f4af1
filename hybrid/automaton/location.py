"""A node of the automaton: one mode with its invariant, vector field and guards.

The SymPy view of a mode: what guards and invariants measure, as expressions.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import sympy

from hybrid.automaton.algebra import force_matrix
from hybrid.automaton.closed_form import Motion, force_names, motion_of
from hybrid.automaton.guards import Condition, GuardFunction, condition_quantities
from hybrid.automaton.numeric import NodeSystem, Samples, active_rows, closed_postures, rank_of
from hybrid.automaton.structure import FREE, STICK, NodeMode, rows_of_node
from hybrid.contact.guards import Guard, GuardKind, Measure, Quantity, guards_of
from hybrid.contact.modes import ElementKind
from hybrid.dynamics.notation import text
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.automaton.algebra import Algebra, RowTable
    from hybrid.contact.modes import Mode
    from hybrid.contact.table import ForceElement, ForceRow
    from hybrid.dynamics.derive import Dynamics, Values


@attrs.frozen(eq=False)
class SymbolicView:
    """Quantities of one mode as expressions in the mechanism's symbols.

    Attributes
    ----------
    dynamics : Dynamics
    table : RowTable
    motion : Motion
    """

    dynamics: Dynamics
    table: RowTable
    motion: Motion

    def declared(self, name: str, index: int) -> sympy.Expr:
        """A quantity of the declaration, or one of its coefficients."""
        model = self.dynamics.model
        return (model.coefficients[name] if name in model.coefficients else getattr(model, name))[index]

    def direction(self, part: ForceElement) -> None:
        """A slip in space keeps to no direction: its magnitude is meant."""

    def force(self, row: ForceRow) -> sympy.Expr:
        """One component of a contact force."""
        return self.motion.forces[self.table.places[row]]

    def acceleration(self, row: ForceRow) -> sympy.Expr:
        """The contact acceleration along it."""
        return self.motion.contact_acceleration[self.table.places[row]]

    def determinant(self) -> sympy.Expr:
        """Determinant of the mode's equations."""
        return self.motion.determinant

    def slack(self) -> sympy.Expr:
        """By how much the inequalities of a hyperstatic mode can all be met: a name, explained in the definitions."""
        return self.motion.slack

    def root(self, square: sympy.Expr) -> sympy.Expr:
        """Square root."""
        return sympy.sqrt(square)


_SUMS = {Measure.CONE_PLUS, Measure.CONE_MINUS, Measure.LIMIT_PLUS, Measure.LIMIT_MINUS}


@attrs.frozen(eq=False)
class VectorField:
    """The accelerations of a mode: ``vector_field(q, v, t=0.0, parameters={})`` gives ``v'``.

    Attributes
    ----------
    names : tuple of str
        Coordinates.
    expressions : tuple of Expr
        Accelerations in the mechanism's symbols, perhaps with unknowns that the node's ``definitions`` explain.
    """

    names: tuple[str, ...]
    expressions: tuple[sympy.Expr, ...]
    _system: NodeSystem = attrs.field(repr=False)

    @property
    def text(self) -> tuple[str, ...]:
        """One equation per coordinate, ``"x_ddot = ..."``."""
        pairs = zip(self.names, self.expressions, strict=True)
        return tuple(f"{name}_ddot = {text(expression)}" for name, expression in pairs)

    def __call__(
        self,
        q: Any,
        v: Any,
        *,
        t: Any = 0.0,
        parameters: Values | None = None,
        sides: Mapping[str, tuple[float, ...]] | None = None,
    ) -> NDArray[np.float64]:
        """Evaluate at states, as if the mode held there.

        Parameters
        ----------
        q, v : array_like, (..., n)
        t : array_like, (...), default 0
        parameters : mapping of str to array_like, optional
        sides : mapping of str to tuple of float, optional
            Direction of vanishing slip of spatial contacts.

        Returns
        -------
        array, (..., n)
            NaN where the mode's equations are singular.
        """
        return self._system.solve(q, v, t=t, parameters=parameters, sides=sides).acceleration


@attrs.frozen(eq=False)
class Location:
    """One mode of the mechanism as a node of the automaton.

    Attributes
    ----------
    node : NodeMode
    invariant : tuple of Condition
        All of them hold exactly where the mode is consistent.
    vector_field : VectorField
    n_freedom : int
        Coordinates that the active constraints leave free, at generic postures with these contacts closed.
    is_hyperstatic : bool
        The contact forces are undetermined wherever the contacts of the mode are closed.
    forces : mapping of str to Expr
        Forces of the closed contacts.
    definitions : tuple of str
        Equations of the unknowns in the expressions; empty if all are in closed form.
    unknowns : mapping of Symbol to Expr
        Those of the unknowns that have a closed form.
    equations : tuple of Expr
        Expressions whose zeros are the other unknowns.
    guards : tuple of GuardFunction
    stops_with : mapping of str to tuple of str
        For each sliding contact, those that must stop together with it.
    system : NodeSystem
        The linear equations of the mode, by which its functions are evaluated.
    """

    node: NodeMode
    invariant: tuple[Condition, ...]
    vector_field: VectorField
    n_freedom: int
    is_hyperstatic: bool
    forces: Mapping[str, sympy.Expr]
    definitions: tuple[str, ...]
    unknowns: Mapping[sympy.Symbol, sympy.Expr]
    equations: tuple[sympy.Expr, ...]
    guards: tuple[GuardFunction, ...]
    stops_with: Mapping[str, tuple[str, ...]]
    system: NodeSystem = attrs.field(repr=False)

    @property
    def key(self) -> str:
        """Key of the node."""
        return self.node.key

    @property
    def mode(self) -> Mode:
        """The mode."""
        return self.node.mode


def locate(
    dynamics: Dynamics, parts: tuple[ForceElement, ...], table: RowTable, algebra: Algebra | None, node: NodeMode
) -> Location:
    """The node of a mode.

    Parameters
    ----------
    dynamics : Dynamics
    parts : tuple of ForceElement
    table : RowTable
    algebra : Algebra or None
    node : NodeMode

    Returns
    -------
    Location
    """
    closed = [part.index for part in parts if part.is_unilateral and node.mode[part.name] is not FREE]
    samples = closed_postures(dynamics, closed)
    system = NodeSystem(dynamics, parts, node)
    is_hyperstatic = _is_singular(system, samples)
    motion = motion_of(dynamics, parts, table, algebra, node, is_hyperstatic=is_hyperstatic)
    system = attrs.evolve(system, is_hyperstatic=motion.is_hyperstatic)
    law = force_matrix(dynamics, parts, table, node)
    slides = law.slides if _can_vanish(dynamics, motion) else ()
    rows, view = rows_of_node(parts, node), SymbolicView(dynamics, table, motion)
    present = [table.places[row] for part in rows if not part.is_open for row in part.element.rows]
    names = force_names(table, with_names=len(node.mode) > 1)
    written = _Writer(view, algebra, system, len(node.mode) > 1)
    return Location(
        node=node,
        invariant=tuple(
            written.condition(*item) for item in condition_quantities(rows, is_hyperstatic=motion.is_hyperstatic)
        ),
        vector_field=VectorField(dynamics.mechanism.coordinates, motion.acceleration, system),
        n_freedom=dynamics.n - rank_of(active_rows(dynamics, parts, node, samples)),
        is_hyperstatic=motion.is_hyperstatic,
        forces={names[row]: motion.forces[row] + table.mean[row] for row in present},
        definitions=motion.definitions,
        unknowns=motion.unknowns,
        equations=motion.equations,
        guards=tuple(
            written.guard(item) for item in guards_of(rows, singular=slides, is_hyperstatic=motion.is_hyperstatic)
        ),
        stops_with=_stops_with(dynamics, parts, node, samples),
        system=system,
    )


def _is_singular(system: NodeSystem, samples: Samples) -> bool:
    """The mode's equations are singular at every sampled posture: forces are undetermined."""
    regularity = system.regularity(samples.q, samples.v, t=samples.t)
    regularity = regularity[~np.isnan(regularity)]
    return bool(regularity.size) and bool((regularity <= np.sqrt(Tolerances().rank)).all())


def _can_vanish(dynamics: Dynamics, motion: Motion) -> bool:
    """False if the determinant of the mode's equations is constant during any motion."""
    if motion.determinant is None:
        return False
    fixed = set(dynamics.model.parameters.values())
    return bool(motion.determinant.free_symbols - fixed)


def _stops_with(
    dynamics: Dynamics, parts: Sequence[ForceElement], node: NodeMode, samples: Samples
) -> dict[str, tuple[str, ...]]:
    """Sliding contacts whose slips are bound to each other by the constraints of the mode."""
    sliding = [part for part in parts if node.mode[part.name].slip_sign]
    if len(sliding) < 2:
        return {}
    terms = dynamics.kinematics(samples.q, samples.v, t=samples.t)
    base = active_rows(dynamics, parts, node, samples)
    slips = {
        part.name: np.broadcast_to(terms["W_T"][..., part.columns[0]], samples.q.shape)[..., None, :]
        for part in sliding
    }
    bound: dict[str, tuple[str, ...]] = {}
    for name, row in slips.items():
        stopped = np.concatenate([base, row], axis=-2)
        others = [
            other
            for other, its in slips.items()
            if other != name and rank_of(np.concatenate([stopped, its], axis=-2)) == rank_of(stopped)
        ]
        if others:
            bound[name] = tuple(others)
    return bound


@attrs.frozen(eq=False)
class _Writer:
    """Turns quantities into guards and conditions."""

    view: SymbolicView
    algebra: Algebra | None
    system: NodeSystem
    with_names: bool

    def guard(self, guard: Guard) -> GuardFunction:
        expression = sympy.Integer(0) if guard.quantity is None else self._expression(guard.quantity)
        return GuardFunction(guard, expression, self._label(guard.kind, "+".join(guard.elements)), self.system)

    def condition(self, contact: str, relation: str, quantities: tuple[Quantity, ...]) -> Condition:
        expressions = tuple(self._expression(quantity) for quantity in quantities)
        names = [("-" if quantity.sign < 0 else "") + quantity.measure.value for quantity in quantities]
        label = f"{names[0]} {relation}"
        for before, after in pairwise(names):
            label += f"; where {before} = 0: {after} {relation}"
        if self.with_names and contact:
            label = f"{contact}: {label}"
        return Condition(contact, relation, expressions, label, quantities, self.system)

    def _expression(self, quantity: Quantity) -> sympy.Expr:
        expression = quantity.of(self.view)
        if self.algebra is None or quantity.measure not in _SUMS:
            return expression
        return self.algebra.fractions.tidied(expression)

    def _label(self, kind: GuardKind, contact: str) -> str:
        node = self.system.node
        label = node.mode.get(contact)
        words = kind.sentence
        if kind is GuardKind.SINGULAR:
            slides = ", ".join(f"{name} {node.mode[name].value}" for name in contact.split("+"))
            return f"A_{label.value} reaches 0" if label and not self.with_names else f"A reaches 0 ({slides})"
        if kind is GuardKind.SLIP and label is not None and label.slip_sign:
            words = "slip falls to 0" if label.slip_sign > 0 else "slip rises to 0"
        is_element = any(part.name == contact and part.kind is ElementKind.ELEMENT for part in self.system.parts)
        if is_element and label is STICK:
            words = words.replace("the friction cone", "its limit")
        return f"{contact}: {words}" if self.with_names else words
