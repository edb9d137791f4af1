"""A comparison of methods at one state, with what a page on it needs: units, histories for plots, the command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING

import attrs

from hybrid.reporting.command import command_line
from hybrid.reporting.records import Json, plain, state_record
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from hybrid.analysis import Comparison
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values

__all__ = ["ComparisonReport", "build_comparison", "comparison_record"]

SAMPLES = 240
"""Per phase of a compliant method, more than the pixels of a panel."""


@attrs.frozen(eq=False)
class ComparisonReport:
    """What all methods say about a state.

    Attributes
    ----------
    dynamics : Dynamics
    state : State
    parameters : mapping of str to float
        The replaced ones.
    comparison : Comparison
        With histories.
    command : str
        The command line that makes this page.
    version : str
    """

    dynamics: Dynamics
    state: State
    parameters: Mapping[str, float]
    comparison: Comparison
    command: str
    version: str


def build_comparison(
    dynamics: Dynamics,
    state: State | Mapping[str, str | float],
    *,
    stiffness: Sequence[float] | None = None,
    damping: float | None = None,
    parameters: Values | None = None,
    command: str = "",
    tolerances: Tolerances = Tolerances(),
    progress: Callable[[int, int], None] | None = None,
) -> ComparisonReport:
    """A comparison of all methods at a state, with what a page on it shows.

    Parameters
    ----------
    dynamics : Dynamics
    state : State, or mapping of str to float or str
        With a closed contact. Pins stand for the state that they fix (:func:`hybrid.solve_state`).
    stiffness : sequence of float, optional
        Of the penalty runs, in N/m; by default three.
    damping : float, optional
        Replaces the declared damping, in sqrt(kg).
    parameters : mapping, optional
    command : str, optional
        The command line to quote; by default one that pins the state.
    tolerances : Tolerances, optional
    progress : callable, optional
        Called with how many of the penalty runs are done, and their number.

    Returns
    -------
    ComparisonReport

    Raises
    ------
    StateError, ComputationError
        As :func:`hybrid.compare`.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> report = build_comparison(ball, solve_state(ball, {"gap_dot.floor": -1}), stiffness=[1e6])
    >>> report.comparison.verdict, report.command
    ('IMPACT', 'painleve compare bouncing_ball --pin y_dot=-1 --stiffness 1000000 -o comparison.html')
    """
    from hybrid.analysis.comparison.table import STIFFNESSES, compare
    from hybrid.dynamics import state_of

    state = state_of(dynamics, state, parameters=parameters, tolerances=tolerances)
    found = compare(
        dynamics,
        state,
        stiffness=STIFFNESSES if stiffness is None else stiffness,
        damping=damping,
        samples=SAMPLES,
        parameters=parameters,
        tolerances=tolerances,
        progress=progress,
    )
    return ComparisonReport(
        dynamics=dynamics,
        state=state,
        parameters=dict(parameters or {}),
        comparison=found,
        command=command or _command(dynamics, state, stiffness, damping, parameters),
        version=metadata.version("painleve"),
    )


def _command(
    dynamics: Dynamics,
    state: State,
    stiffness: Sequence[float] | None,
    damping: float | None,
    parameters: Values | None,
) -> str:
    """The command line that makes the page again, from that of a report on the same state."""
    words = shlex.split(command_line(dynamics, state, parameters=parameters))
    chosen = [] if stiffness is None else ["--stiffness", ",".join(f"{K:.17g}" for K in stiffness)]
    chosen += [] if damping is None else ["--damping", f"{damping:.17g}"]
    return shlex.join(["painleve", "compare", *words[2:-2], *chosen, "-o", "comparison.html"])


def comparison_record(dynamics: Dynamics, state: State, found: Comparison) -> dict[str, Json]:
    """A comparison as plain JSON values.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    found : Comparison

    Returns
    -------
    dict
        ``mechanism, state, verdict, rows[], observed_order, order_standard_error, order_stiffness, order_runs,
        notes[]``. Planar quantities are numbers, spatial ones lists; an infinite time is None.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import compare, derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap_dot.floor": -1})
    >>> comparison_record(ball, state, compare(ball, state, stiffness=()))["rows"][0]["method"]
    'newton'
    """
    rows = []
    for row in found.rows:
        record = attrs.asdict(row)
        for key in ("slip_after", "impulse_T"):
            record[key] = {name: value[0] if len(value) == 1 else value for name, value in record[key].items()}
        rows.append(plain(record))
    fit = found.fit
    return {
        "mechanism": dynamics.name,
        "state": state_record(dynamics, state),
        "verdict": found.verdict,
        "rows": rows,
        "observed_order": plain(found.observed_order),
        "order_standard_error": None if fit is None else plain(fit.standard_error),
        "order_stiffness": None if fit is None else list(fit.stiffness),
        "order_runs": 0 if fit is None else fit.runs,
        "notes": list(found.notes),
    }
