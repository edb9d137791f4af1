"""One page without a server: maps of a mechanism for some values of one quantity, computed before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.declaration import mechanism_from_toml
from hybrid.dynamics import derive, solve_state
from hybrid.errors import ComputationError, DeclarationError, StateError
from hybrid.explorer.answers import Models, answers, state_answer
from hybrid.explorer.application import SCRIPTS, STYLES, page_file
from hybrid.explorer.mapping import axes_around, map_answers
from hybrid.explorer.questions import Question
from hybrid.explorer.starting import starting_pins
from hybrid.reporting.window import friction_parameter, pins_around

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.analysis import Axis
    from hybrid.dynamics import Dynamics
    from hybrid.explorer.application import Served

__all__ = ["offline_page"]

_VALUES = 11  # of the quantity with a slider
_STATES = 11  # along either axis
_CELLS = 120
_HALVINGS = 20  # of the way to the end of a slider
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


@checks_arguments
def offline_page(
    first: Served,
    *,
    pins: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """A page on which a mechanism can be looked at without a server: for the web page of a lecture.

    The map is there for some values of one parameter, the coefficient of friction if there is one; states are there on
    a grid of the map, to which a click is rounded.

    Parameters
    ----------
    first : Served
    pins, parameters : mapping of str to str, optional
        The state around which the map is.
    progress : callable, optional
        Called as ``progress(done, total)``.

    Returns
    -------
    str
        HTML that needs nothing else.

    Raises
    ------
    DeclarationError, StateError
        The declaration or the pins are wrong, or pin no two quantities to vary.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid.explorer import Served
    >>> offline_page(Served("bouncing_ball", mechanisms.path("bouncing_ball").read_text(encoding="utf-8")))
    Traceback (most recent call last):
    hybrid.errors.StateError: bouncing_ball: no two quantities are free for a map: pin coordinates, velocities or slips
    """
    dynamics = derive(mechanism_from_toml(first.text))
    chosen = dict(pins or {}) or starting_pins(dynamics)
    given = dict(parameters or {})
    state = solve_state(dynamics, chosen, parameters=given)
    axes = axes_around(dynamics, state, pins=chosen, parameters=given, cells=_STATES)
    if axes is None:
        raise StateError(f"{dynamics.name}: no two quantities are free for a map: pin coordinates, velocities or slips")
    names = [axis.name for axis in axes]
    if loose := [name for name in names if name not in (*chosen, *dynamics.mechanism.parameters)]:
        if pins:
            varied, asked = " and ".join(names), " and ".join(loose)
            raise StateError(f"{dynamics.name}: the map varies {varied}; pin {asked} in place of another quantity")
        moving = zip(dynamics.mechanism.coordinates + dynamics.mechanism.velocities, [*state.q, *state.v], strict=True)
        held = pins_around(dynamics, state, names, parameters=given) | {n: float(x) for n, x in moving if n in names}
        chosen = {name: str(value) for name, value in held.items()}
    slider, values = _slider(dynamics, chosen, given, names)
    tables: dict[str, Any] = {
        "begin": {"catalogue": {}, "first": {"name": first.name, "text": first.text}},
        "declaration": _declaration(first, names, slider, dynamics.at(given).values),
        "slider": slider,
        "values": values,
        "axes": [{"name": axis.name, "values": axis.values.tolist()} for axis in axes],
        "maps": [],
        "states": [],
    }
    texts = tuple(f"{axis.name}={axis.low!r}:{axis.high!r}" for axis in axes)
    for number, value in enumerate(values):
        own = {**given, slider: repr(value)}
        question = Question("look", first.text, chosen, own, texts, cells=_CELLS)
        *_, last = map_answers(dynamics, solve_state(dynamics, chosen, parameters=own), question, {})
        tables["maps"].append(last["map"])
        tables["states"].append(_states(dynamics, question, axes))
        if progress is not None:
            progress(number + 1, _VALUES)
    return _assembled(first.name, tables)


def _slider(
    dynamics: Dynamics, pins: Mapping[str, str], given: Mapping[str, str], taken: list[str]
) -> tuple[str, list[float]]:
    """The coefficient of friction, or the first parameter that is a number; its values, its own one among them."""
    state = solve_state(dynamics, pins, parameters=given)
    own_values = dynamics.at(given).values
    name = friction_parameter(dynamics, state, given, taken=taken)
    if name is not None:
        ends = [0.0, max(2.0, 1.5 * float(own_values[name]))]
    else:
        name = next((item for item in own_values if item not in taken), None)
        if name is None:
            raise StateError(f"{dynamics.name} has no parameter that a slider could change")
        size = float(own_values[name]) or 1.0
        ends = sorted([0.2 * size, 2.0 * size])
    own = float(own_values[name])
    ends = [_admitted(dynamics, pins, given, name, own, end) for end in ends]
    values = np.linspace(min(own, *ends), max(own, *ends), _VALUES)
    values[np.argmin(np.abs(values - own))] = own
    return name, values.tolist()


def _admitted(
    dynamics: Dynamics, pins: Mapping[str, str], given: Mapping[str, str], name: str, own: float, end: float
) -> float:
    """An end of a slider; nearer to its own value where the declaration refuses it or the pins give no state."""
    for _ in range(_HALVINGS):
        try:
            solve_state(dynamics, pins, parameters={**given, name: repr(end)})
        except (DeclarationError, StateError, ComputationError):
            end = (own + end) / 2
        else:
            return end
    return own


def _declaration(first: Served, taken: list[str], slider: str, values: Mapping[str, float]) -> dict[str, Any]:
    """What the sliders of the page are, and where they begin."""
    found = next(answers(Models(), Question("declaration", first.text)))["declaration"]
    kept = {slider, *(name for name in taken if name in found["parameters"])}
    found["parameters"] = {
        name: {**item, "value": float(values[name])} for name, item in found["parameters"].items() if name in kept
    }
    found["pins"] = {name: "0" for name in taken if name not in found["parameters"]}
    return dict(found)


def _states(dynamics: Dynamics, question: Question, axes: tuple[Axis, Axis]) -> list[dict[str, Any] | None]:
    """States on a grid, the first axis outer; None where there is none."""
    found: list[dict[str, Any] | None] = []
    for x in axes[0].values.tolist():
        for y in axes[1].values.tolist():
            at = {axes[0].name: repr(x), axes[1].name: repr(y)}
            pins = {**question.pins, **{name: value for name, value in at.items() if name in question.pins}}
            own = {**question.parameters, **{name: value for name, value in at.items() if name not in question.pins}}
            asked = Question("look", question.text, pins, own)
            try:
                state = solve_state(dynamics, pins, parameters=own)
                record = state_answer(dynamics, state, asked, is_movable=False)
            except (StateError, ComputationError):
                found.append(None)
                continue
            record.pop("parameters", None)
            found.append(record)
    return found


def _assembled(name: str, tables: Mapping[str, Any]) -> str:
    """The files of the page as one."""
    data = json.dumps(tables, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    scripts = "".join(f"<script>\n{page_file(script)}</script>\n" for script in SCRIPTS)
    styles = "".join(f"<style>\n{page_file(style)}</style>\n" for style in STYLES)
    links = "".join(f'<link rel="stylesheet" href="{style}">\n' for style in STYLES)
    page = page_file("explorer.html").replace(links, styles)
    page = page.replace(
        "<meta charset", f'<meta http-equiv="content-security-policy" content="{_POLICY}">\n<meta charset'
    )
    return page.replace("<!-- scripts -->", f'<script type="application/json" id="tables">{data}</script>\n{scripts}')
