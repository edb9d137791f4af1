"""What commands answer with ``--json``, run on small inputs and held against the schemas that are shipped with them."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import mechanisms
from hybrid.cli import main
from hybrid.cli.program import program
from hybrid.cli.schemas import answer_schema, answers_with_schema
from hybrid.numeric import capture
from tests.hybrid.numeric.test_lint import rod_log

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "command-line.md"

UNIQUE = "--pin phi=0.3 --pin phi_dot=0 --pin slip.tip=-1"
NONE = "--pin phi=pi/3 --pin phi_dot=1/2 --pin slip.tip=-1 --param mu=3/2"
SEVERAL = "--pin phi=2.0 --pin phi_dot=1.3 --pin slip.tip=1 --param mu=1.5"
PLANE = "--axis phi=0:pi:9 --axis phi_dot=-3:3:9 --pin slip.tip=-1"
COARSE = "--axis phi=0.2:2.9:4 --axis phi_dot=-3:3:4 --pin slip.tip=-1 --param mu=1.5"
CORNER = "--pin theta=pi/3 --pin theta_dot=0 " + " ".join(
    f"--pin {rate}.{name}=0" for rate in ("gap", "gap_dot") for name in ("floor", "wall")
)
DROPPED = "bouncing_ball --pin gap.floor=1 --pin gap_dot.floor=0 --param e=0.8"
CARTS = "two_carts --pin q1=1 --pin q2=2 --pin q1_dot=1 --pin q2_dot=0"
ROLLING = "--pin alpha_dot=0 --pin beta_dot=0 --pin gamma_dot=0 --pin slip.floor.1=1 --pin slip.floor.2=0.5"
BLOCK = "--pin phi=0 --pin phi_dot=0 --pin x=0 --pin x_dot=0 --pin gap.left=0 --pin gap_dot.left=0"

JOINTLY = "--over theta=0.2:1.4 --pin gap.floor=0 --pin gap.wall=0 --contact floor"

# Every form that an answer takes: paradoxes, refusals and what could not be computed are answers, too.
ANSWERED = [
    "list",
    *(f"show {name}" for name in ("rod_on_incline", "oblique_rod", "four_bar", "painleve_klein", "valve_spool")),
    "check rod_on_incline",
    "check broken.toml",
    *(f"verdict rod_on_incline {pins}" for pins in (UNIQUE, NONE, SEVERAL)),
    "verdict rod_on_incline --pin phi=2.0 --pin phi_dot=0 --pin slip.tip=+0 --param mu=1.5",
    f"verdict ladder_in_corner {CORNER}",
    f"verdict rocking_block {BLOCK}",
    f"verdict held.toml {NONE}",
    "verdict painleve_klein --pin x1=0 --pin x1_dot=1",
    f"verdict spatial_ball {ROLLING}",
    "verdict jam.json",
    "verdict box.json",
    "verdict many.json",
    "verdict cover.json --standing-budget 60",
    *(f"graph {name}" for name in ("rod_on_incline", "ladder_in_corner", "bouncing_ball", "coulomb_oscillator")),
    "critical-friction rod_on_incline --over phi=0:pi",
    "critical-friction rod_on_incline --over phi=0:pi --certified",
    "critical-friction rod_on_incline --over phi=0:pi --over epsilon=-0.5:0.5",
    f"critical-friction ladder_in_corner {JOINTLY}",
    f"critical-friction ladder_in_corner {JOINTLY} --certified",
    "critical-friction two_link_arm --over theta1=0.2:1.2",
    f"map rod_on_incline {PLANE}",
    "map two_link_arm --axis theta1=0.3:1:5 --axis mu=0.1:3:5 --pin theta1_dot=0 --pin slip.tip=1",
    "certify rod_on_incline --axis phi=0:pi --axis phi_dot=-3:3 --pin slip.tip=-1 --gap 0.01",
    "certify rod_on_incline --axis phi=0.3:2.9 --axis mu=0:2 --pin phi_dot=0 --pin slip.tip=-1 --slice mu=3/2",
    "simulate rod_on_incline --pin phi=0.4 --pin phi_dot=0.5 --pin slip.tip=0 --t-end 1",
    f"simulate rod_on_incline {NONE} --t-end 0.1",
    f"simulate rod_on_incline {NONE} --t-end 0.1 --rule penalty",
    f"simulate rod_on_incline {SEVERAL} --t-end 0.01 --rule branch",
    f"simulate {DROPPED} --t-end 6",
    f"simulate {DROPPED} --t-end 1 --law kelvin-voigt",
    f"simulate {DROPPED} --t-end 1 --method time-stepping --step 0.01",
    "simulate singular_pendulum --pin u=1/2 --pin u_dot=0 --t-end 1 --singular realise --stiffness BC=1e4",
    "simulate runaway.toml --pin x=0 --pin x_dot=1 --t-end 3",
    "ensemble rod_on_incline --vary phi=0.2:2.9 --vary slip.tip=-1:1 --pin phi_dot=0 --n 3 --t-end 0.1",
    "ensemble rod_on_incline --starts starts.csv --t-end 0.1",
    *(f"impact rod_on_incline {NONE} --law {law}" for law in ("newton", "poisson", "energetic", "kelvin-voigt")),
    f"impact spatial_ball {ROLLING} --pin gap_dot.floor=-1 --law newton",
    f"compare rod_on_incline {NONE} --stiffness 1e4,1e5,1e6",
    f"compare rod_on_incline {SEVERAL} --stiffness 1e4",
    "compare bouncing_ball --pin gap_dot.floor=-1 --stiffness 1e4",
    f"compare-map rod_on_incline {COARSE}",
    f"compare-map rod_on_incline {COARSE} --stiffness 1e4,1e5",
    "restitution rod_on_incline --over phi=0.1:1.5:9",
    f"sensitivity {CARTS} --t-end 2 --functional q1_dot**2 --wrt k1,k2",
    f"sensitivity {CARTS} --t-end 2 --functional q1_dot**2 --wrt k1 --no-check",
    f"sensitivity rod_on_incline {NONE} --t-end 0.1 --functional phi --wrt mu",
    "sensitivity bouncing_ball --pin gap.floor=1 --pin y_dot=0 --t-end 1 --param e=0 --terminal y --wrt e,m --no-check",
    f"report rod_on_incline {NONE} --axis phi=0:pi:9 --axis phi_dot=-3:3:9",
    "report coulomb_oscillator --pin x=1 --pin x_dot=0",
    "explore rod_on_incline --offline page.html",
    "lint rod.xml --log rod.npz",
    "lint rod.xml --sample 20",
    "import rod.xml",
    "import rod.xml -o imported.toml",
    "new seal",
    "schema",
    "schema map",
    *(f"lcp {name}.json" for name in ("one", "none", "several", "continuum", "friction", "large")),
    "doctor",
]

# Not answered with status 0, but answered.
STATUS = {"check broken.toml": 2, "simulate runaway.toml --pin x=0 --pin x_dot=1 --t-end 3": 3}

# Longer than half a second; of explore and doctor there is no quicker form.
SLOW = {
    "explore rod_on_incline --offline page.html",
    "doctor",
    "critical-friction rod_on_incline --over phi=0:pi --certified",
    f"critical-friction ladder_in_corner {JOINTLY} --certified",
    "critical-friction two_link_arm --over theta1=0.2:1.2",
    "graph ladder_in_corner",
    f"compare-map rod_on_incline {COARSE} --stiffness 1e4,1e5",
    f"report rod_on_incline {NONE} --axis phi=0:pi:9 --axis phi_dot=-3:3:9",
    f"simulate rod_on_incline {NONE} --t-end 0.1 --rule penalty",
}

PROBLEMS = {
    "one": {"M": [[1.0]], "q": [-1.0]},
    "none": {"M": [[0.0]], "q": [-1.0]},
    "several": {"M": [[0, 0, 10, 30], [0, 0, 20, 15], [10, 30, 0, 0], [20, 15, 0, 0]], "q": [-1.0] * 4},
    "continuum": {"M": [[1.0, 1.0], [1.0, 1.0]], "q": [-1.0, -1.0]},
    "friction": {"M": [[1.0, 0.5], [2.0, 1.0]], "M_0": [[1.0, 0.0], [0.0, 1.0]], "q": [1.0, 1.0]},
    "large": {"M": np.eye(25).tolist(), "q": [-1.0] * 25},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the commands read."""
    place = tmp_path_factory.mktemp("answers")
    rod_log(place)
    for name, problem in PROBLEMS.items():
        (place / f"{name}.json").write_text(json.dumps(problem), encoding="utf-8")
    head = 'name = "wrong"\ncoordinates = ["x"]\n'
    (place / "broken.toml").write_text(f'{head}dynamics = {{ kinetic = "m", potential = "0" }}\n', encoding="utf-8")
    runaway = head.replace("wrong", "runaway") + 'dynamics = { mass_matrix = [["1"]], forces = ["x_dot**2"] }\n'
    (place / "runaway.toml").write_text(runaway, encoding="utf-8")
    rod = mechanisms.path("rod_on_incline").read_text(encoding="utf-8")
    held = rod.replace('friction = "mu"', 'friction = "mu"\nstatic_friction = "1.2*mu"')
    (place / "held.toml").write_text(held, encoding="utf-8")
    (place / "starts.csv").write_text("phi,phi_dot,slip.tip\n0.4,0,1\nnan,0,1\n", encoding="utf-8")
    capture(str(place / "jam.json"), np.eye(1), np.array([-1.0]), [{"name": "foot", "W_N": np.array([1.0])}], v=[0.0])
    many = [jammed(k, 14) for k in range(7)]
    capture(str(place / "many.json"), np.eye(14), np.tile([-1.0, 0.0], 7), many, v=np.tile([0.0, 1.0], 7))
    standing = {"name": "foot", "W_N": np.eye(5)[2], "W_T": np.eye(5)[:, 3:], "slip": [0.0, 0.0], "friction": 0.7}
    h, v = np.array([-1.0, 0.0, -1.0, 0.1, 0.2]), np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    capture(str(place / "cover.json"), np.eye(5), h, [jammed(0, 5), standing], v=v)
    capture(str(place / "box.json"), np.eye(6), np.array([0, 0, -9.81, 0, 0, 0]), feet_of_a_box(), v=np.zeros(6))
    return place


