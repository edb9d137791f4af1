"""Certificates of inconsistency: what is not a list of true violations of this state's modes is refused."""

from fractions import Fraction

import attrs
import numpy as np
import pytest

import lcp
import lcp.exact
import mechanisms
from hybrid import Constraint, Contact, EquationDynamics, Mechanism, State, derive, select, solve_state
from hybrid.contact import (
    Mode,
    ModeCertificate,
    ModeRefutation,
    Violation,
    contact_problem,
    select_problem,
    verify_certificate,
)
from hybrid.contact.mode_certificate import exact_numbers
from hybrid.contact.modes import ActiveElement, ElementKind
from tests.random_problems import problem_from

VALUES = {"mu": 1.5}


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


def decided(rod, phi):
    return select(
        rod, solve_state(rod, {"phi": phi, "phi_dot": 0, "slip.tip": "+0"}, parameters=VALUES), parameters=VALUES
    )


def test_a_certificate_belongs_to_the_problem_of_its_state(rod):
    first, second = decided(rod, 2.0), decided(rod, 2.01)
    assert verify_certificate(first.certificate)
    assert verify_certificate(first.certificate, first.problem)
    assert verify_certificate(second.certificate, second.problem)
    assert not verify_certificate(first.certificate, second.problem)
    moved = attrs.evolve(
        first.certificate, problem=second.certificate.problem, refutation=second.certificate.refutation
    )
    assert not verify_certificate(moved)


def tampered(certificate):
    first, second = certificate.violations
    other = lcp.LCP([[-1.0]], [-1.0])
    (refutation,) = certificate.refutation.refutations

    def table(*violations):
        return attrs.evolve(certificate, violations=violations)

    def changed(**changes):
        return table(attrs.evolve(first, **changes), second)

    def refuted(*refutations):
        return attrs.evolve(certificate, refutation=attrs.evolve(certificate.refutation, refutations=refutations))

    yield "no violations", table()
    yield "one violation", table(first)
    yield "one violation twice", table(first, first)
    yield "three violations", table(first, second, second)
    yield "violations in the other order", table(second, first)
    yield "modes swapped", table(attrs.evolve(first, mode=second.mode), attrs.evolve(second, mode=first.mode))
    yield "values swapped", table(attrs.evolve(first, value=second.value), attrs.evolve(second, value=first.value))
    yield "value doubled", changed(value=2 * first.value)
    yield "value positive", changed(value=-first.value)
    yield "value not a number", changed(value=float("nan"))
    yield "no variable", changed(variable="", value=-77.0)
    yield "no variable and no contact", changed(contact="", inequality="", variable="", value=-77.0)
    yield "no such contact", changed(contact="nonsense")
    yield "no such inequality", changed(inequality="mu > 7")
    yield "an inequality of the other mode", changed(inequality=second.inequality)
    yield "another variable", changed(variable="w" if first.variable == "z" else "z")
    yield "another index", changed(index=1)
    yield "another basis", changed(basis=second.basis)
    yield "another problem", attrs.evolve(certificate, problem=other, refutation=lcp.exact.refute(other))
    yield (
        "another problem without violations",
        attrs.evolve(certificate, problem=other, refutation=lcp.exact.refute(other), violations=()),
    )
    yield "q of another sign", attrs.evolve(certificate, problem=lcp.LCP(certificate.problem.M, -certificate.problem.q))
    yield "M of another sign", attrs.evolve(certificate, problem=lcp.LCP(-certificate.problem.M, certificate.problem.q))
    yield "no refutation", refuted()
    yield "multipliers of zero", refuted(attrs.evolve(refutation, multipliers=[Fraction(0)] * certificate.problem.n))


def test_a_tampered_certificate_is_refused(rod):
    accepted = [what for what, changed in tampered(decided(rod, 2.0).certificate) if verify_certificate(changed)]
    assert accepted == []


def test_the_violation_of_a_mode_without_forces_is_that_of_its_refutation():
    # a coordinate that is driven, x = t^2/2, against a stop that does not give way: no force changes that
    mechanism = Mechanism(
        name="drive",
        coordinates=["x"],
        dynamics=EquationDynamics(mass_matrix=[[2]], forces=[0]),
        constraint=[Constraint(name="drive", equation="x - t**2/2")],
        contact=[Contact(name="stop", gap="-x")],
    )
    certificate = select(derive(mechanism), State([0.0], [0.0])).certificate
    free, closed = certificate.violations
    assert (free.contact, free.inequality, free.value) == ("stop", "a_N >= 0", -1.0)
    assert (closed.contact, closed.inequality) == ("", "the conditions of the mode have a solution")
    assert closed.value == -1.0  # 1 * (a_N = -1), the multiplier of length one
    np.testing.assert_array_equal(certificate.problem.M, [[0.0]])
    for changes in ({"value": -0.5}, {"inequality": "nonsense"}, {"contact": "stop"}, {"index": 1}):
        assert not verify_certificate(attrs.evolve(certificate, violations=(free, attrs.evolve(closed, **changes))))


