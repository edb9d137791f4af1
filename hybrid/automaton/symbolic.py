"""The SymPy view of a mode: what guards and invariants measure, as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import sympy

from hybrid.automaton.laws import friction_of

if TYPE_CHECKING:
    from hybrid.automaton.algebra import RowTable
    from hybrid.automaton.closed_form import Motion
    from hybrid.contact.table import ForceElement
    from hybrid.dynamics.derive import Dynamics


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

    def gap(self, part: ForceElement) -> sympy.Expr:
        """Signed distance of a contact."""
        return self.dynamics.model.gap[part.index]

    def gap_dot(self, part: ForceElement) -> sympy.Expr:
        """Its rate."""
        return self.dynamics.model.gap_dot[part.index]

    def slip(self, part: ForceElement) -> tuple[sympy.Expr, ...]:
        """Tangential velocity."""
        return tuple(self.dynamics.model.slip[column] for column in part.columns)

    def speed(self, part: ForceElement) -> sympy.Expr:
        """Magnitude of the tangential velocity."""
        return self.norm(self.slip(part))

    def lambda_N(self, part: ForceElement) -> sympy.Expr:
        """Normal force."""
        return self.motion.forces[self.table.normal[part.name]]

    def lambda_T(self, part: ForceElement) -> tuple[sympy.Expr, ...]:
        """Tangential force."""
        return tuple(self.motion.forces[row] for row in self.table.tangential[part.name])

    def a_N(self, part: ForceElement) -> sympy.Expr:
        """Normal acceleration."""
        return self.motion.contact_acceleration[self.table.normal[part.name]]

    def a_T(self, part: ForceElement) -> tuple[sympy.Expr, ...]:
        """Tangential acceleration."""
        return tuple(self.motion.contact_acceleration[row] for row in self.table.tangential[part.name])

    def static_friction(self, part: ForceElement) -> sympy.Expr:
        """Coefficient of static friction, or the static limit of a friction element."""
        return friction_of(self.dynamics, part, is_static=True)

    def determinant(self) -> sympy.Expr:
        """Determinant of the mode's equations."""
        return self.motion.determinant

    def slack(self) -> sympy.Expr:
        """By how much the inequalities of a hyperstatic mode can all be met: a name, explained in the definitions."""
        return self.motion.slack

    def norm(self, components: tuple[sympy.Expr, ...]) -> sympy.Expr:
        """Euclidean norm."""
        return sympy.sqrt(sum(component**2 for component in components))
