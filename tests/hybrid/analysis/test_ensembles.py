"""Ensembles against single motions; draws, refused and paradoxical starts, processes, interrupts, bad input."""

import errno
import json
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from pyarrow import parquet

from hybrid import derive, ensemble, simulate, solve_state
from hybrid.analysis import load_ensemble, save_ensemble, statistics
from hybrid.cli import main
from hybrid.contact import EnergeticImpact
from hybrid.declaration import mechanism_from_toml
from hybrid.errors import ArgumentError, ComputationError, StateError
from hybrid.reporting import plot_ensemble
from tests.catalogue import dynamics_of
from tests.hybrid.cli.test_simulate import IN_A_DRUM

RANGES = {"phi": (0.2, 2.9), "slip.tip": (-1, 1)}


def rods(n, *, seed=3, t_end=0.5, **options):
    return ensemble(
        dynamics_of("rod_on_incline"),
        vary=options.pop("vary", RANGES),
        pins={"phi_dot": 0.5, **options.pop("pins", {})},
        n=n,
        seed=seed,
        t_end=t_end,
        law=EnergeticImpact(),
        **options,
    )


def test_motions_are_those_of_single_calls():
    found, rod = rods(25), dynamics_of("rod_on_incline")
    kinds = Counter()
    for k, (phi, slip) in enumerate(found.starts.tolist()):
        state = solve_state(rod, {"phi": phi, "phi_dot": 0.5, "slip.tip": slip})
        motion = simulate(rod, state, t_end=0.5, law=EnergeticImpact())
        assert found.termination[k] == motion.termination.name
        assert found.end[k].tolist() == [motion.t, *motion.q.tolist(), *motion.v.tolist()]
        kinds.update(event.kind.name for event in motion.events)
    assert found.events == dict(kinds) and sum(kinds.values()) > 3
    assert sum(found.counts(found.verdict).values()) == 25 == sum(found.singled_out.values())
    for wrong in (3, "x"):
        with pytest.raises(ArgumentError, match="counts: of must be"):
            found.counts(wrong)


def test_a_draw_depends_on_the_seed_and_its_number_only():
    few, many = rods(3, t_end=0.01), rods(8, t_end=0.01)
    assert np.array_equal(few.starts, many.starts[:3])
    assert not np.array_equal(rods(3, seed=4, t_end=0.01).starts, few.starts)
    low, high = np.array(list(RANGES.values())).T
    assert ((many.starts >= low) & (many.starts <= high)).all()
    drawn = rods(200, t_end=1e-9, vary={"phi": (0.5, 0.6)}, pins={"slip.tip": 1}).starts[:, 0]
    # uniform: the mean of 200 draws has a standard error of 0.1/sqrt(12*200)
    assert abs(drawn.mean() - 0.55) < 5 * 0.1 / np.sqrt(12 * 200)


def test_other_processes_change_nothing():
    with ProcessPoolExecutor(2) as executor:
        elsewhere = rods(60, t_end=0.05, executor=executor)
    here = rods(60, t_end=0.05)
    assert np.array_equal(elsewhere.end, here.end)
    assert (elsewhere.termination, elsewhere.verdict, elsewhere.events) == (here.termination, here.verdict, here.events)


def test_a_start_that_is_refused_stops_no_other():
    starts = {"phi": [1.2, float("nan"), 1.2, 1.2], "gap.tip": [0.0, 0.0, -0.1, 0.1], "mu": [3.0, 0.5, 0.5, 0.5]}
    found = ensemble(
        dynamics_of("rod_on_incline"),
        starts=starts,
        pins={"x": 0, "phi_dot": 0, "gap_dot.tip": 0, "slip.tip": -1},
        t_end=0.1,
    )
    assert found.seed is None
    assert found.termination == ("INCONSISTENT", "NOT_STARTED", "NOT_STARTED", "END_TIME")
    assert found.verdict == ("INCONSISTENT", "NOT_STARTED", "NOT_STARTED", "UNIQUE")
    assert "finite" in found.reasons[1] and "penetrat" in found.reasons[2]
    assert np.isnan(found.end[1]).all() and np.isfinite(found.end[3]).all()