def paradox_beside_a_seal(b=-1.0):
    """One contact that slips towards the paradox (A = 1 - 3/2, b < 0) beside a seal that holds better at rest."""
    tip = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), (1.0,), 3.0, 3.0)
    seal = ActiveElement("seal", ElementKind.ELEMENT, None, (2,), None, 0.5, 0.7)
    G = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return problem_from(G, np.array([b, 0.3, 0.3]), [tip, seal])


def test_a_tampered_certificate_of_modes_is_refused():
    found, other = select_problem(paradox_beside_a_seal()), select_problem(paradox_beside_a_seal(-2.0))
    certificate = found.certificate
    assert verify_certificate(certificate, found.problem)
    assert not verify_certificate(certificate, other.problem)
    first, second, *rest = certificate.violations
    assert (first.contact, second.contact) == ("tip", "tip")

    def table(*violations):
        return attrs.evolve(certificate, violations=violations)

    constant = certificate.refutations[0].constant
    multipliers = (*certificate.refutations[0].equations, *certificate.refutations[0].inequalities)
    masses = attrs.evolve(found.problem, terms=attrs.evolve(found.problem.terms, M=2 * found.problem.terms.M))
    changed = [
        table(),
        table(first, first, *rest),
        table(second, first, *rest),
        table(first, second, *rest, second),
        *(
            table(attrs.evolve(first, **changes), second, *rest)
            for changes in (
                {"value": 2 * first.value},
                {"value": -first.value},
                {"value": float("nan")},
                {"contact": "nonsense"},
                {"inequality": "mu > 7"},
                {"contact": "", "inequality": "", "value": -77.0},
                {"contact": "seal"},
                {"inequality": "lambda_N >= 0"},  # of the tip when it presses
                {"inequality": "", "contact": ""},
                {"value": None},
                {"mode": second.mode},
                {"mode": Mode({**first.mode, "nonsense": "free"})},
                {"variable": "z"},
                {"index": 1},
                {"basis": (0,)},
                {  # the words are kept for modes whose equations have no solution, or several
                    "contact": "",
                    "inequality": "the conditions of the mode have a solution",
                    "value": float(constant / sum(map(abs, multipliers))),
                },
            )
        ),
        attrs.evolve(certificate, problem=masses, refutations=()),
        attrs.evolve(certificate, problem=other.problem),
        attrs.evolve(certificate, refutations=certificate.refutations[1:]),
    ]
    assert [index for index, item in enumerate(changed) if verify_certificate(item)] == []
    assert not verify_certificate(certificate, masses)


def stop_beside_a_seal():
    """A drive without mobility that wants through a stop, beside a seal at rest: with the stop closed, no solution."""
    stop = ActiveElement("stop", ElementKind.CONTACT, 0, (), None, 0.0, 0.0)
    seal = ActiveElement("seal", ElementKind.ELEMENT, None, (1,), None, 0.5, 0.7)
    return problem_from(np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([-1.0, 0.3]), [stop, seal])


def test_modes_without_a_solution_are_refused_by_the_constant_of_their_refutation_alone():
    problem = stop_beside_a_seal()
    certificate = select_problem(problem).certificate
    assert verify_certificate(certificate, problem)
    words = "the conditions of the mode have a solution"
    open_, closed = certificate.violations[:3], certificate.violations[3:]
    # a_N = -1 whatever the forces: the stop's own inequality if it is free. Closed, the seal sticks and 1 * (a_N = -1)
    # is left, or slips against its own acceleration: (0.3 - 0.5)/2 and -(0.3 + 0.5)/2, the sums of two multipliers of 1
    assert {(item.contact, item.inequality, item.value) for item in open_} == {("stop", "a_N >= 0", -1.0)}
    assert {(item.contact, item.inequality) for item in closed} == {("", words)}
    assert [item.value for item in closed] == pytest.approx([-1.0, -0.1, -0.4], rel=1e-15)
    for changes in (
        {"value": -0.5},
        {"value": float("nan")},
        {"inequality": "nonsense"},
        {"contact": "stop"},
        {"contact": "stop", "inequality": "lambda_N >= 0"},
        {"mode": certificate.violations[-1].mode},
    ):
        tampered = attrs.evolve(closed[0], **changes)
        assert not verify_certificate(attrs.evolve(certificate, violations=(*open_, tampered, *closed[1:])))


