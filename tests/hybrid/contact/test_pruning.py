"""Modes of many force elements, left by a search: against all modes solved, exact arithmetic, and the LCP."""

from fractions import Fraction

import attrs
import numpy as np
import pytest

import lcp
from hybrid.contact import TreeCertificate, Verdict, contact_forces, select_problem, to_lcp, verify_certificate
from hybrid.contact.candidates import all_candidates
from hybrid.contact.conditions import problem_scale
from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.contact.pruning import search, search_modes
from hybrid.tolerances import Tolerances
from tests.campaigns.exact_modes import Part, solve
from tests.random_problems import problem_from, random_problem

# Two roads round differently; with condition numbers up to 1e6 in the sample, they agree to 1e-16 * 1e6 * 100.
SAME = 1e-7


def contact(index, mu, *, slip=None, static=None):
    rows = 2 * index, (2 * index + 1,)
    return ActiveElement(f"c{index}", ElementKind.CONTACT, *rows, slip, mu, mu if static is None else static)


def resting(rng, count, freedom=None):
    """Planar contacts at rest, friction up to 3 (up to 1 where directions depend on each other)."""
    directions = rng.normal(size=(2 * count + 1 if freedom is None else freedom, 2 * count))
    free = rng.normal(size=2 * count) if freedom is None else directions.T @ rng.normal(size=freedom)
    mus = rng.uniform(0, 3 if freedom is None else 1, size=count)
    return problem_from(directions.T @ directions, free, [contact(k, float(mu)) for k, mu in enumerate(mus)])


def feet(count, *, push=0.1, weight=10.0, mu=0.5):
    """A body of unit mass and inertia on a level floor, its feet below the centre of mass by 1 and between -1 and 1."""
    places = np.linspace(-1, 1, count)
    directions = np.array([line for x in places for line in ((0.0, 1.0, x), (1.0, 0.0, 1.0))]).T
    free = directions.T @ np.array([push, -weight, 0.0])
    return problem_from(directions.T @ directions, free, [contact(k, mu) for k in range(count)])


def exact(problem):
    """All solutions in rational numbers, of the laws alone."""
    kinds = {ElementKind.CONTACT: "contact", ElementKind.ELEMENT: "element", ElementKind.BILATERAL: "rail"}
    parts = [
        Part(
            kinds[element.kind],
            element.rows,
            None if element.direction is None else tuple(map(Fraction, element.direction)),
            Fraction(element.friction),
            Fraction(element.static_friction),
        )
        for element in problem.elements
    ]
    G = [[Fraction(float(value)) for value in line] for line in problem.G]
    return solve(G, [Fraction(float(value)) for value in problem.c], parts, reported=range(problem.n_rows))


def integer_problem(rng, freedom):
    """Four parts of every planar kind on a body of few freedoms, all data small integers and their halves."""
    W, elements = [], []
    for index in range(4):
        kind = rng.choice(["rest", "slip", "static", "element", "rail"], p=[0.35, 0.35, 0.1, 0.1, 0.1])
        mu, at = float(rng.choice([0.5, 1, 2, 3])), len(W)
        W += list(rng.integers(-3, 4, size=(1 if kind == "element" else 2, freedom)).astype(float))
        slip = (float(rng.choice([-1, 1])),) if kind == "slip" else None
        static = mu + 0.5 if kind == "static" else mu
        row = (at,) if kind == "element" else (at + 1,)
        known = {"element": ElementKind.ELEMENT, "rail": ElementKind.BILATERAL}.get(kind, ElementKind.CONTACT)
        elements.append(ActiveElement(f"e{index}", known, None if kind == "element" else at, row, slip, mu, static))
    W = np.array(W)
    return problem_from(W @ W.T, W @ rng.integers(-4, 5, size=freedom), elements)


def check_exactly(seed, count):
    rng, verdicts = np.random.default_rng(seed), []
    while len(verdicts) < count:
        problem = integer_problem(rng, int(rng.integers(3, 6)))
        if not np.diag(problem.G).all():
            continue
        found, truth = select_problem(problem), exact(problem)
        verdicts.append(found.verdict)
        if found.verdict is Verdict.UNDECIDED:
            assert found.notes
            continue
        assert found.verdict.name == truth.verdict
        if found.verdict is Verdict.INCONSISTENT:
            assert verify_certificate(found.certificate, problem)
        if truth.is_continuum:
            continue
        assert found.count == len(truth.accelerations)
        for expected in truth.accelerations:
            a = np.array([float(value) for value in expected])
            size = 1 + np.max(np.abs(a))
            own = [problem.G @ forces_of(problem, branch) + problem.c for branch in found.branches]
            assert min(np.max(np.abs(item - a)) for item in own) <= SAME * size
    return verdicts


