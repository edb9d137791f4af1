"""Equations of motion, derived and compiled; states and pins."""

from hybrid.dynamics.derive import Dynamics, Terms, derive
from hybrid.dynamics.model import SymbolicModel, symbolic_model
from hybrid.dynamics.pin_values import cyclic_coordinates, pin_names
from hybrid.dynamics.pins import solve_state, solve_states
from hybrid.dynamics.state import State, States

__all__ = [
    "Dynamics",
    "State",
    "States",
    "SymbolicModel",
    "Terms",
    "cyclic_coordinates",
    "derive",
    "pin_names",
    "solve_state",
    "solve_states",
    "symbolic_model",
]
