"""Expressions in the names of a mechanism: read and evaluated without executing anything."""

from __future__ import annotations

from hybrid.declaration.evaluation import evaluate
from hybrid.declaration.functions import CONSTANTS, FUNCTIONS
from hybrid.declaration.parser import parse_expression
from hybrid.declaration.tree import Expression

__all__ = ["CONSTANTS", "FUNCTIONS", "Expression", "evaluate", "parse_expression"]
