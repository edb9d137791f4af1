"""Several sliding contacts are paradoxical together before each is alone: closed forms, exact polynomials, two legs."""

import json
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import inf, pi, sin, sqrt

import numpy as np
import pytest
import sympy

from hybrid import Constraint, Contact, EnergyDynamics, EquationDynamics, Mechanism, derive
from hybrid.analysis import Axis, certified_friction, critical_friction
from hybrid.analysis.criticality.joint import first_negative
from hybrid.cli import main
from tests.catalogue import dynamics_of

CORNER = {"gap.floor": 0, "gap.wall": 0}


@pytest.mark.parametrize(("kappa", "limit"), [(1 / 3, sqrt(2)), (0.5, sqrt(3)), (0.2, sqrt(1.5))])
@pytest.mark.parametrize("mu", [0.4, 1.0])
def test_ladder_of_equal_friction_has_one_limit_at_all_angles(kappa, limit, mu):
    # kappa det A = 1 - mu^2 + kappa (1 + mu^2): zero at mu = sqrt((1 + kappa)/(1 - kappa)) whatever the angle; near 45
    # degrees that is less than for each end alone, 1 + 2 kappa
    for low, high in ((0.75, 0.8), (pi / 4 - 0.01, pi / 4 + 0.02)):
        found = critical_friction(
            dynamics_of("ladder_in_corner"),
            over=[Axis("theta", low, high)],
            pins=CORNER,
            contact="floor",
            parameters={"kappa": kappa, "mu": mu},
        )
        assert found.joint.factor * mu == pytest.approx(limit, rel=1e-12)
        assert found.joint.factor * mu < found.minimum - 0.05
        assert found.joint.friction == {"floor": pytest.approx(limit), "wall": pytest.approx(limit)}
        # the foot slides out while the top slides down, or both back: never in the same sense
        assert sorted(found.joint.modes.values()) == ["slide+", "slide-"]
        assert low <= found.joint.at["theta"] <= high


@pytest.mark.parametrize(("mu", "mu_wall"), [(0.5, 0.2), (0.3, 0.9)])
def test_ladder_of_unequal_friction_over_angles(mu, mu_wall):
    # kappa det A = (1 + kappa) -+ f (mu1 - mu2) sin 2 theta - (1 - kappa) f^2 mu1 mu2, and either end alone is a rod
    kappa = 1 / 3

    def limit(theta):
        linear, square = abs(mu - mu_wall) * sin(2 * theta), (1 - kappa) * mu * mu_wall
        both = (-linear + sqrt(linear**2 + 4 * square * (1 + kappa))) / (2 * square)
        s, c = sin(theta), np.cos(theta)
        floor, wall = (kappa + c * c) / (s * c * mu), (kappa + s * s) / (s * c * mu_wall)
        return min(both, floor, wall)

    low, high = 0.2, 1.4
    found = critical_friction(
        dynamics_of("ladder_in_corner"),
        over=[Axis("theta", low, high)],
        pins=CORNER,
        contact="wall",
        parameters={"kappa": kappa, "mu": mu, "mu_wall": mu_wall},
    )
    scanned = min(limit(theta) for theta in np.linspace(low, high, 20_001))
    assert found.joint.factor == pytest.approx(scanned, rel=1e-7)  # the scan is (6e-5)^2 from the minimum
    assert found.joint.factor == pytest.approx(limit(found.joint.at["theta"]), rel=1e-12)


def ladder_certified(axis, parameters):
    return certified_friction(
        dynamics_of("ladder_in_corner"), over=[axis], pins=CORNER, contact="floor", parameters=parameters
    ).joint


@pytest.mark.parametrize(("kappa", "limit"), [("1/3", 2), ("1/2", 3), ("1/5", Fraction(3, 2))])
def test_the_joint_limit_of_a_ladder_is_enclosed(kappa, limit):
    # as above: the square of the limit at friction 1, and which slips are possible has to be proved for it
    low, high = ladder_certified(Axis.parse("theta=0.75:0.8"), {"kappa": kappa, "mu": 1})
    assert Fraction(low) ** 2 <= limit <= Fraction(high) ** 2
    assert high - low < 1e-5  # it is the same at all angles, so that no box can be left out


