"""Whether contact forces are unique: ranks in fractions against SymPy's, where floats are wrong in either direction."""

from fractions import Fraction

import attrs
import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

from hybrid import Contact, EnergyDynamics, Mechanism, State, StateError, Tolerances, derive, select as select_declared
from hybrid.contact.conditions import problem_scale
from hybrid.contact.cover.freedom import KnownDirections, freedom_of
from hybrid.contact.selection import select_in_floats
from hybrid.numeric import NumericContact, NumericState, classify, contact_problem, select
from hybrid.numeric.files import read_state


def feet(W, h, *, mu=0.5, **more):
    """Spatial contacts at rest with three columns each, of unit masses."""
    W = np.asarray(W, dtype=float)
    contacts = [
        NumericContact(f"f{k}", W_N=W[:, 3 * k], W_T=W[:, 3 * k + 1 : 3 * k + 3], slip=[0.0, 0.0], friction=mu)
        for k in range(W.shape[1] // 3)
    ]
    return NumericState(M=np.eye(len(W)), h=h, contacts=contacts, **more)


def freedom(state):
    problem, known = contact_problem(state), KnownDirections()
    return freedom_of(problem, np.eye(problem.n_rows), problem_scale(problem), Tolerances(), known=known)


def decimals(array):
    """What the entries of an array were written as."""
    return sympy.Matrix(np.vectorize(lambda value: sympy.Rational(repr(float(value))), otypes=[object])(array))


@pytest.mark.parametrize("seed", range(12))
def test_the_freedom_of_decimals_is_what_sympy_finds(seed):
    """Of random tenths with dependent columns, beside constraints that are dependent themselves."""
    rng = np.random.default_rng(seed)
    n, r, m = int(rng.integers(5, 9)), 6, int(rng.integers(0, 4))
    W = rng.integers(-9, 10, (n, r))
    for column in rng.choice(r, int(rng.integers(0, 4)), replace=False):
        W[:, column] = W[:, (column + 1) % r] - W[:, (column + 2) % r]
    J = rng.integers(-9, 10, (m, n))
    if m > 1:
        J[-1] = J[0] + W[:, 0]
        J[0] = J[-1] - J[0]  # a constraint that blocks the first contact
    W, J = W / 10, J / 10
    given = {"J": J, "zeta_B": np.zeros(m)} if m else {}
    found = freedom(feet(W, np.zeros(n), **given))
    both = decimals(np.concatenate([W, J.T], axis=1))
    expected = r + (decimals(J.T).rank() if m else 0) - both.rank()
    assert (found.n_small, found.dimension) == (expected, expected)
    assert found.is_known
    if expected:
        kernel = sympy.Matrix([[sympy.Rational(x.numerator, x.denominator) for x in force] for force in found.kernel])
        assert kernel.rank() == expected
        felt = (decimals(W) * kernel.T).T  # a combination of the gradients of the constraints, exactly
        assert (decimals(J) if m else sympy.zeros(1, n)).col_join(felt).rank() == (decimals(J).rank() if m else 0)


def leaning(turn, h=(0, 0, 0, 0, 0, 0), **more):
    """Two feet, of which the last direction is the third and ``turn`` of a sixth that nothing else moves."""
    W = np.eye(6)
    W[:, 5] = [0, 0, 1, 0, 0, turn]
    return feet(W, h, **more)


def test_columns_that_depend_as_decimals_and_not_as_floats_leave_forces_open():
    # the third is the sum of the others: 0.1 + 0.2 = 0.3, whose floats have another sum
    W = np.eye(6)
    W[1:3, 1], W[1:3, 2], W[:, 5] = [0.1, 0.7], [0.2, 0.1], [0, 0.3, 0.8, 0, 0, 0]
    assert Fraction(0.1) + Fraction(0.2) != Fraction(0.3)
    state = feet(W, [-9.0, 0, 0, -9.0, 0, 0])
    found = freedom(state)
    assert found.kernel in [((0, 1, 1, 0, 0, -1),), ((0, -1, -1, 0, 0, 1),)]
    told = select(state, cover_budget=20)
    assert (told.verdict.name, told.force_set.dimension) == ("HYPERSTATIC", 1)
    assert told.force_set.kernel == found.kernel
    assert "lambda_T.f0.1 +1, lambda_T.f0.2 +1, lambda_T.f1.2 -1 accelerate nothing, exactly" in " ".join(told.notes)


@pytest.mark.parametrize("turn", [1e-17, 1e-14, 1e-11, 1e-9, 1e-6])
def test_columns_that_nearly_depend_have_the_forces_that_fractions_give(turn):
    """Singular values would say that there are many forces, or that the middle of them is the only one."""
    forces = np.array([2.0, 0.1, 0.2, 1.0, 0.1, 0.3])
    load = -np.array([2.0, 0.1, 0.5, 1.0, 0.1, float(f"{0.3 * turn:.6g}")])  # -W forces, as decimals
    found = select(leaning(turn, load), cover_budget=20)
    assert found.verdict.name == "UNIQUE"
    (branch,) = found.branches
    own = [branch.lambda_N["f0"], *branch.lambda_T["f0"], branch.lambda_N["f1"], *branch.lambda_T["f1"]]
    # rounding of the last division alone; the accelerations by these floats are rounding, too
    np.testing.assert_allclose(own, forces, rtol=1e-15)


def test_only_forces_that_lie_outside_of_a_cone_hold_nothing():
    # the sixth row wants 5 of the last force, whose disc ends at 1/2
    found = select(leaning(1e-12, [-2.0, -0.1, -0.5, -1.0, -0.1, -5e-12]), cover_budget=20)
    assert found.verdict.name == "UNDECIDED"
    assert found.margin == pytest.approx(1e-12 / 2**0.5, rel=1e-3)  # the least singular value of (1, 0) and (1, 1e-12)


def test_computed_numbers_that_nearly_depend_are_undecided():
    found = select(leaning(1e-12 / 3, [-2.0, -0.1, -0.5, -1.0, -0.1, -1e-13]), cover_budget=20)
    assert found.verdict.name == "UNDECIDED"
    assert found.margin == pytest.approx(1e-12 / 3 / 2**0.5, rel=1e-3)


def turned(seed, **more):
    """A body that stands on two points, in axes in which all numbers are the outcome of a computation."""
    R = Rotation.random(random_state=seed).as_matrix()
    contacts = []
    for k, y in enumerate((-0.6, 0.6)):
        at, axes = R @ [0.1, y, -0.5], R.T[[2, 0, 1]]
        W_N, *W_T = (np.concatenate([axis, np.cross(at, axis)]) for axis in axes)
        contacts.append(NumericContact(f"f{k}", W_N=W_N, W_T=np.array(W_T).T, slip=[0.0, 0.0], friction=0.8, **more))
    weight = R @ [0.0, 0.0, -9.81]
    force = np.concatenate([weight, np.cross(R @ [0.1, 0, -0.5], weight)])  # above the line between the points
    return NumericState(M=np.diag([1, 1, 1, 0.3, 0.3, 0.3]), h=force, contacts=contacts)


@pytest.mark.parametrize("seed", range(3))
def test_forces_between_points_of_one_body_are_open_however_their_directions_are_rounded(seed):
    """Without the body the directions are independent but for rounding, and nothing is said."""
    alone = select(turned(seed), cover_budget=20)
    if not freedom(turned(seed)).kernel:  # rounding may leave the floats dependent
        assert alone.verdict.name == "UNDECIDED"
        assert 0.0 < alone.margin < 1e-15
    found = select(turned(seed, body="table"), cover_budget=20)
    assert (found.verdict.name, found.force_set.dimension) == ("HYPERSTATIC", 1)
    assert "forces along the lines between f0, f1 cancel in table" in found.notes
    (branch,), second = found.branches, found.force_set.vertices[0].reshape(2, 3)
    first = np.array([[branch.lambda_N[name], *branch.lambda_T[name]] for name in ("f0", "f1")])
    # what changes lies along the line between the points: the second tangent
    difference = first - second
    np.testing.assert_allclose(difference, [[0, 0, difference[0, 2]], [0, 0, -difference[0, 2]]], atol=1e-8)
    batch = attrs.evolve(turned(seed, body="table"), M=np.diag([1, 1, 1, 0.3, 0.3, 0.3])[None])
    assert classify(batch, cover_budget=20).verdict.tolist() == [2]


def test_a_file_may_name_the_body_of_a_contact(tmp_path):
    def read(body):
        path = tmp_path / "state.json"
        path.write_text(
            '{"format": "painleve-state", "version": 1, "M": [[1]], "h": [-9], "contacts": '
            f'[{{"name": "tip", "W_N": [1], "body": {body}}}]}}'
        )
        return read_state(path).bodies

    assert read('"rod"') == {"tip": "rod"}
    assert read("null") == read('""') == {}
    for wrong in ("5", '["rod"]'):
        with pytest.raises(StateError, match=r"tip\.body must be the name of a body"):
            read(wrong)


def test_a_declared_mechanism_is_read_in_fractions():
    """The last tangent is 3/7 of the normals' difference beside the other: in fractions alone, not in floats."""
    gaps = ("z + roll/7 + yaw/13 + pitch/19", "z - roll/11 - yaw/17 - pitch/23")
    tangent = "y + pitch/7"
    table = derive(
        Mechanism(
            name="table",
            coordinates=["x", "y", "z", "roll", "pitch", "yaw"],
            parameters={"share": "3/7"},
            dynamics=EnergyDynamics(
                kinetic="(x_dot**2 + y_dot**2 + z_dot**2 + roll_dot**2 + pitch_dot**2 + yaw_dot**2)/2",
                potential="9.81*z",
            ),
            contact=[
                Contact(name="f0", gap=gaps[0], tangent=("x", tangent), friction=0.5),
                Contact(
                    name="f1",
                    gap=gaps[1],
                    tangent=("x + yaw", f"{tangent} + share*(({gaps[0]}) - ({gaps[1]}))"),
                    friction=0.5,
                ),
            ],
        )
    )
    rest = State(np.zeros(6), np.zeros(6))
    in_floats = select_in_floats(table, rest, cover_budget=20)
    assert in_floats.verdict.name == "UNDECIDED"
    found = select_declared(table, rest, cover_budget=20)
    assert found.verdict.name == "HYPERSTATIC"
    share = Fraction(3, 7)
    (kernel,) = found.force_set.kernel
    assert tuple(x / kernel[5] for x in kernel) == (-share, 0, -1, share, 0, 1)
