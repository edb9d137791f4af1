"""A report: everything that is known about a state, as one value that can be written as JSON, Markdown or HTML.

The command line that makes a report again.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property, partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.dynamics.positions import is_explicit
from hybrid.dynamics.state import sort_pins
from hybrid.progress import OnInterrupt, interruptible, keeps_partial
from hybrid.reporting.branches import critical_friction_record, map_record
from hybrid.reporting.records import (
    Json,
    closed_form_contacts,
    labels,
    plain,
    verdict_record,
)
from hybrid.reporting.window import pins_around
from hybrid.reporting.wording import command_text
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hybrid.analysis import Axis, CriticalFriction, RegionMap
    from hybrid.analysis.maps.chunks import Progress
    from hybrid.automaton import Automaton
    from hybrid.contact import Selection
    from hybrid.declaration import Mechanism
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = [
    "MAX_DRAWN_NODES",
    "Report",
    "build_report",
    "command_line",
    "parameter_table",
    "report_record",
    "state_options",
]


@checks_arguments
def command_line(dynamics: Dynamics, state: State, *, parameters: Values | None = None) -> str:
    """The command line whose pins give a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping of str to float or str, optional

    Returns
    -------
    str
        The pins are those of :func:`pins_around`, with every coordinate in place of gaps that several postures have.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> command_line(ball, solve_state(ball, {"y": 1, "y_dot": 0}))
    'painleve report bouncing_ball --pin y=1 --pin y_dot=0 -o report.html'
    """
    options = [*state_options(dynamics, state, parameters=parameters), ("-o", "report.html")]
    return command_text("report", dynamics.name, options)


def state_options(dynamics: Dynamics, state: State, *, parameters: Values | None) -> list[tuple[str, str]]:
    """The options of a command whose pins give a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping of str to float or str, or None

    Returns
    -------
    list of (str, str)
        ``--pin`` and ``--param`` with what follows them. Rigid constraints may leave another posture to the same pins.
    """
    pins = pins_around(dynamics, state, [], parameters=parameters)
    found = sort_pins(dynamics, pins)
    if len(found.positions) == dynamics.n and not is_explicit(dynamics, found):
        # several postures may have these gaps; the coordinates say which one is meant
        own = dict(zip(dynamics.mechanism.coordinates, state.q.tolist(), strict=True))
        pins = own | {name: value for name, value in pins.items() if name not in found.positions}
    given = (("--pin", pins), ("--param", parameters or {}))
    return [(option, f"{name}={_written(value)}") for option, values in given for name, value in values.items()]


def _written(value: Any) -> str:
    """A number so that it is read back as it is; the limits of a slip as they are."""
    if isinstance(value, str):
        return value
    return repr(float(value) + 0.0).removesuffix(".0")


MAX_DRAWN_NODES = 36
"""Modes of the largest automaton that is drawn: two contacts with friction have 16, between rails 36, three have 64."""


@attrs.frozen(eq=False)
class Report(AbstractDisplayed):
    """Everything that is known about a state of a mechanism.

    Attributes
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping of str to float or str
        The replaced ones.
    selection : Selection
    critical : mapping of str to CriticalFriction
        By contact, over the first axis of the map; empty where an interrupt came before.
    region_map : RegionMap or None
    held : mapping of str to float or str
        The pins of the map.
    automaton : Automaton or None
        None if it is too large to be read, or an interrupt came before.
    command : str
        The command line that makes this report.
    version : str
    is_coarse : bool
        True if the map has fewer cells than were meant, for want of time or after an interrupt.
    is_complete : bool
        False if an interrupt left parts out.
    """

    dynamics: Dynamics
    state: State
    parameters: Values
    selection: Selection
    critical: Mapping[str, CriticalFriction]
    region_map: RegionMap | None
    held: Mapping[str, Any]
    automaton: Automaton | None
    command: str
    version: str
    is_coarse: bool = False
    is_complete: bool = True

    def __repr__(self) -> str:
        parts = {"map": self.region_map, "automaton": self.automaton}
        shown = " and ".join(name for name, part in parts.items() if part is not None)
        return one_line(
            f"Report {self.dynamics.name}",
            self.selection.verdict.name,
            f"with {shown}" if shown else "",
            "" if self.is_complete else "incomplete",
        )

    @cached_property
    def equations(self) -> Mapping[str, Any]:
        """Formulas as text, as of :func:`hybrid.dynamics.readable.readable_equations`; worked out when asked for."""
        from hybrid.dynamics.readable import readable_equations

        return readable_equations(self.dynamics)

    @property
    def consistent(self) -> tuple[str, ...]:
        """Labels of all modes that are consistent at the state."""
        found = [mode.label for item in self.selection.branches for mode in item.modes]
        return tuple(dict.fromkeys(found))

    @property
    def place(self) -> tuple[float, float] | None:
        """The state on the map's axes; None without a map, or if an axis is not a quantity of the state."""
        if self.region_map is None:
            return None
        from hybrid.reporting.samples import quantity

        state = self.state
        at = partial(quantity, q=state.q[None], v=state.v[None], t=np.array([state.t]), parameters=self.parameters)
        x, y = (at(self.dynamics, axis.name) for axis in self.region_map.axes)
        return None if x is None or y is None else (float(x[0]), float(y[0]))