def jammed(k, n):
    """A contact in coordinates of its own that slips, with A = 1 - 2 < 0 and b = -1: no motion is consistent."""
    W_N, W_T = np.zeros(n), np.zeros(n)
    W_N[2 * k], W_T[2 * k : 2 * k + 2] = 1.0, (2.0, 1.0)
    return {"name": f"rod{k}", "W_N": W_N, "W_T": W_T[:, None], "slip": [1.0], "friction": 1.0}


def feet_of_a_box():
    """Four contacts below the centre of a box that stands: they resist by their normal and two tangents each."""
    for k, (x, y) in enumerate([(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)]):
        W_N = np.array([0, 0, 1, y, -x, 0])
        W_T = np.array([[1, 0, 0, 0, -1, -y], [0, 1, 0, 1, 0, x]], dtype=float).T
        yield {"name": f"foot{k}", "W_N": W_N, "W_T": W_T, "slip": [0.0, 0.0], "friction": 0.8}


def undescribed(schema, parts, answer, path=""):
    """Paths of the keys of an answer which none of some parts of its schema names."""
    parts = [part for each in parts for part in alternatives(schema, each)]
    if isinstance(answer, dict):
        for key, value in answer.items():
            named = [part["properties"][key] for part in parts if key in part.get("properties", {})]
            others = [part["additionalProperties"] for part in parts if "additionalProperties" in part]
            if not named and not others:
                yield f"{path}.{key}"
            yield from undescribed(schema, named or others, value, f"{path}.{key}")
    elif isinstance(answer, list):
        for place, value in enumerate(answer):
            items = [part["items"] for part in parts if "items" in part]
            items += [part["prefixItems"][place] for part in parts if place < len(part.get("prefixItems", []))]
            yield from undescribed(schema, items, value, f"{path}[]")


