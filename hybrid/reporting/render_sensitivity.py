"""A sensitivity written as a self-contained HTML page or as Markdown."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from hybrid.reporting.html import Html
from hybrid.reporting.inline import inline_svg
from hybrid.reporting.plot import figure_svg
from hybrid.reporting.render import report_environment
from hybrid.reporting.sensitivities import plot_tornado, sensitivity_record, tornado_bars

if TYPE_CHECKING:
    from hybrid.reporting.sensitivities import SensitivityReport

__all__ = ["render_sensitivity_html", "render_sensitivity_markdown"]


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
    style = (resources.files("hybrid.reporting") / "templates" / "report.css").read_text(encoding="utf-8")
    template = report_environment(autoescape=True).get_template("sensitivity.html")
    svg = inline_svg(figure_svg(plot_tornado(report)), prefix="tornado-", label="Tornado plot of the gradient")
    return str(template.render(_view(report), picture=Html(svg), css=Html(style)))


def render_sensitivity_markdown(report: SensitivityReport) -> str:
    """A sensitivity as Markdown, without the plot.

    Parameters
    ----------
    report : SensitivityReport

    Returns
    -------
    str
    """
    text = report_environment(autoescape=False).get_template("sensitivity.md").render(_view(report))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _view(report: SensitivityReport) -> dict[str, Any]:
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
