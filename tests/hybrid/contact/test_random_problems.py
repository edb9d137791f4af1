"""Random contact problems: every mode solved against every solution of the complementarity problem."""

from __future__ import annotations

from fractions import Fraction

import attrs
import numpy as np
import pytest

import lcp
from hybrid.contact import Verdict, contact_forces, select_problem, to_lcp, verify_certificate
from hybrid.contact.modes import ActiveElement, ElementKind
from tests.random_problems import problem_from, random_problem

# Two roads round differently; with condition numbers up to 1e6 in the sample, forces agree to 1e-16 * 1e6 * 100.
SAME_FORCE = 1e-7


def forces_of_all_lcp_solutions(problem):
    """Distinct contact forces among all solutions of the LCP, found by its own enumeration of cones."""
    found = lcp.enumerate_solutions(to_lcp(problem))
    assert found.complete
    points = [*found.isolated, *(vertex for piece in found.continua for vertex in piece.vertices)]
    distinct = []
    for z in points:
        force = contact_forces(problem, z)
        if not any(np.max(np.abs(force - other)) <= SAME_FORCE * (1 + np.max(np.abs(force))) for other in distinct):
            distinct.append(force)
    return distinct


def check_modes_against_lcp(seed, count):
    rng = np.random.default_rng(seed)
    counts = {}
    for _ in range(count):
        problem = random_problem(rng)
        selection = select_problem(problem)
        forces = forces_of_all_lcp_solutions(problem)
        assert selection.verdict is not Verdict.UNDECIDED, selection.notes
        assert selection.count == len(forces)
        for branch in selection.branches:
            acceleration = branch.acceleration
            assert min(np.max(np.abs(problem.acceleration(f) - acceleration)) for f in forces) <= SAME_FORCE * (
                1 + np.max(np.abs(acceleration))
            )
        if selection.verdict is Verdict.INCONSISTENT:
            assert verify_certificate(selection.certificate)
        counts[selection.count] = counts.get(selection.count, 0) + 1
    return counts


def test_number_of_modes_equals_number_of_lcp_solutions():
    counts = check_modes_against_lcp(seed=2013, count=2500)
    assert {0, 1, 2, 3} <= set(counts)  # the sample holds paradoxes of every kind


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_number_of_modes_equals_number_of_lcp_solutions_on_20000_problems(seed):
    check_modes_against_lcp(seed=10_000 + seed, count=2500)


def test_every_branch_satisfies_contact_and_friction_laws():
    """The laws themselves, written here directly from Signorini and Coulomb."""
    rng = np.random.default_rng(1785)
    for _ in range(300):
        problem = random_problem(rng)
        for branch in select_problem(problem).branches:
            for element in problem.elements:
                N, (T,) = branch.lambda_N[element.name], branch.lambda_T[element.name]
                a = branch.contact_acceleration[element.name]
                scale = 1 + abs(N) + abs(a.normal) + abs(a.tangential[0])
                assert -1e-9 * scale <= N and a.normal >= -1e-9 * scale
                assert abs(N * a.normal) <= 1e-7 * scale**2
                assert abs(T) <= element.friction * N + 1e-7 * scale
                if element.direction is not None:
                    assert abs(T + element.direction[0] * element.friction * N) <= 1e-7 * scale
                elif abs(a.tangential[0]) > 1e-7 * scale:
                    assert abs(T + np.sign(a.tangential[0]) * element.friction * N) <= 1e-7 * scale


def one_contact(*, G, c, mu, slip=None):
    element = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), None if slip is None else (slip,), mu, mu)
    return problem_from(np.array(G), np.array(c), [element])


