"""What a log shows, as plain values for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from hybrid.reporting.records import plain

if TYPE_CHECKING:
    from hybrid.numeric.lint import LintReport

__all__ = ["lint_record"]

Json = object

QUANTILES = (0.01, 0.1, 0.5)


def lint_record(report: LintReport) -> dict[str, Json]:
    """A linted log under the keys that the command line promises.

    Parameters
    ----------
    report : LintReport

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
            {"pair": list(pair), "value": value, "declared": [first, second]}
            for pair, value, first, second in report.friction_in_force
        ],
        "thresholds": attrs.asdict(report.thresholds),
        "notes": list(report.notes),
        "complete": report.is_complete,
    }
    return {name: plain(value) for name, value in record.items()}
