"""Plots of motions hold the motion's numbers, break at jumps and stay legible."""

import numpy as np
import pytest

from hybrid import (
    Constraint,
    EnergyDynamics,
    Mechanism,
    Parameter,
    State,
    derive,
    plot_motion,
    simulate,
    solve_state,
)
from hybrid.contact import NewtonImpact
from hybrid.motion import simulate_branches
from hybrid.reporting import figure_svg, plot_tree
from mechanisms import load


@pytest.fixture(scope="module")
def bounced():
    return simulate(derive(load("bouncing_ball")), State([1.0], [0.0]), t_end=5, law=NewtonImpact())


def lines(axes):
    return {line.get_label(): line.get_xydata() for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_velocities_break_where_they_jump(bounced):
    _, velocity, _, _ = plot_motion(bounced).axes
    (drawn,) = lines(velocity).values()
    fall = np.sqrt(2 / 9.81)
    gap = np.flatnonzero(np.isnan(drawn[:, 0]))[0]
    assert drawn[gap - 1] == pytest.approx([fall, -9.81 * fall])
    assert drawn[gap + 1] == pytest.approx([fall, 0.8 * 9.81 * fall])


def test_curves_are_labelled_with_their_units_and_hold_the_motion():
    rod = derive(load("rod_on_incline"))
    motion = simulate(rod, solve_state(rod, {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}), t_end=2)
    position, angle, velocity, spin, force, modes = plot_motion(motion).axes
    labels = ["position (m)", "angle (rad)", "velocity (m/s)", "angular\nvelocity (rad/s)", "contact force (N)"]
    assert [axes.get_ylabel() for axes in (position, angle, velocity, spin, force)] == labels
    assert list(lines(position)) == ["$x$ (m)", "$y$ (m)"]
    assert list(lines(velocity)) == [r"$\dot{x}$ (m/s)", r"$\dot{y}$ (m/s)"]
    assert list(lines(spin)) == [r"$\dot{\varphi}$ (rad/s)"]
    assert list(lines(force)) == [r"$\lambda_N$ tip (N)", r"$\lambda_T$ tip (N)"]
    t, phi = lines(angle)[r"$\varphi$ (rad)"].T
    seen = ~np.isnan(t)
    assert phi[seen] == pytest.approx(motion.sample(t[seen])[0][:, 2], abs=1e-12)
    assert [text.get_text() for text in modes.texts] == ["stick", "slide-", "slide+"]
    assert [text.get_text() for text in modes.get_legend().get_texts()] == ["stick", "slide-", "slide+"]


def test_lines_at_an_accumulation_of_events_do_not_merge(bounced):
    position, *_ = plot_motion(bounced).axes
    dotted = [line.get_xdata()[0] for line in position.get_lines() if line.get_linestyle() == ":"]
    assert len(dotted) < len(bounced.events)
    assert np.diff(dotted).min() > 0.003 * bounced.t


def test_impulses_of_time_stepping_do_not_flatten_the_forces():
    ball = derive(load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=5, method="time-stepping", step=1e-3)
    _, _, force, _ = plot_motion(motion).axes
    # the weight at the end is 9.81 N, an impact of 8 kg m/s in a step of 1 ms is 8000 N
    assert 9.81 < force.get_ylim()[1] < 15


def test_a_motion_without_arcs_is_drawn_as_points():
    rod = derive(load("rod_on_incline"))
    start = solve_state(rod, {"phi": 2.0, "phi_dot": 0, "slip.tip": 1}, parameters={"mu": 1.5})
    _, angle, *_ = plot_motion(simulate(rod, start, t_end=1, parameters={"mu": 1.5})).axes
    assert lines(angle)[r"$\varphi$ (rad)"].tolist() == [[0.0, 2.0]]


def test_the_same_motion_gives_the_same_picture(bounced):
    assert figure_svg(plot_motion(bounced)) == figure_svg(plot_motion(bounced))


def test_every_part_of_a_tree_is_drawn_and_named():
    rod = derive(load("rod_on_incline"))
    pins = {"phi": 2.0, "phi_dot": 1.3, "slip.tip": 1}
    tree = simulate_branches(rod, solve_state(rod, pins, parameters={"mu": 1.5}), t_end=0.1, parameters={"mu": 1.5})
    figure = plot_tree(tree)
    *panels, modes = figure.axes
    assert [text.get_text() for text in modes.texts] == [" ends at once: indeterminate", "free", "slide+"]
    assert "1: free after 0, 2: slide+ after 0" in figure.get_suptitle()
    assert [axes.get_ylabel() for axes in panels[:3]] == ["$x$ (m)", "$y$ (m)", r"$\varphi$ (rad)"]
    for axes in panels:
        parts = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
        assert [line.get_label() for line in parts] == ["0", "1: free after 0", "2: slide+ after 0"]
        assert len({(line.get_color(), line.get_linestyle()) for line in parts}) == 3
    assert len([axes for axes in panels if axes.get_legend()]) == 1
    for index, axes in enumerate(panels[3:6]):
        drawn = lines(axes)
        for branch, label in zip(tree.branches[1:], ("1: free after 0", "2: slide+ after 0"), strict=True):
            curve = drawn[label]
            assert curve[~np.isnan(curve[:, 0])][-1, 1] == pytest.approx(branch.motion.v[index], abs=1e-12)


def test_forces_of_a_rough_rail_are_drawn():
    # a bead of 2 kg that slides on a level rail: 20 N carry it, 0.5 of them brake it
    bead = Mechanism(
        name="bead",
        coordinates=["x", "y"],
        parameters={"m": Parameter(2, unit="kg"), "g": Parameter(10, unit="m/s^2"), "mu": Parameter(0.5, unit="1")},
        dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="m*g*y"),
        constraint=[Constraint(name="rail", equation="y", tangent="x", friction="mu")],
    )
    dynamics = derive(bead)
    figure = plot_motion(simulate(dynamics, solve_state(dynamics, {"x": 0, "slip.rail": 1}), t_end=0.1))
    drawn = lines(next(axes for axes in figure.axes if axes.get_ylabel() == "contact force (N)"))
    for label, expected in ((r"$\lambda_N$ rail (N)", 20), (r"$\lambda_T$ rail (N)", -10)):
        force = drawn[label][:, 1]
        assert force[~np.isnan(force)] == pytest.approx(expected, rel=1e-9)


def test_a_mechanism_without_contacts_has_no_empty_panels():
    pendulum = derive(load("double_pendulum"))
    motion = simulate(
        pendulum, solve_state(pendulum, {"theta1": 0.1, "theta2": 0.2, "theta1_dot": 0, "theta2_dot": 0}), t_end=0.5
    )
    position, velocity = plot_motion(motion).axes
    assert [axes.get_ylabel() for axes in (position, velocity)] == ["angle (rad)", "angular\nvelocity (rad/s)"]
    assert velocity.get_xlabel() == "time $t$ (s)"
