"""States of catalogue mechanisms that tests of reporting share."""

from hybrid import solve_state
from tests.catalogue import dynamics_of

STATES = {
    "rod_on_incline": ({"phi": 2.0, "phi_dot": 0, "slip.tip": "+0"}, {"mu": 1.5}),
    "painleve_rod": ({"theta": 1.0, "theta_dot": 0.3, "slip.tip": 0.4}, {}),
    "ladder_in_corner": (
        {"theta": 1.2, "gap.floor": 0, "gap.wall": 0, "theta_dot": 0, "gap_dot.floor": 0, "gap_dot.wall": 0},
        {"mu": 0.9},
    ),
    "bouncing_ball": ({}, {}),
    "block_on_incline": ({"slip.floor": 0}, {}),
    "slider_pendulum": ({"theta": 1.0, "theta_dot": 0, "slip.floor": 0}, {}),
    "two_link_arm": ({"theta1": 0.5, "slip.tip": 0}, {}),
    "brake_shoe": ({}, {}),
    "oblique_rod": (
        {"psi": 0, "theta": 1.0, "psi_dot": 0, "theta_dot": 0, "slip.tip.1": "+0", "slip.tip.2": 0},
        {},
    ),
    "rod_two_ends": ({"x": 0, "phi": 1.0, "gap.left": 0, "phi_dot": 0, "slip.left": 0, "gap_dot.left": 0}, {}),
    "two_carts": ({"q2": 0.5, "q2_dot": 0}, {}),
}


def solved(name):
    """Dynamics, state and replaced parameters."""
    pins, parameters = STATES[name]
    dynamics = dynamics_of(name)
    return dynamics, solve_state(dynamics, pins, parameters=parameters), parameters