def alternatives(schema, part):
    """A part of a schema with all that it refers to and chooses from."""
    yield part
    others = [part[word] for word in ("if", "then", "else") if isinstance(part.get(word), dict)]
    others += [each for word in ("anyOf", "oneOf", "allOf") for each in part.get(word, [])]
    if "$ref" in part:
        others.append(schema["$defs"][part["$ref"].rpartition("/")[2]])
    for other in others:
        yield from alternatives(schema, other)


@pytest.mark.parametrize(
    "asked", [pytest.param(asked, marks=pytest.mark.long) if asked in SLOW else asked for asked in ANSWERED]
)
def test_every_answer_keeps_to_its_schema(asked, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "seal.toml").unlink(missing_ok=True)
    command, *words = shlex.split(asked)
    assert main([command, *words, "--json"]) == STATUS.get(asked, 0)
    answer = json.loads(capsys.readouterr().out)
    schema = answer_schema(command)
    refused = Draft202012Validator(schema).iter_errors(answer)
    assert [(list(error.absolute_path), error.message) for error in refused] == []
    if command != "schema":  # which answers with a schema
        assert set(undescribed(schema, [schema], answer)) == set()
    for key in schema["required"]:  # a schema that accepts anything would promise nothing
        assert not Draft202012Validator(schema).is_valid({name: answer[name] for name in answer if name != key})


