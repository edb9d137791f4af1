"""The functions and constants that expressions know, and other names that people write for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import hybrid.expressions
from hybrid.expressions import Function

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {name: function for name, function in hybrid.expressions.FUNCTIONS.items() if name != "step"}
)
"""Those of the table that people write; ``step`` occurs in derivatives only."""

CONSTANTS: Mapping[str, float] = MappingProxyType({"pi": math.pi})

# What users of other systems write.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "ln": "log",
        "arcsin": "asin",
        "arccos": "acos",
        "arctan": "atan",
        "arctan2": "atan2",
        "tg": "tan",
        "sgn": "sign",
        "signum": "sign",
        "fabs": "abs",
        "Abs": "abs",
        "Max": "max",
        "Min": "min",
        "maximum": "max",
        "minimum": "min",
    }
)
