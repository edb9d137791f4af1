"""What a contact does from touch to release, for plots: forces, velocities and penetration over fast time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.active_elements import ElementKind

if TYPE_CHECKING:
    from hybrid.contact.active_elements import ActiveElement
    from hybrid.contact.compliance.path import CompliantSamples
    from hybrid.dynamics.derive import Dynamics

__all__ = ["ContactHistory", "histories_of_motion", "histories_of_path", "times_to_stick"]


@attrs.frozen(eq=False)
class ContactHistory:
    """Samples of one compliant contact over fast time ``s = sqrt(K) t``.

    Attributes
    ----------
    s : array, (N,)
    penetration : array, (N,)
        Stretched, ``-sqrt(K) gap``; a velocity times a fast time.
    gap_dot : array, (N,)
    slip : array, (N, d)
    force_N : array, (N,)
        Divided by ``sqrt(K)``.
    force_T : array, (N, d)
    impulse_N : array, (N,)
    impulse_T : array, (N, d)
    """

    s: NDArray[np.float64]
    penetration: NDArray[np.float64]
    gap_dot: NDArray[np.float64]
    slip: NDArray[np.float64]
    force_N: NDArray[np.float64]
    force_T: NDArray[np.float64]
    impulse_N: NDArray[np.float64]
    impulse_T: NDArray[np.float64]


def _history(samples: CompliantSamples, contact: int, normal: int, tangential: Sequence[int]) -> ContactHistory:
    rows = list(tangential)
    return ContactHistory(
        s=samples.s,
        penetration=-samples.Y[:, contact],
        gap_dot=samples.gamma[:, normal],
        slip=samples.gamma[:, rows],
        force_N=samples.force[:, normal],
        force_T=samples.force[:, rows],
        impulse_N=samples.impulse[:, normal],
        impulse_T=samples.impulse[:, rows],
    )


def histories_of_motion(samples: CompliantSamples, dynamics: Dynamics) -> dict[str, ContactHistory]:
    """Histories of all contacts of a motion of finite stiffness.

    Parameters
    ----------
    samples : CompliantSamples
        With the rows of the mechanism: normal ones of all contacts, then tangential ones.
    dynamics : Dynamics

    Returns
    -------
    dict of str to ContactHistory
    """
    k, found = len(dynamics.contacts), {}
    for index, name in enumerate(dynamics.contacts):
        columns = dynamics.columns.get(name, slice(0, 0))
        found[name] = _history(samples, index, index, range(k + columns.start, k + columns.stop))
    return found


def histories_of_path(samples: CompliantSamples, elements: Sequence[ActiveElement]) -> dict[str, ContactHistory]:
    """Histories of all contacts of a compliant limit.

    Parameters
    ----------
    samples : CompliantSamples
        With the rows of the problem.
    elements : sequence of ActiveElement
        Force elements of the problem.

    Returns
    -------
    dict of str to ContactHistory
        Of its contacts; rigid constraints with friction have none.
    """
    return {
        element.name: _history(samples, index, element.rows[0], element.tangential)
        for index, element in enumerate(elements)
        if element.kind is ElementKind.CONTACT  # they come before the rigid constraints with friction
    }


def times_to_stick(phases: Sequence[tuple[str, float]], contacts: Sequence[str]) -> Mapping[str, float]:
    """Fast time after which each contact sticks first, of those that do.

    Parameters
    ----------
    phases : sequence of (str, float)
        Labels, ``"stick"`` or ``"a=stick,b=free"``, and durations.
    contacts : sequence of str
        Names, to which a label without a name belongs if there is but one.

    Returns
    -------
    mapping of str to float
        Infinite after the departure from rest of an impact without collision.

    Examples
    --------
    >>> times_to_stick([("slide+", 0.5), ("stick", 1.5)], ["tip"])
    {'tip': 0.5}
    >>> times_to_stick([("a=stick,b=slide-", 0.5), ("a=stick,b=stick", 1.5)], ["a", "b"])
    {'a': 0.0, 'b': 0.5}
    """
    found: dict[str, float] = {}
    passed = [0.0]
    for _, duration in phases:
        passed.append(passed[-1] + duration)
    for (label, _), begin in zip(phases, passed, strict=False):
        for part in label.split(","):
            name, _, kind = part.rpartition("=")
            if kind == "stick":
                found.setdefault(name or contacts[0], begin)
    return found
