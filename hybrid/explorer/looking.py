"""A state as a page shows it: verdict with evidence, the drawing with its forces, and how its points can be dragged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.contact import select
from hybrid.dynamics import solve_state
from hybrid.errors import ComputationError, StateError
from hybrid.reporting.records import plain, state_record, verdict_record
from hybrid.reporting.scene import forces_at, surface_at
from hybrid.reporting.touching import Touching, drawn_points, touching
from hybrid.tolerances import CENTRAL_STEP

if TYPE_CHECKING:
    from hybrid.contact import Branch
    from hybrid.dynamics import Dynamics, State
    from hybrid.explorer.questions import Question

__all__ = ["drawing_answer", "state_answer"]

_STEP = CENTRAL_STEP  # of a pinned coordinate; a dragged point needs its direction to a percent


def state_answer(dynamics: Dynamics, state: State, question: Question, *, is_movable: bool = True) -> dict[str, Any]:
    """A state with its verdict.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    question : Question
        With the pins that give the state.
    is_movable : bool, optional
        Say how points of the drawing can be dragged.

    Returns
    -------
    dict
        The keys of ``painleve verdict --json``, or ``refusal`` where no verdict is defined (a contact penetrates); and
        ``drawing``.
    """
    values = dynamics.mechanism.parameter_values(question.parameters)
    given = {name: float(values[name]) for name in question.parameters}
    branches: tuple[Branch, ...] = ()
    try:
        selection = select(dynamics, state, parameters=question.parameters)
        record = verdict_record(dynamics, state, selection, parameters=given)
        branches = selection.branches
    except (StateError, ComputationError) as error:
        record = {"verdict": None, "refusal": str(error), "state": plain(state_record(dynamics, state))}
    drawing = drawing_answer(dynamics, state, branches, question)
    if drawing is not None:
        drawing["moves"] = _moves(dynamics, state, question) if is_movable else {}
    return {**record, "drawing": drawing}


def drawing_answer(
    dynamics: Dynamics, state: State, branches: tuple[Branch, ...], question: Question
) -> dict[str, Any] | None:
    """Points, links and surfaces of a mechanism at a state, and the forces of every branch.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    branches : tuple of Branch
        Whose forces are drawn.
    question : Question

    Returns
    -------
    dict or None
        None if the mechanism declares no drawing, or a point has no place.
    """
    drawing = dynamics.mechanism.drawing
    if not drawing.points:
        return None
    q, v = state.q[None, :], state.v[None, :]
    points = drawn_points(dynamics, q, state.t, question.parameters)
    if not all(np.isfinite(place).all() for place in points.values()):
        return None
    found = touching(dynamics, q, v, state.t, parameters=question.parameters)
    size = float(np.linalg.norm(np.ptp(np.concatenate(list(points.values())), axis=0))) or 1.0
    terms = dynamics.terms(q, v, t=state.t, parameters=question.parameters)
    gap = np.broadcast_to(terms.gap, (1, len(dynamics.contacts)))
    distance = dict(zip(dynamics.contacts, gap.T, strict=True)) | dict.fromkeys(dynamics.rigid, np.zeros(1))
    surfaces = {
        name: surface_at(acting, points, distance[name], size, is_guide=name in dynamics.rigid)
        for name, acting in found.items()
        if name in distance and len(acting.points) == 1
    }
    return {
        "points": {name: place[0].tolist() for name, place in points.items()},
        "links": [list(link) for link in drawing.links],
        "size": size,
        "surfaces": [
            {"name": name, "at": item.at[0].tolist(), "normal": item.normal[0].tolist(), "guide": item.is_guide}
            for name, item in surfaces.items()
        ],
        "forces": [_arrows(found, branch) for branch in branches],
    }


def _arrows(found: Mapping[str, Touching], branch: Branch) -> list[dict[str, Any]]:
    """The forces of a branch on the drawing."""
    arrows = []
    for name, place in found.items():
        normal = np.array([float(branch.lambda_N.get(name, 0.0))])
        tangential = np.array(branch.lambda_T.get(name, ()), dtype=float).reshape(1, -1)
        for force in forces_at(place, normal, tangential):
            if np.any(force.vector):
                arrows.append({"name": name, "point": force.point, "vector": force.vector[0].tolist()})
    return arrows


def _moves(dynamics: Dynamics, state: State, question: Question) -> dict[str, dict[str, list[float]]]:
    """How fast every point moves with every pinned coordinate, while all other pins hold."""
    coordinates = dynamics.mechanism.coordinates
    points = drawn_points(dynamics, state.q[None, :], state.t, question.parameters)
    moves: dict[str, dict[str, list[float]]] = {}
    for name in question.pins:
        if name not in coordinates:
            continue
        value = float(state.q[coordinates.index(name)]) + _STEP
        try:
            moved = solve_state(dynamics, {**question.pins, name: repr(value)}, parameters=question.parameters)
        except (StateError, ComputationError):
            continue  # at the end of its range: it is moved by its slider
        places = drawn_points(dynamics, moved.q[None, :], moved.t, question.parameters)
        rates = {key: ((places[key][0] - place[0]) / _STEP) for key, place in points.items()}
        if all(np.isfinite(rate).all() for rate in rates.values()):
            moves[name] = {key: rate.tolist() for key, rate in rates.items()}
    return moves
