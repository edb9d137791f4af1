"""Values that travel: to other processes, between threads, and into interpreters that hash otherwise."""

import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import mechanisms
from hybrid import derive, select, simulate, solve_state, solve_states
from hybrid.contact import classify

PINS = {"phi": 0.4, "phi_dot": 0.5, "slip.tip": 0}


def answer(dynamics, mu):
    """Numbers of a verdict and of a motion, to the last bit."""
    parameters = {"mu": mu}
    state = solve_state(dynamics, PINS, parameters=parameters)
    branches = select(dynamics, state, parameters=parameters).branches
    motion = simulate(dynamics, state, t_end=0.6, parameters=parameters)
    numbers = [*motion.q, *motion.v, *(event.t for event in motion.events)]
    return [float(x).hex() for x in (*numbers, *(x for branch in branches for x in branch.acceleration))]


FRICTIONS = [0.3 + 0.1 * i for i in range(8)]


@pytest.fixture(scope="module")
def rod():
    return derive(mechanisms.load("rod_on_incline"))


def test_mechanism_equations_verdict_and_motion_can_be_pickled(rod):
    state = solve_state(rod, PINS)
    motion = simulate(rod, state, t_end=0.6)
    for value in (rod.mechanism, rod, rod.at({"mu": 0.7}), state, select(rod, state), motion):
        copy = pickle.loads(pickle.dumps(value))
        assert type(copy) is type(value)
    assert answer(pickle.loads(pickle.dumps(rod)), 0.7) == answer(rod, 0.7)
    assert pickle.loads(pickle.dumps(motion)).q.tolist() == motion.q.tolist()
    assert pickle.loads(pickle.dumps(motion)).dynamics.mechanism == rod.mechanism
    bound = pickle.loads(pickle.dumps(rod.at({"mu": 0.7})))
    assert bound.values == rod.at({"mu": 0.7}).values
    assert answer(bound, 0.7) == answer(rod, 0.7)
    energy = motion.energy()  # from forces, by code that the copy makes again
    assert pickle.loads(pickle.dumps(motion)).energy() == energy


METHODS = sorted({"fork", "spawn"} & set(multiprocessing.get_all_start_methods()))


def accelerations(selection):
    return [x.hex() for branch in selection.branches for x in branch.acceleration.tolist()]


def energies(motion):
    """From forces, by code that the process makes again."""
    return [x.hex() for x in (motion.energy().final, motion.energy().friction)]


@pytest.mark.parametrize("method", METHODS)
def test_another_process_gives_the_same_bits(rod, method):
    bound = rod.at({"mu": 0.7})
    state = solve_state(bound, PINS)
    selection, motion = select(bound, state), simulate(bound, state, t_end=0.6)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert pool.submit(answer, rod, 0.7).result() == answer(rod, 0.7)
        assert pool.submit(answer, bound, 0.7).result() == answer(rod, 0.7)
        assert pool.submit(accelerations, selection).result() == accelerations(selection)
        assert pool.submit(energies, motion).result() == energies(motion)


def test_eight_threads_give_the_bits_of_one(rod):
    alone = [answer(derive(rod.mechanism), mu) for mu in FRICTIONS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda mu: answer(rod, mu), FRICTIONS * 2)) == alone * 2


def under_two_orders_of_hashes(code):
    """What a program prints, by each of two seeds of Python's hashes."""
    return [
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]


def test_the_order_of_hashes_changes_no_bit():
    code = "import mechanisms; from hybrid import derive; from tests.hybrid.dynamics.test_sharing import answer; "
    code += "print(answer(derive(mechanisms.load('rod_on_incline')), 0.7))"
    known = under_two_orders_of_hashes(code)
    assert known[0] == known[1]
    assert b"0x" in known[0]


def test_the_order_of_hashes_changes_no_graph():
    code = """
import mechanisms
from hybrid import derive
for name in mechanisms.names():
    graph = derive(mechanisms.load(name)).equations.graph
    print(name, *zip(graph.operations, graph.arguments, graph.values))
"""
    known = under_two_orders_of_hashes(code)
    assert known[0] == known[1]
    assert known[0].count(b"\n") == len(mechanisms.names())


def test_the_order_of_hashes_changes_no_automaton():
    """Nodes of a body on two bilateral contacts differ in the signs of forces alone."""
    code = """
from hybrid import Constraint, EnergyDynamics, Mechanism, build_automaton, derive
rails = [Constraint(name=f"rail_{name}", equation=f"{name} - 0.2*x", friction=0.5, tangent="x") for name in ("y", "z")]
dynamics = EnergyDynamics(kinetic="(x_dot**2 + y_dot**2 + z_dot**2)/2", potential="0")
mechanism = Mechanism(name="bead", coordinates=["x", "y", "z"], dynamics=dynamics, constraint=rails)
automaton = build_automaton(derive(mechanism))
for edge in automaton.graph.edges(data=True):
    print(edge)
"""
    known = under_two_orders_of_hashes(code)
    assert known[0] == known[1]
    assert known[0].count(b"N < 0") > 4


def test_states_are_classified_at_arrays_that_are_bound():
    """A block on an incline holds where the static friction is that of the slope or more."""
    block = derive(mechanisms.load("block_on_incline"))
    friction = np.tan(np.pi / 6) * np.array([0.5, 0.9, 1.1, 2.0])
    at_rest = solve_states(block, dict.fromkeys(("x", "y", "x_dot", "y_dot"), 0.0))
    found = classify(block.at({"mu": friction, "mu_s": friction}), at_rest)
    assert [found.labels[int(modes).bit_length() - 1] for modes in found.modes] == ["slide+"] * 2 + ["stick"] * 2
