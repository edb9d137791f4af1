"""Several spatial contacts at rest against enumerations of angles, forces by hand, and the motions of a quadruped."""

from itertools import product

import attrs
import numpy as np
import pytest
from scipy.optimize import fsolve

from hybrid import Tolerances
from hybrid.contact import CoverCertificate, Verdict, select_problem, verify_certificate, verify_cover
from hybrid.contact.conditions import problem_scale
from hybrid.contact.cover import select_by_cover, verdict as verdict_of_cover
from hybrid.contact.cover.parts import CoverPart, rebuilt
from hybrid.contact.cover.roots import find_root, holds_at_most_one, is_proved
from hybrid.contact.cover.search import CoverNode, search_cover
from hybrid.contact.modes import ActiveElement, ContactMode, ElementKind
from hybrid.contact.spatial import slip_directions
from hybrid.contact.verdict import COVER
from hybrid.numeric import NumericContact, NumericState, select
from tests.random_problems import problem_from


def standing(G, c, mu, static=None):
    """A problem with spatial contacts at rest alone, three rows each."""
    elements = [
        ActiveElement(f"foot{k}", ElementKind.CONTACT, 3 * k, (3 * k + 1, 3 * k + 2), None, mu, static or mu)
        for k in range(len(c) // 3)
    ]
    return problem_from(np.array(G, dtype=float), np.array(c, dtype=float), elements)


def beside_a_slipping_one(G, c, mu):
    """A spatial contact at rest and a slipping one, whose friction is in the column of its force."""
    G = np.array(G)
    elements = [
        ActiveElement("rest", ElementKind.CONTACT, 0, (1, 2), None, mu, mu),
        ActiveElement("slips", ElementKind.CONTACT, 3, (), None, 0.0, 0.0),
    ]
    return attrs.evolve(problem_from(G @ G.T, np.array(c), elements), G=G)


NO_OCTAGON = (
    [[10.57, 3.36, 0.55, -14.91], [3.36, 42.31, 10.4, -18.35], [0.55, 10.4, 9.84, -0.68], [-8.5, 16, 8.43, 7.84]],
    [-0.31, -0.31, -0.5, -0.78],
    0.36,
)
OCTAGON_IS_FREE = (
    [
        [23.9, 31.73, -13.73, -0.63],
        [31.73, 46.35, -23.1, 0.2],
        [-13.73, -23.1, 15.95, -1.52],
        [-0.66, 1.43, -4.82, 0.97],
    ],
    [1.39, 0.38, 0.48, -1.62],
    1.16,
)


def test_a_disc_has_the_solution_that_neither_octagon_has():
    found = select_by_cover(beside_a_slipping_one(*NO_OCTAGON), tolerances=Tolerances(), budget=60)
    assert (found.verdict, found.decided_by) == (Verdict.UNIQUE, COVER)
    (branch,) = found.branches
    assert branch.mode.label == "rest=slide,slips=closed"
    forces = [branch.lambda_N["rest"], *branch.lambda_T["rest"], branch.lambda_N["slips"]]
    assert forces == pytest.approx([5.103, 1.451, -1.127, 3.882], abs=5e-4)
    assert verify_cover(found.cover)
    G, c, mu = NO_OCTAGON
    a = np.array(G) @ forces + c
    assert a[[0, 3]] == pytest.approx(0, abs=1e-12)
    assert np.hypot(*forces[1:3]) == pytest.approx(mu * forces[0], rel=1e-12)
    assert a[1:3] @ forces[1:3] == pytest.approx(-np.hypot(*a[1:3]) * np.hypot(*forces[1:3]), rel=1e-12)


def test_solutions_beside_which_a_part_is_left_open_are_not_said_to_be_all(monkeypatch):
    problem = beside_a_slipping_one(*OCTAGON_IS_FREE)
    found = select_by_cover(problem, tolerances=Tolerances(), budget=60)
    assert (found.verdict, found.is_exhaustive, found.notes) == (Verdict.INDETERMINATE, True, ())

    def unfinished(*arguments, **how):  # what is decided, and the whole that a spent budget would leave open
        root = search_cover(*arguments, **how)
        return CoverNode(root.parts, "divided", (root, CoverNode(root.parts, "open")))

    monkeypatch.setattr(verdict_of_cover, "search_cover", unfinished)
    found = select_by_cover(problem, tolerances=Tolerances(), budget=60)
    assert (found.verdict, found.count, found.is_exhaustive) == (Verdict.INDETERMINATE, 2, False)
    assert "further solutions are not excluded: 1 of" in found.notes[0]


def test_a_disc_slides_where_both_octagons_separate_only():
    found = select_by_cover(beside_a_slipping_one(*OCTAGON_IS_FREE), tolerances=Tolerances(), budget=60)
    assert found.verdict is Verdict.INDETERMINATE
    assert [branch.mode["rest"].value for branch in found.branches] == ["free", "slide"]
    assert found.branches[1].lambda_N["rest"] == pytest.approx(0.190, abs=5e-4)


def solutions_of_two(G, c, mu, n=240):
    """Modes and forces of all solutions of two contacts at rest: every direction of slip is looked for on a grid."""
    G, c = np.array(G), np.array(c)
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)

    def forces(modes):
        E, e = [], []
        for k, mode in enumerate(modes):
            rows = [3 * k, 3 * k + 1, 3 * k + 2]
            if mode == "free":
                E += list(np.eye(6)[rows])
                e += [0, 0, 0]
            elif mode == "stick":
                E += list(G[rows])
                e += list(c[rows])
            else:
                u = np.cos(mode), np.sin(mode)
                E += [G[rows[0]], *(np.eye(6)[rows[1 + j]] + mu * u[j] * np.eye(6)[rows[0]] for j in (0, 1))]
                e += [c[rows[0]], 0, 0]
        return np.linalg.solve(np.array(E), -np.array(e))

    def is_solution(modes):
        lam = forces(modes)
        a = G @ lam + c
        for k, mode in enumerate(modes):
            N, T = 3 * k, [3 * k + 1, 3 * k + 2]
            if mode == "free" and a[N] < 0:
                return False
            if mode == "stick" and np.hypot(*lam[T]) > mu * lam[N]:
                return False
            if not isinstance(mode, str) and (lam[N] < 0 or a[T] @ [np.cos(mode), np.sin(mode)] < 0):
                return False
        return True

    def misaligned(modes):
        a = G @ forces(modes) + c
        slips = [(3 * k + 1, mode) for k, mode in enumerate(modes) if not isinstance(mode, str)]
        return np.array([a[row] * np.sin(mode) - a[row + 1] * np.cos(mode) for row, mode in slips])

    found = []
    for kinds in product(("free", "stick", "slide"), repeat=2):
        slides = [k for k in (0, 1) if kinds[k] == "slide"]

        def modes_at(at, kinds=kinds, slides=slides):
            return [float(at[slides.index(k)]) if k in slides else kinds[k] for k in (0, 1)]

        if not slides:
            found += [kinds] if is_solution(kinds) else []
            continue
        coarse = angles if len(slides) == 1 else angles[:: n // 60]
        values = np.array([misaligned(modes_at(at)) for at in product(coarse, repeat=len(slides))])
        shape = (len(coarse),) * len(slides)
        near = np.ones(shape, dtype=bool)
        for part in np.moveaxis(values.reshape(*shape, -1), -1, 0):
            corners = [part]
            for axis in range(len(slides)):
                corners += [np.roll(corner, -1, axis=axis) for corner in corners]
            signs = np.sign(np.array(corners))
            near &= signs.min(axis=0) != signs.max(axis=0)
        for start in np.argwhere(near):
            root, _, status, _ = fsolve(
                lambda at: misaligned(modes_at(at)), coarse[start] + np.pi / len(coarse), full_output=True
            )
            modes = modes_at(root % (2 * np.pi))
            if status == 1 and np.max(np.abs(misaligned(modes))) < 1e-9 and is_solution(modes):
                lam = forces(modes)
                if not any(np.allclose(lam, forces(other), rtol=1e-6, atol=1e-9) for other in found):
                    found.append(modes)
    return [(["slide" if not isinstance(mode, str) else mode for mode in modes], forces(modes)) for modes in found]


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 12))])
def test_two_contacts_have_the_solutions_that_a_grid_of_directions_finds(seed):
    rng = np.random.default_rng([77, seed])
    W = rng.normal(size=(7, 6))
    G, c, mu = W.T @ W, rng.normal(size=6), float(rng.choice([0.3, 1.0, 2.5]))
    c[[0, 3]] = -np.abs(c[[0, 3]])
    expected = solutions_of_two(G, c, mu)
    found = select_problem(standing(G, c, mu), cover_budget=120)
    assert expected, "with a positive definite G there always is one"
    assert found.verdict is (Verdict.UNIQUE if len(expected) == 1 else Verdict.INDETERMINATE)
    own = [[branch.mode[f"foot{k}"].value for k in (0, 1)] for branch in found.branches]
    assert sorted(own) == sorted(labels for labels, _ in expected)
    for labels, forces in expected:
        near = [
            [part for k in (0, 1) for part in (branch.lambda_N[f"foot{k}"], *branch.lambda_T[f"foot{k}"])]
            for branch in found.branches
            if [branch.mode[f"foot{k}"].value for k in (0, 1)] == labels
        ]
        assert any(np.allclose(forces, other, rtol=1e-6, atol=1e-8) for other in near)
    if found.verdict is Verdict.UNIQUE:
        assert verify_cover(found.cover)


