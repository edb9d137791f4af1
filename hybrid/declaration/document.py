"""From the bytes of a file to its nested tables, with one clear message for whatever is no TOML document."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hybrid.errors import DeclarationError, FileError, Problem
from hybrid.files import read_file

# A mechanism file has a few kilobytes; a hundred links written out in full stay below this.
MAX_BYTES = 128 * 1024
_MAX_NESTING = 20

# Seventeen parts and more: tomllib takes time quadratic in their number.
_LONG_KEY = re.compile(r"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")
_LONG_NUMBER = re.compile(r"[0-9_]{4000,}")
_PLACE = re.compile(
    r"(?P<message>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)\Z", re.DOTALL
)
_ASSIGNED = re.compile(r"""[ \t]*(?P<key>[A-Za-z0-9_."'-]+)[ \t]*=""")


def read_text(path: str | Path) -> str:
    """The text of a file of limited size.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    str
        Decoded from UTF-8, without a byte order mark.

    Raises
    ------
    DeclarationError
        If there is no such file, it cannot be read, is too large, or is not text.
    """
    source = str(path)
    try:
        data = read_file(path, limit=MAX_BYTES, advice="a mechanism file has a few")
    except FileError as error:
        raise DeclarationError(Problem(error.reason, source=error.source)) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _fault(f"is not a UTF-8 text (byte 0x{data[error.start]:02x} in line {line})", source) from None
    if "\0" in text:
        raise _fault("is not a text: it holds null characters", source)
    return text


def parse(text: str, *, source: str) -> dict[str, Any]:
    """The tables of a TOML document.

    Parameters
    ----------
    text : str
        At most ``MAX_BYTES`` characters.
    source : str
        The name of the file in messages; empty for a text that is in none.

    Returns
    -------
    dict
        Nested dicts and lists of texts, numbers, truth values and dates.

    Raises
    ------
    DeclarationError
        With line and column of what is no TOML; if it is too large or nested too deep.

    Examples
    --------
    >>> parse("m = 1", source="")
    {'m': 1}
    >>> parse("m = l*2", source="rod.toml")
    Traceback (most recent call last):
    hybrid.errors.DeclarationError: rod.toml:1:5: invalid value; a text or an expression stands in quotes
    """
    if len(text) > MAX_BYTES:
        raise _too_large(source)
    chain = _LONG_KEY.search(text)
    if chain:
        line, column = _place(text, chain.start())
        raise DeclarationError(Problem("a key has too many parts", "", line, column, source))
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(_syntax_problem(str(error), text, source)) from None
    except RecursionError:
        raise _fault(f"lists or tables are nested more than {_MAX_NESTING} deep", source) from None
    except ValueError:  # the one that tomllib lets through: Python converts no integer beyond 4300 digits
        number = _LONG_NUMBER.search(text)
        line, column = _place(text, number.start() if number else 0)
        raise DeclarationError(Problem("the number is too long", "", line, column, source)) from None
    if _depth(tables) > _MAX_NESTING:
        raise _fault(f"lists or tables are nested more than {_MAX_NESTING} deep", source)
    return tables


def _syntax_problem(error: str, text: str, source: str) -> Problem:
    match = _PLACE.match(error)
    message = match["message"] if match else error
    message = message[:1].lower() + message[1:]
    if match and match["line"]:
        line, column = int(match["line"]), int(match["column"])
    else:
        line, column = _place(text, len(text))
        message = f"{message} at the end of the file"
    hint = ""
    written = text.split("\n")[line - 1]
    if message.startswith(("cannot overwrite a value", "cannot declare")):
        key = _ASSIGNED.match(written)
        message = f"'{key['key'] if key else written.strip()[:60]}' is given twice"
        column = key.start("key") + 1 if key else 1
    elif message.startswith("illegal character '\\n'"):
        message = "a text ends with a quote on its line"
    elif message.startswith(("invalid value", "expected newline")) and _ASSIGNED.match(written):
        hint = "a text or an expression stands in quotes"
    return Problem(message, "", line, column, source, hint)


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level:
        depth += 1
        level = [
            item
            for held in level
            if isinstance(held, dict | list)
            for item in (held.values() if isinstance(held, dict) else held)
        ]
    return depth


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _fault(message: str, source: str) -> DeclarationError:
    return DeclarationError(Problem(message, source=source))


def _too_large(source: str) -> DeclarationError:
    return _fault(f"is larger than {MAX_BYTES // 1024} kB; a mechanism file has a few", source)