def test_joint_limits_over_angles_are_enclosed_as_closely_as_those_of_one_contact():
    # the foot alone is the first: mu_c = 4/3 at 63.4 degrees; beyond mu_wall = 1/2 it is the top
    for mu, mu_wall in (("1/2", "1/5"), ("3/10", "9/10")):
        low, high = ladder_certified(Axis.parse("theta=0.2:1.4"), {"mu": mu, "mu_wall": mu_wall})
        exact = Fraction(4, 3) / max(Fraction(mu), Fraction(mu_wall))
        assert Fraction(low) <= exact <= Fraction(high)
        assert high - low < 1e-9


def test_what_is_never_jointly_paradoxical_has_no_upper_bound():
    # rod_two_ends lies flat: (1 + 3)/m on the diagonal, (1 - 3)/m beside it, and no tangential force turns it
    pins = {"phi": 0, "gap.left": 0, "x": 0}
    found = certified_friction(dynamics_of("rod_two_ends"), over=[Axis.parse("mu=0.1:2")], pins=pins, contact="left")
    low, high = found.joint
    assert low > 1e6 and high == inf
    alone = certified_friction(dynamics_of("rod_on_incline"), over=[Axis.parse("phi=0:pi")])
    assert alone.joint is None


def exact_first_negative(G, B):
    """The same multiplier from the polynomial with rational coefficients, its real roots isolated exactly."""
    f = sympy.Symbol("f")
    p = sympy.Poly(sympy.expand((G - f * B).det()), f)
    if p.is_zero:
        return inf
    roots = sorted({root for root in sympy.real_roots(p) if root > 0}, key=lambda root: root.evalf(30))
    edges = [sympy.Integer(0), *roots]
    for k, edge in enumerate(edges):
        inside = (edge + edges[k + 1]) / 2 if k + 1 < len(edges) else edge + 1
        if p.eval(sympy.Rational(str(inside.evalf(30)))) < 0:
            return float(edge)
    return inf


def test_first_negative_determinant_of_random_rational_matrices():
    rng = np.random.default_rng(3)
    finite = 0
    for case in range(45):
        m = 1 + case % 3
        root = sympy.Matrix(m, m, [sympy.Rational(int(k), 4) for k in rng.integers(-6, 7, m * m)])
        G = root * root.T + (sympy.zeros(m, m) if case % 5 == 0 else sympy.eye(m))
        if case % 5 == 0 and m > 1:  # redundant: the last row is the first
            chosen = [*range(m - 1), 0]
            G = G.extract(chosen, chosen)
        B = sympy.Matrix(m, m, [sympy.Rational(int(k), 3) for k in rng.integers(-6, 7, m * m)])
        expected = exact_first_negative(G, B)
        as_floats = [np.array(part.tolist(), dtype=float) for part in (G, B)]
        size = np.sqrt(np.maximum(np.diag(as_floats[0]), 1.0))
        found = float(first_negative(*as_floats, size))
        assert found == pytest.approx(expected, rel=1e-9), (G, B)
        finite += 0 < expected < inf
    assert finite > 15


def test_a_determinant_that_only_touches_zero_is_negative_nowhere_however_it_is_rounded():
    # det(I - f B) with the eigenvalues (1, 1, -2)/scale of B is (1 - f/scale)^2 (1 + 2 f/scale)
    rng = np.random.default_rng(1)
    for order in [2, 3] * 20:
        vectors, scale = rng.normal(size=(order, order)), rng.uniform(0.1, 10)
        B = np.linalg.inv(vectors) @ np.diag([1.0, 1.0, -2.0][:order]) @ vectors / scale
        assert first_negative(np.eye(order), B, np.ones(order)) == inf


def test_minors_of_redundant_feet_are_skipped():
    # Feet of a block at x_i, height h below its centre: every minor of two is (x_i - x_j)^2/(m I), whatever the
    # friction, and every minor of three vanishes; alone, foot i is paradoxical from f mu h = |x_i| + I/(m |x_i|).
    feet = {"a": -0.7, "b": 0.2, "c": 0.9}
    block = derive(
        Mechanism(
            name="feet",
            coordinates=["x", "y", "phi"],
            parameters={"m": 1.5, "I": 0.4, "h": 0.8, "mu": 0.6, "g": 9.81},
            dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2 + I*phi_dot**2/2", potential="m*g*y"),
            contact=[
                Contact(
                    name=name,
                    gap=f"y - h*cos(phi) + ({at})*sin(phi)",
                    tangent=f"x + h*sin(phi) + ({at})*cos(phi)",
                    friction="mu",
                )
                for name, at in feet.items()
            ],
        )
    )
    found = critical_friction(block, over=[Axis("h", 0.5, 0.8)], pins={"phi": 0, "gap.a": 0, "x": 0}, contact="a")
    expected = min((abs(at) + 0.4 / (1.5 * abs(at))) / (0.6 * 0.8) for at in feet.values())
    assert found.joint.factor == pytest.approx(expected, rel=1e-12)
    assert found.joint.at == {"h": pytest.approx(0.8)}


