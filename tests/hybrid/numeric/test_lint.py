"""Logs frame by frame: counts that must add up, verdicts against single calls, and refusals."""

import json
import sys

import mujoco
import numpy as np
import pytest

from hybrid.cli import main
from hybrid.contact import CellVerdict
from hybrid.errors import FileError, StateError
from hybrid.numeric import NumericState, classify, select
from hybrid.numeric.backends.mujoco import load
from hybrid.numeric.lint import lint
from hybrid.numeric.logs import Log, frame_times, read_log
from hybrid.numeric.posing import Thresholds, posed_frame
from tests.hybrid.numeric.test_mujoco import ROD, WALKER, swung, written

FRAMES = 500


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A log of Walker2d under random actions."""
    rows = list(swung(load(WALKER), frames=FRAMES, seed=3))
    path = tmp_path_factory.mktemp("logs") / "walk.npz"
    np.savez(path, time=0.002 * np.arange(FRAMES), **{name: [row[name] for row in rows] for name in rows[0]})
    return path


@pytest.fixture(scope="module")
def report(walk):
    backend = load(WALKER)
    return lint(backend, read_log(walk, backend))


def test_every_frame_is_counted_once(report):
    assert report.frames == FRAMES
    assert report.frames == report.counted + sum(report.resting.values()) + sum(report.left_out.values())
    assert set(report.left_out) <= {"no_contact", "impact", "unsupported"}
    assert sum(report.verdicts.values()) == report.counted > 20


def test_frames_are_decided_as_single_calls_are(walk, report):
    backend = load(WALKER)
    log, thresholds = read_log(walk, backend), report.thresholds
    for k in range(FRAMES):
        posed = posed_frame(backend, log.row(k), thresholds)
        if isinstance(posed, str):
            assert report.verdict[k] == CellVerdict.MISSING
            continue
        contacts = []
        for contact in posed.contacts:
            rests = contact.slip is not None and np.linalg.norm(contact.slip) < thresholds.slip_min
            contacts.append(contact.closed(at_rest=rests))
        one = select(posed.frame.state(contacts, name="walker"))
        assert CellVerdict(report.verdict[k]).name == one.verdict.name
        if not posed.rests and report.factor[k] > 1.0 + 1e-6:  # A is a P-matrix then: Samelson, Thrall and Wesler
            assert one.verdict.name == "UNIQUE"


def test_no_contact_of_a_projected_frame_approaches(walk):
    """What is taken away from some contacts must not push on others that are then taken for closed."""
    backend = load(WALKER)
    log, thresholds = read_log(walk, backend), Thresholds.of(backend, project=True)
    pushed = 0
    for k in range(FRAMES):
        posed = posed_frame(backend, log.row(k), thresholds)
        if isinstance(posed, str):
            continue
        assert max(abs(contact.gap_dot) for contact in posed.contacts) < 1e-9
        known = {contact.name: contact.gap_dot for contact in backend.frame(log.row(k), near=thresholds.gap).contacts}
        pushed += any(known[contact.name] > thresholds.persistent for contact in posed.contacts)
    assert pushed > 5


def test_a_declared_zero_is_no_friction(tmp_path):
    """MuJoCo puts 1e-5 in its place, which would decide between motions."""
    backend = written(tmp_path, ROD.format(mu=0))
    row = next(iter(swung(backend, frames=1, seed=0)))
    row["qpos"][:] = 0.0
    assert {contact.friction for contact in backend.frame(row, near=10.0).contacts if contact.W_T is not None} == {0.0}


def test_worst_frames_come_first_with_their_problem(report):
    factors = [item.critical_factor for item in report.worst]
    assert factors == sorted(factors)
    assert factors[0] == report.minimum == pytest.approx(np.nanmin(report.factor))
    for item in report.worst:
        assert item.A.shape == (len(item.contacts),) * 2
        assert item.time == pytest.approx(0.002 * item.frame)
        if len(item.contacts) == 1:
            # one contact: consistent sliding where A and b have opposite signs, separation where b > 0
            count = int(item.b[0] > 0) + int(item.A[0, 0] * item.b[0] < 0)
            assert item.verdict == ["INCONSISTENT", "UNIQUE", "INDETERMINATE"][count]


def test_friction_decides_the_shares(report):
    low, high = report.by_friction[0], report.by_friction[-1]
    assert (low[0], low[1], low[2]) == (0.4, 0.0, 0.0)
    assert high[0] == 2.0
    assert high[1] + high[2] >= report.by_friction[3][1] + report.by_friction[3][2]


def test_an_interrupt_while_frictions_are_swept_counts_no_frame_twice(walk, report, monkeypatch):
    backend, calls = load(WALKER), iter(range(10**6))

    def interrupted(*arguments, **options):
        if next(calls) == 3:  # the third friction of the first group
            raise KeyboardInterrupt
        return classify(*arguments, **options)

    monkeypatch.setattr("hybrid.numeric.lint.classify", interrupted)
    found = lint(backend, read_log(walk, backend), on_interrupt="keep")
    assert not found.is_complete
    assert found.by_friction == report.by_friction  # of frames that were all read before


def test_frames_at_rest_are_decided_a_few_at_once(tmp_path, monkeypatch):
    """They are decided one by one: in between progress is told, and an interrupt leaves few to be decided."""
    tall = np.array([0.0, np.sin(2.0), 2.0])
    model, path = rod_log(tmp_path, qpos=np.tile(tall, (5, 1)), qvel=np.zeros((5, 3)))
    backend, sizes = load(model), []

    def counted(state, **options):
        sizes.append(state.shape[0])
        return classify(state, **options)

    whole = lint(backend, read_log(path, backend))
    monkeypatch.setattr("hybrid.numeric.lint.classify", counted)
    monkeypatch.setattr("hybrid.numeric.lint._RESTING_TOGETHER", 2)
    found = lint(backend, read_log(path, backend))
    assert sizes == [2, 2, 1]
    assert found.resting == whole.resting
    assert sum(found.resting.values()) == 5


def rod_log(tmp_path, name="rod.npz", **changes):
    model = tmp_path / "rod.xml"
    model.write_text(ROD.format(mu=1.5), encoding="utf-8")
    phi = np.array([2.0, 2.0, 2.0, 2.0])
    q = np.stack([np.zeros(4), np.sin(phi), phi], axis=1)
    q[3, 1] += 0.5
    rate = np.array([1.0, 1.0, 1.0, 0.0])
    v = np.stack([1.0 - np.sin(phi) * rate, np.cos(phi) * rate, rate], axis=1)
    v[1, 1] -= 0.13  # approaches
    v[2, 0] = -np.sin(2.0)  # at rest
    arrays = {"qpos": q, "qvel": v, **changes}
    path = tmp_path / name
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return model, path


def test_a_jamming_rod_an_impact_a_rest_and_a_flight(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    assert main(["lint", str(model), "--log", str(log), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["frames"], answer["counted"], answer["resting"]["frames"]) == (4, 1, 1)
    assert answer["left_out"] == {"impact": 1, "no_contact": 1}
    assert answer["verdict_fractions"] == {"INCONSISTENT": 1.0}
    # A = 1 + 3 c^2 + 3 mu s c < 0 from mu = -(1 + 3 c^2)/(3 s c) on
    s, c = np.sin(2.0), np.cos(2.0)
    assert answer["critical_factor"]["minimum"] == pytest.approx(-(1 + 3 * c**2) / (3 * s * c) / 1.5)
    assert answer["worst"][0]["A"][0][0] == pytest.approx(1 + 3 * c**2 + 4.5 * s * c)
    assert answer["worst"][0]["b"][0] == pytest.approx(s - 1)
    assert answer["friction_in_force"] == [
        {"pair": ["plane", "tip"], "value": 1.5, "declared": [1.5, 0.0], "source": "the larger one, of plane"}
    ]


def test_projection_takes_the_approach_away_in_the_mass_metric(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    assert main(["lint", str(model), "--log", str(log), "--project", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["counted"] == 2
    assert "projected" in " ".join(answer["notes"])
    # M^-1 W_N lifts y by P and turns phi by -3 c P: gap_dot = -0.13 goes with P = 0.13/(1 + 3 c^2)
    s, c = np.sin(2.0), np.cos(2.0)
    rate = 1.0 - 3 * c * 0.13 / (1 + 3 * c**2)
    found = {item["frame"]: item["b"][0] for item in answer["worst"]}
    assert found[1] == pytest.approx(s * rate**2 - 1)


def test_a_factor_below_the_bound_fails(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    assert main(["lint", str(model), "--log", str(log), "--no-sweep", "--fail-below", "1.1"]) == 1
    said = capsys.readouterr()
    assert "INCONSISTENT" in said.out
    assert said.err.splitlines()[-1].startswith("the least critical factor, 0.")
    assert said.err.splitlines()[-1].endswith(", is below 1.1")
    assert main(["lint", str(model), "--log", str(log), "--no-sweep", "--fail-below", "0.1"]) == 0


def tabulated(log):
    arrays = np.load(log)
    titles = [f"{name}[{k}]" for name in ("qvel", "qpos") for k in range(3)]
    rows = np.concatenate([arrays["qvel"], arrays["qpos"]], axis=1)
    return "\n".join([",".join(titles), *(",".join(repr(float(value)) for value in row) for row in rows)])


def test_a_table_says_the_same_as_an_archive(tmp_path):
    model, log = rod_log(tmp_path)
    table = tmp_path / "rod.csv"
    table.write_text(tabulated(log), encoding="utf-8")
    backend = load(model)
    for name, values in read_log(table, backend).columns.items():
        np.testing.assert_array_equal(values, read_log(log, backend).columns[name])


def test_a_table_is_known_by_its_ending_and_an_archive_by_its_contents(tmp_path):
    model, log = rod_log(tmp_path)
    table, archive = tmp_path / "table.txt", tmp_path / "archive.log"
    table.write_text(tabulated(log), encoding="utf-8")
    archive.write_bytes(log.read_bytes())
    assert len(read_log(archive, load(model))) == 4
    with pytest.raises(FileError, match=r"the ending tells a table, \.csv, from an archive, \.npz; it has neither"):
        read_log(table, load(model))


def test_a_log_without_slipping_frames_says_so(tmp_path, capsys):
    model, log = rod_log(tmp_path, qvel=np.zeros((4, 3)), qpos=np.array([[0.0, 5.0, 1.0]] * 4))
    assert main(["lint", str(model), "--log", str(log)]) == 0
    assert "nothing to count" in capsys.readouterr().out


def test_forces_on_bodies_are_read_flat_or_as_the_engine_has_them(tmp_path):
    """A force of 4 N downwards on the rod joins its weight, in frame 0 alone."""
    forces = np.zeros((4, 2, 6))  # of the world and of the rod
    forces[0, 1, 2] = -4.0
    for shape in ((4, 2, 6), (4, 12)):
        model, log = rod_log(tmp_path, xfrc_applied=forces.reshape(shape))
        backend = load(model)
        rows = list(read_log(log, backend).rows())
        pushed, free = (
            backend.frame(row, near=1e-3).h[1]
            for row in (rows[0], {**rows[0], "xfrc_applied": rows[1]["xfrc_applied"]})
        )
        assert pushed - free == pytest.approx(-4.0, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"qvel": None}, "'qvel' is missing"),
        ({"qpos": np.zeros((4, 2))}, "a frame of qpos must have the shape (3,); got (2,)"),
        ({"qpos": np.zeros((4, 3, 1))}, "a frame of qpos must have the shape (3,); got (3, 1)"),
        ({"xfrc_applied": np.zeros((4, 6, 2))}, "the shape (12,) or (2, 6); got (6, 2)"),
        ({"time": np.zeros((1, 4))}, "a frame of time must have the shape (1,) or (); got (4,)"),
        ({"qvel": np.zeros((3, 3))}, "qvel has 3 frames, qpos has 4"),
        ({"qvel": np.full((4, 3), np.nan)}, "qvel is not finite in frame 0"),
        ({"qpos": np.zeros((0, 3)), "qvel": np.zeros((0, 3))}, "has no frames"),
        ({"control": np.zeros((4, 0))}, "unknown column 'control'"),
        ({"joint_names": np.array(["a", "b", "c"])}, "log of another model"),
        ({"joint_names": np.array("a")}, "log of another model: its joints are a"),
        ({"time": np.zeros(3)}, "time has 3 frames"),
        ({"qpos": np.array([["a"] * 3] * 4)}, "real numbers"),
    ],
)
def test_logs_that_do_not_fit_are_refused(tmp_path, capsys, changes, message):
    model, log = rod_log(tmp_path, **changes)
    assert main(["lint", str(model), "--log", str(log)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    with pytest.raises(FileError):
        read_log(log, load(model))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"\xff\xfe", "is not a UTF-8 text (byte 0xff in line 1); save it as UTF-8"),
        (b"time,qpos[0]\n0,1\n0,\xb5", "is not a UTF-8 text (byte 0xb5 in line 3); save it as UTF-8"),
        (b"0,0,1\n1,0,2\n", "begins with numbers; its first line must hold the names of the columns"),
    ],
)
def test_tables_that_are_none_say_what_is_wanted(tmp_path, capsys, table, message):
    model, _ = rod_log(tmp_path)
    log = tmp_path / "log.csv"
    log.write_bytes(table)
    assert main(["lint", str(model), "--log", str(log)]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gap", "-1"], "'--gap': -1.0 is not in the range x>=0"),
        (["--gap", "inf"], "'--gap': inf is not a finite number"),
        (["--gap", "nan"], "'--gap': nan is not a finite number"),
        (["--persistent", "-1"], "'--persistent': -1.0 is not in the range x>=0"),
        (["--persistent", "inf"], "'--persistent': inf is not a finite number"),
        (["--slip-min", "-1"], "'--slip-min': -1.0 is not in the range x>=0"),
        (["--slip-min", "nan"], "'--slip-min': nan is not a finite number"),
        (["--static-friction", "nan"], "'--static-friction': nan is not a finite number"),
        (["--static-friction", "inf"], "'--static-friction': inf is not a finite number"),
        (["--fail-below", "nan"], "'--fail-below': nan is not a finite number"),
        (["--standing-budget", "nan"], "'--standing-budget': nan is not a finite number"),
        (["--worst", "-1"], "'--worst'"),
    ],
)
def test_options_out_of_range_are_refused(tmp_path, capsys, words, message):
    model, log = rod_log(tmp_path)
    assert main(["lint", str(model), "--log", str(log), *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_quaternion_of_another_length_is_refused_by_frame_and_field(tmp_path, capsys):
    model, log = tmp_path / "ball.xml", tmp_path / "log.npz"
    model.write_text(
        "<mujoco><worldbody><body><freejoint name='root'/><geom size='0.1'/></body></worldbody></mujoco>",
        encoding="utf-8",
    )
    q = np.tile([0, 0, 1, 1, 0, 0, 0.0], (4, 1))
    q[2, 3] = 1.5
    np.savez(log, qpos=q, qvel=np.zeros((4, 6)))
    assert main(["lint", str(model), "--log", str(log)]) == 2
    error = capsys.readouterr().err
    assert "frame 2: ball: qpos: the quaternion of joint 'root' has length 1.5" in " ".join(error.split())


def test_frames_on_a_height_field_are_left_out_and_said(tmp_path, capsys):
    model, log = tmp_path / "field.xml", tmp_path / "log.npz"
    model.write_text(
        """
        <mujoco><asset><hfield name="hills" nrow="4" ncol="4" size="1 1 0.1 0.1"/></asset><worldbody>
          <geom name="hills" type="hfield" hfield="hills"/><geom type="plane" size="1 1 1" pos="0 0 2"/>
          <body><freejoint/><geom name="ball" size="0.1"/></body>
        </worldbody></mujoco>
        """,
        encoding="utf-8",
    )
    q = np.tile([0, 0, 0.1, 1, 0, 0, 0.0], (4, 1))
    q[1:, 2] = 2.1  # on the plane above it
    np.savez(log, qpos=q, qvel=np.tile([0.4, 0, 0, 0, 0, 0], (4, 1)))
    assert main(["lint", str(model), "--log", str(log), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["left_out"], answer["counted"]) == ({"unsupported": 1}, 3)
    assert "height fields are left out" in answer["notes"]


def test_frames_on_a_flexible_body_are_left_out_and_said(tmp_path, capsys):
    model, log = tmp_path / "cloth.xml", tmp_path / "log.npz"
    model.write_text(
        """
        <mujoco><worldbody><geom type="plane" size="1 1 1"/>
          <flexcomp name="cloth" type="grid" count="3 3 1" spacing="0.1 0.1 0.1" radius="0.01" pos="0 0 0.01" mass="1">
            <edge equality="true"/></flexcomp>
        </worldbody></mujoco>
        """,
        encoding="utf-8",
    )
    backend = load(model)
    rows = {"qpos": np.zeros((3, backend.model.nq)), "qvel": np.zeros((3, backend.model.nv))}
    rows["qpos"][2, 2::3] = 1.0  # every node is lifted from the plane
    np.savez(log, **rows)
    assert main(["lint", str(model), "--log", str(log), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["left_out"], answer["counted"]) == ({"unsupported": 2, "no_contact": 1}, 0)
    assert "flexible bodies are left out" in answer["notes"]


@pytest.mark.parametrize(("every", "is_known"), [(1, True), (2, False), (5, False)])
def test_times_are_multiples_of_the_step_where_the_log_has_one_frame_a_step(walk, every, is_known):
    backend = load(WALKER)
    columns = {name: values[::every] for name, values in read_log(walk, backend).columns.items()}
    times = frame_times(Log(columns, None), backend, 100)
    if is_known:
        np.testing.assert_allclose(times, 0.002 * np.arange(100))
    else:
        assert times is None
    columns["qpos"] = np.random.default_rng(0).permutation(columns["qpos"])
    assert frame_times(Log(columns, None), backend, 100) is None


def test_a_missing_engine_is_one_line(tmp_path, capsys, monkeypatch):
    model, log = rod_log(tmp_path)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert main(["lint", str(model), "--log", str(log)]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == "error: MuJoCo is not installed: pip install 'painleve[mujoco]'"


def test_negative_thresholds_are_refused():
    backend = load(WALKER)
    with pytest.raises(StateError, match="gap must be zero or a positive number, got -1"):
        Thresholds.of(backend, gap=-1.0)
    with pytest.raises(StateError, match="static_friction must be zero or a positive number"):
        Thresholds.of(backend, static_friction=np.nan)
    assert Thresholds.of(backend).gap == pytest.approx(min(1e-3, 1e-3 * backend.extent))
    assert NumericState([[1.0]], [0.0]).shape == ()


def test_what_raises_the_factor_of_the_rod_by_its_closed_form(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    assert main(["lint", str(model), "--log", str(log), "--json"]) == 0
    (worst,) = json.loads(capsys.readouterr().out)["worst"]
    s, c = np.sin(2.0), np.cos(2.0)
    factor = -(1 + 3 * c**2) / (3 * s * c) / 1.5
    # d/dphi of -(1 + 3 c^2)/(3 s c) = 2 + (1 + 3 c^2) (c^2 - s^2)/(3 s^2 c^2); central differences of step 1e-5
    slope = (2 + (1 + 3 * c**2) * (c**2 - s**2) / (3 * s**2 * c**2)) / 1.5
    assert worst["critical_factor"] == pytest.approx(factor)
    assert worst["has_proof"]
    assert worst["gradient"]["friction"] == {"plane/tip": pytest.approx(-factor, rel=1e-7)}
    assert worst["gradient"]["mass"] == {"rod": pytest.approx(0.0, abs=1e-7)}
    assert worst["gradient"]["posture"]["phi"] == pytest.approx(slope, rel=1e-6)
    assert worst["gradient"]["posture"]["x"] == pytest.approx(0.0, abs=1e-7)


def test_a_common_change_of_friction_changes_the_factor_by_itself(report):
    # the factor is homogeneous of degree -1 in all coefficients of friction (Euler)
    for item in report.worst:
        if item.gradient is not None:
            assert sum(item.gradient.friction.values()) == pytest.approx(-item.critical_factor, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("qvel[0]", "qvel[1]", 1), "twice"),
        (lambda text: text + ",1.0", "entries, the first line names"),
    ],
)
def test_tables_with_columns_twice_or_short_lines_are_refused(tmp_path, capsys, change, message):
    model, log = rod_log(tmp_path)
    table = tabulated(log)
    (tmp_path / "log.csv").write_text(change(table), encoding="utf-8")
    assert main(["lint", str(model), "--log", str(tmp_path / "log.csv")]) == 2
    assert message in capsys.readouterr().err


def test_a_table_may_begin_with_a_byte_order_mark(tmp_path, capsys):
    model, log = rod_log(tmp_path)
    (tmp_path / "log.csv").write_bytes(b"\xef\xbb\xbf" + tabulated(log).encode())
    assert main(["lint", str(model), "--log", str(tmp_path / "log.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["frames"] > 0


SLIDER = """
<mujoco model="slider"><worldbody><geom name="floor" type="plane" size="5 5 .1"/>
  <body name="b" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0" range="-1 1"/>
    <joint name="z" type="slide" axis="0 0 1"/><joint name="th" type="hinge" axis="0 1 0" frictionloss="7"/>
    <inertial pos="0.02 0 0.5" mass="1" diaginertia="0.02 0.02 0.02"/><geom name="g" type="sphere" size=".1"/></body>
