"""Models that are numbers: verdicts for states of any engine.

A state needs its mass matrix, the forces, and contacts with directions and remainders; nothing is declared.
"""

from hybrid.numeric.capture import capture
from hybrid.numeric.classification import NumericClassification, classify, classify_sliding
from hybrid.numeric.critical import CriticalFactors, SlidingProblem, sliding_problem
from hybrid.numeric.files import read_state
from hybrid.numeric.problem import contact_problem, resolve, resolve_impact, select
from hybrid.numeric.state import NumericContact, NumericFriction, NumericState

__all__ = [
    "CriticalFactors",
    "NumericClassification",
    "NumericContact",
    "NumericFriction",
    "NumericState",
    "SlidingProblem",
    "capture",
    "classify",
    "classify_sliding",
    "contact_problem",
    "read_state",
    "resolve",
    "resolve_impact",
    "select",
    "sliding_problem",
]
