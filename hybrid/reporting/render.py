"""Reports written as HTML and Markdown through templates."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from hybrid.analysis.maps.axes import quantities_with_units
from hybrid.arguments import checks_arguments
from hybrid.declaration.units import Units, inequality_unit
from hybrid.dynamics.readable import TOO_LONG
from hybrid.reporting.page import page_html, page_markdown, picture_html
from hybrid.reporting.records import decided_record, verdict_record
from hybrid.reporting.report import Report, report_record
from hybrid.reporting.touching import posture
from hybrid.reporting.wording import (
    bilateral_sentence,
    mode_text,
    settled,
    sliding_sentence,
    verdict_sentences,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hybrid.contact import Selection
    from hybrid.dynamics import Dynamics
    from hybrid.dynamics.derive import Values

__all__ = [
    "posture_picture",
    "render_html",
    "render_markdown",
    "report_pictures",
    "report_view",
    "selection_record",
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
_ANCHORS = {
    "Consistent modes": "branches",
    "Modes that may be consistent": "branches",
    "No consistent mode": "branches",
    "Certificate of inconsistency": "certificate",
    "All contact forces": "forces",
    "Vanishing slip": "tangential",
    "Sliding in closed form": "sliding",
    "Critical friction": "critical",
    "Map of the surroundings": "map",
    "Contact problem": "problem",
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
_FOLDED = 4000  # characters of formulas beyond which they are folded: more than a page of them


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
    view = _view(report)
    return page_html(
        "report.md",
        view,
        pictures=report_pictures(report),
        title=f"{view['heading']}: {view['r']['sentence']}",
        verdict=view["r"]["verdict"],
    )


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
    return page_markdown("report.md", _view(report))


def _view(report: Report) -> dict[str, Any]:
    from hybrid.reporting.cones import friction_cones

    cones = friction_cones(report.selection)
    drawn = {
        "has_edge": any(cone.direction is not None for cone in cones),
        "has_static": any(cone.static_friction > cone.friction for cone in cones),
    }
    return report_view(report_record(report), report.dynamics) | drawn


def _settled(value: Any, branch: Mapping[str, Any]) -> Any:
    """Without rounding next to the largest force or acceleration of the branch."""
    numbers = [*branch["lambda_N"].values(), *branch["acceleration"].values()]
    return settled(value, max((abs(number) for number in numbers if number is not None), default=0.0))


_NOTHING: Mapping[str, Any] = {
    "certificate": None,
    "tangential": {},
    "contact": {},
    "critical_friction": {},
    "map": None,
    "problem": None,
    "equations": {},
    "definitions": {},
    "parameter_table": {},
    "references": [],
    "command": "",
    "version": "",
    "complete": True,
}
"""What a record may lack; the template leaves out what is not there."""


def report_view(record: Mapping[str, Any], dynamics: Dynamics | None) -> dict[str, Any]:
    """Everything that the template asks for but the pictures.

    Parameters
    ----------
    record : mapping
        As of :func:`hybrid.reporting.report_record`, or a part of it, with ``units`` if there is a verdict.
    dynamics : Dynamics or None
        None for a model that is numbers: its contacts are planar or spatial by their numbers, and none is a rail.

    Returns
    -------
    dict
    """
    record = {**_NOTHING, **record}
    view = {
        "r": record,
        "heading": record["mechanism"] if dynamics is None else dynamics.mechanism.title or dynamics.name,
        "version": record["version"],
        "anchors": _ANCHORS,
        "too_long": TOO_LONG,
        "verdict": "",
        "flows": _FLOWS,
        "settled": _settled,
        "sliding": sliding_sentence,
        "on_bilateral": bilateral_sentence,
        "mode_text": mode_text,
        "inequality_unit": inequality_unit,
        "common": {name: _common(found) for name, found in record.get("units", {}).items()},
        "has_edge": False,
        "has_static": False,
    }
    if "verdict" in record:
        view["verdict"], view["meaning"] = verdict_sentences(record)
    return view | _of_dynamics(record, dynamics) | _of_surroundings(record)


def _of_dynamics(record: Mapping[str, Any], dynamics: Dynamics | None) -> dict[str, Any]:
    if dynamics is None:
        return {"pairs": [], "bilateral": set(), "spatial": set()}
    owners = list(dict.fromkeys((*dynamics.contacts, *dynamics.columns, *dynamics.rigid)))
    state = record.get("state", {"q": {}, "v": {}})
    return {
        "pairs": list(zip(state["q"].items(), state["v"].items(), strict=True)),
        "velocities": dynamics.mechanism.velocities,
        "bilateral": set(dynamics.rigid),
        "spatial": {name for name in dynamics.contacts if dynamics.dimension(name) == 2},
        "lines": sorted(_lines(record["equations"]), key=lambda line: owners.index(line[0])),
        "is_long": len(json.dumps(record["equations"])) > _FOLDED,
    }


def _of_surroundings(record: Mapping[str, Any]) -> dict[str, Any]:
    found = record["map"] or {"verdict_fractions": {}, "axes": [], "state": None}
    within = (axis["low"] <= at <= axis["high"] for axis, at in zip(found["axes"], found["state"] or (), strict=False))
    return {
        "failing": [
            (name, label, intervals)
            for name, friction in record["critical_friction"].items()
            for label, intervals in friction["paradox_intervals"].items()
            if intervals
        ],
        "is_outside": not all(within),
        "hatched": bool({"INDETERMINATE", "INCONSISTENT"} & set(found["verdict_fractions"])),
    }


def _common(units: Mapping[str, str]) -> str:
    """The unit that all share, or nothing."""
    return next(iter(units.values()), "") if len(set(units.values())) == 1 else ""


def _lines(equations: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Owner, symbol and text or texts of the kinematic equations of every contact and constraint."""
    for term in _KINEMATIC:
        for name, item in equations.get(term, {}).items():
            yield name, _KINEMATIC[term], item


