"""A comparison written as a self-contained HTML page or as Markdown.

A comparison of methods at one state, with what a page on it needs: units, histories for plots, the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.arguments import checks_arguments
from hybrid.reporting.histories import history_panels, history_units, plot_convergence, plot_panel
from hybrid.reporting.page import page_html, page_markdown, picture_html
from hybrid.reporting.records import comparison_record
from hybrid.reporting.report import state_options
from hybrid.reporting.wording import command_text, settled
from hybrid.tolerances import NOTHING, Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hybrid.analysis import Comparison
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = [
    "ComparisonReport",
    "build_comparison",
    "comparison_pictures",
    "comparison_view",
    "render_comparison_html",
    "render_comparison_markdown",
]


SAMPLES = 240
"""Per phase of a compliant method, more than the pixels of a panel."""


@attrs.frozen(eq=False)
class ComparisonReport:
    """What all methods say about a state.

    Attributes
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping of str to float
        The replaced ones.
    comparison : Comparison
        With histories.
    command : str
        The command line that makes this page.
    version : str
    """

    dynamics: Dynamics
    state: State
    parameters: Mapping[str, float]
    comparison: Comparison
    command: str
    version: str


@checks_arguments
def build_comparison(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    stiffness: Sequence[float] | None = None,
    damping: float | None = None,
    parameters: Values | None = None,
    command: str = "",
    tolerances: Tolerances = Tolerances(),
    progress: Callable[[int, int], None] | None = None,
) -> ComparisonReport:
    """A comparison of all methods at a state, with what a page on it shows.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        With a closed contact. Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    stiffness : sequence of float, optional
        Of the penalty runs, in N/m; by default three.
    damping : float, optional
        Replaces the declared damping, in sqrt(kg).
    parameters : mapping, optional
    command : str, optional
        The command line to quote; by default one that pins the state.
    tolerances : Tolerances, optional
    progress : callable, optional
        Called with how many of the penalty runs are done, and their number.

    Returns
    -------
    ComparisonReport

    Raises
    ------
    StateError, ComputationError
        As :func:`hybrid.compare`.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> report = build_comparison(ball, solve_state(ball, {"gap_dot.floor": -1}), stiffness=[1e6])
    >>> report.comparison.verdict, report.command
    ('IMPACT', 'painleve compare bouncing_ball --pin y=0 --pin y_dot=-1 --stiffness 1000000 -o comparison.html')
    """
    from hybrid.analysis.comparison.table import STIFFNESSES, compare
    from hybrid.dynamics import state_of

    state = state_of(dynamics, state, parameters=parameters, tolerances=tolerances)
    found = compare(
        dynamics,
        state,
        stiffness=STIFFNESSES if stiffness is None else stiffness,
        damping=damping,
        samples=SAMPLES,
        parameters=parameters,
        tolerances=tolerances,
        progress=progress,
    )
    at = dynamics.at(parameters)
    return ComparisonReport(
        dynamics=dynamics,
        state=state,
        parameters={name: float(at.values[name]) for name in at.given},
        comparison=found,
        command=command or _command(dynamics, state, stiffness, damping, at.given),
        version=metadata.version("painleve"),
    )


def _command(
    dynamics: Dynamics,
    state: State,
    stiffness: Sequence[float] | None,
    damping: float | None,
    parameters: Values | None,
) -> str:
    """The command line that makes the page again."""
    options: list[tuple[str, str | None]] = [*state_options(dynamics, state, parameters=parameters)]
    options += [("--stiffness", None if stiffness is None else ",".join(f"{K:.17g}" for K in stiffness))]
    options += [("--damping", None if damping is None else f"{damping:.17g}"), ("-o", "comparison.html")]
    return command_text("compare", dynamics.name, options)


_LEADS = {
    "UNIQUE": "One motion is consistent with rigid bodies; the compliant contact settles into it.",
    "HYPERSTATIC": "One motion is consistent with rigid bodies, its forces are not unique.",
    "INDETERMINATE": "Several motions are consistent with rigid bodies; the approach decides between them.",
    "INCONSISTENT": "No motion is consistent with rigid bodies; the compliant contact has one.",
    "UNDECIDED": "The rigid problem is too close to a tie to be decided.",
    "IMPACT": "A contact approaches: velocities jump, and the laws need not agree on how.",
}


@checks_arguments
def render_comparison_html(report: ComparisonReport) -> str:
    """A comparison as one HTML page that needs nothing else.

    Parameters
    ----------
    report : ComparisonReport

    Returns
    -------
    str
        Text of the declaration is escaped; plots are SVG elements.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> from hybrid.reporting import build_comparison
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap_dot.floor": -1})
    >>> page = render_comparison_html(build_comparison(ball, state, stiffness=[1e6]))
    >>> page.startswith("<!DOCTYPE html>"), page.count("<svg")
    (True, 3)
    """
    view, verdict = comparison_view(report), report.comparison.verdict
    title = f"{view['title']}: comparison, {verdict}"
    return page_html("comparison.md", view, pictures=comparison_pictures(report), title=title, verdict=verdict)


@checks_arguments
def render_comparison_markdown(report: ComparisonReport) -> str:
    """A comparison as Markdown, without plots.

    Parameters
    ----------
    report : ComparisonReport

    Returns
    -------
    str
    """
    return page_markdown("comparison.md", comparison_view(report))


def comparison_view(report: ComparisonReport) -> dict[str, Any]:
    """Everything that the template asks for but the pictures.

    Parameters
    ----------
    report : ComparisonReport

    Returns
    -------
    dict
    """
    found, mechanism = report.comparison, report.dynamics.mechanism
    record: Mapping[str, Any] = comparison_record(report.dynamics, report.state, found)
    state = record["state"]
    speeds = [abs(value) for row in record["rows"] for value in row["v_after"].values()]
    size = max([*speeds, *(abs(value) for value in state["v"].values())], default=0.0)
    units = mechanism.units()
    return {
        "r": record,
        "title": mechanism.title or mechanism.name,
        "lead": _LEADS[found.verdict],
        "pairs": list(zip(state["q"].items(), state["v"].items(), strict=True)),
        "units": units,
        "contact_units": {
            name: history_units(report.dynamics, name, has_mode=False) for name in report.dynamics.contacts
        },
        # forces have a unit where the energies are in joules
        "energy": "J" if any((*units.forces.values(), *units.tangential_forces.values())) else "",
        "contacts": list(dict.fromkeys(name for row in record["rows"] for name in row["gap_dot_after"])),
        "velocities": list(mechanism.velocities),
        "runs": [row for row in record["rows"] if row["stiffness"]],
        "sticks": _sticks(report),
        # the trace of a vanishing time step is no number, either
        "shown": lambda value: settled(value, size, share=NOTHING),
        "fit": found.fit,
        "has_mode": found.has_mode,
        "departs": not found.has_mode and found.verdict != "IMPACT",
        "parameters": report.parameters,
        "command": report.command,
        "version": report.version,
    }


def _sticks(report: ComparisonReport) -> dict[str, str]:
    """The time to stick of every method in words; nothing where none sticks."""
    several = len(report.dynamics.contacts) > 1
    words = {}
    for row in report.comparison.rows:
        parts = [
            (f"{name} " if several else "") + ("∞" if time == float("inf") else f"{time:.6g}")
            for name, time in row.time_to_stick.items()
        ]
        words[row.method] = ", ".join(parts)
    return words


def comparison_pictures(report: ComparisonReport) -> dict[str, list[str]]:
    """The plots of every contact by its name, the convergence under an empty one.

    Parameters
    ----------
    report : ComparisonReport

    Returns
    -------
    dict of str to list of str
    """
    comparison = report.comparison
    pictures = {}
    of_stiffness = set()
    for number, contact in enumerate(report.dynamics.contacts):
        units = history_units(report.dynamics, contact, has_mode=comparison.has_mode)
        of_stiffness.add(units.get("stiffness", ""))
        drawn = [
            picture_html(plot_panel(panel), f"history-{number}-{panel.key}", f"{panel.title} of {contact}")
            for panel in history_panels(comparison, contact, units=units)
        ]
        if drawn:
            pictures[contact] = drawn
    convergence = plot_convergence(comparison, unit=of_stiffness.pop() if len(of_stiffness) == 1 else "")
    if convergence is not None:
        pictures[""] = [picture_html(convergence, "convergence", "Convergence in stiffness")]
    return pictures
