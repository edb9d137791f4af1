"""Accumulations of impacts: their limit by extrapolation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import attrs

_HOPS = 5  # durations that must shrink alike
_ALIKE = 0.05  # change of the ratio allowed, relative to its distance from 1


@attrs.frozen
class Accumulation:
    """A convergent sequence of impact times.

    Attributes
    ----------
    t : float
        Its limit.
    ratio : float
        Of successive durations.
    rest : float
        Time from the last impact to the limit.
    elapsed : float
        Time from the first impact of the sequence to the limit.
    """

    t: float
    ratio: float
    rest: float
    elapsed: float


def accumulation(times: Sequence[float]) -> Accumulation | None:
    """Recognise a sequence whose durations shrink geometrically and extrapolate it (Aitken's process).

    Parameters
    ----------
    times : sequence of float
        Times of the impacts of one contact, ascending.

    Returns
    -------
    Accumulation or None

    Examples
    --------
    >>> found = accumulation([2 - 2.0**-j for j in range(12)])
    >>> found.t, found.ratio
    (2.0, 0.5)
    """
    durations = [later - earlier for earlier, later in pairwise(times)]
    first = len(durations)
    while first > 1 and 0.0 < durations[first - 1] < durations[first - 2]:
        first -= 1
    durations = durations[max(first - 1, 0) :]
    if len(durations) < _HOPS or not durations[-1] > 0.0:
        return None
    recent = durations[-_HOPS:]
    ratios = [later / earlier for earlier, later in pairwise(recent)]
    ratio = ratios[-1]
    if not ratio < 1.0 or max(ratios) - min(ratios) > _ALIKE * (1.0 - ratio):
        return None
    rest = durations[-1] * ratio / (1.0 - ratio)
    return Accumulation(times[-1] + rest, ratio, rest, sum(durations) + rest)


def is_accumulating(times: Sequence[float], last: int) -> bool:
    """True if impacts accumulate where they did already without the last of them.

    Bounces that become shorter without end, but not geometrically, as between surfaces that close in, push
    the extrapolated limit before them.

    Parameters
    ----------
    times : sequence of float
        Times of the impacts of one contact, ascending.
    last : int
        So many are left out.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_accumulating([2 - 2.0**-j for j in range(24)], 10), is_accumulating([1 - 1 / j for j in range(1, 400)], 200)
    (True, False)
    """
    earlier, now = accumulation(times[: len(times) - last]), accumulation(times)
    return earlier is not None and now is not None and abs(now.t - earlier.t) <= _ALIKE * earlier.rest
