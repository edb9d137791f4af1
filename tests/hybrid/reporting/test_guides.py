"""Guides and curved surfaces in animations: every place on the declared curve, and the forces of smooth rails."""

import json
import re

import numpy as np
import pytest

from hybrid import Constraint, Contact, EnergyDynamics, Mechanism, derive, render_animation, simulate, solve_state
from hybrid.declaration import Drawing, mechanism_from_toml, mechanism_to_toml
from hybrid.errors import DeclarationError
from hybrid.reporting.scene import build_scene
from tests.catalogue import dynamics_of


def puck(*, points=None, **parts):
    """A mass point of 1 kg in a vertical plane."""
    return Mechanism(
        name="puck",
        coordinates=["x", "y"],
        parameters={"m": 1, "g": 9.81, "mu": 0.1, "R": 1, "w": 2},
        dynamics=EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2", potential="m*g*y"),
        drawing=Drawing(points=points or {"puck": ["x", "y"]}),
        **parts,
    )


def wire(**words):
    equation = "(y - x**2/2)/sqrt(1 + x**2)"
    return derive(puck(constraint=[Constraint(name="wire", equation=equation, **words)]))


def scene_of(dynamics, pins, *, t_end=0.5, branch=None):
    return build_scene(simulate(dynamics, solve_state(dynamics, pins, branch=branch), t_end=t_end))


@pytest.fixture(scope="module")
def on_the_hill():
    hill = derive(
        puck(contact=[Contact(name="hill", gap="sqrt(x**2 + y**2) - R", tangent="R*atan2(x, y)", friction="mu")])
    )
    return scene_of(hill, {"x": 0.1, "gap.hill": 0, "gap_dot.hill": 0, "slip.hill": 1}, t_end=1, branch={"y": 1})


def test_the_ellipse_of_the_singular_pendulum_is_drawn_whole():
    pendulum = dynamics_of("singular_pendulum")
    scene = scene_of(pendulum, {"u": 0.5, "u_dot": 0.3}, branch={"theta": 0.6})
    (ellipse,) = scene.curves
    x, y = ellipse.places.T
    # half axes 3 and 4, centre 3 above the pivot
    assert (x / 3) ** 2 + ((y - 3) / 4) ** 2 == pytest.approx(1, abs=1e-12)
    assert [np.ptp(x), np.ptp(y)] == pytest.approx([6, 8], rel=1e-3)
    assert not ellipse.normals.any()
    # C is on it
    assert np.linalg.norm(ellipse.places - scene.points["C"][0], axis=1).min() < 0.05


@pytest.mark.parametrize("words", [{}, {"friction": "mu", "slip": "(x_dot + x*y_dot)/sqrt(1 + x**2)"}])
def test_a_curved_wire_is_traced_to_both_sides(words):
    scene = scene_of(wire(**words), {"x": 1.5, "slip.wire" if words else "x_dot": 0})
    assert scene.surfaces == ()
    assert scene.without_force == ()
    (curve,) = scene.curves
    x, y = curve.places.T
    assert y == pytest.approx(x**2 / 2, abs=1e-5)
    places = scene.points["puck"]
    assert x.min() < places[:, 0].min() - 0.3 * scene.size
    assert x.max() > places[:, 0].max() + 0.3 * scene.size


def test_a_round_hill_closes_and_has_its_solid_inside(on_the_hill):
    (curve,) = on_the_hill.curves
    assert np.linalg.norm(curve.places, axis=1) == pytest.approx(1, abs=1e-5)
    assert curve.places[0] == pytest.approx(curve.places[-1])
    angles = np.unwrap(np.arctan2(*curve.places.T))
    assert abs(angles[-1] - angles[0]) == pytest.approx(2 * np.pi, rel=1e-6)
    assert curve.normals == pytest.approx(curve.places, abs=1e-4)  # of a unit circle, outwards


def test_what_moves_has_no_curve():
    table = dynamics_of("ball_on_vibrating_table")
    scene = scene_of(table, {"y": 1.0, "y_dot": 0}, t_end=0.3)
    assert scene.curves == ()
    assert [surface.is_still for surface in scene.surfaces] == [False]
    lifted = derive(puck(contact=[Contact(name="hill", gap="sqrt(x**2 + (y - 0.1*sin(w*t))**2) - R")]))
    moving = scene_of(lifted, {"x": 0.1, "y": 1.5, "x_dot": 0, "y_dot": 0}, t_end=0.2)
    assert moving.curves == ()