def forces_of(problem, branch):
    forces = np.zeros(problem.n_rows)
    for element in problem.elements:
        if element.normal is not None:
            forces[element.normal] = branch.lambda_N[element.name]
        forces[list(element.tangential)] = branch.lambda_T[element.name]
    return forces


def test_four_parts_of_every_kind_against_every_mode_in_rational_numbers():
    assert len(set(check_exactly(seed=1781, count=12)) - {Verdict.UNDECIDED}) >= 2


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_four_parts_of_every_kind_against_every_mode_on_many_problems(seed):
    verdicts = check_exactly(seed=1900 + seed, count=100)
    assert {Verdict.UNIQUE, Verdict.HYPERSTATIC, Verdict.INDETERMINATE, Verdict.INCONSISTENT} <= set(verdicts)
    # ties are common among small integers, but they must not be the way out
    assert verdicts.count(Verdict.UNDECIDED) < 0.35 * len(verdicts)


def compare(problem):
    """The verdict with a search and with every mode solved: the second has no pruning to be wrong."""
    return select_problem(problem), select_problem(
        problem, candidates=all_candidates(problem, problem_scale(problem), Tolerances())
    )


@pytest.mark.parametrize("freedom", [None, 3, 6])
def test_four_contacts_at_rest_as_with_every_mode_solved(freedom):
    rng = np.random.default_rng(1834)
    for _ in range(5):
        problem = resting(rng, 4, freedom)
        found, full = compare(problem)
        assert found.verdict is full.verdict is not Verdict.UNDECIDED
        assert {branch.mode for branch in found.branches} == {branch.mode for branch in full.branches}
        assert found.margin > 0


def test_a_search_leaves_a_small_part_of_the_modes():
    for seed in range(5):
        assert len(search_modes(resting(np.random.default_rng(seed), 6), Tolerances()).modes) <= 8  # of 4096


def check_against_lcp(problem):
    """The number of accelerations, and each of them, by the LCP's own enumeration of complementary cones."""
    selection, posed = select_problem(problem), to_lcp(problem)
    if selection.verdict is Verdict.UNDECIDED:
        assert selection.notes
        return selection
    found = lcp.enumerate_solutions(posed, max_n=posed.n)
    points = [*found.isolated, *(vertex for piece in found.continua for vertex in piece.vertices)]
    distinct = []
    for a in (problem.G @ contact_forces(problem, z) + problem.c for z in points):
        if not any(np.max(np.abs(a - other)) <= SAME * (1 + np.max(np.abs(a))) for other in distinct):
            distinct.append(a)
    assert selection.count == len(distinct)
    for branch in selection.branches:
        own = problem.G @ forces_of(problem, branch) + problem.c
        assert min(np.max(np.abs(own - a)) for a in distinct) <= SAME * (1 + np.max(np.abs(own)))
    if selection.verdict is Verdict.INCONSISTENT:
        assert verify_certificate(selection.certificate, problem)
    return selection


@pytest.mark.parametrize("seed", range(4))
def test_ten_contacts_against_all_solutions_of_the_lcp(seed):
    check_against_lcp(random_problem(np.random.default_rng(seed), n_contacts=10))
    check_against_lcp(resting(np.random.default_rng(seed), 8))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100))
def test_a_hundred_problems_of_ten_contacts_against_all_solutions_of_the_lcp(seed):
    rng = np.random.default_rng(seed)
    selection = check_against_lcp(random_problem(rng, n_contacts=10) if seed % 2 else resting(rng, 10))
    assert selection.verdict is not Verdict.UNDECIDED


def beside(blocks):
    """Contacts that know nothing of each other: slip towards the right, and free accelerations of which one presses."""
    G, c = np.zeros((2 * len(blocks), 2 * len(blocks))), []
    for k, (coupling, free) in enumerate(blocks):
        G[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[1.0, coupling], [coupling, 1.0]]
        c += free
    return G, np.array(c)


