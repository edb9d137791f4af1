"""What static friction above kinetic remembers: a element that stuck goes on sticking, one that broke loose slides."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.modes import ContactMode

if TYPE_CHECKING:
    from hybrid.contact.branches import Branch
    from hybrid.contact.modes import Mode
    from hybrid.contact.problem import ContactProblem

__all__ = ["modes_of", "with_history"]


def with_history(
    problem: ContactProblem, branches: tuple[Branch, ...], *, held: Set[str], broken: Mapping[str, ContactMode]
) -> tuple[Branch, ...]:
    """Leave out branches that static friction above kinetic rules out for a force element with a history.

    Of all others nothing is left out: their history tells no more than the state does.

    Parameters
    ----------
    problem : ContactProblem
    branches : tuple of Branch
    held : set of str
        Force elements that stuck until now or have just come to rest.
    broken : mapping of str to ContactMode
        Force elements whose static limit was reached, and the slide that follows.

    Returns
    -------
    tuple of Branch
    """
    remembering = {c.name for c in problem.elements if np.any(c.static_friction != c.friction)}
    sticking = (held & remembering) - set(broken)
    kept = []
    for branch in branches:
        modes = [m for m in modes_of(branch) if _fits(m, branches, sticking, broken)]
        if modes:
            kept.append(attrs.evolve(branch, mode=modes[0], equivalent_modes=tuple(modes[1:])))
    return tuple(kept)


def modes_of(branch: Branch) -> tuple[Mode, ...]:
    """All modes that give the accelerations of a branch, the leading one first.

    Parameters
    ----------
    branch : Branch

    Returns
    -------
    tuple of Mode
    """
    return (branch.mode, *branch.equivalent_modes)


def _fits(mode: Mode, branches: tuple[Branch, ...], sticking: Set[str], broken: Mapping[str, ContactMode]) -> bool:
    """True if every force element with a history does in a mode what static friction has it do."""
    for name, slide in broken.items():
        if mode[name] not in (slide, ContactMode.FREE):
            return False
    others = [m for branch in branches for m in modes_of(branch)]
    for name in sticking:
        if mode[name].slip_sign and any(
            other[name] is ContactMode.STICK and all(other[n] is mode[n] for n in mode if n != name) for other in others
        ):
            return False
    return True
