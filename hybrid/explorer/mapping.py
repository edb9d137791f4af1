"""Maps for a page: coarse at first where a fine one takes long, as runs of cells of one region.

Motions and comparisons for a page: frames, curves over time, and all futures where there are several.
"""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis import Axis, compare, region_map
from hybrid.dynamics import solve_state
from hybrid.errors import HybridError
from hybrid.motion import Penalty, simulate, simulate_branches
from hybrid.motion.restoring import kept_laws
from hybrid.reporting.animation import animation_data
from hybrid.reporting.branches import critical_friction_record
from hybrid.reporting.records import comparison_record, motion_record, plain
from hybrid.reporting.regions import regions
from hybrid.reporting.scene import build_scene
from hybrid.reporting.surroundings import critical_around, held_around, refined_maps
from hybrid.reporting.window import closed_contacts, default_axes, slip_rows
from hybrid.tolerances import LEAST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hybrid.analysis import RegionMap
    from hybrid.dynamics import Dynamics, State
    from hybrid.explorer.questions import Question
    from hybrid.motion import Trajectory

__all__ = [
    "axes_around",
    "comparison_answer",
    "critical_answer",
    "film_answer",
    "map_answers",
    "motion_answer",
    "runs_of",
]


_FRAMES = 400
_POINTS = 400  # of a curve over time
_SAMPLES = 160  # of a phase of a compliant contact


def motion_answer(dynamics: Dynamics, question: Question) -> dict[str, Any]:
    """The motion from a state, and all others that its branches begin.

    Parameters
    ----------
    dynamics : Dynamics
    question : Question

    Returns
    -------
    dict
        With ``parts``: of each its ``parent`` and ``choice``, the keys of ``painleve simulate --json``, ``scene`` (None
        without a drawing) and ``curves``.
    """
    if question.rule == "penalty":
        parts = [_part(_followed(simulate, dynamics, question, rule=Penalty()), None, "")]
    else:
        tree = _followed(simulate_branches, dynamics, question)
        parts = [_part(branch.motion, branch.parent, branch.choice) for branch in tree.branches]
    return {"t_end": question.t_end, "rule": question.rule, "parts": parts}


def _followed(follow: Callable[..., Any], dynamics: Dynamics, question: Question, **how: Any) -> Any:
    start = solve_state(dynamics, question.pins, parameters=question.parameters)
    law = kept_laws()[question.law]()
    return follow(dynamics, start, t_end=question.t_end, parameters=question.parameters, law=law, **how)


def _part(motion: Trajectory, parent: int | None, choice: str) -> dict[str, Any]:
    scene = None
    if motion.dynamics.mechanism.drawing.points:
        scene = animation_data(motion, build_scene(motion, frames=_FRAMES))
    record = motion_record(motion)
    record["events"] = record["events"][:500]
    return {
        "parent": parent,
        "choice": choice,
        "start": motion.t_start,
        "scene": scene,
        "curves": _curves(motion),
        **record,
    }


def _curves(motion: Trajectory) -> dict[str, Any]:
    """Energy, contact forces and coordinates over time; None between arcs, where curves end."""
    forces, coordinates = motion.dynamics.contacts, motion.dynamics.mechanism.coordinates
    blocks = [np.zeros((0, 2 + len(forces) + len(coordinates)))]
    span = max(motion.t - motion.t_start, LEAST)
    for arc in motion.arcs[:_POINTS]:
        instants = np.linspace(arc.start, arc.end, max(2, int(np.ceil(_POINTS * (arc.end - arc.start) / span))))
        q, v = arc.sample(instants)
        energy, _ = motion.dynamics_at(arc.start).energy(q, v, t=instants)
        pressing = motion.forces(arc, instants).lambda_N
        blocks += [np.column_stack([instants, np.broadcast_to(energy, instants.shape), pressing.T, q])]
        blocks += [np.full((1, blocks[0].shape[1]), np.nan)]
    t, values, *rows = [plain(column) for column in np.concatenate(blocks).T]
    pushed, places = rows[: len(forces)], rows[len(forces) :]
    return {
        "t": t,
        "energy": values,
        "forces": dict(zip(forces, pushed, strict=True)),
        "coordinates": dict(zip(coordinates, places, strict=True)),
    }


def comparison_answer(dynamics: Dynamics, question: Question) -> dict[str, Any]:
    """All methods at a state, and what the penalty run of one stiffness does over fast time.

    Parameters
    ----------
    dynamics : Dynamics
    question : Question

    Returns
    -------
    dict
        The keys of ``painleve compare --json`` and ``histories`` by method and contact.
    """
    state = solve_state(dynamics, question.pins, parameters=question.parameters)
    found = compare(dynamics, state, stiffness=[question.stiffness], samples=_SAMPLES, parameters=question.parameters)
    histories = {
        method: {
            name: {"s": plain(item.s), "force_N": plain(item.force_N), "penetration": plain(item.penetration)}
            for name, item in by_contact.items()
        }
        for method, by_contact in found.histories.items()
    }
    return {**comparison_record(dynamics, state, found), "has_mode": found.has_mode, "histories": histories}