def test_a_smooth_wire_carries_what_keeps_the_bead_on_it():
    scene = scene_of(wire(), {"x": 1.5, "x_dot": 0}, t_end=0.3)
    (force,) = scene.forces
    # at rest on a slope of 1.5: the weight's part across the wire, m*g*cos(atan(1.5)), along the normal (-1.5, 1)
    weight = 9.81 / np.sqrt(1 + 1.5**2)
    assert force.vector[0] == pytest.approx(weight * np.array([-1.5, 1]) / np.sqrt(1 + 1.5**2), rel=1e-6)
    # later the curvature adds m*v^2/r, with r = (1 + x^2)^(3/2) and v^2 = 2*g*(fall)
    x, y = scene.points["puck"][-1]
    across = 9.81 / np.sqrt(1 + x**2) + 2 * 9.81 * (1.5**2 / 2 - y) / (1 + x**2) ** 1.5
    assert np.linalg.norm(force.vector[-1]) == pytest.approx(across, rel=1e-6)


def test_the_page_holds_the_curves(on_the_hill):
    ellipse = dynamics_of("singular_pendulum")
    motion = simulate(ellipse, solve_state(ellipse, {"u": 0.5, "u_dot": 0.3}, branch={"theta": 0.6}), t_end=0.1)
    page = render_animation(motion)
    data = json.loads(re.search(r'<script type="application/json" id="scene">(.*?)</script>', page, re.DOTALL)[1])
    (curve,) = data["curves"]
    places = np.array(curve["places"]).reshape(-1, 2) * data["grid"] + data["origin"]
    assert (places[:, 0] / 3) ** 2 + ((places[:, 1] - 3) / 4) ** 2 == pytest.approx(1, abs=1e-4)
    assert curve["normals"] is None


def test_guides_are_written_and_read():
    mechanism = dynamics_of("singular_pendulum").mechanism
    assert mechanism.drawing.guides == (("C", "u"),)
    assert mechanism_from_toml(mechanism_to_toml(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("guides", "message"),
    [
        ([["tap", "x"]], "drawing.guides[1]: 'tap' is not a point; did you mean 'tip'?"),
        ([["tip", "z"]], "drawing.guides[1]: 'z' is not a coordinate"),
        ([["tip"]], "drawing.guides[1]: must name a point and a coordinate, not 1 things"),
        ([["tip", "x"]], "drawing.guides[1]: the point 'tip' depends on 'y', too: the guide would move"),
        ([["late", "x"]], "drawing.guides[1]: the point 'late' depends on 't', too: the guide would move"),
        (3, "drawing.guides: must be a list of pairs of names, not 3"),
    ],
)
def test_a_guide_that_is_none_is_refused(guides, message):
    points = {"tip": ["x", "y"], "late": ["x", "t"]}
    text = mechanism_to_toml(puck(points=points)).replace("[drawing.points]", "[drawing]\n[drawing.points]")
    with pytest.raises(DeclarationError) as caught:
        mechanism_from_toml(text.replace("[drawing]\n", f"[drawing]\nguides = {json.dumps(guides)}\n"))
    assert message in str(caught.value)


def test_a_guide_of_a_coordinate_that_does_not_turn_runs_beyond_the_motion():
    points = {"puck": ["x", "y"], "mark": ["x", "x**2/2"]}
    base = puck(points=points)
    guided = Mechanism(
        name=base.name,
        coordinates=base.coordinates,
        parameters=base.parameters,
        dynamics=base.dynamics,
        drawing=Drawing(points=points, guides=[["mark", "x"]]),
    )
    dynamics = derive(guided)
    scene = scene_of(dynamics, {"x": 0, "y": 1, "x_dot": 2, "y_dot": 0})
    (curve,) = scene.curves
    x, y = curve.places.T
    assert y == pytest.approx(x**2 / 2, abs=1e-12)
    assert [x.min(), x.max()] == pytest.approx([-1, 2], abs=1e-9)  # the motion runs from 0 to 1
