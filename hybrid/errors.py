"""What can go wrong: bad declarations, bad states, computations that fail."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

# Of one declaration; what lies beyond is not even looked for.
MAX_PROBLEMS = 100

BEYOND_FLOATS = "a number left the range of double precision; choose units in which the parameters are moderate"
"""Of Python's integers and fractions, which overflow where floats become infinite."""


@attrs.frozen
class Problem:
    """One thing that is wrong with a declaration, and where.

    Attributes
    ----------
    message : str
        What is wrong and what it must be.
    field : str
        The field in words that a reader finds in the file, as ``contact.tip.gap``.
    line, column : int or None
        Place in the source, counted from 1. Without a line, the column counts within the field's text.
    source : str
        File name.
    hint : str
        What to do about it, as ``did you mean 'phi'?``.
    path : tuple of str and int
        The field as keys and indices from the top of the file.

    Examples
    --------
    >>> print(Problem("unknown name 'phy'", field="contact.tip.gap", line=12, column=9, source="rod.toml"))
    rod.toml:12:9: contact.tip.gap: unknown name 'phy'
    """

    message: str
    field: str = ""
    line: int | None = None
    column: int | None = None
    source: str = ""
    hint: str = ""
    path: tuple[str | int, ...] = attrs.field(default=(), repr=False)

    def __str__(self) -> str:
        where = self.source
        if self.line is not None:
            where += f":{self.line}" if where else f"line {self.line}"
            if self.column is not None:
                where += f":{self.column}" if self.source else f", column {self.column}"
        field = self.field
        if self.line is None and self.column is not None:
            field += f" (column {self.column})" if field else f"column {self.column}"
        parts = [part for part in (where, field, self.message) if part]
        return ": ".join(parts) + (f"; {self.hint}" if self.hint else "")


class HybridError(Exception):
    """Root of every error that this package raises."""


class DeclarationError(HybridError, ValueError):
    """A declaration that cannot be used, with everything that is wrong with it.

    Parameters
    ----------
    problems : iterable of Problem, or Problem

    Attributes
    ----------
    problems : tuple of Problem
        At least one, in the order of the declaration.
    """

    problems: tuple[Problem, ...]

    def __init__(self, problems: Iterable[Problem] | Problem) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class FileError(HybridError, ValueError):
    """A file that cannot be read, or is not what it is read as.

    Parameters
    ----------
    reason : str
    source : str
        The name of the file.

    Examples
    --------
    >>> print(FileError("there is no such file", "rod.npz"))
    rod.npz: there is no such file
    """

    def __init__(self, reason: str, source: str) -> None:
        super().__init__(reason, source)
        self.reason = reason
        self.source = source

    def __str__(self) -> str:
        return f"{self.source}: {self.reason}"


class StateError(HybridError, ValueError):
    """A state that does not exist or is not fully given: pins, a penetrating or an approaching contact."""


class ArgumentError(HybridError, TypeError, ValueError):
    """An argument of another kind than a function takes, as a mechanism that is not derived yet, or out of range."""


class ComputationError(HybridError, RuntimeError):
    """A well-posed question that could not be answered numerically."""
