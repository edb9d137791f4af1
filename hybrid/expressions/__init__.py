"""Expressions as one graph: built, differentiated, and read in several kinds of arithmetic."""

from hybrid.expressions.derivatives import Nodes, derivative, gradient, jacobian
from hybrid.expressions.display import sympy_expressions
from hybrid.expressions.duals import (
    Dual,
    NotDifferentiable,
    changes,
    duals,
    implicit,
    must_not_change,
    plain,
    tie_means,
)
from hybrid.expressions.exact import NotRationalError, exact_values
from hybrid.expressions.functions import FUNCTIONS, Function
from hybrid.expressions.graph import Builder, Graph, Term
from hybrid.expressions.kernel import Kernel, Program, compile_kernel, compile_program
from hybrid.expressions.linear import determinant, dot, solve_definite
from hybrid.expressions.magnitudes import magnitudes
from hybrid.expressions.normal_form import dependencies
from hybrid.expressions.recorded_arrays import RecordedArray
from hybrid.expressions.recording import NotRecordable, Recorded, Recording, recorded_nodes
from hybrid.expressions.switches import Switch, switches

__all__ = [
    "FUNCTIONS",
    "Builder",
    "Dual",
    "Function",
    "Graph",
    "Kernel",
    "Nodes",
    "NotDifferentiable",
    "NotRationalError",
    "NotRecordable",
    "Program",
    "Recorded",
    "RecordedArray",
    "Recording",
    "Switch",
    "Term",
    "changes",
    "compile_kernel",
    "compile_program",
    "dependencies",
    "derivative",
    "determinant",
    "dot",
    "duals",
    "exact_values",
    "gradient",
    "implicit",
    "jacobian",
    "magnitudes",
    "must_not_change",
    "plain",
    "recorded_nodes",
    "solve_definite",
    "switches",
    "sympy_expressions",
    "tie_means",
]