</worldbody>{more}</mujoco>
"""


@pytest.mark.parametrize("turning", [0.05, -0.05, 0.0])
def test_dry_friction_of_joints_that_move_is_in_the_accelerations_that_are_told(tmp_path, turning):
    backend = written(tmp_path, SLIDER.format(more=""))
    model = backend.model
    log = Log({"qpos": np.array([[0.0, 0.0, 0.3]]), "qvel": np.array([[-0.5, 0.0, turning]])}, None)
    report = lint(backend, log)
    (worst,) = report.worst
    # MuJoCo's own forces, with the 7 N m against the turning; the sphere's centre rises as the joint z does
    data, mass = mujoco.MjData(model), np.zeros((3, 3))
    data.qpos[:], data.qvel[:] = log.columns["qpos"][0], log.columns["qvel"][0]
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, mass)
    forces = data.qfrc_smooth - np.array([0.0, 0.0, 7.0 * np.sign(turning)])
    assert worst.b[0] == pytest.approx(np.linalg.solve(mass, forces)[1], rel=1e-12)
    assert worst.A[0, 0] < 0.0
    # of one contact: none where A < 0 and b < 0, several where A < 0 < b; not so where a joint is held
    assert worst.verdict == ("INCONSISTENT" if turning > 0.0 else "INDETERMINATE")
    assert any("joints with dry friction rest" in note for note in report.notes) is (turning == 0.0)


@pytest.mark.parametrize(
    ("flags", "limits", "elements"), [("", 1, 1), ('limit="disable"', 0, 1), ('frictionloss="disable"', 1, 0)]
)
def test_flags_of_a_model_take_limits_and_dry_friction_away(tmp_path, flags, limits, elements):
    backend = written(tmp_path, SLIDER.format(more=f"<option><flag {flags}/></option>"))
    frame = backend.frame({"qpos": np.array([1.0, 0.0, 0.3]), "qvel": np.zeros(3)}, near=1e-3)
    assert sum(contact.pair[0] == "x" for contact in frame.contacts) == limits
    assert len(frame.friction) == elements


def test_activations_that_a_log_lacks_are_told(tmp_path):
    more = '<actuator><general name="a" joint="z" dyntype="integrator" gainprm="5"/></actuator>'
    backend = written(tmp_path, SLIDER.format(more=more))
    np.savez(tmp_path / "log.npz", qpos=np.zeros((1, 3)), qvel=np.zeros((1, 3)), ctrl=np.zeros((1, 1)))
    assert read_log(tmp_path / "log.npz", backend).notes == ("the log has no act: zeros are taken",)


@pytest.mark.parametrize(
    ("titles", "cells", "message"),
    [
        (",qpos_2", ",9", r"the column 'qpos_2' is qpos\[2\], as another one is; keep one"),
        (",qvel0", ",9", r"the column 'qvel0' is qvel\[0\], as another one is"),
        ("", "_5", r"line 2: qvel\[2\] is '0_5', no number"),
        ("", "\u0665", r"line 2: qvel\[2\] is '0\u0665', no number"),
    ],
)
def test_cells_and_columns_that_could_be_read_in_two_ways_are_refused(tmp_path, titles, cells, message):
    backend, path = written(tmp_path, SLIDER.format(more="")), tmp_path / "log.csv"
    head = "qpos[0],qpos[1],qpos[2],qvel[0],qvel[1],qvel[2]"
    path.write_text(f"{head}{titles}\n0,0,.3,.5,0,0{cells}\n", encoding="utf-8")
    with pytest.raises(FileError, match=message):
        read_log(path, backend)
