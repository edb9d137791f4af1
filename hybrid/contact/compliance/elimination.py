"""An impact with the normal rows of rigid constraints with friction eliminated, as the compliant limit takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.active_elements import ElementKind
from hybrid.contact.compliance.bilateral import BilateralContacts, loads
from hybrid.contact.compliance.path import Array, CompliantPath, CompliantSamples

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem

__all__ = ["WithoutBilateral", "without_bilateral"]


@attrs.frozen(eq=False)
class WithoutBilateral:
    """An impact problem in the rows that are left.

    Attributes
    ----------
    G, gamma : array, (s, s) and (s,)
    bilateral : BilateralContacts
        What the impulses in these rows load.
    kept, removed : list of int
        Rows of the problem.
    """

    G: Array
    gamma: Array
    bilateral: BilateralContacts
    kept: list[int]
    removed: list[int]

    @property
    def place(self) -> Mapping[int, int]:
        """Where the rows of the problem are among those that are left."""
        return {row: index for index, row in enumerate(self.kept)}

    @property
    def full(self) -> Array:
        """Delassus operator in all rows of the problem, (r, r), zero in those of the constraints."""
        return self.velocities(self.velocities(self.G).T)

    def impulses(self, values: Array) -> Array:
        """Impulses in all rows of the problem, (..., r), of those in the rows that are left, (..., s)."""
        found = self.velocities(values)
        found[..., self.removed] = values @ self.bilateral.L.T
        return found

    def velocities(self, values: Array) -> Array:
        """Contact velocities in all rows: those of the constraints vanish."""
        found = np.zeros((*values.shape[:-1], len(self.kept) + len(self.removed)))
        found[..., self.kept] = values
        return found

    def restored(self, path: CompliantPath) -> CompliantPath:
        """The path in the rows of the problem."""
        samples = path.samples
        if samples is not None:
            samples = CompliantSamples(
                samples.s, samples.Y, self.velocities(samples.gamma), self.impulses(samples.force),
                self.impulses(samples.impulse),
            )  # fmt: skip
        return attrs.evolve(
            path, gamma_before=self.velocities(path.gamma_before), gamma_after=self.velocities(path.gamma_after),
            impulse=self.impulses(path.impulse), samples=samples,
        )  # fmt: skip


def without_bilateral(problem: ImpactProblem) -> WithoutBilateral | None:
    """Eliminate the rigid constraints with friction of an impact; None if there are none.

    Parameters
    ----------
    problem : ImpactProblem

    Returns
    -------
    WithoutBilateral or None

    Raises
    ------
    ComputationError
        Constraints are redundant, so that how they share their load is not determined.
    """
    rough = [element for element in problem.elements if element.kind is ElementKind.BILATERAL]
    if not rough:
        return None
    G, removed = problem.G, [element.rows[0] for element in rough]
    kept = [row for row in range(len(G)) if row not in removed]
    friction = np.array([float(element.friction) for element in rough])
    names = tuple(element.name for element in rough)
    L = loads(G[np.ix_(removed, removed)], G[np.ix_(removed, kept)], range(len(rough)), names, friction)
    reduced = G[np.ix_(kept, kept)] + G[np.ix_(kept, removed)] @ L
    bilateral = BilateralContacts(
        names,
        len(problem.elements) - len(rough),
        tuple(kept.index(element.tangential[0]) for element in rough),
        friction,
        np.zeros(len(rough)),
        L,
    )
    return WithoutBilateral((reduced + reduced.T) / 2, problem.gamma[kept], bilateral, kept, removed)
