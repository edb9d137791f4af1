"""Everything that can be wrong with the meaning of a declaration is found, and nothing that is right is refused."""

import copy
import pickle

import attrs
import numpy as np
import pytest

from hybrid.declaration import (
    Constraint,
    Contact,
    Drawing,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Mechanism,
    Parameter,
    evaluate,
)
from hybrid.errors import DeclarationError


def rod(**changes) -> Mechanism:
    fields = {
        "name": "rod",
        "coordinates": ["x", "y", "phi"],
        "parameters": {"m": 2, "l": 3, "I": "m*l**2/3", "g": 9.81, "mu": 0.5, "mu_s": 0.6},
        "definitions": {"tip_x": "x - l*cos(phi)", "rate": "phi_dot*l"},
        "dynamics": EnergyDynamics(kinetic="m*(x_dot**2 + y_dot**2)/2 + I*phi_dot**2/2", potential="m*g*y"),
        "contact": [tip()],
    }
    return Mechanism(**{**fields, **changes})


def tip(**changes) -> Contact:
    fields = {"name": "tip", "gap": "y - l*sin(phi)", "tangent": "tip_x", "friction": "mu"}
    return Contact(**{**fields, **changes})


def contact(**changes) -> dict:
    return {"contact": [tip(**changes)]}


def element(**fields) -> dict:
    return {"friction": [FrictionElement(**{"name": "seal", "limit": "1", "tangent": "x", **fields})]}


def rail(**fields) -> dict:
    return {"constraint": [Constraint(**{"name": "rail", "equation": "y", **fields})]}


def energy(kinetic="m*(x_dot**2 + y_dot**2 + phi_dot**2)/2", potential="0") -> dict:
    return {"dynamics": EnergyDynamics(kinetic=kinetic, potential=potential)}


def matrix(*rows, forces=("0", "0", "0")) -> dict:
    return {"dynamics": EquationDynamics(mass_matrix=rows, forces=forces)}


def parameters(**values) -> dict:
    return {"parameters": {"m": 2, "l": 3, "I": 6, "g": 9.81, "mu": 0.5, "mu_s": 0.6, **values}}