@pytest.mark.parametrize(
    ("A_positive", "b_positive", "verdict"),
    [
        (True, True, Verdict.UNIQUE),
        (True, False, Verdict.UNIQUE),
        (False, True, Verdict.INDETERMINATE),
        (False, False, Verdict.INCONSISTENT),
    ],
)
def test_sliding_contact_follows_the_signs_of_A_and_b(A_positive, b_positive, verdict):
    # A = G_NN - mu G_NT = 1 - mu/2: positive for mu = 1, negative for mu = 3
    problem = one_contact(
        G=[[1.0, 0.5], [0.5, 1.0]], c=[1.0 if b_positive else -1.0, 0.3], mu=1.0 if A_positive else 3.0, slip=1.0
    )
    selection = select_problem(problem)
    assert selection.verdict is verdict
    forces = sorted(branch.lambda_N["tip"] for branch in selection.branches)
    A, b = (0.5 if A_positive else -0.5), (1.0 if b_positive else -1.0)
    expected = sorted(({0.0} if b > 0 else set()) | ({-b / A} if -b / A > 0 else set()))
    np.testing.assert_allclose(forces, expected, rtol=1e-13)


def test_boundary_between_stick_and_slip_is_unique_because_both_modes_give_one_force():
    # free tangential acceleration at the edge of the cone: lambda_N = 1, lambda_T = -mu exactly
    mu = 0.5
    problem = one_contact(G=[[1.0, 0.0], [0.0, 2.0]], c=[-1.0, 2.0 * mu], mu=mu)
    selection = select_problem(problem)
    assert selection.verdict is Verdict.UNIQUE
    labels = {selection.branches[0].mode.label, *(m.label for m in selection.branches[0].equivalent_modes)}
    assert labels == {"stick", "slide+"}


def test_touching_without_force_is_unique_when_A_is_positive():
    problem = one_contact(G=[[1.0, 0.5], [0.5, 1.0]], c=[0.0, 0.3], mu=1.0, slip=1.0)
    assert select_problem(problem).verdict is Verdict.UNIQUE


def test_touching_without_force_is_undecided_when_A_is_negative():
    # a small b > 0 gives two solutions, a small b < 0 none
    problem = one_contact(G=[[1.0, 0.5], [0.5, 1.0]], c=[0.0, 0.3], mu=3.0, slip=1.0)
    selection = select_problem(problem)
    assert selection.verdict is Verdict.UNDECIDED
    assert selection.notes


@pytest.mark.parametrize("b", [1.0, -1.0, 0.0])
def test_singular_sliding_inertia_is_undecided_unless_no_large_force_helps(b):
    # A = 1 - mu/2 = 0 at mu = 2; for b < 0 a slightly larger A admits a huge force; for b > 0 a slightly smaller one
    problem = one_contact(G=[[1.0, 0.5], [0.5, 1.0]], c=[b, 0.3], mu=2.0, slip=1.0)
    assert select_problem(problem).verdict is Verdict.UNDECIDED


def test_vanishing_friction_is_decided_at_rest():
    # mu = 0: lambda_T = 0 and the contact accelerates freely along the surface
    for push in (0.3, -0.3, 0.0):
        selection = select_problem(one_contact(G=[[1.0, 0.2], [0.2, 1.0]], c=[-1.0, push], mu=0.0))
        assert selection.verdict is Verdict.UNIQUE
        assert selection.branches[0].lambda_T["tip"] == (0.0,)
        (a_T,) = selection.branches[0].contact_acceleration["tip"].tangential
        assert a_T == pytest.approx(push + 0.2, abs=1e-15)


def test_inconsistency_next_to_a_redundant_support_is_certified():
    # two equal contacts that slip towards the paradox: A = 1 - 3/2 < 0 for both, b < 0; their equations are singular
    elements = [ActiveElement(f"c{i}", ElementKind.CONTACT, 2 * i, (2 * i + 1,), (1.0,), 3.0, 3.0) for i in range(2)]
    block = np.array([[1.0, 0.5], [0.5, 1.0]])
    selection = select_problem(problem_from(np.kron(np.ones((2, 2)), block), np.array([-1, 0.3, -1, 0.3]), elements))
    assert selection.verdict is Verdict.INCONSISTENT
    assert verify_certificate(selection.certificate)


def test_static_friction_lists_stick_and_slide_at_rest():
    element = ActiveElement("tip", ElementKind.CONTACT, 0, (1,), None, 0.2, 0.6)
    # free tangential acceleration 0.4 lies between the kinetic and the static limit
    problem = problem_from(np.eye(2), np.array([-1.0, 0.4]), [element])
    selection = select_problem(problem)
    assert selection.verdict is Verdict.INDETERMINATE
    assert {branch.mode.label for branch in selection.branches} == {"stick", "slide+"}