def box(*, tilt=0.0, mu=0.8, height=0.5):
    """A box of unit mass at rest on its four corners on an incline: ``x`` down the slope, corners 2 and 1.2 apart."""
    contacts = []
    for x, y in product((-1, 1), (-0.6, 0.6)):
        at = (x, y, -height)
        W_N, *W_T = (np.concatenate([axis, np.cross(at, axis)]) for axis in np.eye(3)[[2, 0, 1]])
        contacts.append(NumericContact(f"{x:+d}{y:+}", W_N=W_N, W_T=np.array(W_T).T, slip=[0.0, 0.0], friction=mu))
    weight = 9.81 * np.array([np.sin(tilt), 0, -np.cos(tilt), 0, 0, 0])
    return NumericState(M=np.diag([1, 1, 1, 0.3, 0.3, 0.3]), h=weight, contacts=contacts)


def weakness(G, mu):
    """The sum of mu_i sqrt((G^-1)_NiNi lambda_max(G_TiTi)) over two contacts."""
    inverse = np.linalg.inv(G)
    pulled = [np.linalg.eigvalsh(np.array(G)[k : k + 2, k : k + 2])[-1] for k in (1, 4)]
    return mu * sum(np.sqrt(inverse[n, n] * value) for n, value in zip((0, 3), pulled, strict=True))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 4))])
