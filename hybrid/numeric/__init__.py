"""Models that are numbers: verdicts for states of any engine.

A state needs its mass matrix, the forces, and contacts with directions and remainders; nothing is declared.
"""

from hybrid.numeric.problem import contact_problem, resolve, resolve_impact, select
from hybrid.numeric.state import NumericContact, NumericFriction, NumericState

__all__ = [
    "NumericContact",
    "NumericFriction",
    "NumericState",
    "contact_problem",
    "resolve",
    "resolve_impact",
    "select",
]
