"""Motions and comparisons for a page: frames, curves over time, and all futures where there are several."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.analysis import compare
from hybrid.contact import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact
from hybrid.dynamics import solve_state
from hybrid.motion import Penalty, simulate, simulate_branches
from hybrid.reporting.animation import animation_data
from hybrid.reporting.comparisons import comparison_record
from hybrid.reporting.motions import motion_record
from hybrid.reporting.records import plain
from hybrid.reporting.scene import build_scene
from hybrid.tolerances import LEAST

if TYPE_CHECKING:
    from hybrid.contact import AbstractImpactLaw
    from hybrid.dynamics import Dynamics
    from hybrid.explorer.questions import Question
    from hybrid.motion import MotionTree, Trajectory

__all__ = ["comparison_answer", "film_answer", "motion_answers"]

_FRAMES = 400
_POINTS = 400  # of a curve over time
_SAMPLES = 160  # of a phase of a compliant contact
_LAWS: Mapping[str, Callable[[], AbstractImpactLaw]] = {
    "newton": NewtonImpact,
    "poisson": PoissonImpact,
    "energetic": EnergeticImpact,
    "kelvin-voigt": KelvinVoigtLimit,
}


def motion_answers(dynamics: Dynamics, question: Question) -> Iterator[dict[str, Any]]:
    """The motion from a state, and all others that its branches begin.

    Parameters
    ----------
    dynamics : Dynamics
    question : Question

    Returns
    -------
    iterator of dict
        ``motion`` with ``parts``: of each its ``parent`` and ``choice``, the keys of ``painleve simulate --json``,
        ``scene`` (None without a drawing) and ``curves``.
    """
    found = _followed(dynamics, question)
    yield {"motion": {"t_end": question.t_end, "rule": question.rule, "parts": found}}


def _followed(dynamics: Dynamics, question: Question) -> list[dict[str, Any]]:
    start = solve_state(dynamics, question.pins, parameters=question.parameters)
    law = _law(question)
    if question.rule == "penalty":
        motion = simulate(
            dynamics, start, t_end=question.t_end, parameters=question.parameters, law=law, rule=Penalty()
        )
        return [_part(motion, None, "")]
    tree: MotionTree = simulate_branches(dynamics, start, t_end=question.t_end, parameters=question.parameters, law=law)
    return [_part(branch.motion, branch.parent, branch.choice) for branch in tree.branches]


def _law(question: Question) -> AbstractImpactLaw:
    return _LAWS[question.law]()


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
    names = list(motion.dynamics.contacts)
    t: list[float | None] = []
    energy: list[float | None] = []
    rows: list[list[float | None]] = [[] for _ in names]
    places: list[list[float | None]] = [[] for _ in motion.dynamics.mechanism.coordinates]
    span = max(motion.t - motion.t_start, LEAST)
    for arc in motion.arcs[:_POINTS]:
        instants = np.linspace(arc.start, arc.end, max(2, int(np.ceil(_POINTS * (arc.end - arc.start) / span))))
        q, v = arc.sample(instants)
        values, _ = motion.dynamics_at(arc.start).energy(q, v, t=instants)
        pressing = motion.forces(arc, instants).lambda_N
        t += [*instants.tolist(), None]
        energy += [*plain(np.broadcast_to(values, instants.shape)), None]  # type: ignore[misc]
        for row, force in zip(rows, pressing, strict=True):
            row += [*plain(force), None]  # type: ignore[misc]
        for row, coordinate in zip(places, q.T, strict=True):
            row += [*plain(coordinate), None]  # type: ignore[misc]
    return {
        "t": t,
        "energy": energy,
        "forces": dict(zip(names, rows, strict=True)),
        "coordinates": dict(zip(motion.dynamics.mechanism.coordinates, places, strict=True)),
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

    start = solve_state(dynamics, question.pins, parameters=question.parameters)
    rule = Penalty() if question.rule == "penalty" else None
    motion = simulate(
        dynamics, start, t_end=question.t_end, parameters=question.parameters, law=_law(question), rule=rule
    )
    return {"type": "video/mp4", "data": base64.b64encode(streamed_film(motion)).decode()}
