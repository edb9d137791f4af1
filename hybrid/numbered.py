"""Enumerations of numbers that meet NumPy's arrays."""

from __future__ import annotations

from enum import EnumType, IntEnum

__all__ = ["NumberedEnum"]


class _LookedUpInC(EnumType):
    """A metaclass without a line of Python where an attribute is missing.

    NumPy asks every operand for attributes, and takes any exception for a no: Ctrl-C in such a line would be lost.
    """

    __getattr__ = type.__getattribute__


class NumberedEnum(IntEnum, metaclass=_LookedUpInC):
    """Named whole numbers, as operands of array arithmetic too."""