WRONG = {
    # names
    "contact.m.name: 'm' is already a parameter": contact(name="m"),
    "contact.rate.name: 'rate' is already a definition": contact(name="rate"),
    "contact.x.name: 'x' is already a coordinate": contact(name="x"),
    "contact.tip.name: 'tip' is already a contact": {"contact": [tip(), tip()]},
    "friction.tip.name: 'tip' is already a contact": element(name="tip"),
    "constraint.tip.name: 'tip' is already a contact": rail(name="tip"),
    "contact[1].name: '' is not a name; a name is ASCII letters, digits and _, and starts with no digit": contact(
        name=""
    ),
    "parameters.phi_dot: 'phi_dot' is already the velocity of 'phi'": parameters(phi_dot=1),
    "parameters.t: 't' is the time; choose another name": parameters(t=1),
    "parameters.pi: 'pi' is a constant; choose another name": parameters(pi=3),
    "parameters.sin: 'sin' is a function; choose another name": parameters(sin=3),
    "definitions.m: 'm' is already a parameter": {"definitions": {"m": "1", "tip_x": "x"}},
    "coordinates: 'x' is already a coordinate": {"coordinates": ["x", "y", "phi", "x"]},
    "coordinates: 'x_dot' is already a coordinate": {
        "coordinates": ["x", "x_dot", "y", "phi"],
        **energy(kinetic="m*(x_dot**2 + x_dot_dot**2 + y_dot**2 + phi_dot**2)"),
    },
    "name: must be a short name of ASCII letters, digits, _, - and ., not 'a b'": {"name": "a b"},
    # definitions and parameters
    "definitions.a: refers to itself in a circle: a -> b -> a": {
        "definitions": {"a": "b + 1", "b": "2*a", "tip_x": "x"}
    },
    "definitions.a: refers to itself": {"definitions": {"a": "a + 1", "tip_x": "x"}},
    "definitions.a (column 3): unknown name 'phj'; did you mean 'phi'?": {"definitions": {"a": "2*phj", "tip_x": "x"}},
    "parameters.m: refers to itself in a circle: m -> I -> m": parameters(I="m", m="I"),
    "parameters.I: a parameter depends on other parameters only, not on 'x'": parameters(I="2*x"),
    "parameters.I: must be a finite number, not inf": parameters(I="1/(m - 2)"),
    "parameters.I: must be a finite number, not nan": parameters(I="sqrt(-m)"),
    # gaps
    "contact.tip.gap (column 5): a gap must not depend on the velocity 'x_dot'": contact(gap="y + x_dot"),
    "contact.tip.gap (column 5): a gap must not depend on the velocity 'phi_dot'; "
    "through the definition 'rate'": contact(gap="y + rate"),
    "contact.tip.gap: a gap must depend on a coordinate": contact(gap="l + t"),
    "contact.tip.gap (column 5): unknown name 'z'": contact(gap="y + z"),
    # tangents and slips
    "contact.tip.tangent (column 3): a tangential displacement must not depend on the velocity 'x_dot'": contact(
        tangent="2*x_dot"
    ),
    "contact.tip.gap: a gap must depend on a coordinate; 'y' is multiplied by zero": contact(gap="l - 2*(0*y)/l"),
    "contact.tip.tangent: a tangential displacement must depend on a coordinate": contact(tangent="l*t"),
    "contact.tip.tangent: must be one expression (planar) or two (spatial), not 3": contact(tangent=["x", "y", "x"]),
    "contact.tip: tangent and slip exclude one another; slip is the rate of a tangent": contact(slip="x_dot"),
    "contact.tip.slip: a slip velocity must be linear in the velocities": contact(tangent=None, slip="x_dot*y_dot"),
    "contact.tip.slip: a slip velocity must depend on a velocity": contact(tangent=None, slip="l*x"),
    # coefficients
    "contact.tip.friction: needs tangent or slip; without them the contact is frictionless": contact(tangent=None),
    "contact.tip.friction: must not be negative, not -0.1": contact(friction=-0.1),
    "contact.tip.friction: must not be negative, not -0.5": contact(friction="-mu"),
    "contact.tip.friction (column 1): a friction coefficient must not depend on the velocity 'x_dot'": contact(
        friction="x_dot"
    ),
    "contact.tip.static_friction: must be at least friction, which is 0.5, not 0.4": contact(static_friction=0.4),
    "contact.tip.restitution: must lie between 0 and 1, not 1.5": contact(restitution=1.5),
    "contact.tip.restitution: must not be negative, not -0.5": contact(restitution=-0.5),
    "contact.tip.restitution (column 1): a coefficient of restitution must not depend on the coordinate 'x'": contact(
        restitution="x"
    ),
    "contact.tip.damping: must not be negative, not -1": contact(damping=-1),
    "contact.tip.stiffness_ratio: must be positive, not 0": contact(stiffness_ratio=0),
    # friction elements and constraints
    "friction.seal: needs tangent or slip": element(tangent=None),
    "friction.seal: tangent and slip exclude one another; slip is the rate of a tangent": element(slip="x_dot"),
    "friction.seal.limit: must not be negative, not -1": element(limit=-1),
    "friction.seal.static_limit: must be at least limit, which is 1, not 0.5": element(static_limit=0.5),
    "constraint.rail.equation (column 1): a constraint equation must not depend on the velocity 'x_dot'": rail(
        equation="x_dot"
    ),
    "constraint.rail.equation: a constraint equation must depend on a coordinate": rail(equation="l"),
    "constraint.rail.friction: needs tangent or slip": rail(friction="mu"),
    "constraint.rail.tangent: needs friction": rail(tangent="x"),
    "constraint.rail.stiffness: must be positive, not -1": rail(stiffness=-1),
    "constraint.rail: an elastic constraint has no friction of its own; the force is known: declare [[friction]] "
    "with limit = friction*stiffness*abs(equation)": rail(stiffness=1, friction="mu", tangent="x"),
    # dynamics
    "dynamics.kinetic: the kinetic energy must be a polynomial of degree 2 in the velocities": energy(
        kinetic="m*(x_dot**2 + y_dot**2 + phi_dot**3)"
    ),
    "dynamics.kinetic: the velocity of 'phi' does not occur: the mass matrix is singular at every posture; "
    "give 'phi' an inertia or remove it": energy(kinetic="m*(x_dot**2 + y_dot**2)/2"),
    "dynamics.potential (column 1): the potential energy must not depend on the velocity 'x_dot'": energy(
        potential="x_dot"
    ),
    "dynamics.mass_matrix: must have 3 rows of 3 entries, one for each coordinate, not 2 rows of 2 entries": matrix(
        ["m", 0], [0, "m"]
    ),
    "dynamics.forces: must have 3 entries, one for each coordinate, not 2": matrix(
        ["m", 0, 0], [0, "m", 0], [0, 0, "I"], forces=["0", "0"]
    ),
    "dynamics.mass_matrix[3][2]: the mass matrix must be symmetric; 'm*cos(x)' stands opposite 'm*sin(x)'": matrix(
        ["m", 0, 0], [0, "m", "m*sin(x)"], [0, "m*cos(x)", "I"]
    ),
    "dynamics.mass_matrix[2][2]: the inertia of 'y' is zero: the mass matrix is singular at every posture": matrix(
        ["m", 0, 0], [0, 0, 0], [0, 0, "I"]
    ),
    "dynamics.mass_matrix[1][1] (column 3): an entry of the mass matrix "
    "must not depend on the velocity 'x_dot'": matrix(["m*x_dot", 0, 0], [0, "m", 0], [0, 0, "I"]),
    "forces.phj: 'phj' is not a coordinate; did you mean 'phi'?": {"forces": {"phj": "1"}},
    # drawing
    "drawing.points.a: must have two or three expressions, not 1": {"drawing": {"points": {"a": ["x"]}}},
    "drawing.points.b: has 3 expressions, and 'a' has 2; a drawing is in the plane or in space": {
        "drawing": {"points": {"a": ["x", "y"], "b": ["x", "y", "0"]}}
    },
    "drawing.points.a (column 1): a point of the drawing must not depend on the velocity 'x_dot'": {
        "drawing": {"points": {"a": ["x_dot", "y"]}}
    },
    "drawing.links[1]: 'tap' is not a point; did you mean 'tip'?": {
        "drawing": {"points": {"tip": ["x", "y"]}, "links": [["tip", "tap"]]}
    },
    "drawing.stops[1]: 'tap' is not a contact; did you mean 'tip'?": {
        "drawing": {"points": {"tip": ["x", "y"]}, "stops": ["tap"]}
    },
    "drawing.links[1]: must name two points, not 1": {"drawing": {"points": {"tip": ["x", "y"]}, "links": [["tip"]]}},
}