def test_friction_that_is_weak_leaves_one_solution(seed):
    """Below one the sum excludes a second solution: so does a grid of directions, and the cover agrees."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(6, 9))
    G = half @ half.T
    mu = 0.95 / weakness(G, 1.0)
    rests = np.concatenate([[2.0, *rng.uniform(-0.4, 0.4, 2) * mu], [1.0, *rng.uniform(-0.2, 0.2, 2) * mu]])
    for c, is_held in ((-G @ rests, True), (rng.normal(size=6), False)):
        (expected,) = solutions_of_two(G, c, mu)
        found = select_by_cover(standing(G, c, mu), tolerances=Tolerances(), budget=60)
        (branch,) = found.branches
        forces = np.concatenate([[branch.lambda_N[name], *branch.lambda_T[name]] for name in ("foot0", "foot1")])
        np.testing.assert_allclose(forces, expected[1], rtol=1e-6, atol=1e-6 * (1 + np.abs(expected[1]).max()))
        assert found.verdict is Verdict.UNIQUE
        assert any("too weak" in note for note in found.notes) is is_held
    strong = select_by_cover(standing(G, -G @ rests, 1.1 * mu), tolerances=Tolerances(), budget=60)
    assert not any("too weak" in note for note in strong.notes)
    assert strong.cover is not None


@pytest.mark.parametrize(("tilt", "mu"), [(0.0, 0.8), (0.0, 0.0001), (0.2, 0.8), (0.3, 0.4)])
def test_a_box_at_rest_does_not_move_and_its_forces_are_open(tilt, mu):
    found = select(box(tilt=tilt, mu=mu), cover_budget=120)
    assert found.verdict is Verdict.HYPERSTATIC  # tan(tilt) < mu, and the weight meets the ground between the corners
    assert found.branches[0].acceleration == pytest.approx(np.zeros(6), abs=1e-9)
    assert found.force_set.dimension == 6  # twelve forces for six motions
    for forces in found.force_set.vertices:
        N, T = forces[::3], np.hypot(forces[1::3], forces[2::3])
        assert N.sum() == pytest.approx(9.81 * np.cos(tilt), rel=1e-9)
        assert forces[1::3].sum() == pytest.approx(-9.81 * np.sin(tilt), abs=1e-9)
        assert (mu * N + 1e-9 >= T).all()


def test_a_box_on_a_steep_slope_tips_over_its_lower_edge():
    # tan 1.2 > 1/0.5: the weight passes below the lower corners, which stick with friction 5 > tan 1.2
    found = select(box(tilt=1.2, mu=5.0), cover_budget=120)
    assert found.verdict is Verdict.HYPERSTATIC  # of six forces at the edge one is open, along it
    (branch,) = found.branches
    assert branch.mode.label == "-1-0.6=free,-1+0.6=free,+1-0.6=stick,+1+0.6=stick"
    assert found.force_set.dimension == 1
    moment = 9.81 * (np.sin(1.2) * 0.5 - np.cos(1.2) * 1.0)
    rate = moment / (0.3 + 1.0**2 + 0.5**2)
    assert branch.acceleration[4] == pytest.approx(rate, rel=1e-9)
    assert branch.contact_acceleration["-1+0.6"].normal == pytest.approx(2 * rate, rel=1e-9)


def test_a_tie_and_a_budget_that_is_spent_are_undecided():
    tie = select(box(tilt=0.3, mu=float(np.tan(0.3))), cover_budget=1)
    assert tie.verdict is Verdict.UNDECIDED
    spent = select(box(tilt=0.3), cover_budget=0)
    assert spent.verdict is Verdict.UNDECIDED
    assert "1 of 1 parts of the cover are left open (--standing-budget 0 s)" in spent.notes


def test_a_contact_without_a_solution_is_refuted_in_all_directions_of_slip():
    # a spatial contact at rest beside a planar one that slips and jams: A = 1 - 3/2 < 0, b < 0, whatever the other does
    G, c = np.eye(8), np.array([-1.0, 0.1, 0.2, -1.0, 0.3, 0.0, -1.0, 0.0])
    G[6, 7] = G[7, 6] = 0.5
    elements = [
        *standing(np.eye(6), np.zeros(6), 0.7).elements,
        ActiveElement("wall", ElementKind.CONTACT, 6, (7,), (1.0,), 3.0, 3.0),
    ]
    found = select_problem(problem_from(G, c, elements), cover_budget=120)
    assert found.verdict is Verdict.INCONSISTENT
    assert isinstance(found.certificate, CoverCertificate)
    assert verify_certificate(found.certificate)
    one = problem_from(
        G[3:, 3:], c[3:], [attrs.evolve(elements[0]), attrs.evolve(elements[2], normal=3, tangential=(4,))]
    )
    assert select_problem(one, cover_budget=120).verdict is Verdict.INCONSISTENT


def test_a_tampered_proof_is_rejected():
    rng = np.random.default_rng([77, 0])
    W = rng.normal(size=(7, 6))
    problem = standing(W.T @ W, [-1.0, 0.2, 0.1, -1.0, -0.3, 0.2], 0.5)
    cover = select_problem(problem, cover_budget=60).cover
    assert verify_cover(cover)
    root = cover.root
    dropped = attrs.evolve(root, children=root.children[:-1])
    assert not verify_cover(CoverCertificate(problem, dropped))
    worse = standing(W.T @ W, [1.0, 0.2, 0.1, -1.0, -0.3, 0.2], 0.5)
    assert not verify_cover(CoverCertificate(worse, root))

    def zeroed(node):
        if node.reason == "empty":
            bound = attrs.evolve(node.bounds[0], inequalities=0 * node.bounds[0].inequalities)
            return attrs.evolve(node, bounds=(bound,))
        return attrs.evolve(node, children=tuple(zeroed(child) for child in node.children))

    assert not verify_cover(CoverCertificate(problem, zeroed(root)))
    opened = attrs.evolve(root, reason="open", children=())
    assert not verify_cover(CoverCertificate(problem, opened))


def test_a_sector_with_two_roots_is_never_said_to_hold_one():
    # of one contact all directions of aligned slip are known: the roots of a polynomial, physical or not
    rng, alone, refused = np.random.default_rng(12), 0, 0
    for _ in range(16):
        W = rng.normal(size=(4, 3))
        problem = standing(W.T @ W, rng.normal(size=3), float(rng.uniform(0.5, 3)))
        scale = problem_scale(problem)
        angles, is_every, _ = slip_directions(problem.G, problem.c, float(problem.elements[0].friction))
        assert not is_every
        for low in np.arange(0, 2 * np.pi, 0.25):
            for width in (0.02, 0.2, 0.8):
                part = rebuilt(CoverPart(problem.elements[0], ContactMode.SLIDE, (low, low + width), (), ()))
                inside = [(angle - low) % (2 * np.pi) < width for angle in angles]
                root = find_root(problem, (part,), scale)
                if root is None or not holds_at_most_one(problem, (part,), scale, root):
                    refused += sum(inside) > 1
                    continue
                assert sum(inside) <= 1
                alone += sum(inside)
                if any(inside):  # then it is the one that was found
                    distance = (root.angles[0] - angles[int(np.argmax(inside))] + np.pi) % (2 * np.pi) - np.pi
                    assert abs(distance) < 1e-9
                    assert is_proved(problem, (part,), scale, root)
    assert alone > 10
    assert refused > 1


def test_what_is_no_root_is_not_proved():
    rng = np.random.default_rng(3)
    W = rng.normal(size=(4, 3))
    problem = standing(W.T @ W, [-1.0, 0.4, 0.3], 0.6)
    scale = problem_scale(problem)
    angles, _, _ = slip_directions(problem.G, problem.c, 0.6)
    part = rebuilt(CoverPart(problem.elements[0], ContactMode.SLIDE, (angles[0] - 0.1, angles[0] + 0.1), (), ()))
    root = find_root(problem, (part,), scale)
    assert is_proved(problem, (part,), scale, root)
    for moved in (
        attrs.evolve(root, angles=(root.angles[0] + 1e-6,)),
        attrs.evolve(root, forces=root.forces * (1 + 1e-6)),
    ):
        assert not is_proved(problem, (part,), scale, moved)


def on_feet(points, *, mu=0.5, tilt=0.0, lift=0.0):
    """A box of 3 kg on feet at points of its lower side, 0.1 below its centre, on an incline down along ``x``."""
    contacts = []
    for k, (x, y) in enumerate(points):
        at = (x, y, -0.1)
        W_N, *W_T = (np.concatenate([axis, np.cross(at, axis)]) for axis in np.eye(3)[[2, 0, 1]])
        contacts.append(NumericContact(f"foot{k}", W_N=W_N, W_T=np.array(W_T).T, slip=[0.0, 0.0], friction=mu))
    h = 3 * 9.81 * np.array([np.sin(tilt), 0, -np.cos(tilt), 0, 0, 0]) + [0, 0, lift, 0, 0, 0]
    return NumericState(M=np.diag([3, 3, 3, 0.0325, 0.05, 0.0625]), h=h, contacts=contacts)


TRIANGLE = [(0.2, 0.0), (-0.2, 0.15), (-0.2, -0.15)]


@pytest.mark.parametrize("n_feet", [2, 3])
def test_feet_that_all_lift_off_carry_nothing(n_feet):
    found = select(on_feet(TRIANGLE[:n_feet], lift=40.0), cover_budget=60)
    assert found.verdict is Verdict.UNIQUE
    assert found.branches[0].acceleration == pytest.approx([0, 0, (40 - 3 * 9.81) / 3, 0, 0, 0], abs=1e-12)
    assert all(force == 0.0 for force in found.branches[0].lambda_N.values())


@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_three_feet_without_friction_share_the_weight_by_statics(tilt):
    found = select(on_feet(TRIANGLE, mu=0.0, tilt=tilt), cover_budget=60)
    assert found.verdict is Verdict.UNIQUE
    weight = 3 * 9.81 * np.cos(tilt)  # the centre lies in the middle between the first foot and the other two
    assert list(found.branches[0].lambda_N.values()) == pytest.approx([weight / 2, weight / 4, weight / 4], rel=1e-9)


def test_three_feet_that_slide_down_share_the_weight_by_statics():
    tilt, mu = 0.7, 0.5
    found = select(on_feet(TRIANGLE, mu=mu, tilt=tilt), cover_budget=120)
    assert found.verdict is Verdict.UNIQUE
    weight = 3 * 9.81 * np.cos(tilt)
    # friction mu*weight at the feet turns the box forwards: the first foot takes 0.1*mu*weight/0.4 more than half
    first = weight / 2 + 0.1 * mu * weight / 0.4
    expected = [first, (weight - first) / 2, (weight - first) / 2]
    assert list(found.branches[0].lambda_N.values()) == pytest.approx(expected, rel=1e-6)
    assert found.branches[0].acceleration[0] == pytest.approx(9.81 * (np.sin(tilt) - mu * np.cos(tilt)), rel=1e-6)


def test_one_foot_that_can_carry_carries_alone():
    found = select(on_feet([(0.2, 0.1), (0.2, -0.1), (0.1, 0.0)]), cover_budget=60)
    assert found.verdict is Verdict.UNIQUE  # the box tips backwards over the third foot, the two in front lift off
    modes = [mode for _, mode in found.branches[0].mode.items()]
    assert modes[:2] == [ContactMode.FREE, ContactMode.FREE] and modes[2] is not ContactMode.FREE
