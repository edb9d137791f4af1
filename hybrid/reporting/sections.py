"""What a notebook shows of a value: the section of a page that is on values of its class.

Sections of pages in notebooks: several live side by side, in whatever theme the notebook has.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any

from hybrid.reporting.page import body_html, picture_html

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hybrid.analysis import (
        CertifiedFriction,
        CertifiedMap,
        Comparison,
        CriticalFriction,
        Ensemble,
        RegionMap,
        Sensitivity,
    )
    from hybrid.automaton import Automaton
    from hybrid.contact import Selection
    from hybrid.declaration import Mechanism
    from hybrid.displays import AbstractDisplayed
    from hybrid.dynamics import Dynamics
    from hybrid.motion import Trajectory
    from hybrid.numeric.lint_report import LintReport
    from hybrid.reporting.report import Report

__all__ = ["notebook_html", "section_html", "themed"]


_PICTURE = re.compile(r'<div id="(?P<id>[^"]+)-root" (?P<rest>role="img"[^>]*>)(?P<svg><svg.*?</svg>)', re.DOTALL)
_STYLED = re.compile(r'<(?P<tag>g|path|use)\b[^>]*\sstyle="[^"]*"')
_GROUND = re.compile(r'(<g id="[^"]*patch_\d+">\s*<path\b[^>]*\sstyle="fill: )#ffffff')
_BLACK = re.compile(r'<path (?![^>]*(?:\bid="|fill))')
"""Areas that are black have no word on it; letters, which are named to be used, have none either."""
_COLOUR = re.compile(r"(?P<what>fill|stroke): #(?P<red>[0-9a-f]{2})(?P<green>[0-9a-f]{2})(?P<blue>[0-9a-f]{2})")
# Maps have grounds of their own, on which ink stays as it is; diagrams of boxes need a light ground behind.
_ON_FILLS, _ON_CARDS = ("map", "certified"), ("automaton",)
_SHARES = (0.2126, 0.7152, 0.0722)
_DARK = 0.25  # luminance of a line below which it is lightened on a dark ground


def notebook_html(body: str, *, verdict: str = "") -> str:
    """A part of a page as a notebook shows it.

    Parameters
    ----------
    body : str
        Markup with pictures as of :func:`hybrid.reporting.page.picture_html`.
    verdict : str, optional
        Class of the section, which gives it its colour.

    Returns
    -------
    str
        The same text for the same part. Ids begin with a fingerprint of what is shown, so that they are those of no
        other part; the style rules nothing outside; headings are none of the notebook's contents; letters and axes
        have the colours of the notebook.

    Examples
    --------
    >>> page = notebook_html('<h2 id="state">State</h2>')
    >>> page.startswith('<div class="painleve" id="p'), page.count("<h2"), page.count('id="state"')
    (True, 0, 0)
    """
    body = _PICTURE.sub(_themed_picture, body)
    own = "p" + hashlib.sha256(body.encode()).hexdigest()[:10]
    body = re.sub(r'(\sid="|href="#|url\(#|<style[^>]*>#)', rf"\g<1>{own}-", body)
    body = re.sub(r"<h([1-6])([ >])", r'<div role="heading" aria-level="\1"\2', body)
    body = re.sub(r"</h[1-6]>", "</div>", body)
    # what is wider than a column is scrolled by keys as well, and a corner of a table heads nothing
    body = body.replace('<div class="scroll">', '<div class="scroll" tabindex="0">')
    body = re.sub(r"<th(|\s[^>]*)></th>", r"<td\1></td>", body)
    style = (resources.files("hybrid.reporting") / "templates" / "notebook.css").read_text(encoding="utf-8")
    named = " ".join(filter(None, ("painleve", verdict)))
    return f'<div class="{named}" id="{own}">\n<style>\n{style}</style>\n{body}\n</div>'


def themed(svg: str, *, on_fills: bool = False) -> str:
    """A picture of matplotlib's whose ground is that of the text around, and whose ink is its colour.

    Parameters
    ----------
    svg : str
    on_fills : bool, optional
        Whether coloured areas fill the frame: what is drawn on these keeps its colour, and only black is turned.

    Returns
    -------
    str
        Greys are shares of the colour of the text; dark lines are mixed with it.

    Examples
    --------
    >>> themed('<svg a="1"><path style="fill: none; stroke: #000000"/></svg>')
    '<svg fill="currentColor" a="1"><path style="fill: none; stroke: currentColor"/></svg>'
    >>> themed('<svg><g style="fill: #808080"/></svg>')
    '<svg fill="currentColor"><g style="fill: color-mix(in srgb, currentColor 50%, transparent)"/></svg>'
    """

    def turned(found: re.Match[str]) -> str:
        colour = [int(found[name], 16) for name in ("red", "green", "blue")]
        if max(colour) == 0:
            return f"{found['what']}: currentColor"
        if on_fills:
            return found[0]
        if len(set(colour)) == 1:
            if colour[0] == 255:  # letters on a dark area
                return found[0]
            share = round(100 * (1 - colour[0] / 255))
            return f"{found['what']}: color-mix(in srgb, currentColor {share}%, transparent)"
        if found["what"] == "stroke" and _luminance(colour) < _DARK:
            return f"stroke: color-mix(in srgb, {found[0].partition(' ')[2]} 60%, currentColor)"
        return found[0]

    def styled(found: re.Match[str]) -> str:
        # letters are groups; areas keep the colour that the letters on them were chosen for
        is_letter = found["tag"] == "g"
        return _COLOUR.sub(lambda item: turned(item) if is_letter or item["what"] == "stroke" else item[0], found[0])

    svg = _BLACK.sub(r'<path fill="#000000" ', svg)
    svg = _GROUND.sub(r"\1none", svg)
    return _STYLED.sub(styled, svg).replace("<svg", '<svg fill="currentColor"', 1)


def _themed_picture(found: re.Match[str]) -> str:
    kind = found["id"].partition("-")[0]
    if kind in _ON_CARDS:
        return f'<div class="card" id="{found["id"]}-root" {found["rest"]}{found["svg"]}'
    return f'<div id="{found["id"]}-root" {found["rest"]}{themed(found["svg"], on_fills=kind in _ON_FILLS)}'


def _luminance(colour: Sequence[int]) -> float:
    """Relative luminance of Rec. 709, with the usual power 2.2 for the curve of sRGB."""
    return math.fsum(share * math.pow(value / 255, 2.2) for share, value in zip(_SHARES, colour, strict=True))


_EVENTS = 40
"""Of a motion, listed in a section: more are read in a table of one's own."""


