"""Maps by compiled operations: the same cells as by the general method, wherever these say that they apply."""

from collections import Counter

import attrs
import numpy as np
import pytest

import mechanisms
from hybrid import Axis, StateError, Verdict, derive, region_map
from hybrid.analysis.maps import chunks
from hybrid.analysis.maps.cell_program import cell_program
from hybrid.analysis.maps.compiled_cells import CompiledCells
from hybrid.analysis.maps.plane import RegionCodes, plane_of
from hybrid.analysis.maps.recorded_cells import PENDING, CellRecording, RecordedMode
from hybrid.contact import CellVerdict
from hybrid.errors import DeclarationError
from hybrid.expressions import Recording
from tests import incline
from tests.catalogue import dynamics_of

CLOSED = {"gap.floor": 0, "gap.wall": 0, "gap_dot.floor": 0, "gap_dot.wall": 0}
FLAT = {"x": 0, "phi": 0, "gap.left": 0, "gap_dot.left": 0, "gap_dot.right": 0, "slip.left": 1}
RESTING = {"x": 0, "gap.floor": 0, "gap_dot.floor": 0, "slip.floor": 0}
ROD_AXES = [Axis("phi", 0, np.pi, 120), Axis("phi_dot", -3, 3, 120)]


FREE = {"four_bar": ["theta1"], "painleve_klein": ["x1"], "singular_pendulum": ["u"]}  # the others follow


def classified(plane, *, few=0):
    """A plane by compiled operations, with the number of cells that the general method decided."""
    cells = CompiledCells(plane, few=few)
    found = cells.classified(*(axis.values for axis in plane.axes))
    return found, cells.n_general


@pytest.mark.parametrize("mu", [0.5, 1.5])
@pytest.mark.parametrize("epsilon", [0.25, 1.0])
@pytest.mark.parametrize(("slip", "side"), [(0, 0), ("+0", 1), ("-0", -1)])
def test_every_cell_of_a_rod_is_that_of_the_closed_form(mu, epsilon, slip, side):
    plane = plane_of(
        dynamics_of("rod_on_incline").at({"mu": mu, "epsilon": epsilon}), ROD_AXES, pins={"slip.tip": slip}
    )
    found, n_general = classified(plane)
    dictionary = RegionCodes(list(found.labels))
    codes = dictionary.codes(found)
    names = np.array([dictionary.region(int(code)) for code in codes.ravel()]).reshape(codes.shape)
    phi, omega = (axis.values for axis in ROD_AXES)
    expected = incline.regions(phi[:, None], omega[None, :], mu=mu, epsilon=epsilon, side=side)
    assert np.array_equal(names, expected)
    assert n_general == 0


def compared(plane, *, few=0):
    """Check that both methods agree; how many cells the general one decided."""
    found, n_general = classified(plane, few=few)
    first, second = (axis.values for axis in plane.axes)
    general = plane.classified(first[:, None], second[None, :])
    np.testing.assert_array_equal(found.verdict, general.verdict)
    labels = RegionCodes(list(found.labels))
    np.testing.assert_array_equal(labels.translated(general.modes, general.labels), found.modes)
    np.testing.assert_allclose(found.margin, general.margin, rtol=1e-12, atol=1e-12)
    return n_general