@checks_arguments
def build_report(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    parameters: Values | None = None,
    axes: Sequence[Axis | str] | None = None,
    pins: Mapping[str, Any] | None = None,
    command: str = "",
    tolerances: Tolerances = Tolerances(),
    progress: Progress | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> Report:
    """Everything about a state: verdict, evidence, surroundings and automaton.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    parameters : mapping of str to float or str, optional
        Values that replace the declared ones.
    axes : sequence of two Axis or str, optional
        Of the map. By default the posture and its velocity, see :func:`hybrid.reporting.default_axes`, with as many
        cells as some ten seconds allow; no map if the contacts fix the posture or have no friction.
    pins : mapping of str to float or str, optional
        What is held on the map. By default the contacts stay closed, and what the state was given by is held.
    command : str, optional
        The command line to quote; by default one that pins the state.
    tolerances : Tolerances, optional
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of cells of the map; a finer map begins anew.
    on_interrupt : {"raise", "keep"}, optional
        What Ctrl-C does while the surroundings are computed: raise ``KeyboardInterrupt``, or leave out of the report
        what is not finished, which it then says.

    Returns
    -------
    Report

    Raises
    ------
    StateError, ComputationError
        As :func:`hybrid.select` and :func:`hybrid.analysis.region_map`.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> report = build_report(ball, solve_state(ball, {}))
    >>> report.selection.verdict.name, report.region_map, report.command
    ('UNIQUE', None, 'painleve report bouncing_ball --pin gap.floor=0 --pin gap_dot.floor=0 -o report.html')
    """
    from hybrid.analysis.maps.axes import axes_of
    from hybrid.automaton import build_automaton
    from hybrid.automaton.structure import count_nodes
    from hybrid.contact import select
    from hybrid.contact.table import force_elements
    from hybrid.dynamics import state_of
    from hybrid.reporting.surroundings import Surroundings, surroundings
    from hybrid.reporting.window import can_be_traced

    keeps = keeps_partial(on_interrupt)
    state = state_of(dynamics, state, parameters=parameters, tolerances=tolerances)
    selection = select(dynamics, state, parameters=parameters, tolerances=tolerances)  # texts are known exactly
    given = dynamics.at(parameters).given
    parameters = {name: value if isinstance(value, str) else float(value) for name, value in given.items()}
    around = Surroundings(None, {})
    critical: dict[str, CriticalFriction] = {}
    automaton = None
    is_complete = False
    try:
        with interruptible(keeps=keeps):
            around = surroundings(
                dynamics,
                state,
                parameters=parameters,
                axes=None if axes is None else axes_of(dynamics.at(parameters), axes),
                pins=pins,
                tolerances=tolerances,
                progress=progress,
                on_interrupt=on_interrupt,
            )
            found = around.region_map
            is_mapped = found is None or found.is_complete
            if found is not None and is_mapped and can_be_traced(dynamics, found):
                critical = _critical(dynamics, state, selection, parameters, found.axes[0])
            if is_mapped and count_nodes(force_elements(dynamics)) <= MAX_DRAWN_NODES:
                automaton = build_automaton(dynamics)
            is_complete = is_mapped
    except KeyboardInterrupt:
        if not keeps:
            raise
    return Report(
        dynamics=dynamics,
        state=state,
        parameters=parameters,
        selection=selection,
        critical=critical,
        region_map=around.region_map,
        held=around.held,
        automaton=automaton,
        command=command or command_line(dynamics, state, parameters=parameters),
        version=metadata.version("painleve"),
        is_coarse=around.is_coarse,
        is_complete=is_complete,
    )


@checks_arguments
def report_record(report: Report) -> dict[str, Json]:
    """A report as plain JSON values.

    Parameters
    ----------
    report : Report

    Returns
    -------
    dict
        The keys of the verdict, and ``title``, ``references``, ``units``, ``parameter_table``, ``equations``,
        ``critical_friction`` by contact, ``map``, ``consistent_modes``, ``command``, ``version`` and ``complete``.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> report_record(build_report(ball, solve_state(ball, {})))["consistent_modes"]
    [{'floor': 'closed'}]
    """
    mechanism = report.dynamics.mechanism
    record = verdict_record(report.dynamics, report.state, report.selection, parameters=report.parameters)
    found = report.region_map
    return record | {
        "title": mechanism.title,
        "references": list(mechanism.references),
        "definitions": dict(mechanism.definitions),
        "units": plain(mechanism.units().tables()),
        "parameter_table": parameter_table(mechanism, report.parameters),
        "problem": plain(_problem(report)),
        "equations": plain(report.equations),
        "critical_friction": {name: critical_friction_record(item) for name, item in report.critical.items()},
        "map": None
        if found is None
        else map_record(found)
        | {
            "state": plain(report.place),
            "pins": plain(report.held),
            "has_curves": bool(found.boundaries) or len(found.regions) < 2,
            "coarse": report.is_coarse,
        },
        "consistent_modes": [labels(item.mode) for item in report.selection.branches],
        "command": report.command,
        "version": report.version,
        "complete": report.is_complete,
    }


def parameter_table(mechanism: Mechanism, replaced: Values) -> dict[str, dict[str, Json]]:
    """Values of all parameters with their units and what they mean.

    Parameters
    ----------
    mechanism : Mechanism
    replaced : mapping of str to float or str
        Values that replace the declared ones.

    Returns
    -------
    dict of str to dict
        ``value``, ``unit``, ``doc`` and whether it is ``replaced``, by name.
    """
    values = mechanism.parameter_values(replaced)
    return {
        name: {
            "value": plain(values[name]),
            "unit": declared.unit,
            "doc": declared.doc,
            "replaced": name in replaced,
        }
        for name, declared in mechanism.parameters.items()
    }


def _problem(report: Report) -> dict[str, Any]:
    """Delassus operator, free accelerations without the forces that are reported, and the names of their rows."""
    problem = report.selection.problem
    rows: list[str] = []
    for element in problem.elements:
        rows += [] if element.normal is None else [f"{element.name}.N"]
        rows += [
            f"{element.name}.T" + (str(i + 1) if len(element.tangential) > 1 else "")
            for i in range(len(element.tangential))
        ]
    return {"rows": rows, "G": problem.G, "c": problem.c - problem.G @ problem.mean}


def _critical(
    dynamics: Dynamics, state: State, selection: Selection, parameters: Values, axis: Axis
) -> dict[str, CriticalFriction]:
    """Critical friction of every contact that takes part and has a closed form, over postures."""
    from hybrid.contact.sliding import BilateralContactError
    from hybrid.dynamics.state import pin_names
    from hybrid.reporting.surroundings import critical_around

    found = {}
    for name in closed_form_contacts(selection) if axis.name in pin_names(dynamics)[0] else ():
        if name in dynamics.contacts:
            # a rail whose friction leaves the contact alone at the state may push it at another posture
            with suppress(BilateralContactError):
                found[name] = critical_around(dynamics, state, name, axis, parameters=parameters)
    return found
