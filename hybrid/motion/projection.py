"""Keeping positions and velocities on the active constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.carriers import CarrierKind
from hybrid.declaration.evaluation import evaluate

if TYPE_CHECKING:
    from hybrid.declaration.tree import Expression
    from hybrid.dynamics.derive import Dynamics, Terms, Values
    from hybrid.motion.parts import Part
    from hybrid.motion.pointwise import PointTerms

Array = NDArray[np.float64]

_RANK = 1e-10
_ITERATIONS = 5
_SMALL = 1e-13
_ENOUGH = 2e-16  # of the terms of a residual: that of a converged Newton step is rounding


@attrs.frozen(eq=False)
class Constraints:
    """What a mode holds at zero: gaps and constraints, tangential displacements of sticking contacts, velocities.

    Attributes
    ----------
    dynamics : Dynamics
    parts : tuple of Part
    terms : PointTerms
    values : mapping of str to float
        Values of all parameters.
    tangents : mapping of int to Expression
        Tangential displacement by tangential column, for sticking contacts that declare one.
    anchors : dict of int to float
        Where they stick, by tangential column.
    """

    dynamics: Dynamics
    parts: tuple[Part, ...]
    terms: PointTerms
    values: Mapping[str, Any]
    tangents: Mapping[int, Expression]
    anchors: dict[int, float] = attrs.field(factory=dict)

    @property
    def is_empty(self) -> bool:
        """True if nothing is held."""
        return not self.dynamics.rigid and not any(part.has_normal or part.sticks for part in self.parts)

    def anchor(self, t: float, q: Array) -> None:
        """Remember where the sticking contacts are."""
        for column, tangent in self.tangents.items():
            self.anchors[column] = self._displacement(tangent, t, q)

    def _displacement(self, tangent: Expression, t: float, q: Array) -> float:
        named = dict(zip(self.dynamics.mechanism.coordinates, q.tolist(), strict=True))
        return float(evaluate(tangent, {**self.values, **named, "t": t}))

    def _rows(self, terms: Terms, t: float, q: Array) -> tuple[Array, Array, Array, Array]:
        """Jacobian and residual of positions, Jacobian and residual of velocities (both without ``W v`` removed)."""
        J = [terms.J[row] for row in range(len(self.dynamics.rigid))]
        residual = list(terms.constraint)
        rates = list(terms.constraint_dot)
        for part in self.parts:
            if part.has_normal and part.kind is CarrierKind.CONTACT:
                J.append(terms.W_N[:, part.index])
                residual.append(terms.gap[part.index])
                rates.append(terms.gap_dot[part.index])
        held = list(J)
        for part in self.parts:
            for column in part.columns if part.sticks else ():
                held.append(terms.W_T[:, column])
                rates.append(terms.slip[column])
                if column in self.anchors:
                    J.append(held[-1])
                    residual.append(self._displacement(self.tangents[column], t, q) - self.anchors[column])
        n = self.dynamics.n
        return (
            np.array(J).reshape(-1, n),
            np.array(residual, dtype=float),
            np.array(held).reshape(-1, n),
            np.array(rates, dtype=float),
        )

    def project(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Nearest position and velocity, in the metric of the mass matrix, that satisfy what the mode holds.

        Parameters
        ----------
        t : float
        q, v : array, (n,)

        Returns
        -------
        q, v : array, (n,)
        """
        if self.is_empty:
            return q, v
        terms = self.terms(t, q, v)
        try:
            inverse = np.linalg.inv(terms.M)
        except np.linalg.LinAlgError:
            return q, v
        for _ in range(_ITERATIONS):
            J, residual, held, rates = self._rows(terms, t, q)
            if not (np.abs(residual) > _ENOUGH * (np.abs(J) @ np.abs(q))).any():
                break
            correction = _correction(inverse, J, residual)
            q = q - correction
            if np.max(np.abs(correction)) <= _SMALL * np.max(np.abs(q)):
                break  # quadratic: the next correction is below rounding, and so is the change of the Jacobians
            terms = self.terms(t, q, v)
        if np.max(np.abs(rates), initial=0.0) > 0.0:
            drift = rates - held @ v
            v = v - _correction(inverse, held, rates)
            if not drift.any() and self.rank(held) == self.dynamics.n:
                v = np.zeros_like(v)
        return q, v

    def rank(self, rows: Array) -> int:
        """Rank of constraint rows."""
        return int(np.linalg.matrix_rank(rows, rtol=_RANK)) if rows.size else 0

    def hold_everything(self, t: float, q: Array, v: Array) -> bool:
        """True if the constraints leave no freedom and stand still, so that the mechanism is at rest."""
        if np.any(v):
            return False
        _, _, held, rates = self._rows(self.terms(t, q, v), t, q)
        return not rates.any() and self.rank(held) == self.dynamics.n


def _correction(inverse: Array, J: Array, residual: Array) -> Array:
    lift = inverse @ J.T
    mobility = J @ lift
    if len(residual) == 1 and mobility[0, 0] > 0.0:
        return np.asarray(lift[:, 0] * (residual[0] / mobility[0, 0]))
    if not np.isfinite(mobility).all():
        return np.zeros(len(lift))
    return np.asarray(lift @ (np.linalg.pinv(mobility, rcond=_RANK, hermitian=True) @ residual))


def constraints_of(dynamics: Dynamics, parts: Sequence[Part], parameters: Values, terms: PointTerms) -> Constraints:
    """What carriers in given modes hold."""
    mechanism = dynamics.mechanism
    declared: dict[str, tuple[str, ...]] = {contact.name: tuple(contact.tangent) for contact in mechanism.contact}
    declared |= {item.name: (item.tangent,) for item in mechanism.friction if item.tangent}
    declared |= {item.name: (item.tangent,) for item in mechanism.constraint if item.tangent}
    tangents = {
        column: mechanism.expanded(text)
        for part in parts
        if part.sticks
        for column, text in zip(part.columns, declared.get(part.name, ()), strict=False)
    }
    return Constraints(dynamics, tuple(parts), terms, mechanism.parameter_values(parameters), tangents)