@pytest.mark.parametrize(("push", "label"), [(0.4, "stick"), (0.6, "slide+"), (-0.6, "slide-")])
def test_friction_element_sticks_up_to_its_limit_force(push, label):
    element = ActiveElement("seal", ElementKind.ELEMENT, None, (0,), None, 0.5, 0.5)
    problem = problem_from(np.eye(1), np.array([push]), [element])
    selection = select_problem(problem)
    assert selection.verdict is Verdict.UNIQUE
    assert selection.branches[0].mode.label == label
    (acceleration,) = selection.branches[0].contact_acceleration["seal"].tangential
    assert acceleration == pytest.approx(np.sign(push) * max(abs(push) - 0.5, 0), abs=1e-15)


def test_redundant_supports_are_hyperstatic_with_the_segment_of_forces():
    # three equal supports of a weight on a line of zero length: forces sum to 1
    elements = [ActiveElement(f"c{i}", ElementKind.CONTACT, i, (), None, 0.0, 0.0) for i in range(3)]
    problem = problem_from(np.ones((3, 3)), -np.ones(3), elements)
    selection = select_problem(problem)
    assert selection.verdict is Verdict.HYPERSTATIC
    assert selection.force_set.dimension == 2
    vertices = {tuple(np.round(vertex, 9)) for vertex in selection.force_set.vertices}
    assert vertices == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)}


def inconsistent_certificate():
    return select_problem(one_contact(G=[[1.0, 0.5], [0.5, 1.0]], c=[-1.0, 0.3], mu=3.0, slip=1.0)).certificate


def test_certificate_names_every_mode_with_its_violated_inequality():
    certificate = inconsistent_certificate()
    assert verify_certificate(certificate)
    found = {v.mode.label: (v.inequality, v.value) for v in certificate.violations}
    assert found["free"] == ("a_N >= 0", -1.0)
    inequality, value = found["slide+"]
    assert inequality == "lambda_N >= 0"
    assert value == pytest.approx(-2.0, rel=1e-14)  # -b/A = 1/(-0.5)


def test_farkas_vector_proves_the_sliding_inequalities_empty():
    certificate = inconsistent_certificate()
    y = certificate.farkas
    M = [[Fraction(float(x)) for x in row] for row in certificate.problem.M]
    q = [Fraction(float(x)) for x in certificate.problem.q]
    assert all(value >= 0 for value in y)
    assert all(sum(y[i] * M[i][j] for i in range(len(y))) <= 0 for j in range(len(y)))
    assert sum(a * b for a, b in zip(y, q, strict=True)) < 0


def tampered_certificates():
    certificate = inconsistent_certificate()
    refutation = certificate.refutation
    first = refutation.refutations[0]
    violation = certificate.violations[0]
    yield (
        "a refutation is missing",
        attrs.evolve(certificate, refutation=attrs.evolve(refutation, refutations=refutation.refutations[1:])),
    )
    yield (
        "a multiplier is changed",
        attrs.evolve(
            certificate,
            refutation=attrs.evolve(
                refutation,
                refutations=(
                    attrs.evolve(first, multipliers=tuple(2 * y for y in first.multipliers)),
                    *refutation.refutations[1:],
                ),
            ),
        ),
    )
    yield (
        "the problem is changed",
        attrs.evolve(certificate, problem=lcp.LCP(certificate.problem.M, -certificate.problem.q)),
    )
    yield (
        "a violation is overstated",
        attrs.evolve(
            certificate, violations=(attrs.evolve(violation, value=violation.value * 1.01), *certificate.violations[1:])
        ),
    )
    yield (
        "a violation names another basis",
        attrs.evolve(certificate, violations=(attrs.evolve(violation, basis=(0,)), *certificate.violations[1:])),
    )


@pytest.mark.parametrize("name_and_certificate", list(tampered_certificates()), ids=lambda pair: pair[0])
def test_tampered_certificate_is_rejected(name_and_certificate):
    assert not verify_certificate(name_and_certificate[1])