def test_parameters_that_no_mechanism_has_are_refused_start_by_start():
    """A negative mass reverses every acceleration: followed like a mass it would have a verdict."""
    n = 80
    for name, message in (("m", "mass matrix is not positive definite"), ("mu", "must not be negative")):
        values = np.linspace(-1, 1, n)
        found = ensemble(
            dynamics_of("rod_on_incline"),
            starts={name: values, "phi": np.full(n, 1.0)},
            pins={"phi_dot": 0, "slip.tip": -1},
            t_end=0.05,
        )
        assert found.termination == ("NOT_STARTED",) * (n // 2) + ("END_TIME",) * (n // 2)
        assert all(message in found.reasons[k] for k in range(n // 2))
        assert not found.singled_out  # the others are followed together


@pytest.mark.parametrize("n", [3, 80])  # one by one, and side by side
def test_other_positions_of_the_pins_are_told(n, tmp_path):
    bead = derive(mechanism_from_toml(IN_A_DRUM))
    starts = {"x": [0.6, 0.3, *[0.4] * (n - 2)]}  # the first is out of reach in a drum of radius 1/2
    found = ensemble(bead, starts=starts, pins={"x_dot": 0}, t_end=1e-3, store=tmp_path / "beads")
    told = "at start 1 the pins have another position: x = 0.3, z = -0.4"  # 3, 4, 5
    assert found.termination == ("NOT_STARTED", *["END_TIME"] * (n - 1))
    assert found.warnings == load_ensemble(tmp_path / "beads").warnings == (told,)
    assert told in found._repr_html_()
    assert rods(3, t_end=0.01).warnings == ()  # explicit pins have one position
    refused = ensemble(bead, starts={"x": [0.6]}, pins={"x_dot": 0}, t_end=1e-3)
    assert (refused.termination, refused.warnings) == (("NOT_STARTED",), ())


CURVE = """
name = "curve"
coordinates = ["x", "y", "z"]
dynamics = {kinetic = "(x_dot**2 + y_dot**2 + z_dot**2)/2"}
constraint = [{name = "curve", equation = "x - (y**3 - y)"}, {name = "flat", equation = "0.3*z + 0.1*sin(z)"}]
"""
CRANK = """
name = "crank"
coordinates = ["th", "x"]
dynamics = {kinetic = "(th_dot**2 + x_dot**2)/2"}
constraint = [{name = "rod", equation = "(x - 0.3*cos(th))**2 + (0.3*sin(th))**2 - 0.25"}]
"""


@pytest.mark.parametrize("n", [4, 20])
def test_other_positions_of_later_starts_are_told(n):
    # between its folds at 3**-1.5*2 = 0.385 the curve has three positions, beyond them one; z is 0 but for rounding
    curve, x = derive(mechanism_from_toml(CURVE)), np.array([*np.linspace(0.4, 1.0, n - 1), 0.0])
    found = ensemble(curve, starts={"x": x}, pins={"x_dot": 0}, t_end=1e-3)
    others, branches = found.warnings[:-1], found.warnings[-1]
    assert all(text.startswith(f"at start {n - 1} the pins have another position: ") for text in others)
    told = {round(float(text.rpartition("y = ")[2].removesuffix(", z = 0")), 6) for text in others}
    assert told and told <= {-1.0, 0.0, 1.0} - {round(found.end[-1, 2], 6)}
    assert branches.startswith("motions begin on different branches")  # y = 0 lies between the folds, the others beyond
    assert not ensemble(curve, starts={"x": x[:-1]}, pins={"x_dot": 0}, t_end=1e-3).warnings


@pytest.mark.parametrize("n", [3, 20])
def test_motions_that_begin_on_different_branches_are_told(n):
    crank = derive(mechanism_from_toml(CRANK))
    found = ensemble(crank, starts={"th": np.linspace(0.9, 2.0, n)}, pins={"th_dot": 0}, t_end=1e-3)
    beyond = found.end[:, 2] > 0.3 * np.cos(found.end[:, 1])  # the slider is on one side of the pin or on the other
    assert ("motions begin on different branches" in found.warnings[-1]) == (beyond.any() and not beyond.all())
    assert found.warnings[0].startswith("at start 0 the pins have another position")


def test_an_interrupt_keeps_what_is_there():
    def stop(done, _):
        if done > 1024:
            raise KeyboardInterrupt

    found = rods(3000, t_end=0.01, progress=stop, on_interrupt="keep")
    assert found.n == 3000 and found.n_missing == 3000 - 1024  # the second chunk was under way
    with pytest.raises(KeyboardInterrupt):
        rods(3000, t_end=0.01, progress=stop)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n 0"),
        ({"n": None}, "n is not given"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**128}, "from 0 to"),
        ({"vary": {}}, "at least one range"),
        ({"vary": {"phi": (1.0, 0.0)}}, "upwards"),
        ({"vary": {"phi": (0.0, float("nan"))}}, "high must be a"),
        ({"vary": {"phi_dot": (0.0, 1.0)}}, "range phi_dot is also given a value"),
        ({"vary": {"psi": (0.0, 1.0)}}, "no such pin"),
        ({"vary": None}, "ranges"),
        ({"vary": {"phi": (0.2, 1.0)}}, "too few velocity pins"),
        ({"vary": RANGES, "pins": {"x_dot": 1, "y_dot": 1}}, "too many velocity pins"),
        *(({"vary": {"phi": (0.2, 1.0), "mu": (-1, 1)}, "seed": k}, "too few velocity pins") for k in range(4)),
        ({"vary": RANGES, "rtol": 0.0}, "rtol must be a share above 0, 0.001 at most"),
        ({"vary": RANGES, "rtol": np.nan}, "rtol must be"),
        ({"vary": RANGES, "t_end": np.nan}, "t_end"),
        ({"vary": RANGES, "t_end": -1.0}, "later than the start"),
    ],
)
def test_bad_ranges_are_named(options, message):
    with pytest.raises((StateError, ArgumentError), match=message):
        rods(**{"n": 3, **options})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("vary", value) for value in (["phi"], "phi=0:1", {"phi": "0.2:1"}, {"phi": 0.5}, {"phi": (0.2, 1.0, 5)})),
        ("n", 5.5),
        ("n", "3"),
        ("n", True),
        ("seed", "a"),
        ("seed", 1.5),
    ],
)
def test_arguments_of_another_kind_are_named(name, value):
    with pytest.raises(ArgumentError, match=f"{name} must"):
        rods(**{"n": 3, name: value})
    assert rods(np.int64(2), t_end=0.01).n == 2


