"""The flow of modes whose linear system needs pivoting or is redundant: many contacts, bilateral constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.carriers import CarrierKind
from hybrid.contact.reduction import free_motion
from hybrid.motion.parts import Guard, Part

if TYPE_CHECKING:
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics, Terms
    from hybrid.motion.flow import Observation

Array = NDArray[np.float64]
_RANK = 1e-10  # as for the elimination of bilateral constraints


@attrs.frozen(eq=False)
class NumericFlow:
    """A flow that solves its linear system at every state, by least squares of least norm where it is redundant."""

    mode: Mode
    parts: tuple[Part, ...]
    guards: tuple[Guard, ...]
    _dynamics: Dynamics = attrs.field(repr=False)
    _parameters: dict[str, Any]
    _references: dict[str, Array] = attrs.field(factory=dict)

    def derivative(self, t: float, y: Array) -> Sequence[float]:
        """Right-hand side at one state."""
        n = self._dynamics.n
        terms = self._dynamics.terms(y[:n], y[n:], t=t, parameters=self._parameters)
        acceleration = self._solve(terms)[0]
        return [*y[n:].tolist(), *acceleration.tolist()]

    def refer(self, slip: Array) -> None:
        """Tell the directions of slip at the start of a step."""
        for part in self.parts:
            if part.slides and len(part.columns) == 2:
                self._references[part.name] = np.array(slip[list(part.columns)])

    def observe(self, t: Array, y: Array) -> Observation:
        """Accelerations, forces and guards at N states."""
        from hybrid.motion.flow import Observation

        n = self._dynamics.n
        terms = self._dynamics.terms(y[:n].T, y[n:].T, t=t, parameters=self._parameters)
        acceleration, lambda_N, lambda_T, lambda_B, determinant = self._solve(terms)
        guards = self._guard_values(terms, lambda_N, lambda_T, lambda_B, determinant)
        N = np.size(t)
        columns = [
            np.broadcast_to(a, (N, a.shape[-1])).T
            for a in (acceleration, lambda_N, lambda_T, np.stack(np.broadcast_arrays(*guards, np.zeros(N)), axis=-1))
        ]
        return Observation(columns[0], columns[1], columns[2], columns[3][:-1])

    def guard_values(self, t: Array, y: Array) -> Array:
        """The guards alone."""
        return self.observe(t, y).guards

    def _direction(self, terms: Terms, part: Part) -> Array:
        slip = terms.slip[..., list(part.columns)]
        if len(part.columns) == 1:
            return np.full(slip.shape, part.slip_sign)
        size = np.maximum(np.linalg.norm(slip, axis=-1, keepdims=True), 1e-300)
        reference = self._references.get(part.name)
        side = 1.0 if reference is None else np.sign(slip @ reference)[..., None]
        return np.asarray(slip / size * side)

    def _coefficient(self, terms: Terms, part: Part, *, static: bool) -> Any:
        if part.kind is CarrierKind.CONTACT:
            return (terms.static_friction if static else terms.friction)[..., part.index]
        if part.kind is CarrierKind.ELEMENT:
            return (terms.static_limit if static else terms.limit)[..., part.index]
        return terms.constraint_friction[..., part.index]

    def _rows(self, terms: Terms) -> tuple[list[Array], list[Array], list[Any], list[tuple[str, int]], Any]:
        """Conditions, force columns, remainders, labels, and the load that needs no elimination."""
        R: list[Array] = []
        F: list[Array] = []
        zeta: list[Any] = []
        labels: list[tuple[str, int]] = []
        load: Any = terms.h
        for part in self.parts:
            drag: Any = 0.0
            if part.slides:
                direction = self._direction(terms, part)
                drag = (terms.W_T[..., list(part.columns)] @ direction[..., None])[..., 0]
                drag = drag * np.asarray(self._coefficient(terms, part, static=False))[..., None] * part.side
            if part.kind is CarrierKind.ELEMENT and part.slides:
                load = load - drag
            if part.has_normal:
                bilateral = part.kind is CarrierKind.BILATERAL
                R.append(terms.J[..., part.index, :] if bilateral else terms.W_N[..., part.index])
                F.append(R[-1] - drag)
                zeta.append((terms.zeta_B if bilateral else terms.zeta_N)[..., part.index])
                labels.append(("B" if bilateral else "N", part.index))
            if part.sticks:
                for column in part.columns:
                    R.append(terms.W_T[..., column])
                    F.append(R[-1])
                    zeta.append(terms.zeta_T[..., column])
                    labels.append(("T", column))
        return R, F, zeta, labels, load

    def _solve(self, terms: Terms) -> tuple[Array, Array, Array, Array, Any]:
        R, F, zeta, labels, load = self._rows(terms)
        frictional = {part.index for part in self.parts if part.kind is CarrierKind.BILATERAL}
        smooth = tuple(row for row in range(len(self._dynamics.rigid)) if row not in frictional)
        motion = free_motion(attrs.evolve(terms, h=load), eliminated=smooth)
        batches = (motion.a_free, terms.gap, terms.slip, terms.W_T[..., 0, :], terms.zeta_N, terms.zeta_B)
        shape = np.broadcast_shapes(*(array.shape[:-1] for array in batches))
        lambda_N = np.zeros((*shape, terms.gap.shape[-1]))
        lambda_T = np.zeros((*shape, terms.slip.shape[-1]))
        lambda_B = np.zeros((*shape, len(self._dynamics.rigid)))
        acceleration, determinant = motion.a_free, np.ones(shape)
        if R:
            rows = np.stack(np.broadcast_arrays(*R), axis=-2)
            response = motion.response @ np.stack(np.broadcast_arrays(*F), axis=-1)
            c = (rows @ motion.a_free[..., None])[..., 0] + np.stack(np.broadcast_arrays(*zeta), axis=-1)
            G = rows @ response
            sizes = np.maximum(np.einsum("...ij,...jk,...ik->...i", rows, motion.response, rows), 1e-300)
            determinant = np.linalg.det(G / sizes[..., None])
            forces = -(np.linalg.pinv(G, rcond=_RANK) @ c[..., None])[..., 0]
            acceleration = motion.a_free + (response @ forces[..., None])[..., 0]
            for column, (kind, index) in enumerate(labels):
                {"N": lambda_N, "T": lambda_T, "B": lambda_B}[kind][..., index] = forces[..., column]
        for part in self.parts:
            if part.slides:
                size = self._coefficient(terms, part, static=False)
                if part.has_normal:
                    normal = lambda_B if part.kind is CarrierKind.BILATERAL else lambda_N
                    size = size * normal[..., part.index] * part.side
                lambda_T[..., list(part.columns)] = -np.asarray(size)[..., None] * self._direction(terms, part)
        return acceleration, lambda_N, lambda_T, lambda_B, determinant

    def _guard_values(
        self, terms: Terms, lambda_N: Array, lambda_T: Array, lambda_B: Array, determinant: Any
    ) -> list[Any]:
        values: list[Any] = []
        for part in self.parts:
            if part.is_open:
                values.append(terms.gap[..., part.index])
                continue
            normal = (lambda_B if part.kind is CarrierKind.BILATERAL else lambda_N)[..., part.index] * part.side
            if part.has_normal:
                values.append(normal)
            if part.sticks:
                limit = self._coefficient(terms, part, static=True) * (normal if part.has_normal else 1.0)
                force = lambda_T[..., list(part.columns)]
                if len(part.columns) == 1:
                    values += [limit - force[..., 0], limit + force[..., 0]]
                else:
                    values.append(limit - np.linalg.norm(force, axis=-1))
            elif part.slides:
                slip = terms.slip[..., list(part.columns)]
                sign = self._references.get(part.name, np.array([part.slip_sign] * len(part.columns)))
                values.append(slip @ sign)
        if any(part.slides and part.has_normal for part in self.parts):
            values.append(determinant)
        return values
