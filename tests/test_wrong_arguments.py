"""No public function takes an argument of another kind than its annotation says, nor fails at it inside."""

import importlib.util
import inspect
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import mechanisms
from hybrid import (
    ArgumentError,
    Axis,
    ComputationError,
    Contact,
    DeclarationError,
    EnergeticImpact,
    HybridError,
    Mode,
    Prefer,
    Settings,
    State,
    StateError,
    States,
    Tolerances,
    Verdict,
    build_automaton,
    certified_map,
    compare,
    contact_problem,
    critical_friction,
    mechanism_from_toml,
    realise,
    region_map,
    select,
    simulate,
    solve_state,
)
from hybrid.arguments import checks_arguments, explains_arguments
from hybrid.cli import main
from hybrid.contact.compliance.law import KelvinVoigt, KelvinVoigtLimit
from hybrid.declaration import evaluate, parse_expression
from hybrid.dynamics import project_state
from hybrid.numeric import NumericContact, NumericState, select as select_numeric
from tests.catalogue import dynamics_of

SOURCE = Path(__file__).parents[1] / "docs/_extensions/api_pages.py"
PINS = {"phi": 1.0, "phi_dot": 0.0, "slip.tip": -1.0}
ROD = dynamics_of("rod_on_incline")
STATE = solve_state(ROD, PINS)

# Parts of the graph of expressions and of motions side by side take nodes and lanes, in inner loops; a command parses
# its own words; the rest says itself what is wrong, as tested below.
APART = ("hybrid.expressions", "hybrid.motion.together", "hybrid.cli.main", "lcp", "mechanisms")
NAMED = {"hybrid.declaration.evaluate", "hybrid.declaration.parse_expression", "hybrid.mechanism_from_toml"}
LATE = {"hybrid.realise", "hybrid.contact.pruning.certify_tree", "hybrid.contact.pruning.search_modes"}
LATE |= {"hybrid.contact.cover.select_by_cover", "hybrid.numeric.capture", "hybrid.numeric.frames.merged"}
LATE |= {"hybrid.reporting.plain", "hybrid.realisation_study"}

WRONG = {
    "nothing": None,
    "a number": 5,
    "a fraction": 2.5,
    "a text": "?",
    "a list": [object()],
    "a mapping": {5: object()},
    "not a number": math.nan,
    "True": True,
    "complex": 1j,
    "an array": np.zeros((2, 3, 4)),
    "an object": object(),
}
# Of the wrong ones, what a word of an annotation admits, by hand; any other name is a class, which admits none.
ADMITTED = {
    "None": {"nothing"},
    "float": {"a number", "a fraction"},
    "int": {"a number"},
    "str": {"a text"},
    "Path": set(),
    "bool": {"True"},
    "Any": set(WRONG),
    "object": set(WRONG),
    "Json": set(WRONG),
    "NDArray": {"a number", "a fraction", "not a number", "True", "an array"},
    "Array": {"a number", "a fraction", "not a number", "True", "an array"},
    "Stiffness": {"a number", "a fraction", "a text"},
    "Curve": set(),
}


def admitted(annotation):
    """What the alternatives of an annotation admit; of a container nothing, since none of the wrong ones is empty."""
    depth, words = 0, [""]
    for letter in annotation:
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and depth == 0:
            words.append("")
        else:
            words[-1] += letter
    names = [word.strip().partition("[")[0].rpartition(".")[2] for word in words]
    return set().union(*(ADMITTED.get(name, set()) for name in names))


def public():
    spec = importlib.util.spec_from_file_location("api_pages", SOURCE)
    api = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(api)
    for name in (name for names in api.public_names().values() for name in names):
        value = api.value_of(name)
        if inspect.isfunction(value) and not name.startswith(APART) and name not in NAMED | LATE:
            yield name, value


FUNCTIONS = dict(public())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_refuses_what_its_annotation_does_not_admit(name):
    function, accepted = FUNCTIONS[name], []
    for parameter in inspect.signature(function).parameters.values():
        for kind in WRONG.keys() - admitted(str(parameter.annotation)):
            try:
                function(**{parameter.name: WRONG[kind]})  # before it is missed that others are not given
            except ArgumentError as error:
                if f": {parameter.name} must be " in str(error):
                    continue
            except TypeError:
                pass
            accepted.append((parameter.name, kind))
    assert accepted == []


def test_the_functions_are_not_few():
    assert len(FUNCTIONS) > 110
    assert sum(len(inspect.signature(function).parameters) for function in FUNCTIONS.values()) > 350


