"""A motion survives a file, and a file that is no motion is refused."""

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import Functional, Settings, State, StateError, Tolerances, derive, sensitivity, simulate
from hybrid.contact import EnergeticImpact, KelvinVoigtLimit, NewtonImpact, PoissonImpact
from hybrid.contact.guards import ArrayView
from hybrid.contact.impacts.impact import AbstractImpactLaw, Impulses
from hybrid.declaration import AbstractFriction, EnergyDynamics, Mechanism, mechanism_from_toml
from hybrid.motion import load, save
from tests.stored_motions import contents, put, put_unsealed


@pytest.fixture(scope="module")
def motion():
    rod = derive(mechanisms.load("rod_two_ends"))
    return simulate(rod, State([0, 1.6, 0.5], [0.3, 0, 0.2]), t_end=4, law=EnergeticImpact(), parameters={"e": 0.4})


def test_a_motion_is_the_same_after_saving_and_loading(motion, tmp_path):
    save(motion, tmp_path / "motion.npz")
    read = load(tmp_path / "motion.npz")
    t = np.linspace(0, motion.t, 300)
    assert np.array_equal(read.sample(t)[0], motion.sample(t)[0])
    assert [str(event) for event in read.events] == [str(event) for event in motion.events]
    assert [event.impact.phases for event in read.events if event.impact] == [
        event.impact.phases for event in motion.events if event.impact
    ]
    assert (read.termination, read.cause, dict(read.parameters)) == (motion.termination, motion.cause, {"e": 0.4})
    assert read.energy() == motion.energy()
    arc = read.arcs[2]
    middle = (arc.start + arc.end) / 2
    assert np.array_equal(read.forces(arc, middle).lambda_N, motion.forces(motion.arcs[2], middle).lambda_N)


BLOCK = """
name = "block"
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x_dot**2 + y_dot**2)/2"
potential = "9.81*y"
[[contact]]
name = "foot"
gap = "y"
tangent = "x"
friction = "0.5"
"""


@pytest.fixture
def stopped():
    """A block that slides at 1 m/s and stops, by hand after v/(mu g)."""
    return simulate(derive(mechanism_from_toml(BLOCK)), State([0.0, 0.0], [1.0, 0.0]), t_end=1.0)


def test_the_guards_that_fired_are_kept(stopped, tmp_path):
    path = tmp_path / "block.npz"
    save(stopped, path)
    events = load(path, dynamics=stopped.dynamics).events
    assert [event.guards for event in events] == [event.guards for event in stopped.events]
    (event,) = (event for event in events if event.guards)
    assert event.t == pytest.approx(1.0 / (0.5 * 9.81), rel=1e-10)
    (guard,) = event.guards
    assert (guard.kind.value, guard.elements, guard.direction) == ("slip", ("foot",), -1)
    # it measures the slip, here of another state
    assert guard.distance(ArrayView(stopped.dynamics.terms(np.zeros(2), np.array([2.0, 0.0])), None)) == 2.0
    with_record(path, lambda record: [item.pop("guards") for item in record["events"]])  # as in earlier versions
    earlier = load(path)
    assert not any(event.guards for event in earlier.events)
    found = sensitivity(earlier, Functional(terminal="x"), ["x_dot"])
    assert found.gradient["x_dot"] == pytest.approx(1.0 / (0.5 * 9.81), rel=1e-9)  # of v^2/(2 mu g)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "slap"}, r"guards\[0\].kind must be one of TOUCHDOWN"),
        ({"direction": 3}, r"guards\[0\].direction must be one of \(-1, 0, 1\)"),
        ({"quantity": 3}, r"guards\[0\].quantity must be a table"),
        ({"quantity": {"element": "tail"}}, r"guards\[0\].quantity.element must be one of "),
    ],
)
def test_guards_that_are_none_are_refused_by_name(stopped, tmp_path, change, said):
    path = tmp_path / "motion.npz"
    save(stopped, path)
    at = next(number for number, event in enumerate(stopped.events) if event.guards)
    with_record(path, lambda record: record["events"][at]["guards"][0].update(change))
    with pytest.raises(StateError, match=rf"events\[{at}\].{said}"):
        load(path)


def with_record(path, change):
    """The file as of an earlier version, without digests, with its record changed in place."""
    arrays, record = contents(path)
    change(record)
    put_unsealed(path, arrays, record)


