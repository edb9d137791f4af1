"""How much the friction of slipping contacts may grow until sliding has no solution, or several, at a state."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.criticality.joint import determinants, first_below
from hybrid.arguments import checks_arguments
from hybrid.contact.activity import Activity
from hybrid.contact.reduction import free_motion
from hybrid.dynamics.arithmetic import unit_vectors
from hybrid.errors import StateError
from hybrid.tolerances import RANK

if TYPE_CHECKING:
    from hybrid.numeric.state import NumericContact, NumericState

__all__ = ["CriticalFactors", "SlidingProblem", "critical_factors", "factor_bounds", "sliding_problem"]

Array = NDArray[np.float64]

_SLIPS = (Activity.SLIPPING, Activity.SLIPPING_PLUS, Activity.SLIPPING_MINUS, Activity.TENDING)
_PRESSES = (*_SLIPS, Activity.FRICTIONLESS)
_ALL_MINORS = 12  # order up to which all principal minors are looked at
_SMALL_MINORS = 3  # order of those beyond it: 160 000 at a hundred contacts
_DEPENDENT = RANK  # of the product of its columns: a minor of contacts whose normals are dependent is rounding


def _array(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


@attrs.frozen(eq=False)
class SlidingProblem:
    """Normal accelerations of contacts that all press, ``a_N = (A_0 - f A_1) lambda_N + b``.

    For one contact these are the terms of Genot and Brogliato (1999), with all friction multiplied by ``f``.

    Attributes
    ----------
    G_NN : array, (..., k, k)
        Normal accelerations per normal force, ``A_0``.
    pushed : array, (..., k, k)
        What sliding friction takes off, ``A_1 = mu_j G_NT[i, j] . t_j`` along the slip ``t_j`` of each contact.
    b : array, (..., k)
        Normal accelerations without contact forces, with the dry friction of joints that move.
    """

    G_NN: Array = attrs.field(converter=_array)
    pushed: Array = attrs.field(converter=_array)
    b: Array = attrs.field(converter=_array)

    def __attrs_post_init__(self) -> None:
        k = self.b.shape[-1] if self.b.ndim else 0
        for name, core in (("G_NN", (k, k)), ("pushed", (k, k)), ("b", (k,))):
            given = getattr(self, name)
            if not k or given.shape[-len(core) :] != core:
                raise StateError(f"{name} of a sliding problem must have the shape (..., {'k, ' * (len(core) - 1)}k)")
            if not np.isfinite(given).all():
                raise StateError(f"{name} of a sliding problem has numbers that are not finite")

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array of states."""
        return np.broadcast_shapes(self.G_NN.shape[:-2], self.pushed.shape[:-2], self.b.shape[:-1])

    @property
    def A(self) -> Array:
        """``A_0 - A_1``, (..., k, k)."""
        return self.G_NN - self.pushed


@attrs.frozen(eq=False)
class CriticalFactors:
    """Least common multipliers of friction at which a principal minor of ``A`` becomes negative.

    Sliding has exactly one solution, whatever the load, if and only if all principal minors of ``A`` are positive
    (Samelson, Thrall and Wesler 1958). A factor below 1 says that the friction in force is beyond it.

    Attributes
    ----------
    factor : array, (...)
        Dimensionless; infinite where no minor becomes negative, NaN where a closed contact rests or none slips.
    dependent : tuple of tuple of str
        Contacts whose minors vanish at some state whatever the friction (redundant supports); these are skipped.
    friction : mapping of str to array, (...)
        Of each contact alone, the coefficient ``mu_c`` at which its ``A`` vanishes, along its slip.
    worst : mapping of str to array, (...)
        The same along the slip that is worst.
    """

    factor: Array
    dependent: tuple[tuple[str, ...], ...]
    friction: dict[str, Array]
    worst: dict[str, Array]


