"""A first state of a mechanism for which nobody has given one: as many contacts closed as go together, sliding."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hybrid.dynamics import State, solve_state
from hybrid.errors import ComputationError, StateError
from hybrid.reporting.window import Row, independent_pins, posture_rows
from hybrid.tolerances import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hybrid.dynamics import Dynamics
    from hybrid.dynamics.equations import Terms

__all__ = ["starting_pins"]

_ANGLES = (1.0, 0.3, 0.0, 2.0)
"""Values of the angles that are tried; at the first hardly any mechanism is stretched or folded."""
_MOST_CONTACTS = 6  # of which all subsets are tried


def starting_pins(dynamics: Dynamics) -> dict[str, str]:
    """Pins of a state with as many contacts closed as go together.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict of str to str
        As :func:`hybrid.solve_state` takes them; the first contact with friction slides in its negative direction.
        Coordinates and velocities at zero where no other pins give a state.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> starting_pins(derive(mechanisms.load("rod_on_incline")))
    {'gap.tip': '0', 'phi': '1', 'x': '0', 'gap_dot.tip': '0', 'slip.tip': '-1', 'phi_dot': '0'}
    """
    for closed in _subsets(dynamics):
        for angle in _ANGLES:
            pins = _pins(dynamics, closed, angle)
            if pins is not None:
                return pins
    names = (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
    return dict.fromkeys(names, "0")


def _subsets(dynamics: Dynamics) -> Iterator[tuple[str, ...]]:
    contacts = dynamics.contacts[:_MOST_CONTACTS]
    for size in range(len(contacts), -1, -1):
        yield from combinations(contacts, size)


def _pins(dynamics: Dynamics, closed: tuple[str, ...], angle: float) -> dict[str, str] | None:
    """Pins with these contacts closed, or None where there is no such state, or another contact penetrates."""
    mechanism, rest = dynamics.mechanism, np.zeros(dynamics.n)
    guess = np.array([angle if name in mechanism.angles else 0.0 for name in mechanism.coordinates])
    # a distance from the origin has no gradient there: independence is judged beside it, where no two lengths agree
    beside = np.where(guess == 0.0, 1.0 / np.arange(1.0, dynamics.n + 1.0), guess)
    terms = next((terms for q in (guess, beside) if _has_gradients(terms := dynamics.terms(q, rest))), None)
    if terms is None:
        return None
    gaps, rates, places, speeds = posture_rows(dynamics, terms, closed, guess, rest)
    sliding = next((name for name in dynamics.columns if name in closed or name not in dynamics.contacts), None)
    slips: list[Row] = []
    if sliding is not None:
        for axis, column in enumerate(dynamics.columns_of(sliding)):
            name = f"slip.{sliding}" if dynamics.dimension(sliding) == 1 else f"slip.{sliding}.{axis + 1}"
            slips.append((name, terms.W_T[:, column], -1.0 if axis == 0 else 0.0))
    found = independent_pins([*gaps, *places], terms.J, n=dynamics.n)
    found |= independent_pins([*rates, *slips, *speeds], terms.J, n=dynamics.n)
    pins = {name: f"{value:g}" for name, value in found.items()}
    if not {f"gap.{name}" for name in closed} <= set(pins):
        return None
    try:
        state = solve_state(dynamics, pins)
    except (StateError, ComputationError):
        return None
    return pins if _is_outside(dynamics, state) else None


def _has_gradients(terms: Terms) -> bool:
    return all(bool(np.isfinite(rows).all()) for rows in (terms.W_N, terms.W_T, terms.J))


def _is_outside(dynamics: Dynamics, state: State) -> bool:
    gap = dynamics.terms(state.q, state.v, t=state.t).gap
    return bool(
        np.all(np.isfinite(gap)) and np.all(gap >= -NOTHING * max(1.0, float(np.max(np.abs(gap), initial=0.0))))
    )
