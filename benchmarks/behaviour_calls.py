"""The calls that cases of ``behaviour.py`` name: public Python of the packages, each answer a record of plain values.

Keyword arguments are those of a case's JSON; those that a function here does not name go to the packages as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

Json = Any


def plain(value: Any) -> Json:
    """What JSON can hold, of anything that a call answers."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [plain(item) for item in items]
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@cache
def dynamics_of(name: str) -> Any:
    import mechanisms
    from hybrid import derive, read_mechanism

    return derive(read_mechanism(name) if name.endswith(".toml") else mechanisms.load(name))


def posed(given: dict[str, Json]) -> tuple[Any, Any, dict[str, Json]]:
    """Takes the mechanism, its state and the parameters from a call's arguments."""
    from hybrid import solve_state

    dynamics, parameters = dynamics_of(given.pop("mechanism")), given.pop("parameters", {})
    return dynamics, solve_state(dynamics, given.pop("pins"), parameters=parameters), parameters


def law_of(given: dict[str, Json]) -> Any:
    from hybrid import contact

    name, options = given.pop("law", "NewtonImpact"), given.pop("law_options", {})
    return getattr(contact, name)(**options)


def select(solver: str = "enumeration", **given: Json) -> Json:
    """The verdict with every branch, by one of the solvers, and its certificate verified."""
    import hybrid

    dynamics, state, parameters = posed(given)
    found = hybrid.select(dynamics, state, parameters=parameters, solver=solver)
    branches = []
    for branch in found.branches:
        contacts = {name: [a.normal, a.tangential] for name, a in branch.contact_acceleration.items()}
        slacks = [[slack.contact, slack.inequality, slack.value] for slack in branch.slacks]
        same = [mode.label for mode in branch.equivalent_modes]
        of_branch = {"mode": branch.mode.label, "same": same, "acceleration": branch.acceleration, "contacts": contacts}
        forces = {"lambda_N": branch.lambda_N, "lambda_T": branch.lambda_T}
        branches.append(of_branch | forces | {"slacks": slacks, "margin": branch.margin})
    sets = [found.force_set, *getattr(found, "continua", ())]  # the commit compared with may not know continua
    certificate = found.certificate
    return {
        "verdict": found.verdict,
        "branches": branches,
        "margin": found.margin,
        "decided_by": found.decided_by,
        "notes": found.notes,
        "sets": [[item.dimension, item.vertices, item.rays] for item in sets if item is not None],
        "verified": None if certificate is None else hybrid.verify_certificate(certificate),
    }


def problem(contact: str | None = None, **given: Json) -> Json:
    """The contact problem, its complementarity problem with Lemke's answer, and the sliding terms of a contact."""
    import hybrid
    from lcp import Lemke

    dynamics, state, parameters = posed(given)
    posed_problem = hybrid.contact_problem(dynamics, state, parameters=parameters)
    posed_lcp = hybrid.to_lcp(posed_problem)
    solution = Lemke().solve(posed_lcp)
    answer = {name: getattr(posed_problem, name) for name in ("G", "c", "a_free", "response_W", "redundancy")}
    answer |= {"M": posed_lcp.M, "q": posed_lcp.q, "status": solution.status}
    answer["forces"] = hybrid.contact_forces(posed_problem, solution.z)
    if contact is not None:
        terms = hybrid.sliding_terms(posed_problem, contact)
        answer["sliding"] = [terms.A_plus, terms.A_minus, terms.b, terms.critical_friction]
    return answer


def region_map(mechanism: str, axes: list[str], with_boundaries: bool = True, **given: Json) -> Json:
    """Verdict and region of every cell, and the traced boundaries."""
    import hybrid

    swept = [hybrid.Axis.parse(axis) for axis in axes]
    found = hybrid.region_map(dynamics_of(mechanism), axes=swept, with_boundaries=with_boundaries, **given)
    grid = [[found.regions[code] for code in row] for row in found.region]
    curves = [{"between": curve.between, "points": curve.points} for curve in found.boundaries]
    return {"verdict": found.verdict, "grid": grid, "shares": found.mode_fractions, "boundaries": curves}


def simulate(times: int = 9, law: str = "NewtonImpact", **given: Json) -> Json:
    """A motion at equidistant times, with the forces and the mode of every arc at its middle."""
    import hybrid

    named = law_of({"law": law, "law_options": given.pop("law_options", {})})
    dynamics, state, parameters = posed(given)
    motion = hybrid.simulate(dynamics, state, parameters=parameters, law=named, **given)
    q, v = motion.sample(np.linspace(motion.t_start, motion.t, times))
    arcs = []
    for arc in motion.arcs:
        seen = motion.forces(arc, [(arc.start + arc.end) / 2])
        arcs.append({"mode": arc.mode.label, "ends": [arc.start, arc.end], "lambda_N": seen.lambda_N})
    return {"ending": motion.termination, "t": motion.t, "q": q, "v": v, "arcs": arcs, "cause": motion.cause}