@pytest.mark.parametrize("message", WRONG)
def test_one_fault_gives_one_message(message):
    with pytest.raises(DeclarationError) as caught:
        rod(**WRONG[message])
    assert str(caught.value) == message


RIGHT = {
    "moving guide": contact(gap="y - l*sin(phi) - 0.1*sin(3*t)", tangent="tip_x - 2*t"),
    "rolling": contact(tangent=None, slip="x_dot - l*rate + 3*t"),
    "spatial": contact(tangent=["x", "phi"]),
    "frictionless": {"contact": [Contact(name="stop", gap="y")]},
    "friction along the surface": contact(friction="mu*(1 + sin(x)**2)", static_friction="mu_s + 1"),
    "no contact": {"contact": []},
    "kinetic with linear and constant terms": energy(
        kinetic="m*(x_dot**2 + (y_dot + 2*t)**2)/2 + sin(phi)*phi_dot + I*phi_dot**(1 + 1)/2 + m*phi_dot*phi_dot/l"
    ),
    "mass matrix equal to its mirror image in other words": matrix(
        ["m", 0, "m*sin(2*phi)"], [0, "m", 0], ["2*m*sin(phi)*cos(phi)", 0, "I"]
    ),
    "elastic constraint": rail(stiffness="1e6"),
    "rough rail": rail(friction="mu", slip="x_dot"),
    "seal": element(tangent=None, slip="x_dot - y_dot", limit="mu*abs(x)", static_limit=3),
    "forces of everything": {"forces": {"x": "-0.1*x_dot*abs(x_dot) + sin(t)", "phi": 3}},
}


@pytest.mark.parametrize("fields", RIGHT.values(), ids=RIGHT)
def test_right_declaration_is_accepted(fields):
    rod(**fields)


