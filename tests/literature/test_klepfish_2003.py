"""Klepfish (2003), sensitivity of two carts with a stop: the adjoint method with its jump condition set right.

The jump condition of the adjoint is printed there with the wrong overall sign; the gradients follow it. The figures of
reference are derived here from the closed form of the linear motion in 40 digits.
"""

from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanisms
from hybrid import Functional, State, derive, sensitivity, simulate
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact

FUNCTIONAL = Functional("q1_dot**2 + q2_dot**2")
# Impact time, functional and gradient by k1 = k2, derived once in 40 digits; derived() does it again.
FIGURES = {
    "2.5": (1.684902874555, 5.962318261668, [1.427910692974, 1.198153357425]),
    "2.7": (1.620868744835, 6.438695645831, [1.061313577231, 1.071250576921]),
    "2.9": (1.563602952848, 6.816284639393, [0.729502854551, 0.922923382775]),
}
END = [0.567445244116, -0.035990381535, 1.541879478954, -1.381045264987]  # at k1 = k2 = 2.5
NEWTON = NewtonImpact()
# What the wrong conditions give at k1 = k2 = 2.5, d Omega / d (k1, k2), to the digits of their derivation.
RESET_ONLY = (2.02592, 1.32447)
NO_JUMP = (2.71251, 0.75098)
AS_PRINTED = (1.55778, 0.92452)


@cache
def carts():
    return derive(mechanisms.load("two_carts"))


@cache
def motion(stiffness, law=NEWTON):
    parameters = {"k1": float(stiffness), "k2": float(stiffness)}
    return simulate(carts(), State([1, 2], [1, 0]), t_end=2, parameters=parameters, law=law)


def in_closed_form(k1, k2):
    """Impact time, functional and end state from the eigenvectors of the stiffness matrix; arithmetic of 40 digits."""
    mp = mpmath
    stiffness = mp.matrix([[k1 + k2, -k2], [-k2, k2]])
    squares, modes = mp.eigsy(stiffness)
    frequencies = [mp.sqrt(square) for square in squares]

    def flow(q, v, t):
        a, b = modes.T * mp.matrix(q), modes.T * mp.matrix(v)
        turned = [(a[i] * mp.cos(w * t) + b[i] / w * mp.sin(w * t)) for i, w in enumerate(frequencies)]
        rates = [(b[i] * mp.cos(w * t) - a[i] * w * mp.sin(w * t)) for i, w in enumerate(frequencies)]
        return modes * mp.matrix(turned), modes * mp.matrix(rates)

    def kinetic(q, v, t):
        rate = flow(q, v, t)[1]
        return rate[0] ** 2 + rate[1] ** 2

    start = ([1, 2], [1, 0])
    t_impact = mp.findroot(lambda t: flow(*start, t)[0][0], 1.6)
    q, v = flow(*start, t_impact)
    after = (list(q), [-v[0], v[1]])
    first = mp.quad(lambda t: kinetic(*start, t), [0, t_impact / 2, t_impact])
    second = mp.quad(lambda t: kinetic(*after, t), [0, 2 - t_impact])
    end = flow(*after, 2 - t_impact)
    return t_impact, first + second, [*end[0], *end[1]]


@cache
def derived(stiffness):
    """Impact time, functional, gradient and end state; the gradient by central differences of width 1e-12."""
    with mpmath.workdps(40):
        k, h = mpmath.mpf(stiffness), mpmath.mpf(10) ** -12
        t_impact, omega, end = in_closed_form(k, k)
        slopes = [
            (in_closed_form(k + h * (1 - i), k + h * i)[1] - in_closed_form(k - h * (1 - i), k - h * i)[1]) / (2 * h)
            for i in range(2)
        ]
        return float(t_impact), float(omega), [float(x) for x in slopes], [float(x) for x in end]


@pytest.mark.parametrize("stiffness", ["2.5", *(pytest.param(item, marks=pytest.mark.long) for item in ("2.7", "2.9"))])
def test_the_figures_follow_from_the_closed_form(stiffness):
    t_impact, omega, slopes, end = derived(stiffness)
    expected = FIGURES[stiffness]
    assert (t_impact, omega) == pytest.approx(expected[:2], abs=1e-12)
    assert slopes == pytest.approx(expected[2], abs=1e-12)
    assert stiffness != "2.5" or end == pytest.approx(END, abs=1e-12)


@pytest.mark.parametrize("stiffness", FIGURES)
def test_impact_time_functional_and_gradient(stiffness):
    t_impact, omega, slopes = FIGURES[stiffness]
    found = sensitivity(motion(stiffness), FUNCTIONAL, ["k1", "k2"])
    assert found.events[0].t == pytest.approx(t_impact, abs=2e-12)
    assert found.value == pytest.approx(omega, abs=1e-11)
    assert list(found.gradient.values()) == pytest.approx(slopes, abs=1e-9)


def test_end_state():
    assert sensitivity(motion("2.5"), FUNCTIONAL, ["k1"]).end == pytest.approx(END, abs=1e-11)


