"""Frames of a log in which a robot stands on several feet: a sample of them, decided one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.verdict import Verdict
from hybrid.numeric.frames import AbstractBackend
from hybrid.numeric.logs import Log
from hybrid.numeric.posing import PosedFrame, Thresholds, posed_frame, states_of
from hybrid.numeric.problem import select
from hybrid.tolerances import Tolerances

__all__ = ["N_SAMPLED", "sampled_verdicts", "stands"]

N_SAMPLED = 10
"""Standing frames of a log that are decided; each may take the budget."""


def stands(posed: PosedFrame, thresholds: Thresholds) -> bool:
    """Whether several spatial contacts of a frame rest.

    Parameters
    ----------
    posed : PosedFrame
    thresholds : Thresholds

    Returns
    -------
    bool
    """
    spatial = [item for item in posed.contacts if item.W_T is not None and item.W_T.shape[1] == 2]
    return sum(float(np.linalg.norm(np.asarray(item.slip))) < thresholds.slip_min for item in spatial) > 1


def sampled_verdicts(
    backend: AbstractBackend,
    log: Log,
    places: NDArray[np.intp],
    *,
    thresholds: Thresholds,
    budget: float,
    tolerances: Tolerances,
) -> dict[int, Verdict]:
    """Verdicts of some standing frames, evenly spread over all of them.

    Parameters
    ----------
    backend : AbstractBackend
    log : Log
    places : array of int
        The standing frames.
    thresholds : Thresholds
    budget : float
        Seconds for each; none is decided with 0.
    tolerances : Tolerances

    Returns
    -------
    dict of int to Verdict
        By frame.
    """
    if not len(places) or not budget:
        return {}
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(N_SAMPLED, len(places))).round().astype(int))]
    found = {}
    for k in chosen.tolist():
        posed = posed_frame(backend, log.row(k), thresholds)
        if not isinstance(posed, str):
            state = states_of([posed], thresholds, backend.name).at(0)
            found[k] = select(state, tolerances=tolerances, standing_budget=budget).verdict
    return found
