"""A declaration cannot make anything happen."""

import subprocess
import sys
import textwrap

import pytest

from hybrid.declaration import EnergyDynamics, Mechanism, mechanism_from_toml, parse_expression
from hybrid.errors import DeclarationError

HOSTILE = [
    "__import__('os').system('touch {marker}')",
    "open('{marker}', 'w')",
    "exec('open(chr(120))')",
    "eval('1')",
    "x.__class__",
    "x.__class__.__mro__[1].__subclasses__()",
    "().__class__",
    "x[0]",
    "[x for x in (1, 2)]",
    "{{x: 1}}",
    "lambda: x",
    "(lambda x: x)(1)",
    "f'{{x}}'",
    "'text'",
    "b'text'",
    "(y := 1)",
    "x if x else 1",
    "x and y",
    "not x",
    "x < 1",
    "x == 1",
    "x @ x",
    "x; y",
    "x\nimport os",
    "print(x)",
    "sin(x=1)",
    "sin(*x)",
    "sin(**x)",
    "max(key=abs)",
    "...",
    "1j",
    "1_000",
    "0x10",
    "0b1",
    "yield x",
    "await x",
    "# x",
    "x # comment",
    "x \\",
    "`ls`",
    "$(ls)",
    "$x",
    "__builtins__",
    "globals()",
    "type(x)",
    "x!",
    "x?",
    "x ~ 1",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_code_in_an_expression_is_refused_without_effect(text, tmp_path):
    marker = tmp_path / "marker"
    text = text.format(marker=marker)
    with pytest.raises(DeclarationError):
        parse_expression(text, known=["x", "y"])
    with pytest.raises(DeclarationError):
        Mechanism(name="trap", coordinates=["x"], dynamics=EnergyDynamics(kinetic="x_dot**2", potential=text))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    with pytest.raises(DeclarationError):
        mechanism_from_toml(
            f'name = "trap"\ncoordinates = ["x"]\n[dynamics]\nkinetic = "x_dot**2"\npotential = "{escaped}"\n'
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["__import__('os')", "x y", "x;y", "x\ny", "", "2x", "µ", "a" * 65, "x.y", "x\0"])
def test_name_that_is_no_identifier_is_refused(name):
    for extra in ({"parameters": {name: 1}}, {"definitions": {name: "1"}}, {"coordinates": ["x", name]}):
        with pytest.raises(DeclarationError):
            Mechanism(
                **({"name": "trap", "coordinates": ["x"], "dynamics": EnergyDynamics(kinetic="x_dot**2")} | extra)
            )


def test_reading_expressions_compiles_imports_and_opens_nothing():
    # Python reports every such act to an audit hook, which cannot be removed again: hence another process.
    script = f"""
        import sys
        from hybrid.declaration import parse_expression
        from hybrid.errors import DeclarationError
        texts = {HOSTILE!r}
        texts = [*texts, "sin(x)**2 + lambda/3", "9**9**9**9", "(" * 5000]
        acts = []
        parse = lambda text: parse_expression(text, known=["x", "y", "lambda"])
        for text in ("x", "zz", "x^"):  # modules that load on first use
            try:
                parse(text)
            except DeclarationError:
                pass
        sys.addaudithook(lambda event, arguments: acts.append(event))
        refused = 0
        for text in texts:
            try:
                parse(text)
            except DeclarationError:
                refused += 1
        acts = [act for act in acts if not act.startswith(("object.", "code."))]
        print(refused == len(texts) - 1, sorted(set(acts)))
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.split() == ["True", "[]"]