def test_settings_are_kept_and_may_be_missing(tmp_path):
    ball, path = derive(mechanisms.load("bouncing_ball")), tmp_path / "ball.npz"
    settings = Settings(stepper="Radau", rtol=1e-6, crowd=40, tolerances=Tolerances(gap=1e-8))
    save(simulate(ball, State([1.0], [0.0]), t_end=0.3, settings=settings), path)
    assert load(path).settings == settings
    with_record(path, lambda record: record["settings"].update(rtol=0.5))
    with pytest.raises(StateError, match=r"settings must be those of a simulation \(rtol must be a share"):
        load(path)
    with_record(path, lambda record: record.pop("settings"))  # as in files of earlier versions
    assert load(path).settings is None


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.npz"
    np.savez(path, q=np.zeros(3))
    with pytest.raises(StateError, match="is not a motion"):
        load(path)
    path.write_text("nothing")
    with pytest.raises(StateError, match="is not a motion"):
        load(path)
    np.savez(path, record=np.array('{"format": "painleve motion 99"}'))
    with pytest.raises(StateError, match="has the format 'painleve motion 99'"):
        load(path)


def test_no_pickle_is_read(tmp_path):
    path = tmp_path / "pickled.npz"
    np.savez(path, record=np.array([{"format": "x"}], dtype=object))
    with pytest.raises(StateError, match="is not a motion"):
        load(path)


def test_a_file_with_parts_missing_is_refused(motion, tmp_path):
    save(motion, tmp_path / "motion.npz")
    arrays, record = contents(tmp_path / "motion.npz")
    del arrays["arc_1_knots"]
    put_unsealed(tmp_path / "torn.npz", arrays, record)
    with pytest.raises(StateError, match=r"is not a whole motion: .*arc_1_knots"):
        load(tmp_path / "torn.npz")


@pytest.mark.parametrize(
    "law", [NewtonImpact(), PoissonImpact(0.3), EnergeticImpact(restitution=0.7), KelvinVoigtLimit(damping=0.2)]
)
def test_the_law_of_impacts_is_kept_with_its_numbers(law, tmp_path):
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=0.7, law=law)
    save(motion, tmp_path / "ball.npz")
    loaded = load(tmp_path / "ball.npz", dynamics=ball)
    assert loaded.law == law
    # so a motion from a file has the same derivatives
    found, expected = (sensitivity(item, Functional(terminal="y"), ["e", "g", "y"]) for item in (loaded, motion))
    assert found.refusal is None
    assert found.gradient == pytest.approx(expected.gradient, rel=1e-12)


@attrs.frozen
class Elastic(AbstractImpactLaw):
    """A user's own law, which shares a name with one of ours."""

    name = "newton"

    def impulses(self, problem):
        return Impulses(-2 * problem.gamma / problem.G[0, 0], ())


def test_of_a_law_of_ones_own_only_the_name_is_kept(tmp_path):
    ball = derive(mechanisms.load("bouncing_ball"))
    motion = simulate(ball, State([1.0], [0.0]), t_end=0.7, law=Elastic())
    save(motion, tmp_path / "ball.npz")
    loaded = load(tmp_path / "ball.npz", dynamics=ball)
    assert loaded.law is None
    refusal = sensitivity(loaded, Functional(terminal="y"), ["g"]).refusal
    assert refusal.t == pytest.approx(np.sqrt(2 / 9.81), abs=1e-12)
    assert "law 'newton' of its impacts is not known" in refusal.reason
    assert load(tmp_path / "ball.npz", dynamics=ball, law=Elastic()).law == Elastic()
    with pytest.raises(StateError, match="was computed with the law 'newton', not with EnergeticImpact"):
        load(tmp_path / "ball.npz", dynamics=ball, law=EnergeticImpact())


