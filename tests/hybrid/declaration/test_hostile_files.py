"""No declaration keeps the reader busy: each of these is built to make one of its steps slow."""

import time

import pytest

from hybrid.declaration import mechanism_from_toml
from hybrid.errors import DeclarationError

HEAD = 'name = "b"\ncoordinates = ["x"]\n'
BODY = HEAD + '[dynamics]\nkinetic = "x_dot**2"\n'
LONG = "+".join(["x*x"] * 900)


def coordinates(n: int) -> str:
    return ",".join(f'"x{i}"' for i in range(n))


def matrix(n: int, entry) -> str:
    rows = ",".join("[" + ",".join(f'"{entry(i, j)}"' for j in range(n)) + "]" for i in range(n))
    forces = ",".join(['"0"'] * n)
    return f'name = "b"\ncoordinates = [{coordinates(n)}]\n[dynamics]\nmass_matrix = [{rows}]\nforces = [{forces}]\n'


def definitions(n: int, text) -> str:
    return BODY + "[definitions]\n" + "\n".join(f'd{i} = "{text(i)}"' for i in range(n))


HOSTILE = {
    "key of 20 000 parts": "a." * 20_000 + "a = 1",
    "keys of 15 parts": HEAD + "\n".join("a." * 15 + f"k{i} = 1" for i in range(3_000)),
    "long word that is no key": BODY + "# " + "a" * 100_000,
    "nested lists": "x = " + "[" * 5_000 + "]" * 5_000,
    "nested tables": "x = " + "{a = " * 5_000 + "1" + "}" * 5_000,
    "endless integer": BODY + "[parameters]\nm = " + "9" * 100_000,
    "quotes": BODY + '"""' * 20_000,
    "apostrophes": BODY + "'" * 60_001,
    "backslashes": BODY + 'potential = "' + "\\\\" * 50_000 + '"',
    "unknown names": definitions(1_900, lambda i: f"aa{i}+bb{i}"),
    "many names": definitions(8_000, lambda i: "x"),
    "unknown fields": BODY + "\n".join(f"k{i} = 1" for i in range(10_000)),
    "unknown tables": BODY + "\n".join(f"[k{i}]" for i in range(12_000)),
    "doubling definitions": definitions(1_900, lambda i: f"d{i - 1}+d{i - 1}" if i else "x"),
    "sums of definitions": definitions(100, lambda i: "+".join([f"d{j}" for j in range(i)] + ["x"])),
    "long expressions": definitions(30, lambda i: LONG),
    "circles": definitions(1_900, lambda i: f"d{i}"),
    "one circle": definitions(1_900, lambda i: f"d{(i + 1) % 1_900}"),
    "long chain of parameters": BODY + "[parameters]\n" + "\n".join(f'p{i} = "p{i + 1}"' for i in range(1_900)),
    "long numbers": definitions(12, lambda i: "0." + "1" * 9_900),
    "fractions without common divisor": definitions(12, lambda i: "+".join(f"1.{n}e-290" for n in range(800))),
    "empty contacts": BODY + "[[contact]]\n" * 10_000,
    "wrong contacts": BODY + "[[contact]]\nx = 1\n" * 7_000,
    "many contacts": BODY + "\n".join(f'[[contact]]\nname = "c{i}"\ngap = "x"' for i in range(1_900)),
    "unknown links": BODY + "[drawing]\nlinks = [" + '["a", "b"],' * 5_000 + "]\n[drawing.points]\n"
    + "\n".join(f'p{i} = ["x", "x"]' for i in range(2_000)),
    "unknown forces": BODY + "[forces]\n" + "\n".join(f'p{i} = "x"' for i in range(8_000)),
    "3000 coordinates": f'name = "b"\ncoordinates = [{coordinates(3_000)}]\n[dynamics]\nkinetic = "1"\n',
    "mass matrix of 100 rows": matrix(100, lambda i, j: "1" if i == j else "x1"),
    "mass matrix without symmetry": matrix(100, lambda i, j: f"x{(i + 2 * j) % 100}"),
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_file_is_answered_within_two_seconds(text):
    start = time.process_time()
    try:
        mechanism_from_toml(text)
    except DeclarationError as error:
        assert error.problems
    # Of processor time, which other programs on the machine do not lengthen; about 0.5 s at most were measured.
    assert time.process_time() - start < 2.0
