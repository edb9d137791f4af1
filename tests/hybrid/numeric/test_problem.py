"""States that are given by numbers against the same states of declared mechanisms, and against numbers by hand."""

import attrs
import numpy as np
import pytest

import hybrid
import mechanisms
from hybrid import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact, StateError, derive, solve_state
from hybrid.contact import verify_certificate
from hybrid.numeric import (
    NumericContact,
    NumericFriction,
    NumericState,
    contact_problem,
    resolve,
    resolve_impact,
    select,
)


def numbers_of(dynamics, state):
    """The terms of a declared mechanism at a state, handed over as an engine would."""
    terms = dynamics.terms(state.q, state.v, t=state.t)
    contacts = []
    for k, name in enumerate(dynamics.contacts):
        columns = list(dynamics.columns_of(name))
        rough = {
            "W_T": terms.W_T[:, columns],
            "slip": np.where(np.abs(terms.slip[columns]) < 1e-12, 0.0, terms.slip[columns]),
            "zeta_T": terms.zeta_T[columns],
        }
        contacts.append(
            NumericContact(
                name,
                W_N=terms.W_N[:, k],
                gap=0.0 if abs(terms.gap[k]) < 1e-9 else terms.gap[k],
                gap_dot=0.0 if abs(terms.gap_dot[k]) < 1e-9 else terms.gap_dot[k],
                zeta_N=terms.zeta_N[k],
                friction=terms.friction[k],
                static_friction=terms.static_friction[k],
                restitution=terms.restitution[k],
                damping=terms.damping[k],
                stiffness_ratio=terms.stiffness_ratio[k],
                **(rough if columns else {}),
            )
        )
    elements = [
        NumericFriction(
            name,
            W_T=terms.W_T[:, dynamics.columns[name]][:, 0],
            slip=terms.slip[dynamics.columns[name]][0],
            zeta_T=terms.zeta_T[dynamics.columns[name]][0],
            limit=terms.limit[k],
            static_limit=terms.static_limit[k],
        )
        for k, name in enumerate(dynamics.elements)
    ]
    rigid = {"J": terms.J, "zeta_B": terms.zeta_B} if dynamics.rigid else {}
    return NumericState(terms.M, terms.h, contacts, friction=elements, v=state.v, sides=state.sides, **rigid)


STATES = [
    ("rod_on_incline", {"phi": 2.0, "phi_dot": 1.0, "slip.tip": 1.0}, {"mu": 1.5}),
    ("rod_on_incline", {"phi": 2.0, "phi_dot": 1.5, "slip.tip": 1.0}, {"mu": 1.5}),
    ("rod_on_incline", {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0.0}, {}),
    ("rod_on_incline", {"phi": 2.0, "phi_dot": 1.5, "slip.tip": "-0"}, {"mu": 1.5}),
    ("painleve_rod", {"theta": 1.0, "theta_dot": 0.5, "slip.tip": 1.0}, {"mu": 1.4}),
    (
        "oblique_rod",
        {"psi": 0.3, "theta": 1.1, "psi_dot": 1.2, "theta_dot": -0.7, "slip.tip.1": 0.4, "slip.tip.2": -0.2},
        {},
    ),
    ("oblique_rod", {"psi": 0.3, "theta": 1.1, "psi_dot": 0.4, "theta_dot": 0, "slip.tip.1": 0, "slip.tip.2": 0}, {}),
    ("block_on_incline", {"slip.floor": 0.0}, {}),
    ("coulomb_oscillator", {"x": 0.3, "x_dot": 0.2}, {}),
    ("four_bar", {"theta1": 1.0, "theta1_dot": 0.5}, {}),
    (
        "ladder_in_corner",
        {"theta": 1.2, "gap.floor": 0, "gap.wall": 0, "slip.floor": -0.5, "gap_dot.floor": 0, "gap_dot.wall": 0},
        {},
    ),
]


