"""Results as plain values for JSON, under the keys that the command line promises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

from hybrid.reporting.branches import branch_record

if TYPE_CHECKING:
    from hybrid.analysis import CertifiedFriction, CertifiedMap, CriticalFriction, RegionMap
    from hybrid.contact import Branch, Certificate, CoverCertificate, Mode, ModeCertificate, Selection, TreeCertificate
    from hybrid.dynamics import Dynamics, State
    from hybrid.numeric import NumericState

__all__ = [
    "certified_friction_record",
    "certified_record",
    "closed_form_contacts",
    "critical_friction_record",
    "decided_record",
    "labels",
    "map_record",
    "numeric_verdict_record",
    "plain",
    "slice_record",
    "state_record",
    "verdict_record",
]

# `object` stands for whatever JSON can hold.
Json = object


def plain(value: Json) -> Json:
    """A value as JSON can hold it: text, numbers, None, lists and dictionaries.

    Parameters
    ----------
    value : object
        Numbers, fractions, numpy arrays and scalars, and mappings and sequences of them.

    Returns
    -------
    object
        A number that is not finite becomes None; a fraction becomes a float.

    Examples
    --------
    >>> plain({"at": (1, Fraction(1, 4), float("inf"))})
    {'at': [1, 0.25, None]}
    """
    if hasattr(value, "tolist"):  # numpy, without importing it
        value = value.tolist()
    if isinstance(value, Fraction):
        value = float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, Iterable) else value


def labels(mode: Mode) -> dict[str, str]:
    """The label of every contact.

    Parameters
    ----------
    mode : Mode

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> from hybrid import Mode
    >>> labels(Mode({"floor": "slide+", "wall": "free"}))
    {'floor': 'slide+', 'wall': 'free'}
    """
    return {name: label.value for name, label in mode.items()}


def state_record(dynamics: Dynamics, state: State) -> dict[str, Json]:
    """Coordinates and velocities by name, time, and the sides of vanishing slips.

    Parameters
    ----------
    dynamics : Dynamics
    state : State

    Returns
    -------
    dict
        Numbers in the units of the mechanism; a side is a number in the plane and a list in space.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state_record(ball, solve_state(ball, {"y": 2, "y_dot": 1}))
    {'q': {'y': 2.0}, 'v': {'y_dot': 1.0}, 't': 0.0, 'sides': {}}
    """
    mechanism = dynamics.mechanism
    return {
        "q": dict(zip(mechanism.coordinates, state.q.tolist(), strict=True)),
        "v": dict(zip(mechanism.velocities, state.v.tolist(), strict=True)),
        "t": state.t,
        "sides": {name: _scalar(side) for name, side in state.sides.items()},
    }


def verdict_record(
    dynamics: Dynamics,
    state: State,
    selection: Selection,
    *,
    parameters: Mapping[str, float] | None = None,
) -> dict[str, Json]:
    """Everything that is known about a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    selection : Selection
    parameters : mapping of str to float, optional
        The replaced ones.

    Returns
    -------
    dict
        Forces and accelerations in the declaration's units; planar tangential quantities are numbers, spatial
        ones pairs. What is infinite or undefined is None.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, select, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap.floor": 0, "gap_dot.floor": 0})
    >>> record = verdict_record(ball, state, select(ball, state))
    >>> record["verdict"], record["branches"][0]["mode"]
    ('UNIQUE', {'floor': 'closed'})
    """
    mechanism = dynamics.mechanism
    values = mechanism.parameter_values(parameters or {})
    return {
        "mechanism": mechanism.name,
        "parameters": {name: plain(float(value)) for name, value in values.items()},
        "state": plain(state_record(dynamics, state)),
        **decided_record(selection, mechanism.coordinates),
    }


def numeric_verdict_record(state: NumericState, selection: Selection) -> dict[str, Json]:
    """Everything that is known about a state that is given by numbers, under the keys of :func:`verdict_record`.

    Parameters
    ----------
    state : NumericState
    selection : Selection

    Returns
    -------
    dict
        Velocities and accelerations are called ``v[0]`` and so on; there are no parameters and no coordinates.
    """
    names = [f"v[{k}]" for k in range(state.n)]
    v = {} if state.v is None else dict(zip(names, state.v.tolist(), strict=True))
    return {
        "mechanism": state.name,
        "parameters": {},
        "state": {"q": {}, "v": v, "t": 0.0, "sides": {name: _scalar(side) for name, side in state.sides.items()}},
        **decided_record(selection, names),
    }


def decided_record(selection: Selection, coordinates: Sequence[str]) -> dict[str, Json]:
    """What is decided of a state, whatever model it is of, with names for its accelerations."""
    certificate = selection.certificate
    record = {
        "verdict": selection.verdict.name,
        "sentence": selection.verdict.value,
        "count": selection.count,
        "branches": [_branch(coordinates, branch) for branch in selection.branches],
        "certificate": None if certificate is None else _certificate(certificate),
        "margin": selection.margin,
        "contact": _sliding(selection),
        "force_set": None if selection.force_set is None else attrs.asdict(selection.force_set),
        "continua": [attrs.asdict(forces) for forces in selection.continua],
        "tangential": {name: attrs.asdict(report) for name, report in selection.tangential.items()},
        "decided_by": selection.decided_by,
        "crosscheck": None if selection.crosscheck is None else selection.crosscheck.sentence,
        "notes": selection.notes,
    }
    if selection.cover is not None:
        record["cover"] = {"parts": selection.cover.n_parts}
    return {name: plain(value) for name, value in record.items()}


def critical_friction_record(found: CriticalFriction) -> dict[str, Json]:
    """A critical friction over postures; an infinite minimum is None.

    Parameters
    ----------
    found : CriticalFriction

    Returns
    -------
    dict
        ``minimum``, ``at``, ``mode``, ``paradox_intervals``, ``contact``, ``gap`` and ``joint``; ``branch``, as
        :func:`branch_record` has it.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import critical_friction, derive
    >>> from hybrid.analysis import Axis
    >>> rod = derive(mechanisms.load("painleve_rod"))
    >>> record = critical_friction_record(critical_friction(rod, over=[Axis.parse("theta=0:pi/2")]))
    >>> round(record["minimum"], 9), record["mode"]
    (1.333333333, 'slide+')
    """
    own = attrs.asdict(found, filter=lambda attribute, _: attribute.name != "branch")
    return {name: plain(value) for name, value in own.items()} | {"branch": plain(branch_record(found.branch))}


def certified_friction_record(found: CertifiedFriction) -> dict[str, Json]:
    """Proved bounds of a critical friction over postures; an infinite one is None.

    Parameters
    ----------
    found : CertifiedFriction

    Returns
    -------
    dict
        The ``contact``; ``minimum``, the two bounds; ``at``, where the upper one was met; ``minimum_sampled`` and
        ``joint_sampled``, the minimum and the joint limit of several contacts as a scan sees them, which are not
        proved; ``joint``, with the two bounds of its ``factor``, or null.
    """
    sampled = critical_friction_record(found.sampled)
    return {
        "contact": sampled["contact"],
        "minimum": [found.low, plain(found.high)],
        "minimum_sampled": sampled["minimum"],
        "at": dict(found.at),
        "joint": None if found.joint is None else {"factor": [plain(bound) for bound in found.joint]},
        "joint_sampled": sampled["joint"],
        "branch": None,
    }


def map_record(region_map: RegionMap) -> dict[str, Json]:
    """The areas of a region map, without its cells.

    Parameters
    ----------
    region_map : RegionMap

    Returns
    -------
    dict
        ``axes``, the number of ``cells``, and the share of every verdict and of every set of consistent modes, whose
        labels are sorted and joined by a bar (``none`` if empty); ``sampled`` names what holds as far as cells see. Of
        an interrupted map ``complete`` is False, ``missing`` the number of cells that are not there, and shares are
        those of the others. ``general_cells`` were decided by the general method, the others by compiled operations.
        ``branch`` is what :func:`branch_record` has.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, region_map
    >>> from hybrid.analysis import Axis
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> axes = [Axis.parse("phi=0:pi:4"), Axis.parse("phi_dot=-1:1:2")]
    >>> map_record(region_map(rod, axes=axes, pins={"slip.tip": "+0"}))["verdict_fractions"]
    {'UNIQUE': 1.0}
    """
    axes = [{"name": axis.name, "low": axis.low, "high": axis.high, "n": axis.n} for axis in region_map.axes]
    return {
        "axes": axes,
        "cells": int(region_map.verdict.size),
        "verdict_fractions": plain(region_map.verdict_fractions),
        "mode_fractions": plain(region_map.mode_fractions),
        "sampled": ["verdict_fractions", "mode_fractions"],
        "missing": region_map.n_missing,
        "complete": region_map.is_complete,
        "general_cells": region_map.n_general,
        "branch": plain(branch_record(region_map.branch)),
    }


def certified_record(certified: CertifiedMap) -> dict[str, Json]:
    """What a certified map proves, without its boxes.

    Parameters
    ----------
    certified : CertifiedMap

    Returns
    -------
    dict
        ``axes``; the ``gap`` of the bounds that was reached, and ``gap_wanted``; ``complete``; bounds of the share of
        every region that is not excluded; the share of boxes that hold several; for the three verdicts other than
        UNIQUE whether they are ``absent``, with a ``witness`` where not; numbers of ``evaluations`` and ``boxes``;
        ``reasons`` why no more is proved. ``branch`` as :func:`branch_record` has it.
    """
    return {
        "axes": [{"name": axis.name, "low": axis.low, "high": axis.high} for axis in certified.axes],
        "gap": certified.gap,
        "gap_wanted": certified.gap_wanted,
        "complete": certified.complete,
        "regions": {name: list(bounds) for name, bounds in certified.regions.items()},
        "undecided": certified.undecided,
        "absent": dict(certified.absent),
        "witness": plain({key: attrs.asdict(item) for key, item in certified.witness.items()}),
        "reasons": plain([attrs.asdict(item) for item in certified.reasons]),
        "evaluations": certified.evaluations,
        "boxes": certified.boxes,
        "branch": plain(branch_record(certified.branch)),
    }


def slice_record(shown: CertifiedMap, at: Mapping[str, float]) -> dict[str, Json] | None:
    """What a certified map proves about a slice of its box.

    Parameters
    ----------
    shown : CertifiedMap
        The slice, as :func:`hybrid.sliced` returns it.
    at : mapping of str to float
        Values of the axes that were given up.

    Returns
    -------
    dict or None
        ``at``; bounds of the shares of ``regions``, the ``undecided`` share and the number of ``boxes`` of the slice.
        None for no slice.
    """
    if not at:
        return None
    return {
        "at": dict(at),
        "regions": {name: list(bounds) for name, bounds in shown.regions.items()},
        "undecided": shown.undecided,
        "boxes": shown.boxes,
    }


def _scalar(components: Sequence[float]) -> Json:
    """A planar quantity as a number, a spatial one as a list."""
    return components[0] if len(components) == 1 else list(components)


def _branch(coordinates: Sequence[str], branch: Branch) -> dict[str, Json]:
    return {
        "mode": labels(branch.mode),
        "equivalent_modes": [labels(mode) for mode in sorted(branch.equivalent_modes, key=lambda mode: mode.label)],
        "lambda_N": branch.lambda_N,
        "lambda_T": {name: _scalar(force) for name, force in branch.lambda_T.items()},
        "acceleration": dict(zip(coordinates, branch.acceleration.tolist(), strict=True)),
        "contact_acceleration": {
            name: {"normal": at.normal, "tangential": _scalar(at.tangential)}
            for name, at in branch.contact_acceleration.items()
        },
        "slacks": [attrs.asdict(slack) for slack in branch.slacks],
        "margin": branch.margin,
        "force_set": None if branch.force_set is None else attrs.asdict(branch.force_set),
    }


def _certificate(certificate: Certificate | CoverCertificate | ModeCertificate | TreeCertificate) -> dict[str, Json]:
    from hybrid.contact import Certificate, ModeCertificate, verify_certificate
    from lcp.exact import certificate_to_json

    lcp: dict[str, Json] | None = None
    if isinstance(certificate, Certificate):
        lcp = {"M": certificate.problem.M, "q": certificate.problem.q}
        refutation = certificate_to_json(certificate.refutation)
    elif isinstance(certificate, ModeCertificate):
        vectors = ("equations", "inequalities")
        refutations = [
            {"mode": labels(item.mode)}
            | {name: [str(value) for value in getattr(item, name)] for name in vectors}
            | {"constant": str(item.constant)}
            for item in certificate.refutations
        ]
        refutation = {"kind": "no consistent mode", "refutations": refutations}
    else:
        refutation = {"kind": certificate.kind, "parts": certificate.as_rows()}
    return {
        "violations": [{**attrs.asdict(item), "mode": labels(item.mode)} for item in certificate.violations],
        "farkas": certificate.farkas,
        "lcp": lcp,
        "refutation": refutation,
        "verified": verify_certificate(certificate),
    }


def closed_form_contacts(selection: Selection) -> tuple[str, ...]:
    """Contacts that take part, have friction, and are not pushed along their normal by the friction of a bilateral
    contact.

    Beside a bilateral contact with friction, which answers to the contact's force, neither ``a_N = A lambda_N + b`` nor
    a critical friction of the contact alone is true.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    tuple of str
        In the order of the problem.
    """
    from hybrid.contact.sliding import bilateral_beside

    problem = selection.problem
    return tuple(
        element.name
        for element in problem.elements
        if element.normal is not None and element.tangential and not bilateral_beside(problem, element.name)
    )


def _sliding(selection: Selection) -> dict[str, Json]:
    """The closed form of every contact that has one."""
    from hybrid.contact import sliding_terms

    found: dict[str, Json] = {}
    for name in closed_form_contacts(selection):
        terms = sliding_terms(selection.problem, name)
        found[name] = {
            "A_slide+": terms.A_plus,
            "A_slide-": terms.A_minus,
            "b": terms.b,
            "critical_friction": terms.critical_friction,
        }
    return found
