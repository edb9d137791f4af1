"""Results as plain values for JSON, under the keys that the command line promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from hybrid.contact import Branch, Certificate, Mode, Selection
    from hybrid.dynamics import Dynamics, State

__all__ = ["labels", "state_answer", "verdict_answer"]

# `object` stands for whatever JSON can hold.
Json = object


def labels(mode: Mode) -> dict[str, str]:
    """The label of every contact."""
    return {name: label.value for name, label in mode.items()}


def state_answer(dynamics: Dynamics, state: State) -> dict[str, Json]:
    """Coordinates and velocities by name, time, and the sides of vanishing slips."""
    mechanism = dynamics.mechanism
    return {
        "q": dict(zip(mechanism.coordinates, state.q.tolist(), strict=True)),
        "v": dict(zip(mechanism.velocities, state.v.tolist(), strict=True)),
        "t": state.t,
        "sides": {name: _scalar(side) for name, side in state.sides.items()},
    }


def verdict_answer(
    dynamics: Dynamics, state: State, selection: Selection, *, parameters: Mapping[str, float]
) -> dict[str, Json]:
    """Everything that is known about a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    selection : Selection
    parameters : mapping of str to float
        The replaced ones.

    Returns
    -------
    dict
        Forces in newtons and accelerations in the declaration's units; planar tangential quantities are numbers,
        spatial ones pairs.
    """
    mechanism = dynamics.mechanism
    return {
        "mechanism": mechanism.name,
        "parameters": {name: float(value) for name, value in mechanism.parameter_values(parameters).items()},
        "state": state_answer(dynamics, state),
        "verdict": selection.verdict.name,
        "sentence": selection.verdict.value,
        "count": selection.count,
        "branches": [_branch(mechanism.coordinates, branch) for branch in selection.branches],
        "certificate": None if selection.certificate is None else _certificate(selection.certificate),
        "margin": selection.margin,
        "contact": _sliding(selection),
        "force_set": _force_set(selection),
        "tangential": {name: attrs.asdict(report) for name, report in selection.tangential.items()},
        "decided_by": selection.decided_by,
        "notes": selection.notes,
    }


def _scalar(components: Sequence[float]) -> float | list[float]:
    """A planar quantity as a number, a spatial one as a list."""
    return components[0] if len(components) == 1 else list(components)


def _branch(coordinates: Sequence[str], branch: Branch) -> dict[str, Json]:
    return {
        "mode": labels(branch.mode),
        "equivalent_modes": [labels(mode) for mode in branch.equivalent_modes],
        "lambda_N": dict(branch.lambda_N),
        "lambda_T": {name: _scalar(force) for name, force in branch.lambda_T.items()},
        "acceleration": dict(zip(coordinates, branch.acceleration.tolist(), strict=True)),
        "contact_acceleration": {
            name: {"normal": at.normal, "tangential": _scalar(at.tangential)}
            for name, at in branch.contact_acceleration.items()
        },
        "slacks": [attrs.asdict(slack) for slack in branch.slacks],
        "margin": branch.margin,
    }


def _certificate(certificate: Certificate) -> dict[str, Json]:
    from hybrid.contact import verify_certificate
    from lcp.exact import certificate_to_json

    return {
        "violations": [
            {**attrs.asdict(violation), "mode": labels(violation.mode)} for violation in certificate.violations
        ],
        "farkas": certificate.farkas,
        "lcp": {"M": certificate.problem.M, "q": certificate.problem.q},
        "refutation": certificate_to_json(certificate.refutation),
        "verified": verify_certificate(certificate),
    }


def _sliding(selection: Selection) -> dict[str, Json]:
    """The closed form of every contact that takes part and has friction."""
    from hybrid.contact import sliding_terms

    answer: dict[str, Json] = {}
    for carrier in selection.problem.carriers:
        if carrier.normal is None or not carrier.tangential:
            continue
        terms = sliding_terms(selection.problem, carrier.name)
        answer[carrier.name] = {
            "A_slide+": float(terms.A_plus),
            "A_slide-": float(terms.A_minus),
            "b": float(terms.b),
            "critical_friction": float(terms.critical_friction),
        }
    return answer


def _force_set(selection: Selection) -> dict[str, Json] | None:
    found = selection.force_set
    if found is None:
        return None
    return {
        "names": found.names,
        "dimension": found.dimension,
        "vertices": found.vertices,
        "rays": found.rays,
    }