def film_answer(dynamics: Dynamics, question: Question) -> dict[str, Any]:
    """A motion as a film, which is not kept: along the first branch where there are several.

    Parameters
    ----------
    dynamics : Dynamics
    question : Question

    Returns
    -------
    dict
        ``type`` and ``data``, in base64.
    """
    from hybrid.reporting.films import streamed_film

    rule = Penalty() if question.rule == "penalty" else None
    motion = _followed(simulate, dynamics, question, rule=rule)
    return {"type": "video/mp4", "data": base64.b64encode(streamed_film(motion)).decode()}


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
    names, n = [axis.name for axis in axes], round(question.cells)
    is_pinned = set(names) <= {*question.pins, *dynamics.mechanism.parameters}
    own = {name: value for name, value in question.pins.items() if name not in names} if is_pinned else None
    held = held_around(dynamics, state, names, parameters=question.parameters, pins=own)

    def finer(share: float, taken: float, found: RegionMap) -> float:
        seconds[question.text] = taken / found.cells
        return 1.0 if seconds[question.text] * n * n <= _AT_ONCE else min(1.0, 2.5 * share)

    is_quick = question.text in seconds and seconds[question.text] * n * n <= _AT_ONCE
    around = partial(region_map, dynamics, **held)
    meant = [attrs.evolve(axis, n=n) for axis in axes]
    first = 1.0 if is_quick else min(1.0, _COARSEST / n)
    for found, share in refined_maps(lambda swept: around(axes=swept), meant, first, finer):
        pins = {name: str(value) for name, value in held["pins"].items()}
        yield {"map": {**_shown(found, is_complete=share == 1.0), "pins": pins}}


def _axes(dynamics: Dynamics, state: State, question: Question) -> list[Axis] | None:
    if question.axes:
        values = dynamics.at(question.parameters).values
        return [Axis.parse(text, values=values) for text in question.axes]
    found = axes_around(
        dynamics, state, pins=question.pins, parameters=question.parameters, cells=round(question.cells)
    )
    return None if found is None else list(found)


def axes_around(
    dynamics: Dynamics, state: State, *, pins: Mapping[str, str], parameters: Mapping[str, str], cells: int
) -> tuple[Axis, Axis] | None:
    """The two quantities of a map around a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    pins, parameters : mapping of str to str
        By which the state is given.
    cells : int
        Along either axis.

    Returns
    -------
    tuple of Axis, or None
        Those of a report; where it has none, the first pinned coordinate and the first pinned velocity or slip, or two
        of either kind. None where gaps and their rates leave less than two pins.
    """
    found = default_axes(dynamics, state, parameters=parameters, cells=cells)
    if found is not None:
        return found
    terms = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    places = dict(zip(dynamics.mechanism.coordinates, state.q.tolist(), strict=True))
    speeds = dict(zip(dynamics.mechanism.velocities, state.v.tolist(), strict=True))
    speeds |= {name: float(value) for name, _, value in slip_rows(dynamics, state, terms)}
    own, moving = ([name for name in pins if name in known] for known in (places, speeds))
    chosen = [*own[:1], *moving, *own[1:]][:2]
    values = [(places | speeds)[name] for name in chosen]
    reaches = [max(1.0, 2.0 * abs(value)) for value in values]
    axes = [Axis(name, x - r, x + r, cells) for name, x, r in zip(chosen, values, reaches, strict=True)]
    return (axes[0], axes[1]) if len(axes) == 2 else None


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


def critical_answer(dynamics: Dynamics, question: Question) -> list[dict[str, Any]]:
    """The critical friction of every closed contact that has one, over the posture that the map varies.

    Parameters
    ----------
    dynamics : Dynamics
    question : Question

    Returns
    -------
    list of dict
        ``contact`` with the keys of ``painleve critical-friction --json``, or the ``refusal``.
    """
    state = solve_state(dynamics, question.pins, parameters=question.parameters)
    axes = _axes(dynamics, state, question)
    if axes is None or axes[0].name not in dynamics.mechanism.coordinates:
        return []
    found: list[dict[str, Any]] = []
    for contact in closed_contacts(dynamics, state, question.parameters):
        if not dynamics.dimension(contact):
            continue
        try:
            answer = critical_around(dynamics, state, contact, axes[0], parameters=question.parameters)
            found.append({"contact": contact, **critical_friction_record(answer)})
        except HybridError as error:
            found.append({"contact": contact, "refusal": str(error)})
    return found
