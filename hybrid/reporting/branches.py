"""The branch of postures that an answer belongs to, as plain values, in words and as the start of another answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values
    from hybrid.dynamics.posture_branch import PostureBranch

__all__ = ["branch_record", "branch_sentences", "branch_through"]


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
    listed = "; ".join(_values(other) for other in record["other_starts"])
    yield f"Branch of postures through {_values(record['start'])}{more}{listed}."
    if record["folds"]:
        yield "It ends at folds, where it meets another branch; what lies beyond is not reachable on it."
    if record["leaves_out"]:
        yield "Other postures satisfy the pins there: name one with --branch."
    if record["seams"]:
        yield f"Two ways around lead to different postures at {record['seams']} places: a seam runs through them."


def _values(values: Mapping[str, float]) -> str:
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
    from hybrid.dynamics.pin_values import sort_pins
    from hybrid.dynamics.positions import is_explicit

    mechanism = dynamics.mechanism
    terms = dynamics.terms(state.q, state.v, t=state.t, parameters=parameters)
    known = {name: float(value) for name, value in mechanism.parameter_values(parameters or {}).items()}
    known |= {**dict(zip(mechanism.coordinates, state.q.tolist(), strict=True)), "t": state.t}
    known |= {f"gap.{name}": float(gap) for name, gap in zip(dynamics.contacts, terms.gap, strict=True)}
    swept = {name: known[name] for name in names if name in known}
    rates = {name: 0.0 for name in names if name not in known}
    own = {name: value for name, value in swept.items() if name not in mechanism.parameters}
    found = sort_pins(dynamics.at(parameters), {**pins, **rates, **own})
    if is_explicit(dynamics, found):
        return None
    return swept | {name: known[name] for name in mechanism.coordinates if name not in found.positions}