def test_another_law_than_that_of_the_file_is_an_error(tmp_path):
    ball = derive(mechanisms.load("bouncing_ball"))
    save(simulate(ball, State([1.0], [0.0]), t_end=0.7, law=NewtonImpact(0.5)), tmp_path / "ball.npz")
    with pytest.raises(StateError, match=r"NewtonImpact\(restitution=0.5\), not with NewtonImpact\(restitution=None\)"):
        load(tmp_path / "ball.npz", dynamics=ball, law=NewtonImpact())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda record: record["arcs"].pop(), "t must be .*, where the arcs end"),
        (lambda record: record.update(t=5.0), "t must be .*, where the arcs end, not 5.0"),
        (lambda record: record.update(t_start=-1.0), r"arc_0_knots must be times from -1.0 on, not from 0.0"),
        (lambda record: record["events"].pop(), "event_.* must be of one of its . events"),
        (lambda record: record["arcs"][0]["mode"].update(foot="flying"), r"mode must be modes that there are"),
    ],
)
def test_parts_that_contradict_each_other_are_refused_by_name(stopped, tmp_path, change, said):
    path = tmp_path / "motion.npz"
    save(stopped, path)
    with_record(path, change)
    with pytest.raises(StateError, match=f"is not a whole motion: .*{said}"):
        load(path)


DAMAGED_ARRAYS = {
    "arc_0_coefficients": lambda values: 1.5 * values,
    "arc_0_knots": np.nextafter,
    "q": lambda values: values + 1.0,
    "q_start": lambda values: values + 1.0,
    "v_start": lambda values: values.astype("f4"),
    "event_0": lambda values: values[::-1],
}


@pytest.mark.parametrize("name", DAMAGED_ARRAYS)
def test_an_array_that_is_not_as_it_was_saved_is_refused_by_name(stopped, tmp_path, name):
    """Of the same shape and finite, so that nothing but its digest tells."""
    path = tmp_path / "motion.npz"
    save(stopped, path)
    arrays, record = contents(path)
    damage = DAMAGED_ARRAYS[name]
    values = damage(arrays[name], np.inf) if damage is np.nextafter else damage(arrays[name])
    put(path, {**arrays, name: values}, record)
    with pytest.raises(StateError, match=f"is not a whole motion: {name} is damaged"):
        load(path)


def test_an_array_that_is_missing_or_new_is_refused_by_name(stopped, tmp_path):
    path = tmp_path / "motion.npz"
    save(stopped, path)
    arrays, record = contents(path)
    put(path, {**arrays, "extra": np.zeros(1)}, record)
    with pytest.raises(StateError, match="extra is none of its arrays"):
        load(path)
    del arrays["arc_0_knots"]
    put(path, arrays, record)
    with pytest.raises(StateError, match="arc_0_knots is missing"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.update(mechanism=record["mechanism"].replace("9.81", "1.62")),
        lambda record: record.update(energy=dict.fromkeys(record["energy"], 99.0)),
        lambda record: record["events"][0].update(t=0.25),
        lambda record: record["events"][0].update(
            mode_before=record["events"][0]["mode_after"], mode_after=record["events"][0]["mode_before"]
        ),
        lambda record: record["arcs"][0].update(mode=record["arcs"][1]["mode"]),
        lambda record: record["arrays"].pop("q"),
        lambda record: record.pop("arrays"),
        lambda record: record.pop("digest"),
    ],
)
def test_a_record_that_is_not_as_it_was_saved_is_refused(stopped, tmp_path, change):
    path = tmp_path / "motion.npz"
    save(stopped, path)
    arrays, record = contents(path)
    put(path, arrays, record)
    load(path)  # it may be packed anew
    change(record)
    put(path, arrays, record)
    with pytest.raises(StateError, match="is not a whole motion: its record is damaged"):
        load(path)


def test_files_of_earlier_versions_have_no_digests(stopped, tmp_path):
    path = tmp_path / "motion.npz"
    save(stopped, path)
    put_unsealed(path, *contents(path))
    t = np.linspace(0.0, stopped.t, 50)
    np.testing.assert_array_equal(load(path).sample(t), stopped.sample(t))


@pytest.mark.parametrize(("name", "rows"), [("acceleration", 2), ("lambda_N", 1), ("lambda_T", 1), ("guards", 0)])
def test_means_have_the_rows_of_the_mechanism(tmp_path, name, rows):
    """A block: two coordinates, one contact, one tangent; steps of 0.1 to 0.3."""
    path = tmp_path / "motion.npz"
    block = derive(mechanism_from_toml(BLOCK))
    save(simulate(block, State([0.0, 0.0], [9.0, 0.0]), t_end=0.3, method="time-stepping", step=0.1), path)
    arrays, record = contents(path)
    put_unsealed(path, arrays, record)
    assert load(path).arcs[0].means.lambda_N == pytest.approx(np.full((1, 3), 9.81))
    put_unsealed(path, {**arrays, f"arc_0_{name}": np.zeros((7, 3))}, record)
    with pytest.raises(StateError, match=rf"arc_0_{name} must be an array of finite numbers of shape \({rows}, 3\)"):
        load(path)
    put_unsealed(path, {**arrays, "arc_0_lambda_N": np.full((1, 3), np.nan)}, record)
    with pytest.raises(StateError, match="arc_0_lambda_N must be an array of finite numbers"):
        load(path)


