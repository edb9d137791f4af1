"""A sensitivity written as a self-contained HTML page or as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hybrid.reporting.figures import figure_svg
from hybrid.reporting.page import inline_svg, page_html, page_markdown
from hybrid.reporting.sensitivities import plot_tornado, sensitivity_record, tornado_bars

if TYPE_CHECKING:
    from hybrid.reporting.sensitivities import SensitivityReport

__all__ = [
    "render_sensitivity_html",
    "render_sensitivity_markdown",
    "sensitivity_pictures",
    "sensitivity_view",
]


def render_sensitivity_html(report: SensitivityReport) -> str:
    """A sensitivity as one HTML page that needs nothing else: the table, the tornado plot, the events.

    Parameters
    ----------
    report : SensitivityReport

    Returns
    -------
    str
        Text of the declaration is escaped; the plot is an SVG element.
    """
    view = sensitivity_view(report)
    return page_html(
        "sensitivity.md", view, pictures=sensitivity_pictures(report), title=f"{view['title']}: sensitivity"
    )


def render_sensitivity_markdown(report: SensitivityReport) -> str:
    """A sensitivity as Markdown, without the plot.

    Parameters
    ----------
    report : SensitivityReport

    Returns
    -------
    str
    """
    return page_markdown("sensitivity.md", sensitivity_view(report))


def sensitivity_pictures(report: SensitivityReport) -> dict[str, list[str]]:
    """The tornado plot.

    Parameters
    ----------
    report : SensitivityReport

    Returns
    -------
    dict of str to list of str
    """
    svg = inline_svg(
        figure_svg(plot_tornado(report, style="page")), prefix="tornado-", label="Tornado plot of the gradient"
    )
    return {"tornado": [svg]}


def sensitivity_view(report: SensitivityReport) -> dict[str, Any]:
    """Everything that the template asks for but the pictures.

    Parameters
    ----------
    report : SensitivityReport

    Returns
    -------
    dict
    """
    mechanism = report.trajectory.dynamics.mechanism
    record = sensitivity_record(report)
    check = record["check"]
    return {
        "r": record,
        "title": mechanism.title or mechanism.name,
        "rows": [
            {
                "name": name,
                "base": report.base[name],
                "slope": record["gradient"][name],
                "change": change,
                "forward": check["forward"].get(name),
                "difference": check["finite_difference"].get(name),
            }
            for name, change in tornado_bars(report)
        ],
        "command": report.command,
        "version": report.version,
    }
