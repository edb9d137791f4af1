"""The hybrid automaton of a mechanism and its exports."""

from hybrid.automaton.graph import Automaton, build_automaton, check_size
from hybrid.automaton.guards import Condition, Guard, GuardKind
from hybrid.automaton.location import Location, VectorField
from hybrid.automaton.transitions import IMPACT, Reset, Rule, Transition

__all__ = [
    "IMPACT",
    "Automaton",
    "Condition",
    "Guard",
    "GuardKind",
    "Location",
    "Reset",
    "Rule",
    "Transition",
    "VectorField",
    "build_automaton",
    "check_size",
]