@pytest.mark.parametrize(("name", "pins", "parameters"), STATES, ids=str)
def test_numbers_give_the_verdict_of_the_declared_mechanism(name, pins, parameters):
    dynamics = derive(mechanisms.load(name)).at(parameters)
    state = solve_state(dynamics, pins)
    declared, numeric = hybrid.select(dynamics, state), select(numbers_of(dynamics, state))
    assert numeric.verdict is declared.verdict
    assert [branch.mode for branch in numeric.branches] == [branch.mode for branch in declared.branches]
    for own, other in zip(numeric.branches, declared.branches, strict=True):
        # two solves of the same well-conditioned equations, of some ten roundings each
        assert own.lambda_N == pytest.approx(other.lambda_N, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(own.acceleration, other.acceleration, rtol=1e-9, atol=1e-9)
    if declared.certificate is not None:
        assert verify_certificate(numeric.certificate)


def test_numbers_have_the_complementarity_problem_of_the_declared_mechanism():
    name, pins, parameters = STATES[-1]
    dynamics = derive(mechanisms.load(name)).at(parameters)
    state = solve_state(dynamics, pins)
    declared = hybrid.to_lcp(hybrid.contact_problem(dynamics, state))
    numeric = hybrid.to_lcp(contact_problem(numbers_of(dynamics, state)))
    # the same well-conditioned products in another order
    np.testing.assert_allclose(numeric.M, declared.M, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(numeric.q, declared.q, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("law", [NewtonImpact(), PoissonImpact(), EnergeticImpact(), KelvinVoigtLimit()])
def test_numbers_give_the_impact_of_the_declared_mechanism(law):
    rod = derive(mechanisms.load("painleve_rod")).at({"mu": 0.7, "e": 0.4})
    state = solve_state(rod, {"theta": 1.1, "theta_dot": 0.5, "slip.tip": 1.0, "gap_dot.tip": -0.8})
    declared, numeric = hybrid.resolve_impact(rod, state, law=law), resolve_impact(numbers_of(rod, state), law=law)
    np.testing.assert_allclose(numeric.v_after, declared.v_after, rtol=1e-12, atol=1e-12)
    assert numeric.energy_change == pytest.approx(declared.energy_change, rel=1e-9)


@pytest.mark.parametrize(
    ("theta_dot", "mu"), [(0.5, 1.4), (4.0, 1.4), (0.5, 0.3)], ids=["inconsistent", "indeterminate", "unique"]
)
def test_numbers_are_resolved_as_the_declared_mechanism(theta_dot, mu):
    rod = derive(mechanisms.load("painleve_rod")).at({"mu": mu})
    state = solve_state(rod, {"theta": 1.0, "theta_dot": theta_dot, "slip.tip": 1.0})
    declared, numeric = hybrid.resolve(rod, state), resolve(numbers_of(rod, state))
    assert numeric.outcome is declared.outcome
    if declared.impact is not None:
        np.testing.assert_allclose(numeric.impact.v_after, declared.impact.v_after, rtol=1e-9, atol=1e-12)


def block(**given):
    """A block of 2 kg on a floor, pushed by 3 N."""
    foot = NumericContact("foot", W_N=[0, 1], W_T=[1, 0], **{"slip": [0.3], "friction": 0.5, **given})
    return NumericState(M=[[2, 0], [0, 2]], h=[3, -19.62], contacts=[foot])


def test_a_sliding_block_by_hand():
    (branch,) = select(block()).branches
    assert branch.lambda_N["foot"] == pytest.approx(19.62, rel=1e-14)
    assert branch.acceleration.tolist() == pytest.approx([(3 - 9.81) / 2, 0.0], rel=1e-14)


def test_a_block_at_rest_is_held_below_its_friction():
    (branch,) = select(block(slip=[0.0])).branches
    assert branch.mode.label == "stick"
    assert branch.lambda_T["foot"] == pytest.approx((-3.0,))


def test_an_open_contact_takes_no_part():
    (branch,) = select(block(gap=0.1)).branches
    assert branch.mode.label == "free"
    assert branch.acceleration.tolist() == pytest.approx([1.5, -9.81])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gap": -1e-3}, "contact 'foot' penetrates"),
        ({"gap_dot": -1e-3}, "approaches"),
        ({"friction": -0.1}, "foot.friction is negative"),
        ({"friction": np.nan}, "foot.friction is not finite"),
        ({"slip": None}, "foot.slip is needed where W_T is given"),
        ({"slip": [0.1, 0.2]}, r"foot.slip must have shape \(..., 1\)"),
        ({"W_T": [1, 0, 0]}, r"foot.W_T must have shape \(..., 2, 1\)"),
        ({"W_T": np.ones((1, 3))}, r"foot.W_T must have shape \(..., 2, 2\), got \(1, 3\)"),
        ({"static_friction": 0.4}, "static_friction is below friction"),
    ],
)
def test_wrong_contacts_are_refused_by_field(given, message):
    with pytest.raises(StateError, match=message):
        select(block(**given)) if "W_T" not in given else NumericState(
            M=np.eye(2), h=[0, 0], contacts=[NumericContact("foot", W_N=[0, 1], slip=[0.1], **given)]
        )


@pytest.mark.parametrize(
    ("M", "message"),
    [
        ([[1.0, 0.5], [0.0, 1.0]], "M is not symmetric"),
        ([[1.0, 1.0], [1.0, 1.0]], "the mass matrix M is singular"),
        ([[1.0, 0.0], [0.0, -1.0]], "the mass matrix M is not positive definite"),
        ([1.0, 2.0], "M must have shape"),
    ],
)
def test_wrong_masses_are_refused(M, message):
    with pytest.raises(StateError, match=message):
        select(NumericState(M=M, h=[0.0, 0.0]))


def test_names_must_differ_and_constraints_must_agree():
    contact = NumericContact("foot", W_N=[1.0])
    with pytest.raises(StateError, match="name of two contacts"):
        NumericState(M=[[1.0]], h=[0.0], contacts=[contact, contact])
    with pytest.raises(hybrid.ComputationError, match="contradict"):
        contact_problem(NumericState(M=[[1.0]], h=[0.0], J=[[1.0], [1.0]], zeta_B=[0.0, 1.0]))
    with pytest.raises(StateError, match="frame 1 and 1 more"):
        NumericState(M=np.eye(1), h=np.array([[0.0], [np.nan], [np.inf]]))


def test_a_box_on_four_corners_is_hyperstatic():
    # a cube of side 2 and mass 1 whose four lower corners press without friction: each bears any share of the weight
    corners = [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    contacts = [NumericContact(f"corner {k}", W_N=[1.0, y, -x]) for k, (x, y) in enumerate(corners)]
    found = select(NumericState(M=np.diag([1.0, 2 / 3, 2 / 3]), h=[-9.81, 0.0, 0.0], contacts=contacts))
    assert found.verdict is hybrid.Verdict.HYPERSTATIC
    assert sum(found.branches[0].lambda_N.values()) == pytest.approx(9.81)
    np.testing.assert_allclose(found.branches[0].acceleration, 0.0, atol=1e-12)


def test_frozen_values_are_copied():
    W = np.array([1.0])
    contact = NumericContact("foot", W_N=W)
    W[0] = 2.0
    assert contact.W_N[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        contact.W_N[0] = 3.0
    assert attrs.evolve(contact, name="toe").W_N[0] == 1.0


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e155, 1e300])
def test_a_slip_in_space_counts_by_its_direction_alone(size):
    # its squares are zero or infinite; by the law, a_N = (G_NN + G_NT . lambda_T/lambda_N) lambda_N + b
    def found(slip, friction):
        contact = NumericContact(
            "tip", W_N=[0, 1, 0.42], zeta_N=0.9, W_T=[[1, 0], [0, 0], [0.91, 0.01]], zeta_T=[-0.4, 0],
            slip=slip, friction=friction,
        )  # fmt: skip
        return select(NumericState(M=np.diag([1, 1, 1 / 3]), h=[0, -1, 0], contacts=(contact,)))

    A, b = 1 + 3 * 0.42**2 - 1.5 * 3 * 0.42 * (0.6 * 0.91 + 0.8 * 0.01), -0.1
    (branch,) = found([0.6 * size, 0.8 * size], 1.5).branches
    assert branch.lambda_N["tip"] == pytest.approx(-b / A, rel=1e-12)
    assert branch.lambda_T["tip"] == pytest.approx([-1.5 * 0.6 * -b / A, -1.5 * 0.8 * -b / A], rel=1e-12)
    assert found([size, 0.0], 1.5).verdict.name == "INCONSISTENT"  # 1 + 3*0.42**2 < 1.5*3*0.42*0.91, and b < 0
