"""Certificates stand and fall with exact arithmetic; tampered ones are rejected."""

import copy
import itertools
import json
import time
from fractions import Fraction as F

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from lcp import LCP, LCPError, Status, exact
from tests.lcp.families import FAMILIES, contacts


def inconsistent_contacts(count, *, resting, seed):
    """Problems of resting contacts that have no solution."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        problem = contacts(rng, resting=resting, slipping=1)
        certificate = exact.refute(problem)
        if certificate is not None:
            found.append((problem, certificate))
    return found


CERTIFIED = [
    *inconsistent_contacts(3, resting=1, seed=1),
    *inconsistent_contacts(2, resting=2, seed=2),
    (problem := LCP([[1, -1, 3], [2, -1, 3], [-1, -2, 0]], [-1, -1, -1]), exact.refute(problem)),
]
each_certified = pytest.mark.parametrize(("problem", "certificate"), CERTIFIED)


@each_certified
def test_certificate_survives_json(problem, certificate):
    text = json.dumps(exact.certificate_to_json(certificate))
    again = exact.certificate_from_json(json.loads(text))
    assert again == certificate
    assert exact.verify(problem, again)


@each_certified
def test_certificate_without_one_of_its_leaves_is_rejected(problem, certificate):
    for k in range(len(certificate.refutations)):
        kept = certificate.refutations[:k] + certificate.refutations[k + 1 :]
        assert not exact.verify(problem, exact.NoSolutionCertificate(kept))


@each_certified
def test_certificate_with_any_number_changed_is_rejected(problem, certificate):
    data = exact.certificate_to_json(certificate)
    for k, refutation in enumerate(data["refutations"]):
        places = [("constant", None)] + [
            (field, i) for field in ("multipliers", "combination") for i in range(problem.n)
        ]
        for field, i in places:
            for change in (F(1), F(-1, 1000)):
                changed = copy.deepcopy(data)
                entry = changed["refutations"][k]
                if i is None:
                    entry[field] = str(F(refutation[field]) + change)
                else:
                    entry[field][i] = str(F(refutation[field][i]) + change)
                assert not exact.verify(problem, exact.certificate_from_json(changed))


@each_certified
def test_certificate_that_claims_more_bases_than_it_refutes_is_rejected(problem, certificate):
    for k, refutation in enumerate(certificate.refutations):
        for field in ("zero_w", "zero_z"):
            for i in getattr(refutation, field):
                fewer = tuple(j for j in getattr(refutation, field) if j != i)
                changed = attrs.evolve(refutation, **{field: fewer})
                others = certificate.refutations[:k] + certificate.refutations[k + 1 :]
                tampered = exact.NoSolutionCertificate((*others, changed))
                # dropping a zero is harmless only if the contradiction never used it
                needed = F(refutation.multipliers[i]) < 0 if field == "zero_w" else refutation.combination[i] > 0
                assert exact.verify(problem, tampered) == (not needed)


@each_certified
def test_certificate_of_another_problem_is_rejected(problem, certificate):
    assert not exact.verify(LCP(problem.M, -problem.q), certificate)
    assert not exact.verify(LCP(np.eye(problem.n), problem.q), certificate)
    assert not exact.verify(LCP([[-1.0]], [-1.0]), certificate)


@pytest.mark.parametrize("indices", [(99,), (-1,)])
def test_certificate_with_impossible_indices_is_rejected(indices):
    problem = LCP([[-1.0]], [-1.0])
    (refutation,) = exact.refute(problem).refutations
    for field in ("zero_w", "zero_z"):
        changed = attrs.evolve(refutation, **{field: indices})
        assert not exact.verify(problem, exact.NoSolutionCertificate((changed,)))


def test_empty_certificate_proves_nothing():
    assert not exact.verify(LCP([[-1.0]], [-1.0]), exact.NoSolutionCertificate(()))


@each_certified
def test_every_basis_finds_its_refutation(problem, certificate):
    n = problem.n
    for size in range(n + 1):
        for basis in itertools.combinations(range(n), size):
            refutation = certificate.refutation_of(basis)
            assert refutation.covers(basis)
            solved = exact.basic_solution(problem, basis)
            if solved is not None:
                z, w = solved
                assert min(*z, *w) < 0
                # at the basic solution both sides of the contradiction are equal and negative
                terms = [y * a for y, a in zip(refutation.multipliers, w, strict=True)]
                terms += [-c * a for c, a in zip(refutation.combination, z, strict=True)]
                assert sum(terms) == refutation.constant < 0


def test_basic_solution_of_a_singular_basis_is_none():
    assert exact.basic_solution(LCP(np.ones((2, 2)), [1, 1]), [0, 1]) is None


def test_basic_solution_through_a_zero_pivot():
    z, w = exact.basic_solution(LCP([[0, 1], [1, 0]], [-1, -2]), [0, 1])
    assert (z, w) == ((2, 1), (0, 0))


def test_floats_are_taken_as_the_rationals_they_are():
    # 0.1 + 0.2 > 0.3 in binary: the row 0.1 z + 0.2 z <= 0.3 at z = 1 fails by 5.6e-17
    assert exact.rational(LCP([[0.1]], [0.2])).M[0][0] == F(3602879701896397, 36028797018963968)


def test_thirds_are_exact():
    problem = exact.RationalLCP([[F(1, 3)]], [F(-1, 7)])
    assert exact.find_solution(problem) == (F(3, 7),)
    assert exact.lemke(problem).z == (F(3, 7),)
    assert exact.enumerate_solutions(problem).isolated == ((F(3, 7),),)


@pytest.mark.parametrize("family", FAMILIES)
def test_lemke_in_rational_arithmetic_solves_or_stops_on_a_true_secondary_ray(family):
    rng = np.random.default_rng(8)
    for _ in range(20):
        problem = FAMILIES[family](rng, int(rng.integers(1, 9)))
        rational, solution = exact.rational(problem), exact.lemke(problem)
        w = rational.w(solution.z)
        if solution.status is Status.SOLVED:
            assert min(*solution.z, *w) >= 0
            assert all(a * b == 0 for a, b in zip(solution.z, w, strict=True))
        else:
            assert solution.status is Status.RAY
            assert min(solution.ray) >= 0
            assert any(solution.ray)


def test_refutation_of_twelve_unknowns_takes_well_under_a_second():
    rng, slowest = np.random.default_rng(9), 0.0
    for _ in range(40):
        problem = contacts(rng, resting=4, slipping=0)
        start = time.process_time()
        certificate = exact.refute(problem)
        if certificate is not None:
            assert exact.verify(problem, certificate)
        slowest = max(slowest, time.process_time() - start)
    # measured 0.05 s of the processor, whose clock a busy machine may slow down, but does not stop
    assert slowest < 1.0


entries = st.integers(-3, 3)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n),
            st.lists(entries, min_size=n, max_size=n),
        )
    )
)
def test_either_a_solution_or_a_verified_refutation(data):
    problem = exact.RationalLCP(*data)
    certificate, z = exact.refute(problem), exact.find_solution(problem)
    assert (certificate is None) == (z is not None)
    if z is None:
        assert exact.verify(problem, certificate)
    else:
        w = problem.w(z)
        assert min(*z, *w) >= 0
        assert all(a * b == 0 for a, b in zip(z, w, strict=True))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("constant", float("inf")),
        ("constant", float("nan")),
        ("constant", "1/0"),
        ("multipliers", [float("inf")]),
        ("multipliers", None),
        ("combination", ["x"]),
        ("zero_w", [[0]]),
        ("zero_w", [0.0]),
        ("zero_w", [True]),
        ("zero_z", "0"),
        ("zero_z", [None]),
    ],
)
def test_certificate_with_an_entry_of_another_kind_is_an_error(field, value):
    data = exact.certificate_to_json(exact.refute(LCP([[-1]], [-1])))
    data["refutations"][0][field] = value
    with pytest.raises(LCPError, match="malformed"):
        exact.certificate_from_json(data)


@pytest.mark.parametrize("data", [[], None, 5, "refutations"])
def test_certificate_that_is_no_object_is_an_error(data):
    with pytest.raises(LCPError, match="list of refutations"):
        exact.certificate_from_json(data)


def test_integers_of_numpy_do_not_overflow_into_a_proof():
    # q = 4 is solved by z = 0; 2**61 * 4 wraps around to -2**63
    problem = LCP([[0]], [4])
    wrapped = exact.Refutation((), (), np.array([2**61]), [0], -(2**63))
    assert not exact.verify(problem, exact.NoSolutionCertificate([wrapped]))
    square = exact.RationalLCP(np.array([[2**40]]), np.array([-(2**40)]))
    assert exact.find_solution(square) == (1,)
    assert square.M[0][0] ** 2 == 2**80


@pytest.mark.parametrize("covering", [[float("nan")], [float("inf")], ["a"], [None]])
def test_covering_vector_of_the_exact_method_must_be_rational(covering):
    with pytest.raises(LCPError):
        exact.lemke(LCP([[1]], [-1]), covering=covering)


def test_continua_that_share_their_vertex_are_in_the_order_of_their_rays():
    # a set decided it before, and sets are ordered by hashes that differ from process to process
    for n in range(2, 6):
        found = exact.enumerate_solutions(LCP(np.ones((n, n)) - np.eye(n), np.zeros(n)))
        rays = [piece.rays for piece in found.continua]
        assert len(rays) == n
        assert rays == sorted(rays)
