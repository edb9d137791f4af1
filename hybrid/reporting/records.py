"""States, verdicts, comparisons and motions as plain values for JSON, under the keys that the command line promises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.arguments import checks_arguments

if TYPE_CHECKING:
    from hybrid.analysis import Comparison
    from hybrid.contact import Branch, Certificate, CoverCertificate, Mode, ModeCertificate, Selection, TreeCertificate
    from hybrid.contact.impacts.impact import Impact
    from hybrid.dynamics import Dynamics, State
    from hybrid.dynamics.derive import Values
    from hybrid.motion import Event, MotionTree, Trajectory
    from hybrid.numeric import NumericState

__all__ = [
    "closed_form_contacts",
    "comparison_record",
    "decided_record",
    "labels",
    "motion_record",
    "numeric_verdict_record",
    "plain",
    "scalars",
    "state_record",
    "tree_record",
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


@checks_arguments
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
        "sides": scalars(state.sides),
    }


@checks_arguments
def verdict_record(
    dynamics: Dynamics,
    state: State,
    selection: Selection,
    *,
    parameters: Values | None = None,
) -> dict[str, Json]:
    """Everything that is known about a state.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    selection : Selection
    parameters : mapping of str to float or str, optional
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
    values = dynamics.at(parameters).values
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
        "state": {"q": {}, "v": v, "t": 0.0, "sides": scalars(state.sides)},
        **decided_record(selection, names),
    }


def decided_record(selection: Selection, coordinates: Sequence[str]) -> dict[str, Json]:
    """What is decided of a state, whatever model it is of, with names for its accelerations."""
    from hybrid.contact.sliding import held_beside

    certificate = selection.certificate
    reasons = [held_beside(selection.problem, element.name) for element in selection.problem.elements]
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
        "notes": [*selection.notes, *filter(None, reasons)],
    }
    if selection.cover is not None:
        record["cover"] = {"parts": selection.cover.n_parts}
    return {name: plain(value) for name, value in record.items()}


@checks_arguments
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
        record |= {key: scalars(record[key]) for key in ("slip_after", "impulse_T")}
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


_ENERGIES = ("initial", "final", "dissipated", "friction", "impacts", "applied", "residual")


@checks_arguments
def motion_record(motion: Trajectory) -> dict[str, Any]:
    """A motion as a plain JSON object.

    Parameters
    ----------
    motion : Trajectory

    Returns
    -------
    dict
        Keys ``mechanism, method, events, termination, cause, final, energy, warnings, handed_over, complete``; the
        last one is False for a motion that was interrupted.
    """
    from hybrid.motion import Termination, open_balance  # what decides a state needs no motions

    energy, springs = motion.energy(), motion.springs
    doubts = () if motion.method == "time-stepping" else open_balance(motion, energy)  # which has its own already
    return {
        "mechanism": motion.dynamics.name,
        "method": motion.method,
        "events": [_event_record(motion, event) for event in motion.events],
        "termination": motion.termination.name,
        "cause": motion.cause,
        "final": {"t": float(motion.t), "q": _named(motion, motion.q), "v": _named(motion, motion.v, rates=True)},
        "energy": {name: plain(getattr(energy, name)) for name in _ENERGIES},
        "warnings": [*motion.warnings, *doubts],
        "handed_over": None if springs is None else {"t": float(springs.t), "stiffness": dict(springs.stiffness)},
        "complete": motion.termination is not Termination.INTERRUPTED,
    }


def tree_record(tree: MotionTree) -> dict[str, Any]:
    """All motions from one state as a plain JSON object: the first, and ``limbs`` all branches with their parents.

    Parameters
    ----------
    tree : MotionTree

    Returns
    -------
    dict
        The keys of `motion_record` for the first motion, ``limbs`` and ``complete``. A branch has the number of its
        ``parent`` and the ``choice`` that began it.
    """
    branches = [
        {"parent": branch.parent, "choice": branch.choice, **motion_record(branch.motion)} for branch in tree.branches
    ]
    return {**motion_record(tree.branches[0].motion), "limbs": branches, "complete": tree.is_complete}


def _named(motion: Trajectory, values: Any, *, rates: bool = False) -> dict[str, float]:
    mechanism = motion.dynamics.mechanism
    names = mechanism.velocities if rates else mechanism.coordinates
    return {name: float(value) + 0.0 for name, value in zip(names, values, strict=True)}


def _event_record(motion: Trajectory, event: Event) -> dict[str, Any]:
    return {
        "t": float(event.t),
        "kind": event.kind.value,
        "contact": ", ".join(event.elements),
        "guards": [{"kind": guard.kind.value, "contact": guard.element} for guard in event.guards],
        "mode_before": {} if event.mode_before is None else labels(event.mode_before),
        "mode_after": {} if event.mode_after is None else labels(event.mode_after),
        "q": _named(motion, event.q),
        "v": _named(motion, event.v_after, rates=True),
        "verdict": None if event.verdict is None else event.verdict.name,
        "note": event.note,
        "impact": None if event.impact is None else _impact_record(event.impact),
    }


def _impact_record(impact: Impact) -> dict[str, Any]:
    """The law, the energy it took, and its phases; durations in fast time, None where endless."""
    phases = [{"kind": phase.kind, "duration": plain(phase.duration)} for phase in impact.phases]
    change = plain(impact.energy_change)
    return {"law": impact.law, "energy_change": change, "duration": plain(impact.duration), "phases": phases}


def _scalar(components: Sequence[float]) -> Json:
    """A planar quantity as a number, a spatial one as a list."""
    return components[0] if len(components) == 1 else list(components)


def scalars(values: Mapping[str, Sequence[float]]) -> dict[str, Json]:
    """Tangential quantities by contact, planar ones as numbers, spatial ones as lists.

    Parameters
    ----------
    values : mapping of str to sequence of float

    Returns
    -------
    dict of str to float or list
    """
    return {name: _scalar(components) for name, components in values.items()}


def _branch(coordinates: Sequence[str], branch: Branch) -> dict[str, Json]:
    return {
        "mode": labels(branch.mode),
        "equivalent_modes": [labels(mode) for mode in sorted(branch.equivalent_modes, key=lambda mode: mode.label)],
        "lambda_N": branch.lambda_N,
        "lambda_T": scalars(branch.lambda_T),
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
    from hybrid.contact import Certificate, ModeCertificate, of_either_limit, verify_certificate
    from lcp.exact import certificate_to_json

    problem = certificate.posed if isinstance(certificate, Certificate) else certificate.problem
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
        "violations": [
            {
                **attrs.asdict(item),
                "mode": labels(item.mode),
                "inequality": of_either_limit(problem, item.contact, item.inequality),
            }
            for item in certificate.violations
        ],
        "farkas": certificate.farkas,
        "lcp": lcp,
        "refutation": refutation,
        "verified": verify_certificate(certificate),
    }


def closed_form_contacts(selection: Selection) -> tuple[str, ...]:
    """Contacts that take part, have friction, and are not pushed along their normal by a friction that answers to them.

    Beside a bilateral contact with friction, or a friction element at rest, neither ``a_N = A lambda_N + b`` nor a
    critical friction of the contact alone is true.

    Parameters
    ----------
    selection : Selection

    Returns
    -------
    tuple of str
        In the order of the problem.
    """
    from hybrid.contact.sliding import bilateral_beside, held_beside

    problem = selection.problem
    rough = [element.name for element in problem.elements if element.normal is not None and element.tangential]
    return tuple(name for name in rough if not bilateral_beside(problem, name) and not held_beside(problem, name))


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
