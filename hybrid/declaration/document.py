"""From the bytes of a file to its nested tables, with one clear message for whatever is no TOML document.

Where every key and value of a TOML document stands: what ``tomllib`` does not tell.

Mechanism files read, with every error at its line and column.
"""

from __future__ import annotations

import bisect
import os
import re
import tomllib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import attrs

from hybrid.arguments import checks_arguments
from hybrid.declaration.mechanism import Structure
from hybrid.declaration.writing import mechanism_to_toml
from hybrid.errors import MAX_PROBLEMS, ArgumentError, DeclarationError, FileError, Problem
from hybrid.files import decoded, read_file

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid.declaration.fields import FieldPath
    from hybrid.declaration.mechanism import Mechanism

__all__ = [
    "MAX_BYTES",
    "Positions",
    "Spot",
    "mechanism_from_toml",
    "mechanism_to_toml",
    "moving_entries",
    "parse",
    "read_mechanism",
    "read_text",
]


_SHOWN_ONLY = ("title", "references", "drawing")  # they change no number
_BLANK = re.compile(r"(?:[ \t\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_STRING = re.compile(
    r'"""\n?(?P<ml_basic>(?:[^\\]|\\.)*?"{0,2})"""(?!")'
    r"|'''\n?(?P<ml_literal>.*?'{0,2})'''(?!')"
    r'|"(?P<basic>(?:[^"\\\n]|\\.)*)"'
    r"|'(?P<literal>[^'\n]*)'",
    re.DOTALL,
)


@attrs.frozen
class Spot:
    """Offsets of a key (or array element) and of its value's text; ``text`` is -1 if offsets in it are not known."""

    key: int
    text: int = -1