def test_lemke_alone_never_concludes_inconsistency():
    problem = one_contact(G=[[1.0, 0.5], [0.5, 1.0]], c=[-1.0, 0.3], mu=3.0, slip=1.0)
    selection = select_problem(problem, solver="lemke")
    assert selection.verdict is Verdict.UNDECIDED
    assert selection.certificate is None
    assert any("ray" in note for note in selection.notes)


def test_gauss_lemke_and_enumeration_agree_without_friction():
    rng = np.random.default_rng(1829)
    for _ in range(20):
        r = int(rng.integers(1, 5))
        W = rng.normal(size=(r + 1, r))
        elements = [ActiveElement(f"c{i}", ElementKind.CONTACT, i, (), None, 0.0, 0.0) for i in range(r)]
        problem = problem_from(W.T @ W, rng.normal(size=r), elements)
        by_modes = select_problem(problem)
        assert by_modes.verdict is Verdict.UNIQUE
        for solver, tolerance in (("lemke", 1e-10), ("gauss", 1e-5)):  # the interior-point solver stops at 1e-8
            other = select_problem(problem, solver=solver)
            assert other.verdict is Verdict.UNIQUE
            np.testing.assert_allclose(
                other.branches[0].acceleration, by_modes.branches[0].acceleration, atol=tolerance * 10
            )


def integer_problem(rng):
    """Two or three contacts of a body with two or three freedoms, all data integers: redundancy is exact."""
    count, n = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    W = rng.integers(-2, 3, size=(n, 2 * count)).astype(float)
    c = W.T @ rng.integers(-3, 4, size=n)
    elements = []
    for index in range(count):
        side, mu = float(rng.choice([-1, 0, 1])), float(rng.choice([0, 0.25, 0.5, 1, 2]))
        rows = (2 * index, (2 * index + 1,))
        elements.append(ActiveElement(f"c{index}", ElementKind.CONTACT, *rows, (side,) if side else None, mu, mu))
    return problem_from(W.T @ W, c, elements)


def verdict_of_lcp(problem):
    """The verdict from all solutions of the LCP: how many accelerations and how many forces they have."""
    found = lcp.enumerate_solutions(to_lcp(problem))
    assert found.complete
    points = list(found.isolated)
    for piece in found.continua:
        points += [*piece.vertices, *(piece.vertices[0] + ray for ray in piece.rays)]
    forces = [contact_forces(problem, z) for z in points]
    accelerations = [problem.G @ force + problem.c for force in forces]

    def number(values):
        distinct = []
        for value in values:
            if not any(np.max(np.abs(value - other)) <= SAME_FORCE * (1 + np.abs(value).max()) for other in distinct):
                distinct.append(value)
        return len(distinct)

    if not forces:
        return Verdict.INCONSISTENT
    if number(accelerations) > 1:
        return Verdict.INDETERMINATE
    return Verdict.UNIQUE if number(forces) == 1 else Verdict.HYPERSTATIC


def test_redundant_and_degenerate_problems_never_get_a_wrong_verdict():
    rng = np.random.default_rng(1904)
    verdicts = []
    for _ in range(400):
        problem = integer_problem(rng)
        if not np.diag(problem.G).all():
            continue
        selection = select_problem(problem)
        verdicts.append(selection.verdict)
        if selection.verdict is Verdict.UNDECIDED:
            assert selection.notes
        else:
            assert selection.verdict is verdict_of_lcp(problem)
    assert {Verdict.UNIQUE, Verdict.HYPERSTATIC, Verdict.INDETERMINATE, Verdict.INCONSISTENT} <= set(verdicts)
    # ties are common among small integers, but they must not be the way out
    assert verdicts.count(Verdict.UNDECIDED) < 0.25 * len(verdicts)


def test_lemke_claims_uniqueness_only_where_enumeration_finds_one_solution():
    rng = np.random.default_rng(1958)
    claimed = 0
    for _ in range(300):
        problem = random_problem(rng)
        if any(element.is_resting for element in problem.elements):
            continue
        by_lemke = select_problem(problem, solver="lemke")
        if by_lemke.verdict is Verdict.UNIQUE:
            claimed += 1
            assert len(forces_of_all_lcp_solutions(problem)) == 1
    assert claimed > 10
