"""Maps for a page: coarse at first where a fine one takes long, as runs of cells of one region."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis import Axis, critical_friction, region_map
from hybrid.errors import ComputationError, HybridError, StateError
from hybrid.reporting.around import closed_contacts, pins_around
from hybrid.reporting.branches import branch_through
from hybrid.reporting.records import critical_friction_record, plain
from hybrid.reporting.regions import regions
from hybrid.reporting.window import default_axes

if TYPE_CHECKING:
    from hybrid.analysis import RegionMap
    from hybrid.dynamics import Dynamics, State
    from hybrid.explorer.questions import Question

__all__ = ["critical_answer", "map_answers", "runs_of"]

_AT_ONCE = 0.25
"""Seconds: a map that takes no longer is made at once, a longer one from coarse to fine."""
_COARSEST = 24  # cells along an axis of the first map


def map_answers(
    dynamics: Dynamics, state: State, question: Question, seconds: dict[str, float]
) -> Iterator[dict[str, Any]]:
    """The map of the states around one, then finer ones until it is as fine as it was asked for.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    question : Question
    seconds : dict of str to float
        By declaration, what a cell took; learned here.

    Returns
    -------
    iterator of dict
        ``map`` with ``axes``, ``regions`` (label, verdict, fraction, colour), ``runs``, ``complete`` and the
        ``pins`` that it holds; None where no two quantities can be varied.
    """
    axes = _axes(dynamics, state, question)
    if axes is None:
        yield {"map": None}
        return
    n = round(question.cells)
    cell = seconds.get(question.text)
    share = 1.0 if cell is not None and cell * n * n <= _AT_ONCE else min(1.0, _COARSEST / n)
    pins, held, branch = _around(dynamics, state, axes, question)
    while True:
        swept = [attrs.evolve(axis, n=max(2, round(share * n))) for axis in axes]
        begun = time.perf_counter()
        found = region_map(dynamics, axes=swept, pins=pins, parameters=held, branch=branch)
        seconds[question.text] = cell = (time.perf_counter() - begun) / found.cells
        yield {
            "map": {
                **_shown(found, is_complete=share == 1.0),
                "pins": {name: str(value) for name, value in pins.items()},
            }
        }
        if share == 1.0:
            return
        share = 1.0 if cell * n * n <= _AT_ONCE else min(1.0, 2.5 * share)


def _axes(dynamics: Dynamics, state: State, question: Question) -> list[Axis] | None:
    if question.axes:
        values = {
            name: float(value) for name, value in dynamics.mechanism.parameter_values(question.parameters).items()
        }
        return [Axis.parse(text, values=values) for text in question.axes]
    found = default_axes(dynamics, state, parameters=question.parameters)
    return None if found is None else list(found)


def _around(
    dynamics: Dynamics, state: State, axes: list[Axis], question: Question
) -> tuple[Mapping[str, Any], dict[str, str], Any]:
    """Pins and parameters that are held, and the branch of postures through the state."""
    names = [axis.name for axis in axes]
    known = {*question.pins, *dynamics.mechanism.parameters}
    if set(names) <= known:
        pins: Mapping[str, Any] = {name: value for name, value in question.pins.items() if name not in names}
    else:
        pins = pins_around(dynamics, state, names, parameters=question.parameters)
    held = {name: value for name, value in question.parameters.items() if name not in names}
    branch = branch_through(dynamics, state, names, pins=pins, parameters=question.parameters)
    return pins, held, branch


def _shown(found: RegionMap, *, is_complete: bool) -> dict[str, Any]:
    code = np.zeros(found.verdict.shape, dtype=np.int64)
    shown = regions(found)
    for number, region in enumerate(shown):
        code[region.cells] = number
    return {
        "axes": [{"name": axis.name, "low": axis.low, "high": axis.high, "n": axis.cells} for axis in found.axes],
        "regions": [
            {
                "label": region.label,
                "verdict": region.verdict,
                "fraction": region.fraction,
                "colour": region.fill.css,
                "hatch": region.fill.hatch,
            }
            for region in shown
        ],
        "runs": runs_of(code),
        "complete": is_complete,
    }


def runs_of(code: np.ndarray[Any, np.dtype[np.int64]]) -> list[int]:
    """A table of small numbers as lengths of runs and their numbers, in turn.

    Parameters
    ----------
    code : array of int, (n0, n1)
        Read along the first axis first, as a picture is painted.

    Returns
    -------
    list of int
        ``[length, number, length, number, ...]``.

    Examples
    --------
    >>> runs_of(np.array([[7, 7, 2], [7, 2, 2]]))
    [3, 7, 3, 2]
    """
    flat = np.ravel(code, order="F")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(flat)) + 1])
    lengths = np.diff(np.concatenate([starts, [len(flat)]]))
    return [int(value) for value in np.column_stack([lengths, flat[starts]]).ravel()]


def critical_answer(dynamics: Dynamics, state: State, question: Question) -> list[dict[str, Any]]:
    """The critical friction of every closed contact that has one, over the posture that the map varies.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    question : Question

    Returns
    -------
    list of dict
        ``contact`` with the keys of ``painleve critical-friction --json``, or the ``refusal``.
    """
    axes = _axes(dynamics, state, question)
    if axes is None or axes[0].name not in dynamics.mechanism.coordinates:
        return []
    pins = pins_around(dynamics, state, [axes[0].name], parameters=question.parameters)
    fixed = {name: value for name, value in pins.items() if name in dynamics.mechanism.coordinates or "gap." in name}
    found: list[dict[str, Any]] = []
    for contact in closed_contacts(dynamics, state, question.parameters):
        if not dynamics.dimension(contact):
            continue
        try:
            answer = critical_friction(
                dynamics,
                over=[attrs.evolve(axes[0], n=None)],
                pins=fixed,
                contact=contact,
                parameters=question.parameters,
            )
            found.append({"contact": contact, **_plain(critical_friction_record(answer))})
        except (StateError, ComputationError, HybridError) as error:
            found.append({"contact": contact, "refusal": str(error)})
    return found


def _plain(record: Mapping[str, Any]) -> dict[str, Any]:
    return {str(key): plain(value) for key, value in record.items()}
