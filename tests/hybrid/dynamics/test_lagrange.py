"""Lagrange's equations of links whose energies are declared by the velocities of their centres."""

import numpy as np
import pytest

from hybrid import Contact, EnergyDynamics, Mechanism, derive


def chain(n):
    """Links of length l hinged end to end, by absolute angles; each place and velocity is a definition."""
    kinetic, potential, definitions = [], [], {}
    for i in range(n):
        x, y, u, w = (f"{name}{i - 1}" for name in "xyuw") if i else "0000"
        definitions |= {f"x{i}": f"{x} + l*cos(a{i})", f"y{i}": f"{y} + l*sin(a{i})"}
        definitions |= {f"u{i}": f"{u} - l*sin(a{i})*a{i}_dot", f"w{i}": f"{w} + l*cos(a{i})*a{i}_dot"}
        half = {"U": f"{u} - l/2*sin(a{i})*a{i}_dot", "W": f"{w} + l/2*cos(a{i})*a{i}_dot"}
        definitions |= {f"{name}{i}": text for name, text in half.items()}
        kinetic.append(f"m*(U{i}**2 + W{i}**2)/2 + J*a{i}_dot**2/2")
        potential.append(f"m*g*({y} + l/2*sin(a{i}))")
    return Mechanism(
        name="chain",
        coordinates=[f"a{i}" for i in range(n)],
        definitions=definitions,
        parameters={"m": 1.5, "l": 0.5, "J": 0.02, "g": 9.81},
        dynamics=EnergyDynamics(kinetic=" + ".join(kinetic), potential=" + ".join(potential)),
        contact=[Contact(name="tip", gap=f"y{n - 1} + 9")],
    )


def test_the_velocity_of_a_pendulum_is_not_in_its_equation():
    equations = derive(chain(1)).equations
    assert equations.graph.names([int(node) for node in equations.h]) == {"m", "g", "l", "a0"}


@pytest.mark.parametrize("n", [2, 5, 9])
def test_a_chain_against_its_links(n):
    """``h = -sum_k m (dr_k/da)^T (d^2 r_k at constant rates) - dV/da``, by the vectors of the links."""
    rng = np.random.default_rng(n)
    a, rates = rng.uniform(-3, 3, n), rng.uniform(-2, 2, n)
    m, length, weight = 1.5, 0.5, np.array([0.0, 1.5 * 9.81])
    reach = length * (np.tril(np.ones((n, n)), -1) + np.eye(n) / 2)  # of centre k along link i
    along, across = np.array([np.cos(a), np.sin(a)]), np.array([-np.sin(a), np.cos(a)])
    inward = -(reach * rates**2) @ along.T  # acceleration of each centre, (n, 2), without those of the angles
    loads = -m * inward - weight
    expected = np.einsum("ki,ci,kc->i", reach, across, loads)
    terms = derive(chain(n)).terms(a, rates)
    # n loads of n terms each, of the size of the largest
    assert terms.h == pytest.approx(expected, abs=n**2 * 1e-15 * np.abs(loads).max())
    mass = m * np.einsum("ki,ci,kj,cj->ij", reach, across, reach, across) + 0.02 * np.eye(n)
    assert np.abs(terms.M - mass).max() < n**2 * 1e-15 * m * length**2


@pytest.mark.parametrize("n", [4, 8, 16])
def test_the_forces_of_a_chain_take_operations_in_proportion_to_its_links(n):
    equations = derive(chain(n)).equations
    forces, inertia = (set(equations.graph.needed(map(int, nodes.ravel()))) for nodes in (equations.h, equations.M))
    assert len(forces - inertia) < 30 * n