@cache
def block_on_belts(constraint):
    return derive(
        Mechanism(
            name="on_belts",
            coordinates=["x", "y", "phi"],
            parameters={"h": 1, "mu": "4/5", "left": 0, "right": 0, "pulled": 0},
            dynamics=EnergyDynamics(kinetic="(x_dot**2 + y_dot**2)/2 + phi_dot**2/4", potential="9.81*y"),
            contact=[
                Contact(
                    name=name,
                    gap=f"y - h*cos(phi) {side} sin(phi)",
                    tangent=f"x + h*sin(phi) {side} cos(phi) - {belt}*t",
                    friction="mu",
                )
                for name, side, belt in (("L", "-", "left"), ("R", "+", "right"))
            ],
            constraint=[Constraint(name="rod", equation=constraint)] if constraint else [],
        )
    )


# At h = 3/2 entries of A are 3 - 3 s mu f and -1 - 3 s mu f with the signs of G_NT: a foot alone is paradoxical from
# mu f = 1 where it slides outwards, both from mu f = 2/3 where L slides to the left and R to the right, and only then.
# The slips are x_dot - left and x_dot - right.
@pytest.mark.parametrize(
    ("constraint", "speeds", "factor"),
    [
        ("", {"left": 1}, Fraction(5, 6)),
        pytest.param("", {"left": -1}, Fraction(5, 4), marks=pytest.mark.long),
        ("", {"left": 2, "right": 2}, Fraction(5, 4)),
        pytest.param("x - pulled*t", {"pulled": 1, "left": 3}, Fraction(5, 6), marks=pytest.mark.long),
        ("x - pulled*t", {"pulled": 1, "left": 1}, Fraction(5, 4)),  # R alone slides
        pytest.param("x - pulled*t", {"left": 1}, Fraction(5, 4), marks=pytest.mark.long),  # L alone
        ("x - pulled*t", {"left": -1}, inf),  # L alone, inwards
        pytest.param("x - pulled*t", {}, inf, marks=pytest.mark.long),  # neither
    ],
)
def test_belts_of_other_speeds_permit_other_slips(constraint, speeds, factor):
    asked = {"over": [Axis("h", 1.4, 1.5)], "contact": "L", "parameters": speeds}
    pins = {"phi": 0, "gap.L": 0} | ({} if constraint else {"x": 0})
    belts = block_on_belts(constraint)
    assert critical_friction(belts, pins=pins, **asked).joint.factor == pytest.approx(float(factor), rel=1e-12)
    low, high = certified_friction(belts, pins=pins, **asked).joint
    assert low == high == inf if factor == inf else low <= factor <= high <= low * (1 + 1e-11)


@pytest.mark.parametrize(("fastest", "factor"), [(-0.25, Fraction(5, 4)), (0.5, Fraction(5, 6))])
def test_a_sweep_of_the_speed_counts_what_any_of_it_permits(fastest, factor):
    asked = {"over": [Axis("left", -0.5, fastest)], "contact": "L", "parameters": {"h": "3/2"}}
    pins = {"x": 0, "phi": 0, "gap.L": 0}
    found = critical_friction(block_on_belts(""), pins=pins, **asked).joint
    assert found.factor == pytest.approx(float(factor), rel=1e-12)
    low, high = certified_friction(block_on_belts(""), pins=pins, **asked).joint
    assert low <= factor <= high <= low * (1 + 1e-11)


