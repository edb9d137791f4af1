"""Certificates of inconsistency: what is not a list of true violations of this state's modes is refused."""

from fractions import Fraction

import attrs
import numpy as np
import pytest

import lcp
import lcp.exact
import mechanisms
from hybrid import Constraint, Contact, EquationDynamics, Mechanism, State, derive, select, solve_state
from hybrid.contact import verify_certificate

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