def section_html(value: AbstractDisplayed) -> str | None:
    """What a notebook shows of a value.

    Parameters
    ----------
    value : AbstractDisplayed

    Returns
    -------
    str or None
        Markup that stands for itself beside others; None for a value made by hand that does not know its mechanism.

    Examples
    --------
    >>> import mechanisms
    >>> shown = section_html(mechanisms.load("bouncing_ball"))
    >>> "Ball that bounces on a smooth floor" in shown, "<script" in shown
    (True, False)
    """
    return _SECTIONS[type(value).__name__](value)


def _mechanism(mechanism: Mechanism) -> str:
    from hybrid.reporting.declared import element_records
    from hybrid.reporting.report import parameter_table

    elements = [
        {**item, "text": item.get("gap") or item.get("equation") or item["tangent"] or item["slip"]}
        for item in element_records(mechanism)
    ]
    parameters = parameter_table(mechanism, {})
    return _of_markdown("section_mechanism.md", {"m": mechanism, "elements": elements, "parameters": parameters})


def _dynamics(dynamics: Dynamics) -> str:
    from hybrid.dynamics.readable import readable_equations
    from hybrid.reporting.render import report_view
    from hybrid.reporting.report import parameter_table

    mechanism = dynamics.mechanism
    record = {
        "equations": readable_equations(dynamics),
        "definitions": dict(mechanism.definitions),
        "parameter_table": parameter_table(mechanism, dynamics.given),
    }
    return _of_markdown("report.md", report_view(record, dynamics))


def _selection(selection: Selection) -> str:
    from hybrid.reporting.render import posture_picture, report_view, selection_record

    dynamics = selection.dynamics
    pictures = posture_picture(selection, {} if dynamics is None else dynamics.given)
    view = report_view(selection_record(selection), dynamics)
    return _of_markdown("report.md", view, pictures=pictures, verdict=selection.verdict.name)


def _report(report: Report) -> str:
    from hybrid.reporting.render import report_pictures, report_view
    from hybrid.reporting.report import report_record

    view = report_view(report_record(report), report.dynamics)
    return _of_markdown("report.md", view, pictures=report_pictures(report), verdict=report.selection.verdict.name)


def _region_map(region_map: RegionMap) -> str:
    from hybrid.reporting.branches import map_record
    from hybrid.reporting.plot import plot_map

    view = {"r": map_record(region_map), "percent": _percent, "failures": region_map.failures}
    picture = picture_html(plot_map(region_map), "map", "Consistent modes")
    return _of_markdown("section_map.md", view, pictures={"map": [picture]})


