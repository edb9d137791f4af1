"""Ties that floats leave open, decided in rational numbers where the data are known, and only there."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hybrid import Contact, EnergyDynamics, EquationDynamics, Mechanism, State, derive, select, solve_state
from hybrid.cli import main
from hybrid.contact.known_numbers import known_number

REST = State(np.zeros(3), np.zeros(3))


def balanced_body(places=("33/20", "1/20", "0"), *, lengths=None):
    """A body on collinear feet, the last of which stands under its centre and the others to one side."""
    return derive(
        Mechanism(
            name="balanced_body",
            coordinates=["x", "y", "phi"],
            parameters={"m": 1, "J": 0.5, "g": 9.81, "mu": 0.5, "slope": 0, "p": 1} | (lengths or {}),
            dynamics=EnergyDynamics(
                kinetic="m*(x_dot**2 + y_dot**2)/2 + J*phi_dot**2/2",
                potential="m*g*(1001/1000)**(p - 1)*(y*cos(slope) + x*sin(slope))",
            ),
            contact=[
                Contact(
                    name=f"foot{i}",
                    gap=f"y + ({place})*sin(phi)",
                    tangent=f"x + ({place})*cos(phi)",
                    friction="mu",
                )
                for i, place in enumerate(places)
            ],
        )
    )


@pytest.mark.parametrize(("m", "weight"), [(1, 9.81), ("4/3", 13.08)])
def test_a_body_that_balances_on_one_foot_rests_with_all_its_weight_on_it(m, weight):
    # moments about the centre: 33/20 N0 + 1/20 N1 = 0 with N >= 0, so that N0 = N1 = 0, T0 = T1 = 0, and the sum of all
    # tangential forces is zero: one solution, on the edge of toppling
    found = select(balanced_body(), REST, parameters={"m": m})
    assert found.verdict.name == "UNIQUE"
    assert found.decided_by == "exact rational arithmetic"
    (branch,) = found.branches
    np.testing.assert_array_equal(branch.acceleration, np.zeros(3))
    assert branch.lambda_N == {"foot0": 0.0, "foot1": 0.0, "foot2": pytest.approx(weight, rel=1e-15)}
    assert branch.lambda_T == {"foot0": (0.0,), "foot1": (0.0,), "foot2": (0.0,)}
    assert branch.mode["foot2"].value == "stick"
    assert "g = 981/100" in found.notes[-1]


def test_pins_that_are_met_exactly_give_a_state_that_is_known():
    body = balanced_body()
    pins = {"x": "1/4", "gap.foot0": 0, "gap.foot1": 0, "x_dot": 0, "gap_dot.foot0": 0, "gap_dot.foot1": 0}
    found = select(body, solve_state(body, pins))
    assert found.verdict.name == "UNIQUE"
    assert "x = 1/4, y = 0, phi = 0" in found.notes[0]
    assert "another position" in found.notes[1]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"m": 1 / 3}, "m = 0.3333333333333333 is the outcome of a computation"),
        ({"slope": "1/10"}, "not rational"),  # sin(1/10)
        ({"m": "sqrt(2)"}, "m is not rational"),
        ({"p": 200}, "not rational"),  # its digits would not be worth their time
    ],
)
def test_ties_at_numbers_that_are_not_known_or_not_rational_stay_open(parameters, reason):
    found = select(balanced_body(), REST, parameters=parameters)
    assert found.verdict.name == "UNDECIDED"
    assert reason in found.notes[-1]


def test_a_state_that_is_not_exactly_on_its_contacts_stays_open():
    found = select(balanced_body(), State([0.0, 1e-12, 0.0], np.zeros(3)))
    assert found.verdict.name == "UNDECIDED"
    assert "gap of foot0" in found.notes[-1]


def test_a_root_that_is_rational_is_no_obstacle():
    assert select(balanced_body(), REST, parameters={"m": "sqrt(16/9)"}).verdict.name == "UNIQUE"


@pytest.mark.parametrize("mu", [2, "2"])
def test_the_node_where_sliding_force_is_undetermined_has_a_continuum_of_accelerations(mu):
    # M^-1 = [[4, 2], [2, 4]]/3: A = (4 - 2*2)/3 = 0, b = 0 (Genot and Brogliato 1999): a_N = 0 with any lambda_N, and
    # x_ddot = 1/2 + (2 - 2*4)/3 lambda_N
    node = derive(
        Mechanism(
            name="node",
            coordinates=["x", "y"],
            parameters={"mu": 1},
            dynamics=EquationDynamics(mass_matrix=[["1", "-1/2"], ["-1/2", "1"]], forces=["1/2", "-1/4"]),
            contact=[Contact(name="tip", gap="y", tangent="x", friction="mu")],
        )
    )
    found = select(node, State([0, 0], [1, 0]), parameters={"mu": mu})
    assert found.verdict.name == "INDETERMINATE"
    (corner,) = found.branches
    # M^-1 h: thirds that are rounded, solved for and added
    np.testing.assert_allclose(corner.acceleration, [0.5, 0.0], rtol=0, atol=1e-15)
    (forces,) = found.continua
    np.testing.assert_array_equal(forces.vertices, [[0.0, 0.0]])
    np.testing.assert_array_equal(forces.rays, [[0.5, -1.0]])
    # beside it, at a friction that no decimal of twelve digits tells from 2, nothing is claimed
    assert select(node, State([0, 0], [1, 0]), parameters={"mu": 2 + 4e-16}).verdict.name == "UNDECIDED"


def test_the_command_line_knows_its_parameters_exactly(tmp_path, capsys):
    file = tmp_path / "node.toml"
    file.write_text(
        'name = "node"\ncoordinates = ["x", "y"]\n[parameters]\nmu = 1\n'
        '[dynamics]\nmass_matrix = [["1", "-1/3"], ["-1/3", "1"]]\nforces = ["1/2", "-1/6"]\n'
        '[[contact]]\nname = "tip"\ngap = "y"\ntangent = "x"\nfriction = "mu"\n'
    )
    # M^-1 is proportional to [[3, 1], [1, 3]]: A = 3 - mu = 0 at mu = 9/3, and b = 1/2 - 3/6 = 0
    command = ["verdict", str(file), "--pin", "x=1/7", "--pin", "slip.tip=1/3", "--param", "mu=9/3", "--json"]
    main(command)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["decided_by"]) == ("INDETERMINATE", "exact rational arithmetic")
    assert answer["continua"][0]["rays"] == [[pytest.approx(1 / 3), -1.0]]
    assert "x = 1/7, y = 0, x_dot = 1/3, y_dot = 0" in answer["notes"][-1]
    command[5] = "slip.tip=sqrt(2)"
    main(command)
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["decided_by"]) == ("UNDECIDED", "enumeration of all modes")


def test_short_decimals_are_what_was_written_and_long_ones_are_not_known():
    assert [str(known_number(value)) for value in (0.0, -0.0, 0.1, 1e-7, 1e22, 9.81, 123456789012.0)] == [
        "0",
        "0",
        "1/10",
        "1/10000000",
        "10000000000000000000000",
        "981/100",
        "123456789012",
    ]
    assert [known_number(value) for value in (0.1 + 0.2, 1 / 3, np.pi, 1e-20 / 3, 1234567890123.0)] == [None] * 5


@pytest.fixture(scope="module")
def three_feet():
    return balanced_body(("a", "b", "c"), lengths={"a": -1, "b": 0, "c": 1})


@pytest.mark.parametrize("mu", [0.5, 0.0])
def test_three_feet_anywhere_beside_the_centre_stand_or_topple_as_moments_say(three_feet, mu):
    for places in ((-1, 0, 1), (-2, 1, 2), (0, 1, 2), (-2, -1, 0), (1, 2, 3), (-3, -2, -1)):
        values = dict(zip("abc", places, strict=True)) | {"mu": mu}
        found = select(three_feet, REST, parameters=values)
        if min(places) < 0 < max(places):
            expected = "HYPERSTATIC"  # two equations for three normal forces
        else:
            expected = "UNIQUE"  # all on the foot under the centre, or toppling about the nearest one
        assert (places, found.verdict.name) == (places, expected)
        nearest = min(max(places), 0) if max(places) <= 0 else max(min(places), 0)
        # toppling about a foot at distance d without a lever for friction: N = m g J / (J + m d^2)
        topples = 9.81 * nearest / (0.5 + nearest**2) if nearest else 0.0
        np.testing.assert_allclose(found.branches[0].acceleration[2], topples, rtol=1e-12, atol=1e-12)