BUILT = {
    "load": lambda wrong: mechanisms.load(wrong),
    "text": lambda wrong: mechanism_from_toml(wrong),
    "expression": lambda wrong: parse_expression(wrong, known=["x"]),
    "evaluate": lambda wrong: evaluate(wrong, {}),
    "values": lambda wrong: evaluate(parse_expression("x", known=["x"]), wrong),
    "realise": lambda wrong: realise(wrong, "rail", stiffness=1e4),
    "gap": lambda wrong: Contact(name="tip", gap=wrong),
    "axis": lambda wrong: Axis.parse(wrong),
    "low": lambda wrong: Axis("phi", wrong, 1e9),
    "sign": lambda wrong: Tolerances(sign=wrong),
    "rtol": lambda wrong: Settings(rtol=wrong),
    "max_events": lambda wrong: Settings(max_events=wrong),
    "restitution": lambda wrong: EnergeticImpact(restitution=wrong),
    "modes": lambda wrong: Prefer(wrong),
    "mode": lambda wrong: Prefer((wrong,)),
    "contacts": lambda wrong: Mode(wrong),
    "parts": lambda wrong: NumericState(np.eye(2), [0.0, 0.0], wrong),
    "sides": lambda wrong: State([0.0], [0.0], sides=wrong),
    "at": lambda wrong: ROD.at(wrong),
    "key": lambda wrong: build_automaton(ROD).location(wrong),
}
NUMBERS = {"a number", "a fraction"}
TAKEN = {"gap": NUMBERS | {"a text"}, "low": NUMBERS, "rtol": NUMBERS, "max_events": {"a number"}}
TAKEN |= {"at": {"nothing"}, "restitution": {"nothing"}, "key": {"a text"}}


@pytest.mark.parametrize("asked", BUILT)
def test_what_a_user_writes_is_of_the_kind_that_is_asked_for(asked):
    for kind in WRONG.keys() - TAKEN.get(asked, set()):
        with pytest.raises(HybridError):
            BUILT[asked](WRONG[kind])


@pytest.mark.parametrize("wrong", [[1], {"tip": None}, {"tip": "x"}])
@pytest.mark.parametrize("kind", [State, States])
def test_sides_of_one_state_and_of_many_are_numbers(kind, wrong):
    with pytest.raises(ArgumentError, match=rf"^{kind.__name__}: sides must be a mapping of texts to numbers"):
        kind(STATE.q, STATE.v, np.array(0.0), sides=wrong)
    assert kind(STATE.q, STATE.v, np.array(0.0), sides={"tip": 1}).sides == {"tip": (1.0,)}


@pytest.mark.parametrize("samples", [-1, 100_001, 10**12, 10**400, -(10**400)])
def test_samples_of_a_phase_are_limited(samples):
    for asked in (
        lambda: compare(ROD, STATE, stiffness=[1e6], samples=samples),
        lambda: KelvinVoigt(1e6).pass_through(ROD, STATE, samples=samples),
        lambda: KelvinVoigtLimit().path(contact_problem(ROD, STATE), samples=samples),
    ):
        with pytest.raises(ArgumentError, match="samples must be from 0 to 100000"):
            asked()


def test_the_source_of_a_text_is_a_path_or_a_text():
    for source in ("a.toml", Path("a.toml")):
        with pytest.raises(DeclarationError, match=r"^a\.toml:1"):
            mechanism_from_toml("x=", source=source)
    for wrong in (5, None, b"a.toml", ["a.toml"]):
        with pytest.raises(ArgumentError, match="source must be a text or a path, not "):
            mechanism_from_toml("x=", source=wrong)