@pytest.mark.parametrize("stiffness", FIGURES)
def test_adjoint_forward_and_differences_agree(stiffness):
    found = sensitivity(motion(stiffness), FUNCTIONAL, ["k1", "k2"], check=True)
    # the adjoint is the transpose of the tangents: only rounding lies between them
    assert found.check.disagreement < 1e-11
    for name in ("k1", "k2"):
        assert found.check.differences[name].value == pytest.approx(found.gradient[name], abs=1e-7)


def test_before_the_impact():
    event = motion("2.5").events[0]
    assert event.q == pytest.approx([0.0, 0.432683898273], abs=1e-11)
    assert event.v_before == pytest.approx([-1.846963186012, -1.456258424853], abs=1e-11)


@pytest.mark.parametrize("law", [PoissonImpact(), EnergeticImpact()])
def test_every_law_of_a_frictionless_impact_gives_the_same_gradient(law):
    slopes = FIGURES["2.5"][2]
    found = sensitivity(motion("2.5", law), FUNCTIONAL, ["k1", "k2"])
    assert list(found.gradient.values()) == pytest.approx(slopes, abs=1e-9)


def adjoint_by_hand(k, jump):
    """The gradient by SciPy with a given matrix for the adjoint at the impact, ``psi- = jump^T psi+``."""
    A = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-2 * k, k, 0, 0], [k, -k, 0, 0]])

    def stop(_, x):
        return x[0]

    stop.terminal, stop.direction = True, -1
    options = {"rtol": 1e-12, "atol": 1e-13, "dense_output": True}
    before = solve_ivp(lambda _, x: A @ x, (0, 2), [1, 2, 1, 0], events=stop, **options)
    reset = np.diag([1.0, 1, -1, 1])
    x_minus = before.y[:, -1]
    x_plus = reset @ x_minus
    t_impact = before.t[-1]
    after = solve_ivp(lambda _, x: A @ x, (t_impact, 2), x_plus, **options)

    def carried(arc, t_late, t_early, psi):
        def rate(t, z):
            x = arc.sol(t)
            pull = -A.T @ z[:4] - np.array([0, 0, 2 * x[2], 2 * x[3]])
            return [*pull, z[2] * x[0], (z[2] - z[3]) * (x[0] - x[1])]

        return solve_ivp(rate, (t_late, t_early), [*psi, 0, 0], rtol=1e-12, atol=1e-13).y[:, -1]

    G_x, f_minus, f_plus = np.array([1.0, 0, 0, 0]), A @ x_minus, A @ x_plus
    saltation = reset + np.outer(f_plus - reset @ f_minus, G_x) / (G_x @ f_minus)
    late = carried(after, 2, t_impact, np.zeros(4))
    early = carried(before, t_impact, 0, jump(saltation, reset).T @ late[:4])
    return late[4:] + early[4:]


def test_the_hand_written_adjoint_is_right_with_the_saltation_matrix():
    assert adjoint_by_hand(2.5, lambda S, R: S) == pytest.approx(FIGURES["2.5"][2], abs=1e-8)


@pytest.mark.parametrize(
    ("jump", "wrong"),
    [
        (lambda S, R: R, RESET_ONLY),  # the Jacobian of the reset in place of the saltation matrix
        (lambda S, R: np.eye(4), NO_JUMP),  # no jump of the adjoint at all
        (lambda S, R: -S, AS_PRINTED),  # the condition as printed, its overall sign reversed
    ],
    ids=["reset only", "no jump", "as printed"],
)
def test_the_wrong_conditions_give_other_gradients_which_the_code_must_not_return(jump, wrong):
    assert adjoint_by_hand(2.5, jump) == pytest.approx(wrong, abs=1e-5)
    for method in ("adjoint", "forward"):
        found = sensitivity(motion("2.5"), FUNCTIONAL, ["k1", "k2"], method=method)
        difference = np.abs(np.array(list(found.gradient.values())) - wrong)
        assert difference.min() > 0.1


def rows_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "sensitivity.md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells}


@pytest.mark.parametrize("stiffness", FIGURES)
def test_the_documentation_shows_the_published_table_next_to_the_correct_one(stiffness):
    row = rows_of_the_documentation()[stiffness]
    t_impact, omega, slopes = FIGURES[stiffness]
    assert row[:4] == [f"{figure:.12f}" for figure in (t_impact, omega, *slopes)]
    assert row[4:] == [f"{slope:.6f}" for slope in adjoint_by_hand(float(stiffness), lambda S, R: -S)]


@pytest.mark.parametrize(
    ("condition", "jump"),
    [
        ("saltation matrix", lambda S, R: S),
        ("as printed, its sign reversed", lambda S, R: -S),
        ("Jacobian of the reset alone", lambda S, R: R),
        ("no jump", lambda S, R: np.eye(4)),
    ],
)
def test_the_documentation_shows_what_every_mistake_gives(condition, jump):
    assert rows_of_the_documentation()[condition] == [f"{slope:.6f}" for slope in adjoint_by_hand(2.5, jump)]
