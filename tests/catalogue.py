"""Catalogue mechanisms derived once in a test process, and what many tests ask of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from hybrid.analysis import Axis, CriticalFriction, critical_friction
from hybrid.contact import Classification, ContactProblem, Selection, classify, contact_problem, select
from hybrid.dynamics import Dynamics, derive, solve_state, solve_states
from mechanisms import load

Parameters = Mapping[str, Any]


@cache
def dynamics_of(name: str) -> Dynamics:
    return derive(load(name))


def decide(name: str, pins: Mapping[str, Any], **parameters: Any) -> Selection:
    state = solve_state(dynamics_of(name), pins, parameters=parameters)
    return select(dynamics_of(name), state, parameters=parameters)


def problem_at(name: str, pins: Mapping[str, Any], **parameters: Any) -> ContactProblem:
    state = solve_state(dynamics_of(name), pins, parameters=parameters)
    return contact_problem(dynamics_of(name), state, parameters=parameters)


def least_critical_friction(
    name: str, over: str, *, pins: Mapping[str, Any] | None = None, contact: str | None = None, **parameters: Any
) -> CriticalFriction:
    axes = [Axis.parse(over)]
    return critical_friction(dynamics_of(name), over=axes, pins=pins, contact=contact, parameters=parameters)


def labels(selection: Selection) -> list[str]:
    return sorted(branch.mode.label for branch in selection.branches)


def delassus(name: str, q: Any, **parameters: Any) -> np.ndarray:
    """Delassus matrices at postures ``q`` from the derived equations, normal directions first."""
    q = np.asarray(q, dtype=float)
    terms = dynamics_of(name).terms(q, np.zeros_like(q), parameters=parameters)
    W = np.concatenate([terms.W_N, terms.W_T], axis=-1)
    return np.swapaxes(W, -1, -2) @ np.linalg.solve(terms.M, W)


def classified(name: str, pins: Mapping[str, Any], **parameters: Any) -> Classification:
    """Verdicts over arrays of pins."""
    states = solve_states(dynamics_of(name), pins, parameters=parameters)
    return classify(dynamics_of(name), states, parameters=parameters)


def is_consistent(found: Classification, label: str) -> np.ndarray:
    """Where a mode is consistent."""
    if label not in found.labels:
        return np.zeros(found.modes.shape, dtype=bool)
    return (found.modes >> np.uint64(found.labels.index(label))) & np.uint64(1) == 1


def fractions(found: Classification) -> dict[str, float]:
    """Share of the states of every set of consistent modes, named by its labels joined by bars."""
    values, counts = np.unique(found.modes, return_counts=True)
    sets = [[label for i, label in enumerate(found.labels) if int(value) >> i & 1] for value in values]
    return {"|".join(sorted(s)) or "none": n / found.modes.size for s, n in zip(sets, counts, strict=True)}