def saltation(event: int = 0, **given: Json) -> Json:
    """The saltation matrix of one event of a motion."""
    import hybrid

    law = law_of(given)
    dynamics, state, parameters = posed(given)
    motion = hybrid.simulate(dynamics, state, parameters=parameters, law=law, **given)
    return {"S": hybrid.saltation_matrix(dynamics, motion.events[event], parameters=parameters, law=law)}


def resolve(**given: Json) -> Json:
    """What becomes of a paradox."""
    import hybrid

    dynamics, state, parameters = posed(given)
    found = hybrid.resolve(dynamics, state, parameters=parameters, **given)
    after = None if found.impact is None else found.impact.v_after
    return {"outcome": found.outcome, "reason": found.reason, "v_after": after, "critical": found.critical_approach}


def chatter(**given: Json) -> Json:
    """Reverse chatter at a state."""
    from hybrid.contact import contact_problem, reverse_chatter

    law = law_of(given)
    dynamics, state, parameters = posed(given)
    found = reverse_chatter(contact_problem(dynamics, state, parameters=parameters), law)
    return None if found is None else {"contact": found.contact, "ratio": found.ratio, "slip_ratio": found.slip_ratio}


def periodic(state: list[Json], to: float | None = None, **given: Json) -> Json:
    """A periodic motion, or its continuation."""
    import hybrid

    law, dynamics = law_of(given), dynamics_of(given.pop("mechanism"))
    guess = hybrid.State(*state)
    if to is not None:
        branch = hybrid.continue_periodic(dynamics, guess, to=to, law=law, **given)
        changes = [[change.kind, change.value] for change in branch.changes]
        return {"ending": branch.ending, "values": branch.values, "changes": changes}
    found = hybrid.periodic_motion(dynamics, guess, law=law, **given)
    if isinstance(found, hybrid.Refusal):
        return {"refused": str(found.reason)}
    sizes = sorted(abs(found.multipliers))
    return {"q": found.state.q, "v": found.state.v, "period": found.period, "sizes": sizes, "stable": found.is_stable}


def singular(mechanism: str, **given: Json) -> Json:
    """Singular configurations in a box."""
    import hybrid

    found = hybrid.singular_configurations(dynamics_of(mechanism), **given)
    return [{"q": point.q, "kind": point.kind, "branches": len(point.branches)} for point in found]


def points(mechanism: str, over: list[str], **given: Json) -> Json:
    """The points of Genot and Brogliato in a plane."""
    import hybrid

    axes = [hybrid.Axis.parse(axis) for axis in over]
    found = hybrid.genot_brogliato_points(dynamics_of(mechanism), over=axes, **given)
    fields = ("at", "mode", "flow", "eigenvalues", "is_node", "force", "exponent", "limit_force")
    return [{name: getattr(point, name) for name in fields} for point in found]


def realisation(**given: Json) -> Json:
    """A ladder of springs in place of a rigid constraint."""
    import hybrid

    dynamics, state, parameters = posed(given)
    found = hybrid.realisation_study(dynamics, state, parameters=parameters, **given)
    rows = [[row.branch, row.distance_before, row.distance_at_end, row.is_smooth] for row in found.rows]
    return {"smooth": found.smooth_branch, "rows": rows}


def realise(mechanism: str, constraint: str, stiffness: float) -> Json:
    """The declaration with a spring in place of a rigid constraint, as a file says it."""
    import hybrid

    declared = hybrid.realise(dynamics_of(mechanism).mechanism, constraint, stiffness=stiffness)
    return hybrid.mechanism_to_toml(declared).splitlines()


def declaration(mechanism: str) -> Json:
    """A declaration written as a file and read again."""
    import hybrid

    text = hybrid.mechanism_to_toml(dynamics_of(mechanism).mechanism)
    return {"text": text.splitlines(), "same": hybrid.mechanism_from_toml(text) == dynamics_of(mechanism).mechanism}


def lcp(M: list[list[float]], q: list[float]) -> Json:
    """One solution by each road, all solutions, and the classes of the matrix."""
    import lcp as package

    given = package.LCP(M, q)
    found = package.enumerate_solutions(given)
    one = package.Lemke().solve(given)
    tests = ("is_p_matrix", "is_copositive", "is_copositive_plus", "is_nondegenerate", "is_strictly_semimonotone")
    classes = {name: getattr(package, name)(np.array(M, dtype=float)).holds for name in tests}
    return {"all": found.isolated, "complete": found.complete, "lemke": [one.status, one.z], "classes": classes}


_ALL = (select, problem, region_map, simulate, saltation, resolve, chatter, periodic, singular, points)
CALLS: dict[str, Callable[..., Json]] = {
    function.__name__: function for function in (*_ALL, realisation, realise, declaration, lcp)
}