def report_pictures(report: Report) -> dict[str, list[str]]:
    """The pictures of a report as parts of a page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    dict of str to list of str
        Of ``posture``, ``cones``, ``map`` and ``automaton`` those that there are.
    """
    from hybrid.reporting.automaton import plot_automaton
    from hybrid.reporting.cones import friction_cones, plot_cones
    from hybrid.reporting.plot import plot_map

    found = posture_picture(report.selection, report.parameters)
    cones = friction_cones(report.selection)
    if cones:
        drawn = plot_cones(cones, units=report.dynamics.mechanism.units().forces, style="page")
        found["cones"] = [picture_html(drawn, "cones", "Friction cones with the contact forces in them")]
    if report.region_map is not None:
        units = quantities_with_units(report.dynamics)
        drawn = plot_map(report.region_map, state=report.place, units=units, style="page")
        found["map"] = [picture_html(drawn, "map", "Consistent modes around the state")]
    if report.automaton is not None:
        drawn = plot_automaton(report.automaton, highlight=report.consistent)
        found["automaton"] = [picture_html(drawn, "automaton", "Automaton of modes")]
    return found


def posture_picture(selection: Selection, parameters: Values) -> dict[str, list[str]]:
    """The sketch of the state that was decided, for a page.

    Parameters
    ----------
    selection : Selection
    parameters : mapping of str to float or str
        The replaced ones.

    Returns
    -------
    dict of str to list of str
        Empty if nothing can be drawn, else ``posture``.
    """
    from hybrid.reporting.touching import plot_posture

    dynamics, state = selection.dynamics, selection.state
    if dynamics is None or state is None:
        return {}
    closed = tuple(item.name for item in selection.problem.elements if item.name in dynamics.contacts)
    drawn = posture(dynamics, state, closed=closed, parameters=parameters)
    if drawn is None:
        return {}
    return {"posture": [picture_html(plot_posture(drawn), "posture", f"{dynamics.name} at the state")]}