@checks_arguments
def sliding_problem(state: NumericState, *, contacts: tuple[int, ...]) -> SlidingProblem:
    """The normal problem of some contacts of a state or of an array of states, all of them pressing and slipping.

    Parameters
    ----------
    state : NumericState
    contacts : tuple of int
        Their places, length k. Those without friction press only.

    Returns
    -------
    SlidingProblem
        Its ``b`` has the friction of the elements that slip. One at rest may bear any force up to its limit, which
        ``A`` and ``b`` leave out.
    """
    terms = state.terms
    motion = free_motion(terms, eliminated=tuple(range(terms.J.shape[-2])))
    W_N = terms.W_N[..., list(contacts)]
    normal = np.swapaxes(W_N, -1, -2) @ motion.response
    pushes = []
    for place in contacts:
        contact = state.contacts[place]
        if contact.W_T is None:
            pushes.append(np.zeros((*normal.shape[:-2], len(contacts))))
            continue
        along = (contact.W_T @ _slip_direction(state, contact)[..., None])[..., 0]
        pushes.append(contact.friction[..., None] * (normal @ along[..., None])[..., 0])
    a_free = motion.a_free + (motion.response @ _dry_friction(state)[..., None])[..., 0]
    b = (np.swapaxes(W_N, -1, -2) @ a_free[..., None])[..., 0] + terms.zeta_N[..., list(contacts)]
    pushed = np.stack(np.broadcast_arrays(*pushes), axis=-1)
    return SlidingProblem(normal @ W_N, pushed, b)


def _dry_friction(state: NumericState) -> Array:
    """Generalised forces (..., n) of the friction elements that slip."""
    force = np.zeros(state.terms.h.shape[-1])
    for element in state.friction:
        force = force - (element.limit * np.sign(element.slip))[..., None] * element.W_T
    return force


def _slip_direction(state: NumericState, contact: NumericContact) -> Array:
    """Unit slip (..., p), or the side from which it vanishes."""
    slip = np.asarray(contact.slip)
    if contact.name in state.sides:
        slip = np.where(slip.any(axis=-1, keepdims=True), slip, np.array(state.sides[contact.name]))
    return unit_vectors(slip)


def least_factor(G: Array, pushed: Array) -> tuple[Array, list[tuple[int, ...]]]:
    """Least multipliers (...) at which a principal minor of ``G - f pushed`` becomes negative.

    Parameters
    ----------
    G, pushed : array, (..., k, k)

    Returns
    -------
    array, (...)
        Infinite where none does.
    list of tuple of int
        Minors that vanish without friction at some state, because normals are dependent there: they are skipped.
    """
    k = G.shape[-1]
    size = np.sqrt(np.abs(np.diagonal(G, axis1=-2, axis2=-1)))
    factor = np.full(np.broadcast_shapes(G.shape[:-2], pushed.shape[:-2]), np.inf)
    dependent = []
    for order in range(1, k + 1):
        for chosen in combinations(range(k), order):
            rows, across = np.ix_(chosen, chosen)
            minors = determinants(G[..., rows, across], pushed[..., rows, across], size[..., list(chosen)])
            is_regular = minors[..., 0] > _DEPENDENT
            if not np.all(is_regular):
                dependent.append(chosen)
            found = first_below(minors, factor)
            factor = np.where(is_regular, np.fmin(factor, found), factor)
    return factor, dependent