@pytest.mark.parametrize(("off", "verdict"), [(0.0, "UNDECIDED"), (1e-12, "UNDECIDED"), (-1e-11, "UNDECIDED")])
def test_a_mode_next_to_singular_keeps_its_doubt_among_many(off, verdict):
    # A = 1 - 2 (0.5 + off) of the slipping one, which presses: next to A = 0 a huge force may do what none does
    blocks = [(0.5 + off, [-1.0, 0.3])] + [(0.1, [-1.0, 0.05])] * 4
    elements = [contact(0, 2.0, slip=(1.0,)), *(contact(k, 0.8) for k in range(1, 5))]
    found = select_problem(problem_from(*beside(blocks), elements))
    assert found.verdict.name == verdict
    assert any("singular" in note for note in found.notes)


def light(off, root):
    """The same with masses of condition 4/root^2, all of them known exactly: M = L L^T."""
    blocks = [(0.5 + off, [-1.0, 0.3])] + [(0.1, [-1.0, 0.05])] * 4
    elements = [contact(0, 2.0, slip=(1.0,)), *(contact(k, 0.8) for k in range(1, 5))]
    problem = problem_from(*beside(blocks), elements)
    L = np.eye(problem.n_rows)
    L[1, :2] = 1.0, root
    terms = attrs.evolve(problem.terms, M=L @ L.T)
    return attrs.evolve(problem, terms=terms, W=L @ problem.W, response_W=np.linalg.solve(L.T, problem.W))


def sliding_factor(problem, last_places):
    """A = G_NN - 2 G_NT of the first contact in rational numbers, with so many last places more of one mass."""
    (a, b), (_, d) = [[Fraction(float(x)) for x in row[:2]] for row in problem.terms.M[:2]]
    d += last_places * Fraction(np.spacing(float(d)))
    (n0, t0), (n1, t1) = [[Fraction(float(x)) for x in row[:2]] for row in problem.W[:2]]
    drag0, drag1 = n0 - 2 * t0, n1 - 2 * t1
    return (n0 * (d * drag0 - b * drag1) + n1 * (a * drag1 - b * drag0)) / (a * d - b * b)


def test_a_sign_that_rounding_of_the_masses_decides_refutes_no_mode_of_many():
    problem = light(4e-9, 2.0**-14)
    # one last place of a mass turns the sign of the factor, on which the verdict hangs
    assert {sliding_factor(problem, places) > 0 for places in (-1, 0, 1)} == {True, False}
    found = select_problem(problem)
    assert found.verdict is Verdict.UNDECIDED
    assert any("singular" in note for note in found.notes)


def test_a_paradox_beside_contacts_that_rest_is_certified_by_a_tree():
    # A = 1 - 3/2 < 0 and b < 0, whatever the others do
    blocks = [(0.5, [-1.0, 0.3])] + [(0.1, [-1.0, 0.05])] * 4
    elements = [contact(0, 3.0, slip=(1.0,)), *(contact(k, 0.8) for k in range(1, 5))]
    problem = problem_from(*beside(blocks), elements)
    found = select_problem(problem)
    assert found.verdict is Verdict.INCONSISTENT
    assert isinstance(found.certificate, TreeCertificate)
    assert verify_certificate(found.certificate, problem)


@pytest.fixture(scope="module")
def certificate():
    seeds = (random_problem(np.random.default_rng(seed), n_contacts=10) for seed in range(6, 100))
    found = (select_problem(problem) for problem in seeds)
    return next(item.certificate for item in found if item.certificate is not None and item.certificate.n_parts > 9)


def with_leaf(node, change):
    """A tree whose first leaf is changed."""
    if not node.children:
        return change(node)
    return attrs.evolve(node, children=(with_leaf(node.children[0], change), *node.children[1:]))