@pytest.mark.parametrize(
    "starts", [{}, {"phi": []}, {"phi": [1.0], "slip.tip": [1.0, 2.0]}, {"phi": [1.0], "psi": [1.0]}]
)
def test_starts_that_do_not_fit_are_refused(starts):
    with pytest.raises(StateError):
        ensemble(dynamics_of("rod_on_incline"), starts=starts, t_end=1.0)


def test_the_command_counts_the_same(tmp_path, capsys):
    table = tmp_path / "starts.csv"
    table.write_text("phi,slip.tip\n0.4,0.5\n2.0,-0.3\n", encoding="utf-8")
    words = ["ensemble", "rod_on_incline", "--pin=phi_dot=0.5", "--t-end=0.5", "--json"]
    assert main([*words, "--starts", str(table)]) == 0
    given = json.loads(capsys.readouterr().out)
    assert given["n"] == 2 == sum(given["terminations"].values()) and given["seed"] is None
    assert main([*words, "--vary=phi=0.2:2.9", "--vary=slip.tip=-1:1", "--n=25", "--seed=3"]) == 0
    drawn, own = json.loads(capsys.readouterr().out), rods(25)
    assert drawn["events"] == own.events and drawn["terminations"] == own.counts(own.termination)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--vary=phi=0:1", "--vary=phi=1:2", "--n=2"], "twice"),
        (["--vary=phi=0:1:5", "--n=2"], "no cells"),
        (["--vary=phi=0:1"], "n is not given"),
        (["--n=2"], "range"),
        (["--starts=pyproject.toml", "--seed=1"], "--seed draws starts, which --starts gives"),
    ],
)
def test_bad_words_are_refused(words, message, capsys):
    assert main(["ensemble", "rod_on_incline", "--pin=phi_dot=0", "--t-end=1", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("phi,colour\n1,2\n", "column colour: no such pin or parameter"),
        ("phi,phi_dot\n1,2\n", "column phi_dot is also given a value"),
        ("phi,slip.tip\n1,2\n\n1,\n", "line 4: slip.tip is '', no number"),
        ("phi,slip.tip\n1,2\n3\n", "line 3: 1 entries, the first line names 2"),
        ("phi;slip.tip\n1;2\n", "line 2: phi;slip.tip is '1;2', no number; commas separate entries"),
        ("phi,slip.tip\n60 deg,2\n", "line 2: phi is '60 deg', no number; expressions are not read"),
        ("phi,slip.tip\n-0,1\n1, -0\n", "line 3: a slip of -0 is no number; a limit of vanishing slip is that of all"),
        ("slip.tip,phi\n+0.0,1", "line 2: a slip of +0.0 is no number"),
        ("phi,phi\n1,2\n", "has the column 'phi' twice"),
        ("phi,slip.tip\n\xff", "is not a UTF-8 text (byte 0xff in line 2)"),
    ],
)
def test_a_bad_table_is_refused_with_the_place(text, message, tmp_path, capsys):
    table = tmp_path / "starts.csv"
    table.write_text(text, encoding="latin-1")
    assert main(["ensemble", "rod_on_incline", "--pin=phi_dot=0", "--t-end=1", "--starts", str(table)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "phi,slip.tip\n"])
