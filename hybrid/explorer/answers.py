"""Answers to questions of a page, as values that JSON can hold."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.declaration import mechanism_from_toml
from hybrid.dynamics import derive, solve_state
from hybrid.dynamics.pin_values import pin_names
from hybrid.dynamics.quantities import quantities_with_units
from hybrid.explorer.looking import state_answer
from hybrid.explorer.mapping import critical_answer, map_answers
from hybrid.explorer.moving import comparison_answer, film_answer, motion_answers
from hybrid.explorer.questions import Question
from hybrid.explorer.starting import starting_pins
from hybrid.reporting.records import plain

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics

__all__ = ["Models", "answers"]

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
    return _ANSWERS[question.kind](models, question)


def _declaration(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    """What sliders and menus of a mechanism need."""
    dynamics = models.of(question.text)
    mechanism = dynamics.mechanism
    values = mechanism.parameter_values({})
    positions, velocities = pin_names(dynamics)
    drawing = mechanism.drawing.points
    frictions = {word for item in mechanism.contact for word in re.findall(r"\w+", str(item.friction))}
    yield {
        "declaration": {
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
            "pins": starting_pins(dynamics),
            "axes": len(next(iter(drawing.values()))) if drawing else 0,
        }
    }


def _look(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    """The state, then the map around it."""
    dynamics = models.of(question.text)
    state = solve_state(dynamics, question.pins, parameters=question.parameters)
    yield {"state": state_answer(dynamics, state, question)}
    yield from map_answers(dynamics, state, question, models.seconds)


def _automaton(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    from hybrid.explorer.automata import automaton_answer  # loads SymPy: a second that no other question waits for

    yield {"automaton": automaton_answer(models.of(question.text))}


def _critical(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    dynamics = models.of(question.text)
    state = solve_state(dynamics, question.pins, parameters=question.parameters)
    yield {"critical": critical_answer(dynamics, state, question)}


def _motion(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    yield from motion_answers(models.of(question.text), question)


def _comparison(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    yield {"comparison": comparison_answer(models.of(question.text), question)}


def _film(models: Models, question: Question) -> Iterator[dict[str, Any]]:
    yield {"film": film_answer(models.of(question.text), question)}


_ANSWERS: Mapping[str, Callable[[Models, Question], Iterator[dict[str, Any]]]] = {
    "declaration": _declaration,
    "look": _look,
    "automaton": _automaton,
    "critical": _critical,
    "motion": _motion,
    "comparison": _comparison,
    "film": _film,
}
