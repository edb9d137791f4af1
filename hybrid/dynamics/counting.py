"""Parameters that take several values: which of them count for what is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hybrid.dynamics.derive import Dynamics

__all__ = ["counts", "those_that_count"]


def those_that_count(dynamics: Dynamics, parameters: Mapping[str, Any], used: Collection[str]) -> dict[str, Any]:
    """Parameters without the arrays on which nothing depends: what uses none is computed once for all of them.

    Parameters
    ----------
    dynamics : Dynamics
    parameters : mapping of str to float or array
    used : collection of str
        Names that occur in what is computed.

    Returns
    -------
    dict of str to float or array
        Numbers are kept, whether they count or not.
    """
    return {
        name: value for name, value in parameters.items() if not np.ndim(value) or counts(dynamics, name, value, used)
    }


def counts(dynamics: Dynamics, name: str, value: Any, used: Collection[str]) -> bool:
    """Whether a parameter that takes several values, or one declared as an expression of it, is among those used.

    Parameters
    ----------
    dynamics : Dynamics
    name : str
    value : array
    used : collection of str

    Returns
    -------
    bool
    """
    if name in used or not np.size(value):
        return True
    others = {other: np.ravel(item)[0] for other, item in dynamics.given.items() if np.ndim(item) and np.size(item)}
    resolved = dynamics.at({**others, name: np.ravel(value)[:1]}).values
    return any(np.ndim(resolved[other]) for other in used if other in resolved)