def tampered(certificate):
    root = certificate.root

    def leaf(change):
        return attrs.evolve(certificate, root=with_leaf(root, change))

    def scaled(values, factor):
        return tuple(factor * value for value in values)

    yield "a child is missing", attrs.evolve(certificate, root=attrs.evolve(root, children=root.children[1:]))
    yield "no children", attrs.evolve(certificate, root=attrs.evolve(root, children=()))
    yield "a child twice", attrs.evolve(certificate, root=attrs.evolve(root, children=(root.children[0],) * 2))
    yield "the root is a part", attrs.evolve(certificate, root=root.children[0])
    yield "no multipliers", leaf(lambda node: attrs.evolve(node, equations=(), inequalities=()))
    yield (
        "multipliers of zero",
        leaf(
            lambda node: attrs.evolve(
                node, equations=scaled(node.equations, 0), inequalities=scaled(node.inequalities, 0)
            )
        ),
    )
    yield (
        "of the other sign",
        leaf(
            lambda node: attrs.evolve(
                node, equations=scaled(node.equations, -1), inequalities=scaled(node.inequalities, -1)
            )
        ),
    )
    yield (
        "a multiplier is changed",
        leaf(lambda node: attrs.evolve(node, inequalities=(node.inequalities[0] + 1, *node.inequalities[1:]))),
    )
    yield "a leaf of other modes", leaf(lambda node: attrs.evolve(node, places=root.places))
    yield "modes that are none", leaf(lambda node: attrs.evolve(node, places=((7,), *node.places[1:])))
    yield "no modes", leaf(lambda node: attrs.evolve(node, places=((), *node.places[1:])))
    pushed = attrs.evolve(certificate.problem, c=certificate.problem.c + 100.0)
    yield "another problem", attrs.evolve(certificate, problem=pushed)


def test_a_tampered_tree_is_refused(certificate):
    assert verify_certificate(certificate)
    assert [what for what, changed in tampered(certificate) if verify_certificate(changed)] == []
    other = random_problem(np.random.default_rng(5), n_contacts=10)
    assert not verify_certificate(certificate, other)


def test_every_leaf_of_a_tree_tells_its_modes_and_its_multipliers(certificate):
    rows = certificate.as_rows()
    assert len(rows) == certificate.n_parts
    assert all(set(row["modes"]) == set(certificate.problem.names) for row in rows)
    assert all(Fraction(value) >= 0 for row in rows for value in row["inequalities"])


@pytest.mark.parametrize("count", [4, 6, 9])
def test_a_body_at_rest_on_many_feet_is_hyperstatic(count):
    # 0.1 is held by friction of 5; three equations of equilibrium leave 2 k - 3 of the forces open
    problem = feet(count)
    found = select_problem(problem)
    assert found.verdict is Verdict.HYPERSTATIC
    (branch,) = found.branches
    a = problem.G @ forces_of(problem, branch) + problem.c
    assert np.max(np.abs(a)) < 1e-11  # rounding of sums of up to 18 terms, each up to some hundred
    assert set(branch.mode.values()) == {"stick"}
    assert branch.force_set.dimension == 2 * count - 3
    total = branch.force_set.vertices.reshape(-1, count, 2).sum(axis=1)
    np.testing.assert_allclose(total, np.tile([10.0, -0.1], (len(total), 1)), atol=1e-8)  # the sets' own rounding


def test_a_body_that_is_pushed_over_its_last_foot_turns_about_it():
    # push 6 at height 1 with weight 10 on feet up to 1: friction 0.8 * 10 holds, and 6 * 1 < 10 * 1 does not tip it;
    # a push of 12 with friction of 2 tips it: about the last foot the moment is 12 - 10, the inertia 1 + 1 + 1
    assert select_problem(feet(5, push=6.0, mu=0.8)).verdict is Verdict.HYPERSTATIC
    problem = feet(5, push=12.0, mu=2.0)
    found = select_problem(problem)
    assert found.verdict is Verdict.UNIQUE
    (branch,) = found.branches
    # it turns about one end, and lifts the feet in proportion to their distance from it, up to 2
    a = problem.G @ forces_of(problem, branch) + problem.c
    np.testing.assert_allclose(sorted(a[0::2]), 2 / 3 * np.linspace(0, 2, 5), atol=1e-11)


def test_a_search_without_an_end_is_told_and_shows_one_solution(monkeypatch):
    problem = resting(np.random.default_rng(1), 6)
    monkeypatch.setattr(search, "MAX_PARTS", 20)
    found = select_problem(problem)
    assert found.verdict is Verdict.UNDECIDED
    assert "more than 20 partial modes" in found.notes[0]
    assert found.count == 1
    monkeypatch.undo()
    assert select_problem(problem).verdict is Verdict.UNIQUE
