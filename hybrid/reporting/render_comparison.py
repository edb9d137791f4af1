"""A comparison written as a self-contained HTML page or as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from hybrid.reporting.comparisons import comparison_record
from hybrid.reporting.courses import course_panels, course_units, plot_convergence, plot_panel
from hybrid.reporting.html import Html
from hybrid.reporting.inline import inline_svg
from hybrid.reporting.plot import figure_svg
from hybrid.reporting.render import report_environment

if TYPE_CHECKING:
    from hybrid.reporting.comparisons import ComparisonReport

__all__ = ["render_comparison_html", "render_comparison_markdown"]

SHOWN = 1e-9
"""Numbers below this, relative to the largest velocity, are shown as 0."""
_LEADS = {
    "UNIQUE": "One motion is consistent with rigid bodies; the compliant contact settles into it.",
    "HYPERSTATIC": "One motion is consistent with rigid bodies, its forces are not unique.",
    "INDETERMINATE": "Several motions are consistent with rigid bodies; the approach decides between them.",
    "INCONSISTENT": "No motion is consistent with rigid bodies; the compliant contact has one.",
    "UNDECIDED": "The rigid problem is too close to a tie to be decided.",
    "IMPACT": "A contact approaches: velocities jump, and the laws need not agree on how.",
}


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
    style = (resources.files("hybrid.reporting") / "templates" / "report.css").read_text(encoding="utf-8")
    template = report_environment(autoescape=True).get_template("comparison.html")
    return str(template.render(_view(report), pictures=list(_pictures(report)), css=Html(style)))


def render_comparison_markdown(report: ComparisonReport) -> str:
    """A comparison as Markdown, without plots.

    Parameters
    ----------
    report : ComparisonReport

    Returns
    -------
    str
    """
    text = report_environment(autoescape=False).get_template("comparison.md").render(_view(report))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _view(report: ComparisonReport) -> dict[str, Any]:
    """Everything a template asks for."""
    found, mechanism = report.comparison, report.dynamics.mechanism
    record: Mapping[str, Any] = comparison_record(report.dynamics, report.state, found)
    state = record["state"]
    speeds = [abs(value) for row in record["rows"] for value in row["v_after"].values()]
    size = max([*speeds, *(abs(value) for value in state["v"].values())], default=0.0)
    return {
        "r": record,
        "title": mechanism.title or mechanism.name,
        "lead": _LEADS[found.verdict],
        "pairs": list(zip(state["q"].items(), state["v"].items(), strict=True)),
        "units": report.dynamics.mechanism.units(),
        "contacts": list(dict.fromkeys(name for row in record["rows"] for name in row["gap_dot_after"])),
        "velocities": list(mechanism.velocities),
        "runs": [row for row in record["rows"] if row["stiffness"]],
        "sticks": _sticks(report),
        "shown": lambda value: _settled(value, size),
        "fit": found.fit,
        "has_mode": found.has_mode,
        "departs": not found.has_mode and found.verdict != "IMPACT",
        "parameters": report.parameters,
        "command": report.command,
        "version": report.version,
    }


def _settled(value: Any, size: float) -> Any:
    """A number or a vector with what is rounding, or the trace of a vanishing time step, put to zero."""
    if isinstance(value, list):
        return [_settled(item, size) for item in value]
    return 0.0 if value is not None and abs(value) < SHOWN * size else value


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


def _pictures(report: ComparisonReport) -> Iterator[tuple[str, list[Html]]]:
    """The plots of every contact, then the convergence."""
    found = report.comparison
    for number, contact in enumerate(report.dynamics.contacts):
        units = course_units(report.dynamics, contact, has_mode=found.has_mode)
        panels = [
            Html(
                inline_svg(
                    figure_svg(plot_panel(panel)),
                    prefix=f"course-{number}-{panel.key}-",
                    label=f"{panel.title} of {contact}",
                )
            )
            for panel in course_panels(found, contact, units=units)
        ]
        if panels:
            yield contact, panels
    convergence = plot_convergence(found)
    if convergence is not None:
        yield "", [Html(inline_svg(figure_svg(convergence), prefix="convergence-", label="Convergence in stiffness"))]