@pytest.mark.parametrize("wrong", ["x", {}, object(), 1j])
def test_arrays_of_a_state_are_of_numbers(wrong):
    for made in (lambda: State(wrong, [0.0]), lambda: State([0.0], wrong), lambda: State([0.0], [0.0], t=wrong)):
        with pytest.raises(ArgumentError, match=r"State: [qvt] must be a"):
            made()
    with pytest.raises(HybridError):
        NumericContact("foot", W_N=wrong)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: compare(ROD, STATE, stiffness="1e8"), r"stiffness must be .*numbers, not '1e8'; give \[100000000.0\]"),
        (lambda: compare(ROD, STATE, stiffness=1e8), r"stiffness must be .*, not 100000000.0; give \[100000000.0\]"),
        (lambda: select(ROD, STATE, parameters="mu=1"), r"must be .*, not 'mu=1'; give \{'mu': '1'\}"),
        (lambda: select(ROD, STATE, solver="lemk"), "solver must be one of .*; give 'lemke'"),
        (lambda: region_map(ROD, axes="phi=0:pi"), r"axes must be .*; give \['phi=0:pi'\]"),
        (lambda: certified_map(ROD, axes=["phi=0:1"], gap="x"), "gap must be a number, not 'x'$"),
        (
            lambda: certified_map(ROD, axes=["phi=0:1"], budget="1"),
            "must be a number or None, not '1'; give 1.0",
        ),
        (lambda: simulate(ROD, None, t_end=1), "state must be a State or .*, not None; solve it first"),
        (lambda: simulate(ROD, STATE, t_end=1, law=EnergeticImpact), "law must be an AbstractImpactLaw or None"),
        (lambda: select(mechanisms.load("rod_on_incline"), STATE), "must be a Dynamics, not a Mechanism; derive it"),
        (lambda: build_automaton(ROD, max_nodes=64.0), "max_nodes must be a whole number, not 64.0; give 64"),
        (lambda: region_map(ROD, axes=["phi=0:1"], with_boundaries=1), "must be True or False, not 1; give True"),
        (lambda: Mode({"tip": "slip"}), "mode is one of free, stick, .* not 'slip'"),
        (lambda: simulate(ROD, STATE, t_end=b"1"), "t_end must be a number, not a bytes"),
        (lambda: simulate(ROD, STATE, t_end=10**400), "t_end must be a finite number, not a whole number beyond"),
        (lambda: Axis("phi", 0, 10**400, 2), "high must be a finite number"),
        (lambda: Settings(rtol=10**400), "rtol must be a finite number"),
        (lambda: solve_state(ROD, {**PINS, "phi": b"0.5"}), "pins must be a mapping of texts to texts or numbers"),
        (lambda: solve_state(ROD, {**PINS, "phi": np.True_}), "pins must be a mapping of texts to texts or numbers"),
    ],
)
def test_the_message_names_the_argument_and_the_nearest_right_thing(asked, message):
    with pytest.raises(ArgumentError, match=message):
        asked()


@pytest.mark.parametrize("wrong", [0, "", [], False, ()])
def test_what_is_empty_is_not_taken_for_no_parameters(wrong):
    for asked in (contact_problem, select):
        with pytest.raises(ArgumentError, match=f"^{asked.__name__}: parameters must be a mapping"):
            asked(ROD, STATE, parameters=wrong)
    with pytest.raises(ArgumentError, match="at: parameters must be a mapping"):
        ROD.at(wrong)
    assert ROD.at({}) is ROD


@pytest.mark.parametrize("wrong", [None, [1, 2], object()])
def test_pins_and_branches_are_one_number_each(wrong):
    for over, asked in (("phi=1:2:3", region_map), ("phi=1:2", certified_map)):
        axes = [over, over.replace("phi", "mu")]
        with pytest.raises(StateError, match=r"^branch phi: the value must be (one|a) finite number, got "):
            asked(ROD, axes=axes, pins={"phi_dot": 0, "slip.tip": -1}, branch={"phi": wrong})
    with pytest.raises(StateError, match=r"^pin phi_dot: the value must be (one|a) finite number, got "):
        certified_map(ROD, axes=axes, pins={"phi_dot": wrong, "slip.tip": -1})
    with pytest.raises(StateError, match=r"^branch phi: the value must be (one|a) finite number, got "):
        critical_friction(ROD, over=["phi=0:pi"], branch={"phi": wrong})


