"""The one exception of the package."""

__all__ = ["LCPError"]


class LCPError(ValueError):
    """A complementarity problem is not what the called function needs.

    The message says what was given, what is needed and what to do.

    Examples
    --------
    >>> from lcp import LCP, LCPError
    >>> try:
    ...     LCP([[1.0, 2.0]], [1.0])
    ... except LCPError as error:
    ...     print(error)
    M must be a square matrix, got shape (1, 2)
    """