def random_plane(dynamics, rng, cells):
    """A plane of a mechanism with some contacts closed, over two pins or parameters; None if it has hardly a state."""
    mechanism = dynamics.mechanism
    free = FREE.get(dynamics.name, mechanism.coordinates)
    positions, velocities = list(free), [f"{name}_dot" for name in free]
    closed = rng.permutation(list(dynamics.contacts))[: rng.integers(0, len(positions) + 1)].tolist()
    pins = {f"{pin}.{name}": 0.0 for name in closed for pin in ("gap", "gap_dot")}
    for _ in closed:
        positions.remove(rng.choice(positions))
        velocities.remove(rng.choice(velocities))
    for name in closed:
        if dynamics.dimension(name) == 1 and velocities and rng.random() < 0.7:
            velocities.pop()
            pins[f"slip.{name}"] = str(rng.choice(["+0", "-0", "0", "0.7", "-0.7"]))
    size = 10.0 ** rng.uniform(-2, 0)  # a woodpecker is some centimetres high
    pins |= {name: float(rng.uniform(-2, 2)) * size for name in positions}
    pins |= {name: float(rng.choice([0.0, rng.uniform(-2, 2)])) for name in velocities}
    numbers = {name: item.value for name, item in mechanism.parameters.items() if not isinstance(item.value, str)}
    swept = [name for name in pins if not name.startswith("gap")] + list(numbers)
    if len(swept) < 2:
        return None
    chosen = rng.permutation(swept)[:2].tolist()
    spans = [
        sorted((0.3 * numbers[name], 2 * numbers[name] or 1.0)) if name in numbers else (-2.1 * size, 2.2 * size)
        for name in chosen
    ]
    axes = [Axis(name, *span, cells) for name, span in zip(chosen, spans, strict=True)]
    fixed = {name: value for name, value in pins.items() if name not in chosen}
    try:
        plane = plane_of(dynamics, axes, pins=fixed)
        first, second = (axis.values[:: max(1, cells // 5)] for axis in axes)
        found = attrs.evolve(plane, decides_ties=False).classified(first[:, None], second[None, :])
    except (StateError, DeclarationError):
        return None
    # what is unreachable or penetrates compares next to nothing
    return plane if np.isin(found.verdict, [CellVerdict[verdict.name] for verdict in Verdict]).mean() > 0.3 else None


def tried(name, rng, *, planes, cells):
    """Compare random planes of a mechanism; the shares of cells that the general method decided."""
    dynamics, shares = derive(mechanisms.load(name)), []
    for _ in range(40 * planes):
        if len(shares) == planes:
            break
        plane = random_plane(dynamics, rng, cells)
        if plane is not None:
            try:
                # ties one by one would take longer than all the rest
                shares.append(compared(attrs.evolve(plane, decides_ties=False), few=cells) / cells**2)
            except (StateError, DeclarationError):  # somewhere on the plane a parameter is out of its range
                continue
    return shares


@pytest.mark.parametrize("name", mechanisms.names())
def test_random_planes_of_the_catalogue(name):
    assert tried(name, np.random.default_rng([20261123, len(name)]), planes=3, cells=40)


@pytest.mark.long
@pytest.mark.parametrize("name", mechanisms.names())
def test_a_million_cells_of_every_mechanism(name):
    assert len(tried(name, np.random.default_rng([1, len(name)]), planes=245, cells=64)) == 245  # 1 003 520 cells


@pytest.mark.parametrize(
    ("name", "axes", "pins"),
    [
        ("ladder_in_corner", [Axis("theta", 0, 1.5, 90), Axis("theta_dot", 0, 6, 90)], CLOSED),
        ("rod_two_ends", [Axis("mu", 0.1, 2, 60), Axis("g", 1, 9, 60)], FLAT),
        (
            "woodpecker",
            [Axis("phi_M", -0.3, 0.3, 60), Axis("phi_M_dot", -1, 1, 60)],
            {"y": 0, "phi_S": 0.1, "y_dot": 0, "phi_S_dot": 0},
        ),
        ("coulomb_oscillator", [Axis("x", -2, 2, 60), Axis("x_dot", -1, 1, 60)], {}),
    ],
)
def test_cells_that_are_decided_differently_get_recordings_of_their_own(name, axes, pins):
    plane = plane_of(dynamics_of(name), axes, pins=pins)
    assert compared(plane) < 0.02 * 90**2


def test_what_is_close_to_a_tie_is_left_to_the_general_method():
    """A block on an incline as steep as its friction: sticking and sliding down have the same force."""
    axes = [Axis("g", 1, 2, 6), Axis("m", 1, 2, 6)]
    block = dynamics_of("block_on_incline").at({"mu": "tan(alpha)/2", "mu_s": "tan(alpha)"})
    plane = plane_of(block, axes, pins=RESTING)
    assert compared(plane) == 36


@pytest.mark.parametrize("cells", [40, 1000, 1 << 18])
def test_chunks_and_threads_make_no_difference(cells, monkeypatch):
    monkeypatch.setattr(chunks, "pays", lambda _: True)
    axes = [Axis("phi", 0, np.pi, 45), Axis("phi_dot", -3, 3, 44)]
    given = {"axes": axes, "pins": {"slip.tip": "+0"}, "parameters": {"mu": 1.5}}
    found = region_map(dynamics_of("rod_on_incline"), chunk_cells=cells, **given)
    monkeypatch.setattr(chunks, "pays", lambda _: False)
    general = region_map(dynamics_of("rod_on_incline"), **given)
    for field in ("verdict", "region", "modes"):
        np.testing.assert_array_equal(getattr(found, field), getattr(general, field))
    assert (found.labels, found.regions) == (general.labels, general.regions)
    assert found.mode_fractions == general.mode_fractions
    assert general.n_general == general.cells


@pytest.mark.parametrize("cells", [3, 21])
@pytest.mark.parametrize(
    ("operation", "operands"),
    [
        *((name, 1) for name in ("negative", "absolute", "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan")),
        *((name, 1) for name in ("sinh", "cosh", "tanh", "exp", "log", "sign")),
        *((name, 2) for name in ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum")),
        *((name, 2) for name in ("arctan2", "heaviside")),
    ],
)
def test_operations_are_those_of_numpy(operation, operands, cells):
    """Also where they are not defined: a comparison with what is not a number decides no cell."""
    recording = Recording()
    row, column = recording.input(0, 0.3), recording.input(1, 0.2)
    found = recording.apply(operation, [recording.apply("add", [row, column]), column][:operands])
    shifted = recording.apply("add", [found, recording.apply("multiply", [row, column])])
    recording.require(recording.apply("absolute", [found]).place, recording.place(-1.0), or_equal=True)
    mode = RecordedMode(0, shifted.place, recording.place(1e9))
    program = cell_program(CellRecording(recording, ("m",), None, (mode,), ()), [0])
    x, y = np.array([-0.1, 0.0, 0.05, 0.3, np.nan]), np.linspace(-0.2, 0.5, cells)
    verdict, modes, margin = (
        np.full((5, cells), PENDING, np.uint8),
        np.zeros((5, cells), np.uint64),
        np.zeros((5, cells)),
    )
    program(x, y, verdict, modes, margin)
    both = np.broadcast_arrays(x[:, None] + y, y)
    with np.errstate(all="ignore"):
        plain = getattr(np, operation)(*both[:operands])
        expected = plain + x[:, None] * y
    is_defined = ~np.isnan(plain)
    np.testing.assert_array_equal(verdict == PENDING, ~is_defined)
    np.testing.assert_array_equal(modes[is_defined] == 1, expected[is_defined] > 0)
    # functions of C and NumPy may differ by two units in the last place
    np.testing.assert_allclose(margin[is_defined], np.abs(expected)[is_defined], rtol=1e-15, atol=1e-16)


def test_a_map_of_many_modes_counts_cells_by_code():
    """At rest a ladder has sixteen."""
    axes = [Axis("theta", 0.1, 1.5, 40), Axis("mu", 0.1, 3, 41)]
    found = region_map(dynamics_of("ladder_in_corner"), axes=axes, pins=CLOSED | {"theta_dot": 0})
    counted = Counter(found.regions[index] for index in found.region.ravel())
    assert {name: size / found.cells for name, size in counted.items()} == dict(found.mode_fractions)
    assert {verdict.name for verdict in CellVerdict if (found.verdict == verdict).any()} == set(found.verdict_fractions)