@pytest.mark.parametrize("other", ["ball_on_vibrating_table", "coulomb_oscillator"])
def test_a_motion_of_another_mechanism_is_refused_with_what_differs(tmp_path, other):
    path = tmp_path / "ball.npz"
    save(simulate(derive(mechanisms.load("bouncing_ball")), State([1.0], [0.0]), t_end=0.3), path)
    with pytest.raises(StateError, match=f"ball.npz is not one of the mechanism {other}: it differs in name, "):
        load(path, dynamics=derive(mechanisms.load(other)))


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("9.81*y", "1.62*y", "dynamics"),
        ('"0.5"', '"0.3"', "contact"),
        ("[[contact]]", '[[contact]]\nstatic_friction = "0.6"', "contact"),
        ("[dynamics]", "[parameters]\nm = 1\n[dynamics]", "parameters"),
    ],
)
def test_a_motion_of_another_declaration_is_refused_with_what_differs(stopped, tmp_path, old, new, where):
    path = tmp_path / "block.npz"
    save(stopped, path)
    with pytest.raises(StateError, match=f"not one of the mechanism block: it differs in {where}$"):
        load(path, dynamics=derive(mechanism_from_toml(BLOCK.replace(old, new))))


def test_what_changes_no_number_may_differ(stopped, tmp_path):
    path = tmp_path / "block.npz"
    save(stopped, path)
    told = BLOCK.replace("coordinates", 'title = "A block"\nreferences = ["by hand"]\ncoordinates')
    read = load(path, dynamics=derive(mechanism_from_toml(told)))
    assert (read.t, read.dynamics.mechanism.title) == (stopped.t, "A block")


def test_parameters_are_those_of_the_motion_whatever_is_bound(tmp_path):
    """After 0.3 s of free fall the velocity is -0.3 g, by which g the forces are computed anew."""
    path, ball = tmp_path / "ball.npz", derive(mechanisms.load("bouncing_ball"))
    save(simulate(ball, State([1.0], [0.0]), t_end=0.3), path)
    moon = ball.at({"g": 1.62})
    read = load(path, dynamics=moon)
    assert read.v == pytest.approx([-0.3 * 9.81])
    assert read.forces(read.arcs[0], 0.1).acceleration == pytest.approx([-9.81])
    save(simulate(moon, State([1.0], [0.0]), t_end=0.3), path)
    read = load(path, dynamics=ball.at({"m": 5.0}))
    assert read.forces(read.arcs[0], 0.1).acceleration == pytest.approx([-1.62])
    assert (read.parameters, read.dynamics.values["m"]) == ({"g": 1.62}, ball.values["m"])


@attrs.frozen(kw_only=True)
class Shoe(AbstractFriction):
    """Friction of a class of one's own, which a file names and cannot declare."""

    name: str
    tangent: str
    limit: str
    load: str
    slip: str | None = None
    static_limit: str | None = None

    @property
    def limits(self):
        return (f"({self.limit}) + {self.load}", self.limit)


def test_a_motion_with_friction_of_ones_own_class_is_read_with_its_dynamics(tmp_path):
    def braked(load, **changes):
        shoe = Shoe(name="shoe", tangent="x", limit="1", load=load)
        energies = EnergyDynamics(kinetic="x_dot**2/2")
        return derive(Mechanism(name="braked", coordinates=["x"], dynamics=energies, friction=[shoe], **changes))

    path, dynamics = tmp_path / "braked.npz", braked("2")
    save(simulate(dynamics, State([0.0], [3.0]), t_end=0.5), path)
    for same in (dynamics, braked("2", title="A drum")):
        assert load(path, dynamics=same).v == pytest.approx([1.5])  # 3 - (1 + 2) t
    with pytest.raises(StateError, match=r"mechanism braked: it differs in friction$"):
        load(path, dynamics=braked("4"))
