"""Expressions as one graph: built, differentiated, and read in several arithmetics."""

from hybrid.expressions.derivatives import Nodes, derivative, gradient, jacobian
from hybrid.expressions.display import sympy_expressions
from hybrid.expressions.exact import NotRationalError, exact_values
from hybrid.expressions.functions import FUNCTIONS, Function
from hybrid.expressions.graph import Builder, Graph
from hybrid.expressions.kernel import Kernel, Program, compile_kernel, compile_program
from hybrid.expressions.linear import dot, solve_definite
from hybrid.expressions.magnitudes import magnitudes
from hybrid.expressions.switches import Switch, switches
from hybrid.expressions.terms import Term

__all__ = [
    "FUNCTIONS",
    "Builder",
    "Function",
    "Graph",
    "Kernel",
    "Nodes",
    "NotRationalError",
    "Program",
    "Switch",
    "Term",
    "compile_kernel",
    "compile_program",
    "derivative",
    "dot",
    "exact_values",
    "gradient",
    "jacobian",
    "magnitudes",
    "solve_definite",
    "switches",
    "sympy_expressions",
]