BALL = dynamics_of("bouncing_ball")
MOTION = simulate(BALL, State([1.0], [0.0]), t_end=0.1)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: ROD.terms(None, STATE.v), r"q must be numbers of shape \(\.\.\., 3\), not None"),
        (lambda: ROD.kinematics(STATE.q, [1]), r"v must be numbers of shape \(\.\.\., 3\), not \[1\]"),
        (lambda: ROD.energy(["a", "b", "c"], STATE.v), "q must be numbers"),
        (lambda: contact_problem(ROD, STATE).element("top"), "'top' takes no part at this state, where these do: tip"),
        (lambda: MOTION.graph("x"), "points must be a whole number"),
        (lambda: MOTION.sample("x"), "t must be a time or an array of times, not 'x'"),
        (lambda: MOTION.sample([0, [1]]), "t must be a time or an array of times"),
        (lambda: parse_expression("x + y", known=5), "known must be a .*texts, not 5"),
        (lambda: build_automaton(ROD).location("slip"), "no mode 'slip'; a mode reads 'free'"),
        (lambda: main(5), r"arguments must be a list of texts, as \['list', '--json'\], not 5"),
        (lambda: main("verdict"), "arguments must be a list of texts"),
    ],
)
def test_methods_name_what_they_were_given(asked, message):
    with pytest.raises(ArgumentError, match=message):
        asked()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sides": {"tip": 0}}, r"sides: tip must have a direction of one finite number, not zero, got \(0.0,\)"),
        ({"sides": {"tip": math.nan}}, r"sides: tip .* got \(nan,\)"),
        ({"sides": {"tip": [1, 2]}}, r"sides: tip .* got \(1.0, 2.0\)"),
        ({"sides": {"foo": 1}}, "sides: rod_on_incline has no slip of 'foo'; the slips are of tip"),
        ({"sides": {"tip": "x"}}, "sides must be a mapping of texts to numbers or sequences of numbers"),
        ({"sides": {"tip": None}}, "sides must be a mapping of texts to numbers or sequences of numbers"),
        ({"q": STATE.q + 0j}, "q must be an array of numbers, not a ndarray of complex numbers"),
        ({"v": np.ma.masked_array(STATE.v, mask=[0, 1, 0])}, "v must be .* not a MaskedArray with masked entries"),
        ({"q": STATE.q[None]}, r"q and v must have the shape \(3,\), not \(1, 3\)"),
        ({"q": [math.inf, 0.866, 1.047]}, "a state must be finite: q = . *inf"),
        ({"t": math.nan}, "a state must be finite: .* t = nan"),
    ],
)
@pytest.mark.parametrize("use", [select, project_state, lambda rod, state: simulate(rod, state, t_end=1)])
def test_what_is_no_state_of_a_mechanism_is_refused(use, changed, message):
    with pytest.raises((ArgumentError, StateError), match=message):
        use(ROD, State(**{"q": STATE.q, "v": STATE.v, **changed}))


@pytest.mark.parametrize(
    "asked",
    [
        lambda: select(ROD, {"phi": "pi/3", "phi_dot": 0.5, "slip.tip": -1}, parameters={"mu": 1.5, "g": 1e308}),
        lambda: select_numeric(
            NumericState(
                np.diag([1, 1, 1 / 3]),
                [0, -1e308, 0],
                [NumericContact("tip", W_N=[0, 1, -0.5], W_T=[1, 0, 0.87], slip=[-1.0], friction=1.5)],
            )
        ),
    ],
)
def test_what_leaves_the_range_of_floats_is_said_to(asked):
    with pytest.raises(ComputationError, match="a number left the range of double precision; choose units"):
        asked()


def test_a_fraction_is_the_number_that_it_is():
    assert ROD.at({"mu": Fraction(3, 2)}).values["mu"] == 1.5
    written = [select(ROD, STATE, parameters={"mu": mu}).verdict for mu in ("3/2", Fraction(3, 2))]
    assert written[0] is written[1]
    with pytest.raises(HybridError, match=r"parameters\.mu: must be a finite number"):
        ROD.at({"mu": Fraction(10) ** 400})


NUMBERS_OF_LIBRARIES = [np.float64(2), np.float32(2), np.int64(2), np.array(2.0), Fraction(2), xr.DataArray(2.0), 2]


@pytest.mark.parametrize("number", NUMBERS_OF_LIBRARIES, ids=lambda number: type(number).__name__)
def test_numbers_of_other_libraries_are_numbers(number):
    @checks_arguments
    def halves(of: float) -> float:
        return of / 2

    assert float(halves(number)) == 1.0
    assert select(ROD, STATE, cover_budget=number).verdict is Verdict.UNIQUE


def test_a_column_of_a_table_is_a_sequence_and_no_number():
    @checks_arguments
    def total(of: Sequence[float]) -> float:
        return sum(of)

    assert total(pd.Series([1e6, 1e7])) == total(np.array([1e6, 1e7])) == total([1e6, 1e7]) == 1.1e7
    with pytest.raises(ArgumentError, match="cover_budget must be a number, not a Series"):
        select(ROD, STATE, cover_budget=pd.Series([2.0, 3.0]))


def test_a_failure_inside_is_not_blamed_on_the_arguments():
    @explains_arguments
    def entry(of: str) -> str:
        return {}[of]

    with pytest.raises(KeyError, match="'mu'"):
        entry("mu")
    with pytest.raises(ArgumentError, match="entry: of must be a text, not 5"):
        entry(5)