def factor_bounds(G: Array, pushed: Array) -> tuple[float, float]:
    """Bounds of the least multiplier at which a principal minor of ``G - f pushed`` becomes negative, of any order.

    Up to order 12 all minors are looked at and the bounds are one number. Beyond it, the minors of order three and less
    bound it from above, and from below the least multiplier at which the symmetric part is singular: as long as that
    is positive definite, so are all principal minors.

    Parameters
    ----------
    G, pushed : array, (k, k)
        One matrix each; the diagonal of ``G`` is positive.

    Returns
    -------
    tuple of two floats
        The second is infinite where none of the minors becomes negative; the first is 0 where ``G`` is singular.

    Raises
    ------
    StateError
        The diagonal of ``G`` is not positive.

    Examples
    --------
    >>> [round(bound, 6) for bound in factor_bounds(np.eye(2), np.array([[0.0, 2.0], [0.5, 0.0]]))]
    [1.0, 1.0]
    """
    if not (np.diagonal(G) > 0.0).all():
        raise StateError("the matrix without friction must have a positive diagonal, one row a contact")
    size = np.sqrt(np.diagonal(G))
    high = np.inf
    for order in range(1, (len(G) if len(G) <= _ALL_MINORS else _SMALL_MINORS) + 1):
        chosen = np.array(list(combinations(range(len(G)), order)))
        rows, across = chosen[:, :, None], chosen[:, None, :]
        minors = determinants(G[rows, across], pushed[rows, across], size[chosen])
        regular = minors[minors[:, 0] > _DEPENDENT]
        high = float(np.min(first_below(regular, np.full(len(regular), high)), initial=high))
    if len(G) <= _ALL_MINORS:
        return high, high
    symmetric, taken = ((part + part.T) / 2 / np.outer(size, size) for part in (G, pushed))
    values, vectors = np.linalg.eigh(symmetric)
    low = 0.0
    if values[0] > _DEPENDENT:
        root = vectors / np.sqrt(values)
        strongest = float(np.linalg.eigvalsh(root.T @ taken @ root)[-1])
        low = np.inf if strongest <= 0.0 else 1.0 / strongest
    return min(low, high), high


def critical_factors(state: NumericState, activities: NDArray[np.int8], where: NDArray[np.bool_]) -> CriticalFactors:
    """The critical factors of an array of states.

    Parameters
    ----------
    state : NumericState
    activities : array of int8, (..., number of contacts and friction elements)
    where : array of bool, (...)
        States to look at.

    Returns
    -------
    CriticalFactors
    """
    shape, names = state.shape, [contact.name for contact in state.contacts]
    activities = np.broadcast_to(activities, (*shape, activities.shape[-1]))
    factor = np.full(shape, np.nan)
    friction = {name: np.full(shape, np.nan) for name in names}
    worst = {name: np.full(shape, np.nan) for name in names}
    dependent: list[tuple[str, ...]] = []
    patterns = activities[..., : len(names)]
    for pattern in np.unique(patterns.reshape(-1, len(names)), axis=0) if names else ():
        chosen = tuple(int(k) for k in np.flatnonzero(np.isin(pattern, _PRESSES)))
        if not any(pattern[k] in _SLIPS for k in chosen) or (pattern == Activity.RESTING).any():
            continue
        here = (patterns == pattern).all(axis=-1) & where
        part = state.at(np.nonzero(here)) if shape else state
        problem = sliding_problem(part, contacts=chosen)
        factor[here], found = least_factor(problem.G_NN, problem.pushed)
        dependent += [tuple(names[chosen[k]] for k in minor) for minor in found]
        for place, k in enumerate(chosen):
            if pattern[k] in _SLIPS:
                own, strongest = _single(part, problem, place, k)
                friction[names[k]][here], worst[names[k]][here] = own, strongest
    return CriticalFactors(factor, tuple(dict.fromkeys(dependent)), friction, worst)


def _single(state: NumericState, problem: SlidingProblem, place: int, k: int) -> tuple[Array, Array]:
    """``mu_c`` of a contact alone along its slip, and along the worst one."""
    contact = state.contacts[k]
    motion = free_motion(state.terms, eliminated=tuple(range(state.terms.J.shape[-2])))
    G_NN = problem.G_NN[..., place, place]
    coupling = np.swapaxes(np.asarray(contact.W_T), -1, -2) @ (motion.response @ contact.W_N[..., None])
    along = np.sum(coupling[..., 0] * _slip_direction(state, contact), axis=-1)
    strongest = np.linalg.norm(coupling[..., 0], axis=-1)
    own, worst = (np.where(size > 0.0, G_NN / np.where(size > 0.0, size, 1.0), np.inf) for size in (along, strongest))
    return own, worst
