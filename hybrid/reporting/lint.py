"""What a log shows, as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.reporting.records import plain
from hybrid.reporting.wording import number_text

if TYPE_CHECKING:
    from hybrid.numeric.lint_report import LintReport

__all__ = ["RESOLVED_TITLES", "lint_record", "resolved_rows"]

Json = object

RESOLVED_TITLES = ("stiffness (N/m)", "penalty: largest", "until", "step (s)", "time stepping", "solutions")

QUANTILES = (0.01, 0.1, 0.5)


def lint_record(report: LintReport, **options: Json) -> dict[str, Json]:
    """A linted log under the keys that the command line promises.

    Parameters
    ----------
    report : LintReport
    **options : object
        Others that were given, to be told among the ``thresholds``.

    Returns
    -------
    dict
        ``verdict_fractions`` and ``by_friction`` are shares of the ``counted`` frames; ``frames`` is ``counted``, those
        of ``resting`` and those of ``left_out`` together.
    """
    resting = sum(report.resting.values())
    record = {
        "model": report.model,
        "frames": report.frames,
        "counted": report.counted,
        "resting": {
            "frames": resting,
            "verdict_fractions": {verdict: count / resting for verdict, count in report.resting.items()},
            "standing": {"frames": report.standing, "sample": report.standing_sample},
        },
        "left_out": report.left_out,
        "verdict_fractions": {verdict: count / report.counted for verdict, count in report.verdicts.items()},
        "by_friction": [
            {"friction": friction, "none": none, "several": several} for friction, none, several in report.by_friction
        ],
        "critical_factor": {
            "minimum": report.minimum,
            "quantiles": {str(share): report.quantile(share) for share in QUANTILES},
        },
        "worst": [
            {**attrs.asdict(item), "contacts": list(item.contacts), "A": item.A, "b": item.b} for item in report.worst
        ],
        "friction_in_force": [
            {"pair": list(pair), "value": value, "declared": [first, second], "source": source}
            for pair, value, first, second, source in report.friction_in_force
        ],
        "thresholds": {**attrs.asdict(report.thresholds), **options},
        "notes": list(report.notes),
        "resolved": None if report.resolved is None else attrs.asdict(report.resolved),
        "complete": report.is_complete,
    }
    return {name: plain(value) for name, value in record.items()}


def resolved_rows(run: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Penalty runs and time steps of a frame side by side, in words.

    Parameters
    ----------
    run : mapping
        A record of :class:`ResolvedFriction`.

    Returns
    -------
    list of tuple of str
        Under :data:`RESOLVED_TITLES`; of several contacts the largest force.
    """
    endings = {"slip": "a slip ends", "rebound": "rebound", "steps": "5000 steps"}
    rows = list[tuple[str, ...]]()
    for penalty, step in zip_longest(run["penalty"], run["time_stepping"]):
        left, right = ("", "", ""), ("", "", "")
        if penalty is not None:
            left = (number_text(penalty["stiffness"]), _largest(penalty["force"]), endings[penalty["ending"]])
        if step is not None:
            right = (number_text(step["step"]), " or ".join(map(_largest, step["forces"])), step["verdict"])
        rows.append((*left, *right))
    return rows


def _largest(force: Mapping[str, float]) -> str:
    return number_text(float(f"{max(force.values()):.4g}"))
