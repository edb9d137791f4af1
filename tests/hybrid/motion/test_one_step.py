"""One step of time-stepping, against every solution of its laws."""

import numpy as np

from hybrid import State, Termination, derive, simulate
from hybrid.declaration import mechanism_from_toml

H = 0.01
CLOSE = 1e-9  # of numbers of about 1: a linear solution of four unknowns, whose condition is far below 1e6

WEDGE = """
name = "wedge"
coordinates = ["x", "y", "phi"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2 + phi_dot**2/4"
potential = "7*y"
[[contact]]
name = "foot"
gap = "y - 0.4*phi"
tangent = "x - 0.4*phi - 0.8*t"
friction = "0.9"
[[constraint]]
name = "rail"
equation = "y - 0.6*phi"
tangent = "x + 0.3*t"
friction = "1.0"
"""

GUIDES = """
name = "guides"
coordinates = ["x", "y", "phi"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2 + phi_dot**2)/2"
potential = "-3.4*x + 1.8*y + 2.7*phi"
[[constraint]]
name = "guide_0"
equation = "y - 0.6*phi"
tangent = "x - 0.3*phi + 0.1*t"
friction = 0.6
[[constraint]]
name = "guide_1"
equation = "y - 0.5*phi"
tangent = "x + 0.6*phi + 0.5*t"
friction = 0.3
"""


def one_step(mechanism, v, **options):
    start = State([0.0] * len(v), v)
    return simulate(mechanism, start, t_end=H, method="time-stepping", step=H, **options)


def test_a_step_without_solution_is_not_answered_with_rounding():
    """By hand, with impulses N and R of the foot and the rail: none obeys the laws.

    Off the foot R = 0.07/1.72 closes it. On it y and phi rest: N = 0.07 - R, and the friction of the foot is
    T = -(0.07 + R/2), within 0.9 N for R <= -0.005 alone. If it slips, R = -0.005 and x_dot <= 0.5 - 0.0675 + 0.005 is
    slower than the belt of 0.8, which pulls the other way. If it sticks, the rail slips forwards, and its friction R
    leaves x_dot = 0.43 - R/2 + R < 0.8.
    """
    wedge = derive(mechanism_from_toml(WEDGE))
    motion = one_step(wedge, [0.5, 0.0, 0.0])
    assert motion.termination is Termination.NOT_COMPUTED
    assert motion.t == 0.0 and motion.v.tolist() == [0.5, 0.0, 0.0]
    assert "more than rounding decides (that there are none is not shown) in the step to t = 0.01" in motion.cause


def test_a_solution_with_digits_is_taken_where_another_is_rounding():
    """By hand: the guides keep y = phi = 0, and what they do to phi leaves two speeds of x, with impulses below 3.

    With N1 = 0.018 - N0, both guides slipping and N0 < 0: -0.03924 - 0.1 N0 = 0, and x_dot = 1.534 + 0.6 N0 - 0.3 N1.
    Else guide 0 sticks to its belt, at x_dot = -0.1. Lemke's method ends at impulses that together move nothing.
    """
    guides = derive(mechanism_from_toml(GUIDES))
    motion = one_step(guides, [1.5, 0.0, 0.0])
    assert motion.termination is Termination.END_TIME
    assert min(abs(motion.v[0] - speed) for speed in (1.17544, -0.1)) < CLOSE
    assert np.abs(motion.v[1:]).max() < CLOSE and np.abs(motion.arcs[0].means.lambda_T).max() < 3 / H
