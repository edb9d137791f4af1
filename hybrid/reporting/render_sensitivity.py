"""A sensitivity written as a self-contained HTML page or as Markdown.

Sensitivities as plain records, and the tornado plot: what one per cent of each quantity changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.maps.axes import quantities_with_units
from hybrid.arguments import checks_arguments
from hybrid.declaration.unit_names import product, read_unit, unit_text
from hybrid.reporting.figures import Style, StyleName, new_figure, settings
from hybrid.reporting.page import page_html, page_markdown, picture_html
from hybrid.reporting.records import plain
from hybrid.reporting.symbols import heading, symbol_mathtext, with_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from hybrid.analysis.sensitivities.differences import SensitivityCheck
    from hybrid.analysis.sensitivities.gradient import Sensitivity
    from hybrid.analysis.sensitivities.refusal import Refusal
    from hybrid.motion import Trajectory

__all__ = [
    "SensitivityReport",
    "plot_tornado",
    "render_sensitivity_html",
    "render_sensitivity_markdown",
    "sensitivity_pictures",
    "sensitivity_record",
    "sensitivity_view",
    "tornado_bars",
]


SHARE = 0.01
"""The change of each quantity in the tornado plot, relative; a quantity that is zero changes by this much itself."""
_COLOURS = ("#1f6f8b", "#c8702a")  # a rise and a fall of the functional: apart in greyscale and for red-green blindness


@attrs.frozen(eq=False)
class SensitivityReport:
    """A sensitivity with the motion it belongs to.

    Attributes
    ----------
    trajectory : Trajectory
    sensitivity : Sensitivity
    base : mapping of str to float
        The value of everything that derivatives are with respect to.
    command : str
        The command line that makes the report.
    version : str
    """

    trajectory: Trajectory
    sensitivity: Sensitivity
    base: Mapping[str, float]
    command: str = ""
    version: str = ""


@checks_arguments
def sensitivity_record(report: SensitivityReport) -> dict[str, Any]:
    """A sensitivity as a plain JSON object.

    Parameters
    ----------
    report : SensitivityReport

    Returns
    -------
    dict
        Keys ``mechanism, functional, terminal, method, value, gradient, base, t_end, check, events, end, refusal,
        refusals, notes``. Where there is no derivative ``refusal`` has the verdict, the time and the reason, and there
        are no numbers; where there is none with respect to some names, ``refusals`` has the same for each of them.
    """
    found, mechanism = report.sensitivity, report.trajectory.dynamics.mechanism
    names = (*mechanism.coordinates, *mechanism.velocities)
    slopes: dict[str, Any] = {}
    if found.end_slopes is not None:
        slopes = {
            name: dict(zip(found.names, map(float, row), strict=True))
            for name, row in zip(names, found.end_slopes, strict=True)
        }
    return {
        "mechanism": mechanism.name,
        "functional": found.functional.integrand,
        "terminal": found.functional.terminal,
        "method": found.method,
        "value": plain(found.value),
        "gradient": {name: plain(value) for name, value in found.gradient.items()},
        "base": dict(report.base),
        "t_end": float(found.t_end),
        "check": _check_record(found.check),
        "events": [
            {"t": float(event.t), "kind": event.kind.value, "contact": ", ".join(event.elements)}
            | {"gradient": dict(event.gradient)}
            for event in found.events
        ],
        "end": {"state": dict(zip(names, map(float, found.end), strict=True)), "gradient": slopes},
        "refusal": _refusal_record(found.refusal),
        "refusals": {name: _refusal_record(refusal) for name, refusal in found.refusals.items()},
        "notes": list(found.notes),
    }


def _refusal_record(refusal: Refusal | None) -> dict[str, Any] | None:
    return None if refusal is None else {"t": refusal.t, "verdict": refusal.verdict, "reason": refusal.reason}


def _check_record(check: SensitivityCheck | None) -> dict[str, Any]:
    if check is None:
        return {"forward": {}, "finite_difference": {}, "warnings": []}
    return {
        "adjoint": dict(check.adjoint),
        "forward": dict(check.forward),
        "finite_difference": {name: plain(item.value) for name, item in check.differences.items()},
        "finite_difference_error": {name: plain(item.error) for name, item in check.differences.items()},
        "disagreement": plain(check.disagreement),
        "deviation": plain(check.deviation),
        "warnings": list(check.warnings),
    }


def tornado_bars(report: SensitivityReport) -> list[tuple[str, float]]:
    """Changes of the functional when each quantity grows by one per cent, the largest first.

    Parameters
    ----------
    report : SensitivityReport

    Returns
    -------
    list of (str, float)
        Names and changes in the unit of the functional; a quantity that is zero grows by 0.01 of its unit.
    """
    bars = []
    for name, slope in report.sensitivity.gradient.items():
        size = abs(report.base[name])
        bars.append((name, slope * SHARE * (size or 1.0)))
    return sorted(bars, key=lambda bar: -abs(bar[1]))


@checks_arguments
def plot_tornado(report: SensitivityReport, *, style: StyleName = "screen") -> Figure:
    """What one per cent more of each quantity does to the functional, as a figure, the largest on top.

    Parameters
    ----------
    report : SensitivityReport
    style : {"screen", "page", "single", "double"}, optional
        For a window, a page, or a column of a journal.

    Returns
    -------
    matplotlib.figure.Figure
        For :func:`hybrid.reporting.save_figure`. Where no derivative exists it says so and when.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import Functional, State, derive, sensitivity, simulate
    >>> from hybrid.contact import NewtonImpact
    >>> carts = derive(mechanisms.load("two_carts"))
    >>> motion = simulate(carts, State([1, 2], [1, 0]), t_end=2, law=NewtonImpact())
    >>> found = sensitivity(motion, Functional("q1_dot**2 + q2_dot**2"), ["k1", "k2"])
    >>> figure = plot_tornado(SensitivityReport(motion, found, {"k1": 2.5, "k2": 2.5}))
    >>> len(figure.axes[0].patches)
    2
    """
    bars = tornado_bars(report)
    with settings(style) as look:
        figure = new_figure(style, height=1.2 + 0.42 * max(len(bars), 2), width=min(6.2, look.width))
        axes = figure.add_subplot()
        if report.sensitivity.refusal is not None:
            axes.axis("off")
            axes.text(0.5, 0.5, _wrapped(str(report.sensitivity.refusal), look), ha="center", va="center")
            return figure
        places = np.arange(len(bars))[::-1]
        values = [value for _, value in bars]
        axes.barh(places, values, height=0.62, color=[_COLOURS[value < 0] for value in values])
        axes.axvline(0.0, color="0.2", linewidth=0.8)
        axes.set_yticks(places, [_label(report, name) for name, _ in bars])
        axes.set_xlabel(_wrapped(f"change of {_measured(report)}\nwhen each grows by 1 % of its absolute value", look))
        axes.margins(x=0.08)
        if not any(values):
            axes.set_xlim(-1.0, 1.0)  # nothing changes, whatever the scale
        return figure


def _label(report: SensitivityReport, name: str) -> str:
    own = symbol_mathtext(name)
    return own if report.base[name] else f"{own} (by {SHARE:g})"


def _measured(report: SensitivityReport) -> str:
    """The functional in words, with its unit where its parts are quantities that have one."""
    found, known = report.sensitivity.functional, quantities_with_units(report.trajectory.dynamics)
    parts = {}
    if found.integrand != "0":
        own, time = known.get(found.integrand, ""), known["t"]
        unit = unit_text(product(read_unit(own), read_unit(time), 1), pure="") if own and time else ""
        parts[f"the integral of {found.integrand}"] = unit
    if found.terminal != "0":
        parts[f"{found.terminal} at the end"] = known.get(found.terminal, "")
    units = set(parts.values())
    return with_unit(" plus ".join(parts), units.pop() if len(units) == 1 else "")


def _wrapped(text: str, look: Style) -> str:
    return heading(text, inches=min(6.2, look.width) - 0.4, size=look.size)


@checks_arguments
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


@checks_arguments
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
    return {"tornado": [picture_html(plot_tornado(report, style="page"), "tornado", "Tornado plot of the gradient")]}


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