def test_a_table_without_starts_is_refused(text, tmp_path, capsys):
    table = tmp_path / "starts.csv"
    table.write_text(text, encoding="utf-8")
    assert main(["ensemble", "rod_on_incline", "--pin=phi_dot=0", "--t-end=1", "--starts", str(table)]) == 2
    assert capsys.readouterr().err == f"error: {table}: has no starts\n"


def falls(heights, *, t_end=0.1):
    """Balls that fall from rest: y = h - g t^2/2."""
    return ensemble(dynamics_of("bouncing_ball"), starts={"y": heights}, pins={"y_dot": 0}, t_end=t_end)


def test_statistics_are_those_of_falling_balls():
    heights = np.linspace(1.0, 2.0, 101)
    found = statistics(falls(heights))
    drop = float(dynamics_of("bouncing_ball").values["g"]) * 0.1**2 / 2
    assert found["y"] == pytest.approx(
        {"mean": 1.5 - drop, "deviation": heights.std(), "least": 1 - drop, "q05": 1.05 - drop}
        | {"median": 1.5 - drop, "q95": 1.95 - drop, "greatest": 2 - drop},
        rel=1e-12,
    )
    assert found["events"]["greatest"] == 0.0
    assert found["t"]["deviation"] < 1e-15
    assert statistics(falls([-1.0])) == {}


def test_tables_have_every_motion_and_every_event(tmp_path):
    heights = [0.01, 1.0, -1.0, 0.04]
    found = falls(heights, t_end=0.2)
    motions, events = (parquet.read_table(path).to_pydict() for path in save_ensemble(found, tmp_path / "e.parquet"))
    assert motions["start.y"] == heights
    assert motions["termination"] == ["NO_IMPACT_LAW", "END_TIME", "NOT_STARTED", "NO_IMPACT_LAW"]
    assert motions["events"] == [1, 0, 0, 1]
    g = float(dynamics_of("bouncing_ball").values["g"])
    assert events["motion"] == [0, 3]
    assert events["kind"] == ["TOUCHDOWN"] * 2
    np.testing.assert_allclose(events["t"], np.sqrt(2 * np.array([0.01, 0.04]) / g), rtol=1e-11)
    np.testing.assert_allclose(np.array(motions["end.t"])[[0, 3]], events["t"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.events.parquet", "e.parquet"]
    with pytest.raises(StateError, match="parquet"):
        save_ensemble(found, tmp_path / "e.csv")


def test_a_full_disk_leaves_both_tables_as_they_were(tmp_path, monkeypatch):
    whole, (place, events) = parquet.write_table, save_ensemble(falls([1.0]), tmp_path / "e.parquet")
    before = [path.read_bytes() for path in (place, events)]

    def full(table, draft):
        whole(table, draft)
        if "events" not in draft.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(parquet, "write_table", full)
    with pytest.raises(ComputationError, match=r"e\.parquet cannot be written: No space left on device"):
        save_ensemble(falls([1.0, 2.0]), place)
    assert [path.read_bytes() for path in (place, events)] == before
    assert len(list(tmp_path.iterdir())) == 2


def test_a_picture_shows_counts_and_points():
    found = rods(60)
    ends, times, starts, portrait = plot_ensemble(found, coordinate="x", title="rods").axes
    counts = [*found.counts(found.termination).values(), *found.counts(found.verdict).values()]
    assert [bar.get_width() for bar in ends.patches] == counts
    assert sum(patch.get_height() for patch in times.patches) == sum(found.events.values())
    assert sum(len(line.get_xdata()) for line in starts.lines) == 60
    np.testing.assert_array_equal(
        np.sort(np.concatenate([line.get_xdata() for line in portrait.lines])), np.sort(found.end[:, 1])
    )
    with pytest.raises(StateError, match="coordinate 'z'"):
        plot_ensemble(found, coordinate="z")
    assert len(plot_ensemble(falls([1.0, 2.0])).axes) == 4


def test_the_command_draws_and_writes(tmp_path, capsys):
    words = ["ensemble", "rod_on_incline", "--vary=phi=0.2:2.9", "--vary=slip.tip=-1:1", "--pin=phi_dot=0"]
    words += ["--n=40", "--t-end=0.2", "--plot", str(tmp_path / "e.png"), "--portrait=phi"]
    assert main([*words, "-o", str(tmp_path / "e.parquet")]) == 0
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    assert "e.events.parquet" in capsys.readouterr().out
    assert main([*words[:-1], "--portrait=z"]) == 2
    assert "x, y, phi" in capsys.readouterr().err
    assert main([*words[:-3], "-o", str(tmp_path / "e.csv")]) == 2
    assert ".parquet" in capsys.readouterr().err
