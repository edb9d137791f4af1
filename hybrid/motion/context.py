"""What stays the same during one simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.declaration.evaluation import evaluate
from hybrid.motion.events import Functions, Watch
from hybrid.motion.flow import make_flow
from hybrid.motion.parts import Guard, GuardKind
from hybrid.motion.pointwise import PointTerms
from hybrid.motion.projection import Constraints, tangents_of
from hybrid.motion.settings import Settings

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.contact.modes import Mode
    from hybrid.declaration.tree import Expression
    from hybrid.dynamics.derive import Dynamics, Terms
    from hybrid.motion.flow import Flow
    from hybrid.motion.parts import Part
    from hybrid.motion.rank_guard import RankGuard
    from hybrid.motion.rules import SelectionRule

Array = NDArray[np.float64]
_EPSILON = float(np.finfo(float).eps)
_ROUNDING = 8.0  # rounding units in a guard: a few operations on each of its terms


@attrs.frozen(eq=False)
class Choice:
    """A mode, with what it needs besides.

    Attributes
    ----------
    mode : Mode
    sides : mapping of str to float
        Signs of the normal forces of bilateral contacts.
    directions : mapping of str to array (2,)
        Unit vectors of spatial slips that begin.
    """

    mode: Mode
    sides: Mapping[str, float] = attrs.field(factory=dict)
    directions: Mapping[str, Array] = attrs.field(factory=dict)

    @property
    def key(self) -> tuple[Mode, tuple[tuple[str, float], ...]]:
        """What tells it from others."""
        return self.mode, tuple(sorted(self.sides.items()))


def gap_floor(terms: Terms, q: Array, index: int) -> float:
    """Rounding of a gap: that of the terms that cancel in it."""
    return _ROUNDING * _EPSILON * float(np.abs(terms.W_N[:, index]) @ np.abs(q))


def _both(first: Functions | None, second: Functions) -> Functions:
    return second if first is None else lambda t, y: np.concatenate([first(t, y), second(t, y)])


@attrs.frozen(eq=False)
class Context:
    """The mechanism with parameters, laws and settings of one simulation, and the flows compiled for it.

    Attributes
    ----------
    dynamics : Dynamics
    parameters : mapping
    settings : Settings
    law : AbstractImpactLaw or None
    rule : SelectionRule
    watched : tuple of (Guard, Expression)
        The user's functions.
    rank : RankGuard or None
        Watches rigid constraints for singular configurations.
    singular : {"stop", "smooth"}
        What to do at one.
    """

    dynamics: Dynamics
    parameters: Mapping[str, Any]
    settings: Settings
    law: AbstractImpactLaw | None
    rule: SelectionRule
    watched: tuple[tuple[Guard, Expression], ...] = ()
    rank: RankGuard | None = None
    singular: str = "stop"
    _flows: dict[Any, Flow] = attrs.field(factory=dict, repr=False)
    _terms: PointTerms = attrs.field(init=False, repr=False)
    _values: Mapping[str, Any] = attrs.field(init=False, repr=False)
    _tangents: Mapping[int, Expression] = attrs.field(init=False, repr=False)
    _functions: Callable[[Array, Array], Array] | None = attrs.field(init=False, repr=False)

    @_terms.default
    def _compiled(self) -> PointTerms:
        return PointTerms(self.dynamics, self.parameters)

    @_values.default
    def _parameter_values(self) -> Mapping[str, Any]:
        return self.dynamics.mechanism.parameter_values(self.parameters)

    @_tangents.default
    def _declared_tangents(self) -> Mapping[int, Expression]:
        return tangents_of(self.dynamics)

    @_functions.default
    def _watched_functions(self) -> Callable[[Array, Array], Array] | None:
        if not self.watched:
            return None
        mechanism = self.dynamics.mechanism
        names = (*mechanism.coordinates, *mechanism.velocities)
        values = dict(self._values)
        expressions = [expression for _, expression in self.watched]

        def functions(t: Array, y: Array) -> Array:
            values.update(zip(names, y, strict=True), t=t)
            rows = np.empty((len(expressions), len(t)))
            for place, expression in enumerate(expressions):
                rows[place] = evaluate(expression, values)
            return rows

        return functions

    def flow(self, choice: Choice) -> Flow:
        """The flow of a mode, compiled once."""
        if choice.key not in self._flows:
            self._flows[choice.key] = make_flow(
                self.dynamics,
                choice.mode,
                parameters=self.parameters,
                sides=choice.sides,
                independent=self.rank is not None and self.rank.is_full,
            )
        return self._flows[choice.key]

    def terms(self, t: float, q: Array, v: Array) -> Terms:
        """All terms at a state."""
        return self._terms(t, q, v)

    def constraints(self, choice: Choice, t: float, q: Array) -> Constraints:
        """What a mode holds, anchored at a position."""
        constraints = self.holding(self.flow(choice).parts)
        constraints.anchor(t, q)
        return constraints

    def holding(self, parts: tuple[Part, ...]) -> Constraints:
        """What carriers in given modes hold."""
        return Constraints(self.dynamics, parts, self._terms, self._values, self._tangents)

    def watch(self, choice: Choice, t: float, q: Array, v: Array, *, with_rank: bool = True) -> Watch:
        """The guards of an arc that starts at a state; without the one of the rank near a singular configuration."""
        flow = self.flow(choice)
        guards = (*flow.guards, *(guard for guard, _ in self.watched))
        functions = self._functions
        if with_rank and self.rank is not None:
            guards = (*guards, Guard(GuardKind.RANK, ",".join(self.dynamics.rigid)))
            functions = _both(functions, self.rank.function(t, q))
        return Watch(flow, guards, functions, self._floors(flow, t, q, v), self.settings)

    def _floors(self, flow: Flow, t: float, q: Array, v: Array) -> dict[int, float]:
        """Rounding of every guard of a mode, from the terms that are added to form it."""
        terms = self.terms(t, q, v)
        observed = flow.observe(np.array([t]), np.concatenate([q, v])[:, None])
        forces = np.concatenate([observed.lambda_N, observed.lambda_T])
        force = float(np.max(np.abs(forces), initial=0.0))
        floors = {}
        for position, guard in enumerate(flow.guards):
            if guard.kind is GuardKind.TOUCH:
                floors[position] = gap_floor(terms, q, self.dynamics.contacts.index(guard.carrier))
            elif guard.kind is GuardKind.STOP:
                columns = self.dynamics.columns[guard.carrier]
                speed = float(np.max(np.abs(v) @ np.abs(terms.W_T[:, columns])))
                floors[position] = _ROUNDING * _EPSILON * speed
            elif guard.kind is not GuardKind.SINGULAR:
                floors[position] = _ROUNDING * _EPSILON * force
        return floors