def test_every_command_has_a_schema_and_every_schema_a_command():
    assert set(answers_with_schema()) == set(program.commands)


def test_every_command_is_asked():
    assert {asked.partition(" ")[0] for asked in ANSWERED} == set(program.commands)


@pytest.mark.parametrize("command", answers_with_schema())
def test_every_key_is_described(command):
    schema = answer_schema(command)
    page = PAGE.read_text(encoding="utf-8")
    for key, part in schema["properties"].items():
        described = schema["$defs"][part["$ref"].rpartition("/")[2]] if "description" not in part else part
        assert described["description"]
        assert key in page
    assert schema["description"]


def refuses(command, part):
    """Whether a schema refuses a part of an answer under the first of its keys."""
    (key,) = part
    schema = answer_schema(command)
    alone = {**schema, "required": [key], "if": True, "then": True, "else": True}
    return not Draft202012Validator(alone).is_valid(part)


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("verdict", {"verdict": "PERHAPS"}),
        ("verdict", {"branches": [{"mode": {"tip": "slide+"}}]}),
        ("verdict", {"contact": {"tip": {"A_slide+": 1.0}}}),
        ("verdict", {"certificate": {"violations": [], "farkas": None, "lcp": None, "verified": True}}),
        ("simulate", {"events": [{"t": 0.0, "kind": "impact"}]}),
        ("simulate", {"final": {"t": 1.0}}),
        ("compare", {"rows": [{"method": "newton"}]}),
        ("certify", {"regions": {"none": [0.1]}}),
        ("certify", {"absent": {"INCONSISTENT": True}}),
        ("map", {"verdict_fractions": {"UNIQUE": 1.5}}),
        ("critical-friction", {"paradox_intervals": {"slide+": [1.0, 2.0]}}),
        ("lint", {"worst": [{"frame": 1}]}),
        ("lcp", {"solutions": [1.0]}),
        ("explore", {"port": "8640"}),
    ],
)
def test_parts_that_break_a_promise_are_refused(command, part):
    assert refuses(command, part)


def test_the_schema_of_an_answer_is_printed_whole(capsys, tmp_path):
    file = tmp_path / "impact.json"
    assert main(["schema", "impact", "-o", str(file)]) == 0
    assert json.loads(file.read_text(encoding="utf-8")) == answer_schema("impact")
    assert "shared.json" not in file.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["schema", "imapct"]) == 2  # codespell:ignore imapct
    assert "did you mean 'impact'?" in capsys.readouterr().err
