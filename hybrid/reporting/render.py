"""Reports written as HTML and Markdown through templates."""

from __future__ import annotations

import html
import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid.analysis.maps.axes import quantities_with_units
from hybrid.arguments import checks_arguments
from hybrid.declaration.units import Units, inequality_unit
from hybrid.dynamics.readable import TOO_LONG
from hybrid.reporting.page import Html, loader, number_html, picture_html, stylesheet, unit_html
from hybrid.reporting.records import decided_record, verdict_record
from hybrid.reporting.report import Report, report_record
from hybrid.reporting.symbols import formula_html, symbol, symbol_html
from hybrid.reporting.touching import posture
from hybrid.reporting.wording import (
    bilateral_sentence,
    mode_text,
    number_text,
    settled,
    sliding_sentence,
    verdict_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import jinja2

    from hybrid.contact import Selection
    from hybrid.dynamics import Dynamics

__all__ = [
    "equations_view",
    "render_html",
    "render_markdown",
    "report_environment",
    "report_pictures",
    "report_view",
    "selection_record",
    "verdict_view",
]


def selection_record(selection: Selection) -> dict[str, Any]:
    """Everything that is known about the state that was decided.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    dict
        The keys of :func:`hybrid.reporting.verdict_record`, and ``units`` by kind and name, empty where they are not
        known. Accelerations of a model that is numbers are those of ``q0`` and so on.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select
    >>> record = selection_record(select(derive(mechanisms.load("bouncing_ball")), {}))
    >>> record["branches"][0]["acceleration"], record["units"]["accelerations"]["y"]
    ({'y': 0.0}, 'm/s²')
    """
    dynamics, state = selection.dynamics, selection.state
    if dynamics is None or state is None:
        names = [f"q{k}" for k in range(selection.problem.a_free.shape[-1])]
        known: dict[str, Any] = {
            "mechanism": selection.problem.mechanism,
            "state": {"q": {}, "v": {}, "t": 0.0, "sides": {}},
            **decided_record(selection, names),
        }
        units = Units.none()
    else:
        given = {name: dynamics.values[name] for name in dynamics.given}
        known = verdict_record(dynamics, state, selection, parameters=given)
        units = dynamics.mechanism.units()
    return known | {"units": {name: defaultdict(str, table) for name, table in units.tables().items()}}


_FLOWS = {
    "to sticking": "returns to sticking",
    "away": "runs away from sticking",
    "lasting": "neither grows nor decays",
    "separates": "separates",
    "none": "no motion with this slip exists",
}
_SECTIONS = {
    "state": "State",
    "branches": "Consistent modes",
    "certificate": "Certificate of inconsistency",
    "forces": "All contact forces",
    "tangential": "Vanishing slip",
    "sliding": "Sliding in closed form",
    "critical": "Critical friction",
    "map": "Map of the surroundings",
    "automaton": "Automaton",
    "problem": "Contact problem",
    "equations": "Equations",
    "parameters": "Parameters",
    "references": "References",
    "reproduction": "Reproduction",
}
_KINEMATIC = {
    "gap": "g_N",
    "W_N": "W_N",
    "zeta_N": "zeta_N",
    "slip": "v_T",
    "W_T": "W_T",
    "zeta_T": "zeta_T",
    "constraint": "f",
}
_PINS = ("gap", "gap_dot", "slip")
_FOLDED = 4000  # characters of formulas beyond which they are folded: more than a page of them
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


@checks_arguments
def render_html(report: Report) -> str:
    """A report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        Text of the declaration is escaped; pictures are SVG elements; prints well.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_report, derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> page = render_html(build_report(ball, solve_state(ball, {})))
    >>> page.startswith("<!DOCTYPE html>"), "Exactly one contact mode is consistent: closed." in page
    (True, True)
    """
    record = report_record(report)
    view = report_view(report, record)
    pictures = {name: Html(svg) for name, svg in report_pictures(report, record).items()}
    template = report_environment(autoescape=True).get_template("report.html")
    return template.render(view, pictures=pictures, css=stylesheet())


@checks_arguments
def render_markdown(report: Report) -> str:
    """A report as Markdown, without pictures.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        Text of the declaration is escaped.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import build_report, derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> print(render_markdown(build_report(ball, solve_state(ball, {}))).splitlines()[0])
    # Ball that bounces on a smooth floor
    """
    record = report_record(report)
    template = report_environment(autoescape=False).get_template("report.md")
    text = template.render(report_view(report, record))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def report_environment(*, autoescape: bool) -> jinja2.Environment:
    """The templates of this package, with filters for numbers, symbols, units and escaped text.

    Parameters
    ----------
    autoescape : bool
        True for HTML, where filters give markup and all else is escaped; False for Markdown.

    Returns
    -------
    jinja2.Environment
        A name that a template does not find is an error.
    """
    import jinja2

    templates = jinja2.Environment(
        loader=loader(),
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    if autoescape:
        templates.filters |= {
            "number": lambda value: Html(number_html(value)),
            "settled": lambda value, branch: Html(number_html(settled(value, _size(branch)), exact=value)),
            "sym": lambda name: Html(_dotted(name) if "." in name else symbol_html(name)),
            "formula": lambda text: Html(html.escape(text) if text.startswith(TOO_LONG) else formula_html(text)),
            "dotted": lambda name: Html(_dotted(name)),
            "unit": lambda text: Html(unit_html(text)),
            "italic": lambda text: Html(re.sub(r"\b([Ab])\b", r"<i>\1</i>", html.escape(text))),
        }
    else:
        templates.filters |= {
            "number": number_text,
            "settled": lambda value, branch: number_text(settled(value, _size(branch))),
            "sym": symbol,
            "md": _escaped,
            "unit": _unit,
        }
    return templates


def _title(section: str, record: Mapping[str, Any]) -> str:
    return "No consistent mode" if section == "branches" and not record["branches"] else _SECTIONS[section]


def _size(branch: Mapping[str, Any]) -> float:
    """The largest force or acceleration of a branch, next to which rounding is measured."""
    numbers = [*branch["lambda_N"].values(), *branch["acceleration"].values()]
    return max((abs(value) for value in numbers if value is not None), default=0.0)


def _dotted(name: str) -> str:
    """``lambda_N.floor`` and ``tip.N`` as a symbol with an index; a pin as it is typed."""
    head, _, rest = name.partition(".")
    words = ".".join(re.findall(r"[A-Za-z0-9_]+", rest))
    if head.startswith("lambda_") or (head not in _PINS and re.fullmatch("N|T[12]?", rest)):
        return f"{symbol_html(head) if head.startswith('lambda_') else head}<sub> {words}</sub>"
    return f"<code>{head}{'.' if words else ''}{words}</code>"


def _unit(text: str) -> str:
    """A unit, and nothing for a pure number."""
    return "" if text == "1" else text


def _escaped(text: str) -> str:
    return _MARKDOWN_SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def report_view(report: Report, record: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the template of a report asks for but the pictures.

    Parameters
    ----------
    report : Report
    record : mapping
        As of :func:`hybrid.reporting.report_record`.

    Returns
    -------
    dict
        ``shown`` are the names of the sections that it has something for.
    """
    absent = {
        "certificate": not record["certificate"],
        "forces": not any(branch["force_set"] for branch in record["branches"]),
        "tangential": not record["tangential"],
        "sliding": not record["contact"],
        "critical": not record["critical_friction"],
        "map": report.region_map is None,
        "automaton": report.automaton is None,
        "references": not record["references"],
    }
    sections = [(name, _title(name, record)) for name in _SECTIONS if not absent.get(name)]
    parts = verdict_view(record, report.dynamics) | equations_view(report.dynamics, record)
    return parts | {
        "sections": sections,
        "shown": {name for name, _ in sections},
        "sweep": report.region_map.axes[0] if report.region_map else None,
        "held": report.held,
        "failing": [
            (name, label, intervals)
            for name, found in record["critical_friction"].items()
            for label, intervals in found["paradox_intervals"].items()
            if intervals
        ],
        "has_static": any(
            np.any(element.static_friction > element.friction) for element in report.selection.problem.elements
        ),
        "is_outside": report.place is not None and not _is_shown(report),
        "hatched": bool({"INDETERMINATE", "INCONSISTENT"} & set((record["map"] or {}).get("verdict_fractions", {}))),
    }


def equations_view(dynamics: Dynamics, record: Mapping[str, Any]) -> dict[str, Any]:
    """What the template's part on equations asks for beside the record.

    Parameters
    ----------
    dynamics : Dynamics
    record : mapping
        With ``equations``.

    Returns
    -------
    dict
    """
    owners = list(dict.fromkeys((*dynamics.contacts, *dynamics.columns, *dynamics.rigid)))
    return {
        "lines": sorted(_lines(record["equations"]), key=lambda line: owners.index(line[0])),
        "is_long": len(json.dumps(record["equations"])) > _FOLDED,
    }


def verdict_view(record: Mapping[str, Any], dynamics: Dynamics | None) -> dict[str, Any]:
    """What the template's parts on a verdict and its evidence ask for.

    Parameters
    ----------
    record : mapping
        As of :func:`hybrid.reporting.verdict_record`, with ``units``.
    dynamics : Dynamics or None
        None for a model that is numbers: its contacts are planar or spatial by their numbers, and none is a rail.

    Returns
    -------
    dict
    """
    verdict, meaning = verdict_sentences(record)
    state = record["state"]
    return {
        "r": record,
        "verdict": verdict,
        "meaning": meaning,
        "pairs": list(zip(state["q"].items(), state["v"].items(), strict=True)) if dynamics else [],
        "flows": _FLOWS,
        "sliding": sliding_sentence,
        "on_rail": bilateral_sentence,
        "rails": set(dynamics.rigid) if dynamics else set(),
        "mode_text": mode_text,
        "inequality_unit": inequality_unit,
        "spatial": {name for name in dynamics.contacts if dynamics.dimension(name) == 2} if dynamics else set(),
        "common": {name: _common(found) for name, found in record["units"].items()},
    }


def _is_shown(report: Report) -> bool:
    """Whether the state lies within the map."""
    if report.region_map is None or report.place is None:
        return False
    return all(axis.low <= value <= axis.high for axis, value in zip(report.region_map.axes, report.place, strict=True))


def _common(units: Mapping[str, str]) -> str:
    """The unit that all share, or nothing."""
    return next(iter(units.values()), "") if len(set(units.values())) == 1 else ""


def _lines(equations: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Owner, symbol and text or texts of the kinematic equations of every contact and constraint."""
    for term in _KINEMATIC:
        for name, item in equations.get(term, {}).items():
            yield name, _KINEMATIC[term], item


def report_pictures(report: Report, record: Mapping[str, Any]) -> dict[str, str]:
    """The pictures of a report as parts of a page.

    Parameters
    ----------
    report : Report
    record : mapping
        As of :func:`hybrid.reporting.report_record`.

    Returns
    -------
    dict of str to str
        ``posture``, ``map`` and ``automaton``, empty where there is none.
    """
    from hybrid.reporting.automaton import plot_automaton
    from hybrid.reporting.cones import friction_cones, plot_cones
    from hybrid.reporting.plot import plot_map
    from hybrid.reporting.touching import plot_posture

    found = {"posture": "", "cones": "", "map": "", "automaton": ""}
    closed = tuple(item.name for item in report.selection.problem.elements if item.name in report.dynamics.contacts)
    drawn = posture(report.dynamics, report.state, closed=closed, parameters=report.parameters)
    if drawn is not None:
        found["posture"] = picture_html(plot_posture(drawn), "posture", f"{record['mechanism']} at the state")
    cones = friction_cones(report.selection)
    if cones:
        found["cones"] = picture_html(
            plot_cones(cones, units=report.dynamics.mechanism.units().forces, style="page"),
            "cones",
            "Friction cones with the contact forces in them",
        )
    if report.region_map is not None:
        units = quantities_with_units(report.dynamics)
        found["map"] = picture_html(
            plot_map(report.region_map, state=report.place, units=units, style="page"),
            "map",
            "Consistent modes around the state",
        )
    if report.automaton is not None:
        found["automaton"] = picture_html(
            plot_automaton(report.automaton, highlight=report.consistent), "automaton", "Automaton of modes"
        )
    return found
