"""Rigid laws and compliant contacts side by side, at one state and over a map."""

from hybrid.analysis.comparison.agreement import ComparisonMap, compare_map
from hybrid.analysis.comparison.restitution import RestitutionMap, restitution_map
from hybrid.analysis.comparison.table import Comparison, ComparisonRow, compare

__all__ = [
    "Comparison",
    "ComparisonMap",
    "ComparisonRow",
    "RestitutionMap",
    "compare",
    "compare_map",
    "restitution_map",
]
