"""Declarations of mechanisms: expressions, mechanisms and mechanism files."""

from hybrid.declaration.document import mechanism_from_toml, mechanism_to_toml, read_mechanism
from hybrid.declaration.evaluation import evaluate
from hybrid.declaration.mechanism import (
    Constraint,
    Contact,
    Drawing,
    EnergyDynamics,
    EquationDynamics,
    FrictionElement,
    Mechanism,
    Parameter,
)
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.realisation import realise
from hybrid.declaration.tree import Expression

__all__ = [
    "Constraint",
    "Contact",
    "Drawing",
    "EnergyDynamics",
    "EquationDynamics",
    "Expression",
    "FrictionElement",
    "Mechanism",
    "Parameter",
    "evaluate",
    "mechanism_from_toml",
    "mechanism_to_toml",
    "parse_expression",
    "read_mechanism",
    "realise",
]
