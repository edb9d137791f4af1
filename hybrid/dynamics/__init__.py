"""Equations of motion, derived and compiled; states and pins."""

from hybrid.dynamics.configuration import ConfigurationSpace
from hybrid.dynamics.consistency import project_state
from hybrid.dynamics.derive import Dynamics, Terms, derive
from hybrid.dynamics.equations import Equations, equations_of
from hybrid.dynamics.pin_values import cyclic_coordinates, pin_names
from hybrid.dynamics.pins import solve_state, solve_states, state_of
from hybrid.dynamics.singular_points import SingularityKind, SingularPoint, SmoothBranch, classify_configuration
from hybrid.dynamics.state import State, States

__all__ = [
    "ConfigurationSpace",
    "Dynamics",
    "Equations",
    "SingularPoint",
    "SingularityKind",
    "SmoothBranch",
    "State",
    "States",
    "Terms",
    "classify_configuration",
    "cyclic_coordinates",
    "derive",
    "equations_of",
    "pin_names",
    "project_state",
    "solve_state",
    "solve_states",
    "state_of",
]