def _certified_map(certified: CertifiedMap) -> str:
    from hybrid.reporting.branches import certified_record, values_text
    from hybrid.reporting.certified_plot import plot_certified_map

    pictures = {}
    if len(certified.axes) == 2:
        pictures = {"certified": [picture_html(plot_certified_map(certified), "certified", "Consistent modes")]}
    view = {"r": certified_record(certified), "values": values_text}
    return _of_markdown("section_certified_map.md", view, pictures=pictures)


def _friction(found: CriticalFriction, bounds: tuple[str, ...] = ()) -> str:
    from hybrid.reporting.branches import critical_friction_record

    view = {"r": critical_friction_record(found), "bounds": bounds, "swept": next(iter(found.at), "")}
    return _of_markdown("section_friction.md", view)


def _certified_friction(found: CertifiedFriction) -> str:
    return _friction(found.sampled, bounds=(repr(found.low), repr(found.high)))


def _automaton(automaton: Automaton) -> str:
    from hybrid.automaton.structure import count_nodes
    from hybrid.reporting.automaton import plot_automaton
    from hybrid.reporting.report import MAX_DRAWN_NODES

    count = count_nodes(automaton.parts)
    pictures = {}
    if count <= MAX_DRAWN_NODES:
        pictures = {"automaton": [picture_html(plot_automaton(automaton), "automaton", "Automaton of modes")]}
    view = {
        "name": automaton.dynamics.mechanism.title or automaton.name,
        "count": count,
        "parts": [part.name for part in automaton.parts],
        "paradoxical": automaton.may_be_paradoxical,
    }
    return _of_markdown("section_automaton.md", view, pictures=pictures)


def _motion(motion: Trajectory) -> str:
    from hybrid.reporting.motion_plot import plot_motion

    view = {"title": motion.dynamics.mechanism.title or motion.dynamics.name, "motion": motion, "most": _EVENTS}
    picture = picture_html(plot_motion(motion), "motion", "Coordinates, velocities, forces and modes over time")
    return _of_markdown("section_motion.md", view, pictures={"motion": [picture]})


def _ensemble(found: Ensemble) -> str:
    from hybrid.analysis.ensemble_result import statistics
    from hybrid.reporting.ensembles import plot_ensemble

    picture = picture_html(plot_ensemble(found), "ensemble", "How the motions end")
    remarks = (*found.failures, *found.warnings)
    view = {"n": found.n, "missing": found.n_missing, "spread": statistics(found), "remarks": remarks}
    return _of_markdown("section_ensemble.md", view, pictures={"ensemble": [picture]})


def _comparison(found: Comparison) -> str | None:
    from hybrid.reporting.render_comparison import ComparisonReport, comparison_pictures, comparison_view

    if found.dynamics is None or found.state is None:
        return None
    given = {name: float(found.dynamics.values[name]) for name in found.dynamics.given}
    report = ComparisonReport(found.dynamics, found.state, given, found, "", metadata.version("painleve"))
    pictures = comparison_pictures(report)
    return _of_markdown("comparison.md", comparison_view(report), pictures=pictures, verdict=found.verdict)


def _sensitivity(found: Sensitivity) -> str | None:
    from hybrid.reporting.render_sensitivity import SensitivityReport, sensitivity_pictures, sensitivity_view

    if found.trajectory is None:
        return None
    report = SensitivityReport(found.trajectory, found, found.base, "", metadata.version("painleve"))
    return _of_markdown("sensitivity.md", sensitivity_view(report), pictures=sensitivity_pictures(report))


def _lint(report: LintReport) -> str:
    from hybrid.reporting.lint_page import lint_pictures, lint_view

    return _of_markdown("lint.md", lint_view(report, ""), pictures=lint_pictures(report, {}))


def _of_markdown(
    template: str, view: Mapping[str, Any], *, pictures: Mapping[str, Sequence[str]] | None = None, verdict: str = ""
) -> str:
    return notebook_html(body_html(template, view, pictures=pictures or {}), verdict=verdict)


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


_SECTIONS: Mapping[str, Callable[[Any], str | None]] = {
    "Automaton": _automaton,
    "CertifiedFriction": _certified_friction,
    "CertifiedMap": _certified_map,
    "Comparison": _comparison,
    "CriticalFriction": _friction,
    "Dynamics": _dynamics,
    "Ensemble": _ensemble,
    "LintReport": _lint,
    "Mechanism": _mechanism,
    "RegionMap": _region_map,
    "Report": _report,
    "Selection": _selection,
    "Sensitivity": _sensitivity,
    "Trajectory": _motion,
}
"""By the name of the class, of which there is one: classes are loaded by who has a value of theirs."""
