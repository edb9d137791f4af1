"""Answers to questions of a page, as values that JSON can hold.

The automaton of a mechanism as boxes and arrows, for a page to draw.

A state as a page shows it: verdict with evidence, the drawing with its forces, and how its points can be dragged.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.maps.axes import quantities_with_units
from hybrid.automaton import build_automaton
from hybrid.automaton.export.layout import GroupText, layout, reduced
from hybrid.automaton.outline import outline
from hybrid.contact import select
from hybrid.declaration import mechanism_from_toml
from hybrid.dynamics import derive, solve_state
from hybrid.dynamics.state import pin_names
from hybrid.errors import ComputationError, StateError
from hybrid.explorer.mapping import comparison_answer, critical_answer, film_answer, map_answers, motion_answer
from hybrid.explorer.starting import starting_pins
from hybrid.reporting.automaton import node_rows, shown_arrows
from hybrid.reporting.records import plain, state_record, verdict_record
from hybrid.reporting.scene import forces_at, surfaces_at
from hybrid.reporting.touching import Touching, drawn_points, touching
from hybrid.tolerances import CENTRAL_STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hybrid.contact import Branch
    from hybrid.dynamics import Dynamics, State
    from hybrid.explorer.questions import Question

__all__ = ["Models", "answers", "automaton_answer", "drawing_answer", "state_answer"]


_MOST = 256  # modes before those that are impossible are left out: some seconds


def automaton_answer(dynamics: Dynamics) -> dict[str, Any]:
    """The modes of a mechanism and what leads from one to another; more than 16 in groups.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict
        ``size``, ``box``, ``nodes`` (key, rows of text, place, modes it stands for) and ``arrows``.
    """
    whole = outline(build_automaton(dynamics, max_nodes=_MOST), formulas=False)
    found = reduced(whole)
    placed = layout(found)
    return {
        "size": list(placed.picture),
        "box": list(placed.size),
        "nodes": [
            {
                "key": node.key,
                "at": list(placed.centres[node.key]),
                "kind": node.kind,
                "rows": node_rows(node, found),
                "members": list(node.members) if isinstance(node, GroupText) else [node.key],
            }
            for node in found.nodes
        ],
        "arrows": [
            {
                "source": arrow.source,
                "target": arrow.target,
                "label": "" if placed.is_grid else arrow.label,
                "kind": "jump" if arrow.source == "impact" else "regular" if arrow.regular else "paradox",
            }
            for arrow in shown_arrows(found, is_grid=placed.is_grid)
        ],
    }


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
    values = dynamics.at(question.parameters).values
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
    gap = dynamics.terms(q, v, t=state.t, parameters=question.parameters).gap
    return {
        "points": {name: place[0].tolist() for name, place in points.items()},
        "links": [list(link) for link in drawing.links],
        "size": size,
        "surfaces": [
            {"name": item.contact, "at": item.at[0].tolist(), "normal": item.normal[0].tolist(), "guide": item.is_guide}
            for item in surfaces_at(dynamics, found, points, gap, size)
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


_MODELS = 6


@attrs.define(eq=False)
class Models:
    """Mechanisms that were derived, the last few.

    Attributes
    ----------
    seconds : dict of str to float
        What a cell of a map took, by declaration.
    """

    seconds: dict[str, float] = attrs.field(factory=dict)
    _derived: OrderedDict[str, Dynamics] = attrs.field(factory=OrderedDict)

    def of(self, text: str) -> Dynamics:
        """The equations of a declaration.

        Parameters
        ----------
        text : str

        Returns
        -------
        Dynamics

        Raises
        ------
        DeclarationError
            With everything that is wrong in the text.
        """
        if text not in self._derived:
            self._derived[text] = derive(mechanism_from_toml(text))
            while len(self._derived) > _MODELS:
                old, _ = self._derived.popitem(last=False)
                self.seconds.pop(old, None)
        self._derived.move_to_end(text)
        return self._derived[text]


def answers(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    """The parts of an answer, the last of them complete.

    Parameters
    ----------
    models : Models
    question : Question

    Returns
    -------
    iterator of dict
        Every part has one key that says what it is: ``declaration``, ``state``, ``map``, ``progress``, ...

    Raises
    ------
    DeclarationError, StateError, ComputationError
        As the functions that are asked.
    """
    dynamics = models.of(question.text)
    if question.kind != "look":
        yield {question.kind: _ANSWERS[question.kind](dynamics, question)}
        return
    state = solve_state(dynamics, question.pins, parameters=question.parameters)
    yield {"state": state_answer(dynamics, state, question)}
    yield from map_answers(dynamics, state, question, models.seconds)


def _declaration(dynamics: Dynamics, _: Question) -> dict[str, Any]:
    """What sliders and menus of a mechanism need."""
    mechanism = dynamics.mechanism
    values = mechanism.parameter_values({})
    positions, velocities = pin_names(dynamics)
    drawing = mechanism.drawing.points
    frictions = {word for item in mechanism.contact for word in re.findall(r"\w+", str(item.friction))}
    return {
        "name": mechanism.name,
        "title": mechanism.title,
        "coordinates": list(mechanism.coordinates),
        "velocities": list(mechanism.velocities),
        "angles": sorted(mechanism.angles),
        "positions": list(positions),
        "rates": list(velocities),
        "parameters": {
            name: {"value": plain(float(values[name])), "unit": declared.unit, "doc": declared.doc}
            for name, declared in mechanism.parameters.items()
        },
        "frictions": [name for name in mechanism.parameters if name in frictions],
        "contacts": list(dynamics.contacts),
        "units": quantities_with_units(dynamics),
        "branch_units": plain(mechanism.units().tables()),
        "pins": starting_pins(dynamics),
        "axes": len(next(iter(drawing.values()))) if drawing else 0,
    }


_ANSWERS: Mapping[str, Callable[[Dynamics, Question], Any]] = {
    "declaration": _declaration,
    "automaton": lambda dynamics, _: automaton_answer(dynamics),
    "critical": critical_answer,
    "motion": motion_answer,
    "comparison": comparison_answer,
    "film": film_answer,
}
"""Of one part, whose key is the kind of the question."""
