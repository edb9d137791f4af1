"""Answers over postures and parameters as plain values for JSON: critical friction, maps, certified or not.

The branch of postures that such an answer belongs to: as plain values, in words, as the start of another answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.arguments import checks_arguments
from hybrid.reporting.records import Json, plain

if TYPE_CHECKING:
    from hybrid.analysis import CertifiedFriction, CertifiedMap, CriticalFriction, RegionMap
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values
    from hybrid.dynamics.posture_branch import PostureBranch

__all__ = [
    "branch_record",
    "branch_sentences",
    "branch_through",
    "certified_friction_record",
    "certified_record",
    "critical_friction_record",
    "map_record",
    "slice_record",
    "values_text",
]


def branch_record(branch: PostureBranch | None) -> dict[str, Any] | None:
    """A branch as plain values; None where the pins fix the posture by linear equations.

    Parameters
    ----------
    branch : PostureBranch or None

    Returns
    -------
    dict or None
        ``start{}``, the number of ``others`` at the start and their coordinates ``other_starts[{}]``, the numbers of
        ``folds`` and ``seams`` that were met, and ``leaves_out``.
    """
    if branch is None:
        return None
    return {
        "start": dict(branch.start),
        "others": len(branch.others),
        "other_starts": [dict(other) for other in branch.others],
        "folds": len(branch.folds),
        "seams": len(branch.seams),
        "leaves_out": branch.leaves_out,
    }


def branch_sentences(record: Mapping[str, Any] | None) -> Iterator[str]:
    """Sentences that say which branch of postures an answer belongs to.

    Parameters
    ----------
    record : mapping or None
        As of `branch_record`.

    Returns
    -------
    iterator of str
        An empty line first; nothing for None.
    """
    if record is None:
        return
    yield ""
    others = record["others"]
    more = f"; {others} other branch{'' if others == 1 else 'es'} there: " if others else ""
    listed = "; ".join(values_text(other) for other in record["other_starts"])
    yield f"Branch of postures through {values_text(record['start'])}{more}{listed}."
    if record["folds"]:
        yield "It ends at folds, where it meets another branch; what lies beyond is not reachable on it."
    if record["leaves_out"]:
        yield "Other postures satisfy the pins there: name one with --branch."
    if record["seams"]:
        yield f"Two ways around lead to different postures at {record['seams']} places: a seam runs through them."


def values_text(values: Mapping[str, float]) -> str:
    """Names and values in words, as ``phi = 1.2, mu = 0.5``.

    Parameters
    ----------
    values : mapping of str to float

    Returns
    -------
    str
    """
    return ", ".join(f"{name} = {value:.6g}" for name, value in values.items())


def branch_through(
    dynamics: Dynamics, state: State, names: Sequence[str], *, pins: Mapping[str, Any], parameters: Values | None
) -> dict[str, float] | None:
    """The start of the branch to which a state belongs, while some quantities are swept and others pinned.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    names : sequence of str
        The swept quantities.
    pins : mapping of str to value
        The others.
    parameters : mapping, optional

    Returns
    -------
    dict of str to float, or None
        None where the pins fix the posture by linear equations.
    """
    from hybrid.dynamics.positions import is_explicit
    from hybrid.dynamics.state import sort_pins

    mechanism = dynamics.mechanism
    terms = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    known = {name: float(value) for name, value in dynamics.at(parameters).values.items()}
    known |= {**dict(zip(mechanism.coordinates, state.q.tolist(), strict=True)), "t": state.t}
    known |= {f"gap.{name}": float(gap) for name, gap in zip(dynamics.contacts, terms.gap, strict=True)}
    swept = {name: known[name] for name in names if name in known}
    rates = {name: 0.0 for name in names if name not in known}
    own = {name: value for name, value in swept.items() if name not in mechanism.parameters}
    found = sort_pins(dynamics.at(parameters), {**pins, **rates, **own})
    if is_explicit(dynamics, found):
        return None
    return swept | {name: known[name] for name in mechanism.coordinates if name not in found.positions}


@checks_arguments
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


@checks_arguments
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
