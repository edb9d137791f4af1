"""The hybrid automaton of a mechanism and its exports."""

from hybrid.automaton.graph import Automaton, build_automaton, check_size
from hybrid.automaton.guards import Condition, GuardFunction
from hybrid.automaton.location import Location, VectorField
from hybrid.automaton.transitions import IMPACT, Reset, Rule, Transition
from hybrid.contact.guards import GuardKind

__all__ = [
    "IMPACT",
    "Automaton",
    "Condition",
    "GuardFunction",
    "GuardKind",
    "Location",
    "Reset",
    "Rule",
    "Transition",
    "VectorField",
    "build_automaton",
    "check_size",
]
