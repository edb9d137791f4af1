"""What guards and invariants measure, written once for expressions and for arrays.

A *view* answers for one mode: the SymPy view with expressions, the numeric view with arrays of states.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol

import attrs

from hybrid.automaton.structure import Part


class View(Protocol):
    """Quantities of one mode, as expressions or as arrays."""

    def gap(self, part: Part) -> Any:
        """Signed distance."""

    def gap_dot(self, part: Part) -> Any:
        """Its rate."""

    def slip(self, part: Part) -> tuple[Any, ...]:
        """Tangential velocity."""

    def lambda_N(self, part: Part) -> Any:
        """Normal force."""

    def lambda_T(self, part: Part) -> tuple[Any, ...]:
        """Tangential force."""

    def a_N(self, part: Part) -> Any:
        """Normal acceleration."""

    def a_T(self, part: Part) -> tuple[Any, ...]:
        """Tangential acceleration."""

    def static_friction(self, part: Part) -> Any:
        """Coefficient of static friction, or the static limit of a friction element."""

    def determinant(self) -> Any:
        """Determinant of the mode's equations: ``A_s`` of a single sliding contact."""

    def slack(self) -> Any:
        """Of a hyperstatic mode: by how much its inequalities can all be met."""

    def norm(self, components: tuple[Any, ...]) -> Any:
        """Euclidean norm."""


class Measure(Enum):
    """A quantity whose sign matters."""

    GAP = "gap"
    GAP_DOT = "gap_dot"
    NORMAL_ACCELERATION = "a_N"
    NORMAL_FORCE = "lambda_N"
    SLIP = "slip"
    SLIP_NORM = "abs(slip)"
    TANGENTIAL_ACCELERATION = "a_T"
    CONE_PLUS = "mu*lambda_N + lambda_T"
    CONE_MINUS = "mu*lambda_N - lambda_T"
    CONE = "mu*lambda_N - abs(lambda_T)"
    LIMIT_PLUS = "F + lambda_T"
    LIMIT_MINUS = "F - lambda_T"
    DETERMINANT = "A"
    SLACK = "slack"


@attrs.frozen
class Quantity:
    """A measure of one carrier, perhaps with its sign turned.

    Attributes
    ----------
    measure : Measure
    part : Part or None
        None for the determinant and the slack, which belong to the whole mode.
    sign : int
    axis : int
        Tangential component.
    side : int
        Sign of the normal force on which a friction cone stands.
    """

    measure: Measure
    part: Part | None
    sign: int = 1
    axis: int = 0
    side: int = 1

    def of(self, view: View) -> Any:
        """Evaluate in a view."""
        if self.part is None:
            return view.determinant() if self.measure is Measure.DETERMINANT else view.slack()
        value = self._measured(self.part, view)
        return value if self.sign > 0 else -value

    def _measured(self, part: Part, view: View) -> Any:
        match self.measure:
            case Measure.GAP:
                return view.gap(part)
            case Measure.GAP_DOT:
                return view.gap_dot(part)
            case Measure.NORMAL_ACCELERATION:
                return view.a_N(part)
            case Measure.NORMAL_FORCE:
                return view.lambda_N(part)
            case Measure.SLIP:
                return view.slip(part)[self.axis]
            case Measure.SLIP_NORM:
                return view.norm(view.slip(part))
            case Measure.TANGENTIAL_ACCELERATION:
                return view.a_T(part)[self.axis]
            case Measure.CONE:
                return view.static_friction(part) * view.lambda_N(part) - view.norm(view.lambda_T(part))
            case _:
                return self._distance_to_cone(part, view)

    def _distance_to_cone(self, part: Part, view: View) -> Any:
        """Static friction still available against slip in the positive or negative direction."""
        limit = view.static_friction(part)
        if part.has_normal:
            pressing = view.lambda_N(part) if self.side > 0 else -view.lambda_N(part)
            limit = limit * pressing
        force = view.lambda_T(part)[0]
        return limit + force if self.measure in (Measure.CONE_PLUS, Measure.LIMIT_PLUS) else limit - force