def test_contacts_without_friction_are_called_by_their_accelerations():
    # beside the paradox a plate at rest without friction, pushed to the left (a_T = -2, nothing couples)
    tip = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), (1.0,), 3.0, 3.0)
    seal = ActiveElement("seal", ElementKind.ELEMENT, None, (2,), None, 0.5, 0.7)
    plate = ActiveElement("plate", ElementKind.ELEMENT, None, (3,), None, 0.0, 0.0)
    G = np.eye(4)
    G[0, 1] = G[1, 0] = 0.5
    certificate = select_problem(problem_from(G, np.array([-1.0, 0.3, 0.3, -2.0]), [tip, seal, plate])).certificate
    assert verify_certificate(certificate)
    assert {item.mode["plate"].value for item in certificate.violations} == {"slide-"}
    for label in ("slide+", "stick", "closed", "free"):

        def called(item, label=label):
            return attrs.evolve(item, mode=Mode({**item.mode, "plate": label}))

        (first, *violations), (other, *refutations) = certificate.violations, certificate.refutations
        tampered = attrs.evolve(
            certificate, violations=(called(first), *violations), refutations=(called(other), *refutations)
        )
        assert not verify_certificate(tampered)


def test_a_complementarity_problem_is_no_proof_where_a_contact_holds_better_than_it_slides():
    # at rest it can stick: a = 0 with lambda_N = 23/15, lambda_T = -16/15; the proof is of the same numbers in slip
    held = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), None, 3.0, 5.0)
    slipping = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), (1.0,), 3.0, 3.0)
    G, c = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([-1.0, 0.3])
    certificate = select_problem(problem_from(G, c, [slipping])).certificate
    assert verify_certificate(certificate)
    posed = problem_from(G, c, [held])
    assert select_problem(posed).verdict.name != "INCONSISTENT"
    assert not verify_certificate(attrs.evolve(certificate, posed=posed))


def test_modes_of_a_circular_cone_are_not_refuted_by_those_that_are_linear():
    # pressed and pulled along: it slides, which is no mode of linear conditions; free and stick alone are refuted
    tip = ActiveElement("tip", ElementKind.CONTACT, 0, (1, 2), None, 0.5, 0.5)
    problem = problem_from(np.eye(3), np.array([-1.0, 3.0, 0.0]), [tip])
    assert select_problem(problem).verdict.name == "UNIQUE"
    free = ModeRefutation({"tip": "free"}, (1, 0, 0), (1,), -1)
    violations = (Violation(Mode({"tip": "free"}), "tip", "a_N >= 0", -1.0, (), "", 0),)
    assert not verify_certificate(ModeCertificate(violations, problem, (free,)))


def test_the_exact_numbers_of_a_problem_have_the_rank_of_its_directions():
    numbers = [f"p{i}{j}" for i in range(4) for j in range(2)] + ["fx", "fy"]
    mechanism = Mechanism(
        name="point",
        coordinates=["x", "y"],
        parameters=dict.fromkeys(numbers, 1.0),
        dynamics=EquationDynamics(mass_matrix=[["1.3", 0], [0, "1.3"]], forces=["fx", "fy"]),
        contact=[Contact(name=f"c{i}", gap=f"p{i}0*x + p{i}1*y") for i in range(4)],
    )
    dynamics, rng = derive(mechanism), np.random.default_rng(3)
    for _ in range(20):
        values = dict(zip(numbers, rng.normal(size=10), strict=True))
        problem = contact_problem(dynamics, State([0, 0], [0, 0]), parameters=values)
        G, c = exact_numbers(problem)
        rows = [[*line, value] for line, value in zip(G, c, strict=True)]
        for k in range(2):  # elimination in fractions leaves nothing of the last two rows
            place = next(i for i in range(k, 4) if rows[i][k])
            rows[k], rows[place] = rows[place], rows[k]
            rows[k + 1 :] = [
                [x - line[k] / rows[k][k] * y for x, y in zip(line, rows[k], strict=True)] for line in rows[k + 1 :]
            ]
        assert not any(any(line) for line in rows[2:])
        np.testing.assert_allclose(np.array(G, dtype=float), problem.G, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.array(c, dtype=float), problem.c, rtol=1e-9, atol=1e-12)