def test_all_faults_come_at_once():
    with pytest.raises(DeclarationError) as caught:
        rod(contact=[tip(gap="y + zz", friction=-1, restitution="2*")], forces={"z": "qq"})
    assert len(caught.value.problems) == 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Contact(name=3, gap="y"), "name: must be a text, not 3"),
        (lambda: Contact(name="tip", gap=["y"]), "gap: must be an expression or a number, not a list"),
        (lambda: Contact(name="tip", gap=None), "gap: must be an expression or a number, not None"),
        (lambda: tip(friction=True), "friction: must be an expression or a number, not true"),
        (lambda: tip(friction=float("nan")), "friction: must be finite, not nan"),
        (lambda: tip(tangent={"x": 1}), "tangent: must be an expression or a number, not a table"),
        (lambda: Parameter(float("inf")), "value: must be finite, not inf"),
        (lambda: Parameter(10**400), "value: must be smaller than 1.8e308, not a longer one"),
        (lambda: Parameter(1, unit=3), "unit: must be a text, not 3"),
        (lambda: Parameter(1, doc="a\0b"), "doc: holds a control character"),
        (lambda: rod(coordinates="xyz"), "coordinates: must be a list of texts, not 'xyz'"),
        (lambda: rod(contact=["tip"]), "contact: must be a list of Contact objects"),
        (lambda: rod(contact=tip()), "contact: must be a list of Contact objects"),
        (lambda: rod(dynamics="m"), "dynamics: must be of class EnergyDynamics or EquationDynamics, not str"),
        (lambda: rod(parameters=[1]), "parameters: must be a mapping of names, not a list"),
        (lambda: rod(parameters={"m": None}), "parameters.m: must be a number or an expression, not None"),
        (lambda: rod(definitions={"a": []}), "definitions.a: must be an expression or a number, not a list"),
        (lambda: rod(drawing=3), "drawing: must be of class Drawing, not int"),
    ],
)
def test_object_of_another_type_is_refused_by_name(make, message):
    with pytest.raises(DeclarationError) as caught:
        make()
    assert str(caught.value) == message


def test_numbers_become_expressions_and_single_expressions_tuples():
    made = tip(gap=np.float64(0.5), tangent="x", friction=np.int64(1), restitution=1)
    assert (made.gap, made.tangent, made.friction, made.restitution) == ("0.5", ("x",), "1", "1")
    assert Parameter(2).value == 2.0


@pytest.mark.parametrize(("fields", "dimension"), [({"tangent": ()}, 0), ({}, 1), ({"tangent": ("x", "y")}, 2)])
def test_dimension_counts_tangential_directions(fields, dimension):
    assert tip(**fields).dimension == dimension


def test_mechanism_is_a_value():
    one, other = rod(), rod()
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    assert attrs.evolve(one, source="rod.toml") == one
    assert attrs.evolve(one, name="rod2") != one
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        one.name = "other"
    with pytest.raises(TypeError):
        one.parameters["m"] = 3
    with pytest.raises(AttributeError):
        one.parameters._items = {}


def test_expanded_expression_has_the_value_of_the_definitions():
    mechanism = rod(definitions={"tip_x": "x - arm", "arm": "l*cos(phi)", "twice": "2*tip_x"})
    values = {"x": 0.3, "phi": 0.7, "l": 3.0}
    expanded = mechanism.expanded("twice**2")
    assert expanded.names == {"x", "l", "phi"}
    assert mechanism.expression("twice**2").names == {"twice"}
    assert float(evaluate(expanded, values)) == pytest.approx((2 * (0.3 - 3 * np.cos(0.7))) ** 2, rel=1e-14)


def test_unknown_name_in_a_later_expression_is_named():
    with pytest.raises(DeclarationError, match=r"wanted \(column 3\): unknown name 'phj'; did you mean 'phi'"):
        rod().expression("1+phj", field="wanted")


def test_drawing_keeps_points_and_links():
    drawing = rod(drawing={"points": {"a": ["x", 0], "b": ["tip_x", "0"]}, "links": [["a", "b"]]}).drawing
    assert drawing == Drawing(points={"a": ("x", "0"), "b": ("tip_x", "0")}, links=(("a", "b"),))
