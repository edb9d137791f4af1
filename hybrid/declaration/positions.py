"""Where every key and value of a TOML document stands: what ``tomllib`` does not tell."""

from __future__ import annotations

import bisect
import re
import tomllib

import attrs

from hybrid.declaration.fields import Path
from hybrid.errors import Problem

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
        self._spots: dict[Path, Spot] = {}
        self._sizes: dict[Path, int] = {}
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

    def _spot(self, path: Path) -> Spot | None:
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
        table: Path = ()
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

    def _header(self, keys: list[str], start: int, is_array: bool) -> Path:
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            self._spots.setdefault(path, Spot(start))
            if number == len(keys) - 1 and is_array:
                self._sizes[path] = self._sizes.get(path, 0) + 1
            if path in self._sizes:
                path = (*path, self._sizes[path] - 1)
                self._spots.setdefault(path, Spot(start))
        return path

    def _pair(self, table: Path) -> None:
        start = self._offset
        path = table
        for key in self._key():
            path = (*path, key)
            self._spots.setdefault(path, Spot(start))
        self._take("=")
        self._skip(_SPACE)
        self._value(path, start)

    def _value(self, path: Path, start: int) -> None:
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

    def _array(self, path: Path) -> None:
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