class Positions:
    """Finds the places of the keys of a valid TOML document with newlines ``\\n``.

    Examples
    --------
    >>> positions = Positions('[[contact]]\\ngap = "y + z"\\n')
    >>> print(positions.located(Problem("unknown name 'z'", column=5, path=("contact", 0, "gap"))))
    line 2, column 12: unknown name 'z'
    """

    def __init__(self, document: str) -> None:
        self._document = document
        self._lines = [0, *(match.end() for match in re.finditer("\n", document))]
        self._spots: dict[FieldPath, Spot] = {}
        self._sizes: dict[FieldPath, int] = {}
        self._offset = 0
        self._read()

    def located(self, problem: Problem) -> Problem:
        """Put line and column into a problem that has a path."""
        spot = self._spot(problem.path)
        if spot is None:
            return problem
        offset = spot.key
        if problem.column is not None and spot.text >= 0:
            offset = spot.text + problem.column - 1
        line, column = self._line_and_column(offset)
        return attrs.evolve(problem, line=line, column=column)

    def _spot(self, path: FieldPath) -> Spot | None:
        if path[1:2] == (0,) and path[:2] not in self._spots and len(path) > 2:
            path = (path[0], *path[2:])  # one table where an array of them must stand
        if (*path, "value") in self._spots:
            return self._spots[*path, "value"]
        for length in range(len(path), 0, -1):
            spot = self._spots.get(path[:length])
            if spot is not None:
                # A text stands for a list of one: its path lacks the index 0.
                inside = path[length:] in ((), (0,))
                return spot if inside else Spot(spot.key)
        return None

    def _line_and_column(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _read(self) -> None:
        table: FieldPath = ()
        while True:
            self._skip(_BLANK)
            if self._offset >= len(self._document):
                return
            start = self._offset
            if self._take("["):
                is_array = self._take("[")
                table = self._header(self._key(), start, is_array)
                self._take("]")
                if is_array:
                    self._take("]")
            else:
                self._pair(table)

    def _header(self, keys: list[str], start: int, is_array: bool) -> FieldPath:
        path: FieldPath = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            self._spots.setdefault(path, Spot(start))
            if number == len(keys) - 1 and is_array:
                self._sizes[path] = self._sizes.get(path, 0) + 1
            if path in self._sizes:
                path = (*path, self._sizes[path] - 1)
                self._spots.setdefault(path, Spot(start))
        return path

    def _pair(self, table: FieldPath) -> None:
        start = self._offset
        path = table
        for key in self._key():
            path = (*path, key)
            self._spots.setdefault(path, Spot(start))
        self._take("=")
        self._skip(_SPACE)
        self._value(path, start)

    def _value(self, path: FieldPath, start: int) -> None:
        string = _STRING.match(self._document, self._offset)
        if string:
            kind = str(string.lastgroup)
            is_plain = "literal" in kind or "\\" not in string[kind]
            self._spots[path] = Spot(start, string.start(kind) if is_plain else -1)
            self._offset = string.end()
        elif self._take("["):
            self._array(path)
        elif self._take("{"):
            while not self._closes("}"):
                self._pair(path)
        else:
            self._skip(_SCALAR)

    def _array(self, path: FieldPath) -> None:
        index = 0
        while not self._closes("]"):
            element = (*path, index)
            self._spots[element] = Spot(self._offset)
            self._value(element, self._offset)
            index += 1

    def _closes(self, bracket: str) -> bool:
        self._skip(_BLANK)
        if self._take(","):
            self._skip(_BLANK)
        return self._take(bracket) or self._offset >= len(self._document)

    def _key(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            match = _KEY.match(self._document, self._offset)
            if match is None:
                return keys
            self._offset = match.end()
            keys.append(_plain(match[0]))
            self._skip(_SPACE)
            if not self._take("."):
                return keys

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self._document, self._offset)
        self._offset = match.end() if match else self._offset

    def _take(self, text: str) -> bool:
        found = self._document.startswith(text, self._offset)
        self._offset += len(text) if found else 0
        return found


def _plain(key: str) -> str:
    if key[0] not in "\"'":
        return key
    return next(iter(tomllib.loads(f"{key} = 0")))


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


def read_text(path: str | Path, *, what: str = "a mechanism file") -> str:
    """The text of a file of limited size.

    Parameters
    ----------
    path : str or Path
    what : str
        What it should be, for messages.

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
        text = decoded(read_file(path, limit=MAX_BYTES, advice=f"{what} has a few"), source=source)
    except FileError as error:
        raise DeclarationError(Problem(error.reason, source=error.source)) from None
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
    elif message.startswith("unclosed") and written[column - 1 :].strip(" \t\r"):
        hint = "a comma stands between two entries"
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


@checks_arguments
def read_mechanism(path: str | Path) -> Mechanism:
    """The mechanism that a file declares.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Mechanism

    Raises
    ------
    DeclarationError
        With all that is wrong, each with its line and column; also if the file cannot be read.

    Examples
    --------
    >>> read_mechanism("nowhere.toml")
    Traceback (most recent call last):
    hybrid.errors.DeclarationError: nowhere.toml: there is no such file
    """
    return mechanism_from_toml(read_text(path), source=str(path))


def mechanism_from_toml(text: str, *, source: str | Path = "") -> Mechanism:
    """The mechanism that the text of a mechanism file declares.

    Parameters
    ----------
    text : str
    source : str or Path, optional
        The name of the file, for messages.

    Returns
    -------
    Mechanism

    Raises
    ------
    DeclarationError
        With all that is wrong, each with its line and column.
    ArgumentError
        The source is neither a text nor a path.

    Examples
    --------
    >>> mechanism_from_toml('name = "ball"\\ncoordinates = ["z"]\\ndynamics.kinetic = "m*z_dot**2/2"')
    Traceback (most recent call last):
    hybrid.errors.DeclarationError: line 3, column 21: dynamics.kinetic: unknown name 'm'
    """
    if not isinstance(source, str | os.PathLike):
        raise ArgumentError(f"source must be a text or a path, not {source!r}")
    source = os.fspath(source)
    if not isinstance(text, str):
        raise DeclarationError(Problem(f"must be a text, not {type(text).__name__}", source=source))
    document = text.removeprefix("\N{BYTE ORDER MARK}").replace("\r\n", "\n")
    structure = Structure()
    mechanism = structure.build(parse(document, source=source), source=source)
    if mechanism is None:
        raise DeclarationError(_in_order(structure.problems, Positions(document), source))
    return mechanism


def _in_order(problems: list[Problem], positions: Positions, source: str) -> list[Problem]:
    located = sorted(map(positions.located, problems), key=lambda item: (item.line or 0, item.column or 0))
    if len(located) >= MAX_PROBLEMS:
        located = [*located[: MAX_PROBLEMS - 1], Problem("there are more errors, not listed")]
    return [attrs.evolve(item, source=source) for item in located]


def moving_entries(text: str) -> dict[str, Any]:
    """The entries of a mechanism file on which numbers depend, as this version writes them.

    Titles, references, drawings and what is said of parameters are left out.

    Examples
    --------
    >>> moving_entries('parameters.m = {value = 2, doc = "mass"}')
    {'parameters': {'m': {'value': 2, 'doc': ''}}}
    """
    with suppress(DeclarationError):  # of friction of a class of one's own, which no file can declare
        text = mechanism_to_toml(mechanism_from_toml(text))
    table = tomllib.loads(text)
    declared = dict(table.pop("parameters", {})).items()
    full = {name: {**(item if isinstance(item, dict) else {"value": item}), "doc": ""} for name, item in declared}
    return {**{name: item for name, item in table.items() if name not in _SHOWN_ONLY}, "parameters": full}