DEPENDENT = {
    "alike": [[1, 2, 0], [0, 1, 1], [2, 4, 0]],
    "opposite": [[1, 2, 0], [0, 1, 1], [0, -3, -3]],
    "three on a plane": [[1, 0, 0], [0, 1, 0], [1, 1, 0]],
    "three on a plane, one held": [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
}


@pytest.mark.parametrize("slips", DEPENDENT.values(), ids=DEPENDENT)
def test_signs_of_dependent_slips_are_those_that_velocities_have(slips):
    # Gaps u_i and slips as combinations of w, with any masses between them: against signs of 4 000 random velocities
    # and the roots of all principal minors for them, each a polynomial through its values.
    rng = np.random.default_rng(5)
    names = ["u0", "u1", "u2", "w0", "w1", "w2", "c"]
    mu, root = np.array([0.5, 0.8, 0.3]), np.round(rng.normal(size=(7, 7)), 2)
    M = root @ root.T + 0.3 * np.eye(7)
    text = [" + ".join(f"({a})*{w}" for a, w in zip(row, names[3:], strict=False)) for row in slips]
    mechanism = Mechanism(
        name="dependent",
        coordinates=names,
        parameters={"p": 1},
        dynamics=EquationDynamics(mass_matrix=[[f"p*({a!r})" for a in row] for row in M.tolist()], forces=["0"] * 7),
        contact=[
            Contact(
                name=f"c{i}", gap=f"u{i} + 0*c", tangent=text[i] if any(slips[i]) else "0.3*u0", friction=f"{mu[i]}"
            )
            for i in range(3)
        ],
    )
    seen = {tuple(np.sign(v)) for v in rng.normal(size=(4000, 3)) @ np.array(slips).T}
    S = np.array([[0.0] * 3 + [float(a) for a in row] + [0.0] if any(row) else [0.3] + [0.0] * 6 for row in slips])
    inverse = np.linalg.inv(M)
    G, pushed = inverse[:3, :3], inverse[:3] @ S.T * mu
    best = inf
    for size in (1, 2, 3):
        for chosen in combinations(range(3), size):
            for signs in {tuple(sign[i] for i in chosen) for sign in seen}:
                at = np.arange(size + 1.0)
                block = np.ix_(chosen, chosen)
                if 0 in signs:
                    continue
                values = [np.linalg.det(G[block] - f * pushed[block] * signs) for f in at]
                roots = np.roots(np.polyfit(at, values, size))
                best = min([best, *(r.real for r in roots if abs(r.imag) < 1e-9 and r.real > 0)])
    pins = {f"gap.c{i}": 0 for i in range(3)} | dict.fromkeys(names[3:], 0)
    found = critical_friction(derive(mechanism), over=[Axis("p", 0.5, 2)], pins=pins, contact="c0")
    assert found.joint.factor == pytest.approx(best, rel=1e-9)


MASSES = {"mb": 10.0, "Ib": 0.4, "m1": 1.0, "m2": 0.5, "a": 0.25, "b": 0.25, "s": 0.25}


def bodies(q):
    """Centres and angles of trunk, thighs and shanks, and the feet, of a planar robot with two legs."""
    x, y, phi = q[:3]
    centres, angles, feet = [(x, y)], [phi], []
    for k, side in ((3, -1), (5, 1)):
        hip = x + side * MASSES["s"] * np.cos(phi), y + side * MASSES["s"] * np.sin(phi)
        upper, lower = phi + q[k], phi + q[k] + q[k + 1]
        knee = hip[0] + MASSES["a"] * np.sin(upper), hip[1] - MASSES["a"] * np.cos(upper)
        foot = knee[0] + MASSES["b"] * np.sin(lower), knee[1] - MASSES["b"] * np.cos(lower)
        centres += [tuple((p + r) / 2 for p, r in zip(*ends, strict=True)) for ends in ((hip, knee), (knee, foot))]
        angles += [upper, lower]
        feet.append(foot)
    return centres, angles, feet


def two_leg_delassus(q):
    """G_NN and G_NT of the feet, from Jacobians by complex steps of the positions."""
    h = 1e-30
    moved = [bodies(np.array(q, dtype=complex) + 1j * h * unit) for unit in np.eye(7)]

    def gradient(value):
        return np.array([value(m).imag / h for m in moved])

    masses = [MASSES["mb"], *[MASSES["m1"], MASSES["m2"]] * 2]
    inertias = [MASSES["Ib"], *[MASSES["m1"] * MASSES["a"] ** 2 / 12, MASSES["m2"] * MASSES["b"] ** 2 / 12] * 2]
    M = np.zeros((7, 7))
    for k, (mass, inertia) in enumerate(zip(masses, inertias, strict=True)):
        for c in (0, 1):
            row = gradient(lambda m, k=k, c=c: m[0][k][c])
            M += mass * np.outer(row, row)
        row = gradient(lambda m, k=k: m[1][k] + 0j)
        M += inertia * np.outer(row, row)
    W_N, W_T = (np.stack([gradient(lambda m, k=k, c=c: m[2][k][c]) for k in (0, 1)], axis=1) for c in (1, 0))
    return W_N.T @ np.linalg.solve(M, W_N), W_N.T @ np.linalg.solve(M, W_T)


@cache
def two_legs():
    names = ["x", "y", "phi", "h1", "k1", "h2", "k2"]
    definitions: dict[str, str] = {}
    parts = {"0": ("x", "y", "phi", MASSES["mb"], MASSES["Ib"])}
    for leg, side in (("1", "-s"), ("2", "s")):
        hip = f"x + {side}*cos(phi)", f"y + {side}*sin(phi)"
        upper, lower = f"phi + h{leg}", f"phi + h{leg} + k{leg}"
        definitions |= {f"kx{leg}": f"{hip[0]} + a*sin({upper})", f"ky{leg}": f"{hip[1]} - a*cos({upper})"}
        definitions |= {f"fx{leg}": f"kx{leg} + b*sin({lower})", f"fy{leg}": f"ky{leg} - b*cos({lower})"}
        definitions |= {f"ux{leg}": f"{hip[0]} + a/2*sin({upper})", f"uy{leg}": f"{hip[1]} - a/2*cos({upper})"}
        definitions |= {f"lx{leg}": f"kx{leg} + b/2*sin({lower})", f"ly{leg}": f"ky{leg} - b/2*cos({lower})"}
        parts[f"u{leg}"] = (f"ux{leg}", f"uy{leg}", upper, MASSES["m1"], MASSES["m1"] * MASSES["a"] ** 2 / 12)
        parts[f"l{leg}"] = (f"lx{leg}", f"ly{leg}", lower, MASSES["m2"], MASSES["m2"] * MASSES["b"] ** 2 / 12)
    q = sympy.symbols(names)
    rates = dict(zip(q, sympy.symbols([f"{name}_dot" for name in names]), strict=True))
    known = {**dict(zip(names, q, strict=True)), **{key: sympy.Symbol(key) for key in ("s", "a", "b")}}
    for name, text in definitions.items():
        known[name] = sympy.sympify(text, locals=known)
    kinetic = sum(
        mass * (rate(known, x, rates) ** 2 + rate(known, y, rates) ** 2) / 2
        + inertia * rate(known, angle, rates) ** 2 / 2
        for x, y, angle, mass, inertia in parts.values()
    )
    return derive(
        Mechanism(
            name="two_legs",
            coordinates=names,
            parameters={"mu": 0.8, "s": MASSES["s"], "a": MASSES["a"], "b": MASSES["b"]},
            definitions=definitions,
            dynamics=EnergyDynamics(kinetic=str(kinetic), potential=f"{9.81 * MASSES['mb']}*y"),
            contact=[Contact(name=f"foot{k}", gap=f"fy{k}", tangent=f"fx{k}", friction="mu") for k in "12"],
        )
    )


def rate(known, text, rates):
    value = sympy.sympify(text, locals=known)
    return sum(value.diff(symbol) * velocity for symbol, velocity in rates.items())


def by_hand(G_NN, G_NT, mu):
    """Least multiplier over all signs of slip: roots of the determinant of two and of the diagonal."""
    found = []
    for signs in product((1, -1), repeat=2):
        B = mu * G_NT * np.array(signs)
        for chosen in [part for size in (1, 2) for part in combinations((0, 1), size)]:
            rows = np.ix_(chosen, chosen)
            G, own = G_NN[rows], B[rows]
            if len(chosen) == 1:
                p = [-own[0, 0], G[0, 0]]
            else:
                middle = -(G[0, 0] * own[1, 1] + G[1, 1] * own[0, 0] - G[0, 1] * own[1, 0] - G[1, 0] * own[0, 1])
                p = [np.linalg.det(own), middle, np.linalg.det(G)]
            found += [r.real for r in np.roots(p) if abs(r.imag) < 1e-12 and r.real > 0]
    return min(found)


def test_two_legs_are_paradoxical_together_before_either_alone():
    # the second leg carries the level trunk, the first knee follows; at h1 = 0.6 the posture is symmetric, and its
    # limits by hand are 1.2095 for each foot alone and 1.2066 for both
    pins = {"x": 0, "phi": 0, "h2": 0.6, "k2": -1.2, "gap.foot1": 0, "gap.foot2": 0}
    sweep = Axis("h1", 0.58, 0.6)
    found = {
        foot: critical_friction(two_legs(), over=[sweep], pins=pins, contact=foot, branch={"k1": -1.2})
        for foot in ("foot1", "foot2")
    }
    joint = found["foot1"].joint
    assert joint == found["foot2"].joint

    def posture(h1):  # the trunk stays level and at the height that the second leg keeps
        height = 0.5 * np.cos(0.6)
        k1 = -np.arccos((height - 0.25 * np.cos(h1)) / 0.25) - h1
        return [0.0, height, 0.0, h1, k1, 0.6, -1.2]

    scanned = [by_hand(*two_leg_delassus(posture(h1)), 0.8) for h1 in np.linspace(0.58, 0.6, 201)]
    assert joint.factor == pytest.approx(min(scanned), rel=1e-6)
    assert joint.factor == pytest.approx(by_hand(*two_leg_delassus(posture(joint.at["h1"])), 0.8), rel=1e-9)
    assert joint.factor * 0.8 == pytest.approx(1.20657, abs=1e-5)
    assert min(item.minimum for item in found.values()) == pytest.approx(1.20949, abs=1e-5)


def test_the_command_gives_the_joint_limit_beside_the_single_one(capsys):
    arguments = ["critical-friction", "ladder_in_corner", "--over=theta=0.75:0.8", "--contact=floor"]
    arguments += ["--pin=gap.floor=0", "--pin=gap.wall=0"]
    assert main([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["joint"]["factor"] * 0.4 == pytest.approx(sqrt(2), rel=1e-12)
    assert set(answer["joint"]["at"]) == {"theta"}
    assert answer["minimum"] > 1.5
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "of floor alone" in shown
    assert "jointly" in shown
    assert "3.5355" in shown
    assert main([*arguments, "--certified", "--json"]) == 0
    low, high = json.loads(capsys.readouterr().out)["joint"]["factor"]
    assert low <= answer["joint"]["factor"] * (1 + 1e-15) and answer["joint"]["factor"] <= high
    assert main([*arguments, "--certified"]) == 0
    assert f"up to {low!r} times" in capsys.readouterr().out
    assert main(["critical-friction", "rod_on_incline", "--over=phi=0:1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["joint"] is None


def test_a_sweep_on_which_nothing_depends_has_its_answer():
    stacked = Mechanism(
        name="stacked",
        coordinates=["x1", "y1", "x2", "y2"],
        dynamics=EnergyDynamics(kinetic="x1_dot**2 + y1_dot**2 + x2_dot**2 + y2_dot**2", potential="y1 + y2"),
        contact=[
            Contact(name="floor", gap="y1", tangent="x1", friction="0.3"),
            Contact(name="mid", gap="y2 - y1 - 0.1", tangent="x2 - x1", friction="0.5"),
        ],
    )
    found = critical_friction(
        derive(stacked), over=[Axis("x1", 0, 1)], pins={"gap.floor": 0, "gap.mid": 0}, contact="floor"
    )
    assert found.minimum == np.inf  # G has no coupling of normal and tangential rows, whatever x1


def test_gaps_may_be_linear_where_tangents_vary_with_a_parameter():
    # both slips are x_dot while the contacts stay closed, so that both contacts slide alike; minors by hand on a grid
    M = np.array([[2.0, 0.5, 0.3], [0.5, 2.0, 0.4], [0.3, 0.4, 1.0]])
    contacts = [
        Contact(name="c0", gap="a", slip="x_dot + th*b_dot", friction="0.5"),
        Contact(name="c1", gap="b", slip="x_dot", friction="0.5"),
    ]
    mechanism = Mechanism(
        name="two_slides",
        coordinates=["a", "b", "x"],
        parameters={"th": 0},
        dynamics=EquationDynamics(mass_matrix=[[str(entry) for entry in row] for row in M], forces=["-1", "-1", "0"]),
        contact=contacts,
    )
    pins = {"gap.c0": 0, "gap.c1": 0}
    found = critical_friction(derive(mechanism), over=[Axis.parse("th=-1:1")], contact="c0", pins=pins).joint
    W_N, least = np.eye(3)[:, :2], np.inf
    for th in np.linspace(-1, 1, 401):
        W_T = np.array([[0.0, 0.0], [th, 0.0], [1.0, 1.0]])
        G_NN, G_NT = W_N.T @ np.linalg.solve(M, W_N), W_N.T @ np.linalg.solve(M, W_T)
        for sign in (1.0, -1.0):
            for f in np.arange(0.0, 4.0, 1e-2):
                A = G_NN - f * 0.5 * sign * G_NT
                if min(A[0, 0], A[1, 1], np.linalg.det(A)) < 0.0:
                    least = min(least, f)
                    break
    assert found.factor == pytest.approx(least, abs=2e-2)
