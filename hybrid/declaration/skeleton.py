"""A commented mechanism file to begin with."""

from __future__ import annotations

from importlib import resources

from hybrid.declaration.naming import mechanism_name_problems
from hybrid.errors import DeclarationError

__all__ = ["skeleton"]


def skeleton(name: str) -> str:
    """The text of a commented mechanism file, which is valid as it stands.

    Parameters
    ----------
    name : str
        Of the mechanism: ASCII letters, digits, ``_``, ``-`` and ``.``.

    Returns
    -------
    str

    Raises
    ------
    DeclarationError
        The name is none.

    Examples
    --------
    >>> from hybrid.declaration import mechanism_from_toml
    >>> mechanism_from_toml(skeleton("seal")).name
    'seal'
    """
    problems = mechanism_name_problems(name)
    if problems:
        raise DeclarationError(problems)
    text = (resources.files("hybrid.declaration") / "templates" / "skeleton.toml").read_text(encoding="utf-8")
    return text.replace("NAME", name, 1)
