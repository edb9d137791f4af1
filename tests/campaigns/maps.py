"""Maps cell by cell: every cell against postures in closed form, own equations and own enumeration of modes.

Random chains of two or three links with the tip on the floor (both elbows are known in closed form),
the rod on an incline and a ladder in a corner, whose equations are written down here by hand. Nothing is shared with
the package but the question. A sample of cells is also compared with the package's verdict at the single state.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import attrs
import numpy as np

import mechanisms
from hybrid import Axis, derive, region_map, select, solve_state
from hybrid.analysis.maps.compiled_cells import CompiledCells
from hybrid.analysis.maps.plane import plane_of
from hybrid.errors import StateError
from tests.campaigns.tally import Tally
from tests.chains import Chain

CELLS = 12  # along either axis: an odd map is no better than an even one, and 144 cells share one derivation
SINGLE = 3  # cells of each map that are decided alone as well
# A decision nearer to its flip than this, relative to the terms that it compares, is rounding's: no claim is made.
NEAR = 1e-7


@attrs.frozen
class Plane:
    """One map: the question to the package, and a function that answers every cell from closed forms."""

    label: str
    dynamics: Any
    axes: tuple[Axis, Axis]
    pins: dict[str, Any]
    parameters: dict[str, float]
    branch: dict[str, float] | None
    posture: Any
    """``posture(x, y)``: coordinates of a cell on the branch, or None out of reach."""
    problem: Any
    """``problem(x, y, q)``: G (2k, 2k) normal rows first, c (2k,), slips (k,) with 0 at rest, friction (k,), v."""


def run(n: int, *, seed: int) -> Tally:
    """Compare about ``n`` cells."""
    rng = np.random.default_rng(seed)
    tally = Tally()
    found = planes(rng)
    while tally.tried < n:
        _compare(next(found), rng, tally)
    return tally


def _compare(plane: Plane, rng: np.random.Generator, tally: Tally) -> None:
    found = region_map(
        plane.dynamics, axes=plane.axes, pins=plane.pins, parameters=plane.parameters, branch=plane.branch
    )
    x, y = (axis.values for axis in plane.axes)
    compiled = _compiled(plane)
    alone = {tuple(cell) for cell in rng.integers(0, CELLS, (SINGLE, 2)).tolist()}
    for i, j in product(range(CELLS), repeat=2):
        tally.tried += 1
        region = found.regions[found.region[i, j]]
        expected = expected_region(plane, float(x[i]), float(y[j]))
        where = f"{plane.label} cell {i},{j} ({plane.axes[0].name}={x[i]!r}, {plane.axes[1].name}={y[j]!r})"
        if region == "undecided":
            tally.undecided += 1
        elif expected is not None and region not in expected:
            tally.wrong.append(f"{where}: {region}, not {' or '.join(sorted(expected))}")
        if compiled[i, j] != region:
            tally.wrong.append(f"{where}: {region} by the general method, {compiled[i, j]} by compiled operations")
        single = _alone(plane, found, float(x[i]), float(y[j])) if (i, j) in alone else None
        if single == "refused":  # beyond a fold, or where ways lead outside the ranges between both places
            tally.undecided += region != "unreachable"
        elif single not in (region, None):
            tally.wrong.append(f"{where}: {region} in the map, {single} alone")


def _compiled(plane: Plane) -> np.ndarray:
    """Regions of all cells by compiled operations, however few cells there are."""
    given = plane_of(plane.dynamics.at(plane.parameters), plane.axes, pins=plane.pins, branch=plane.branch)
    cells = CompiledCells(given, few=0)
    found = cells.classified(*(axis.values for axis in plane.axes))
    codes = cells.dictionary.codes(found)
    return np.array([cells.dictionary.region(int(code)) for code in codes.ravel()]).reshape(codes.shape)


def expected_region(plane: Plane, x: float, y: float) -> set[str] | None:
    """The region of a cell, or None where rounding decides."""
    q = plane.posture(x, y)
    if q is None:
        return {"unreachable"}
    if isinstance(q, str):
        return None
    G, c, slips, friction = plane.problem(x, y, q)
    modes, margin = consistent_modes(G, c, slips, friction)
    if margin < NEAR:
        return None
    return {"|".join(sorted(_named(mode, plane) for mode in modes)) or "none"}


def _named(mode: tuple[str, ...], plane: Plane) -> str:
    names = plane.dynamics.contacts
    if len(names) == 1:
        return mode[0]
    return ",".join(f"{name}={label}" for name, label in zip(names, mode, strict=True))


def _alone(plane: Plane, found: Any, x: float, y: float) -> str | None:
    """The region of the single state; None where it is undecided or a set of forces, which a map names otherwise."""
    at = {plane.axes[0].name: x, plane.axes[1].name: y}
    declared = plane.dynamics.mechanism.parameters
    pins = plane.pins | {name: value for name, value in at.items() if name not in declared}
    values = plane.parameters | {name: value for name, value in at.items() if name in declared}
    start = None if found.branch is None else dict(found.branch.start)
    try:
        state = solve_state(plane.dynamics, pins, parameters=values, branch=start)
        selection = select(plane.dynamics, state, parameters=values)
    except StateError as error:
        if "ends before" in str(error):
            return "refused"
        return "unreachable" if any(word in str(error) for word in ("no posture", "no position")) else None
    if selection.verdict.name in ("UNDECIDED", "HYPERSTATIC"):
        return None
    labels = {m.label for branch in selection.branches for m in (branch.mode, *branch.equivalent_modes)}
    return "|".join(sorted(labels)) or "none"


def consistent_modes(
    G: np.ndarray, c: np.ndarray, slips: np.ndarray, friction: np.ndarray
) -> tuple[list[tuple[str, ...]], float]:
    """Enumerate the modes of k planar contacts; with them the least relative distance of a decision to its flip.

    ``a = G lambda + c`` with the k normal rows first. A slipping contact is free or slides its way; one at rest is
    free, sticks within its cone, or slides either way with an acceleration in that direction.
    """
    k = len(slips)
    choices = [
        ("free", "slide+" if slip > 0 else "slide-") if slip else ("free", "stick", "slide+", "slide-")
        for slip in slips
    ]
    found, margin = [], np.inf
    scale = np.abs(c).max() + 1e-12
    for mode in product(*choices):
        columns, rows = [], []
        for i, label in enumerate(mode):
            if label == "free":
                continue
            unit = np.zeros(2 * k)
            unit[i] = 1.0
            if label.startswith("slide"):
                unit[k + i] = -friction[i] if label == "slide+" else friction[i]
            columns.append(unit)
            rows.append(i)
            if label == "stick":
                columns.append(np.eye(2 * k)[k + i])
                rows.append(k + i)
        force = np.zeros(2 * k)
        if columns:
            B = np.array(columns).T
            A = (G @ B)[rows]
            size = np.sqrt(np.diag(G))
            regular = abs(np.linalg.det(A / size[rows][:, None])) / np.prod(np.linalg.norm(B * size[:, None], axis=0))
            margin = min(margin, regular)
            if regular < NEAR:
                continue
            force = B @ np.linalg.solve(A, -c[rows])
        a = G @ force + c
        load = np.abs(G) @ np.abs(force) + scale
        decisions = []
        for i, label in enumerate(mode):
            if label == "free":
                decisions.append(a[i] / load[i])
                continue
            decisions.append(force[i] * G[i, i] / load[i])
            if label == "stick":
                decisions += [(friction[i] * force[i] + s * force[k + i]) * G[i, i] / load[i] for s in (1, -1)]
            elif not slips[i]:
                decisions.append((a[k + i] if label == "slide+" else -a[k + i]) / load[k + i])
        margin = min(margin, min(abs(value) for value in decisions))
        if min(decisions) > 0:
            found.append(mode)
    return found, float(margin)


def planes(rng: np.random.Generator) -> Iterator[Plane]:
    rods = {name: derive(mechanisms.load(name)) for name in ("rod_on_incline", "ladder_in_corner")}
    while True:
        own = _random_chain(rng)
        dynamics = derive(own.mechanism())
        for _ in range(4):
            plane = _chain_plane(rng, own, dynamics)
            if plane is not None:
                yield plane
        yield _rod_plane(rng, rods["rod_on_incline"])
        yield _ladder_plane(rng, rods["ladder_in_corner"])


def _random_chain(rng: np.random.Generator) -> Chain:
    n = int(rng.integers(2, 4))
    mass = tuple(float(m) for m in rng.uniform(0.3, 2.0, n).round(3))
    length = tuple(float(a) for a in rng.uniform(0.3, 1.0, n).round(3))
    inertia = tuple(float(m * a * a * s) for m, a, s in zip(mass, length, rng.uniform(0.02, 0.15, n), strict=True))
    return Chain(mass, length, inertia, depth=float(sum(length) * rng.uniform(0.5, 0.95)))


def _chain_plane(rng: np.random.Generator, own: Chain, dynamics: Any) -> Plane | None:
    """Over the first angle and the friction, the slip or the depth of the floor, on either elbow."""
    n = own.n
    middle, half = float(rng.uniform(-0.5, 0.5)), float(rng.uniform(0.1, 0.9))
    known = [float(angle) for angle in rng.uniform(-0.6, 0.6, n - 2)]
    rates = [float(w) for w in rng.uniform(-1.0, 1.0, n - 2)]
    slip, mu = float(rng.choice([-1, 1]) * rng.uniform(0.05, 2.0)), float(rng.uniform(0.2, 2.5))
    second = str(rng.choice(["mu", "slip.tip", "D"]))
    ends = {"mu": (0.05, 3.0), "slip.tip": (-1.0, 1.0), "D": (0.9 * own.depth, 1.05 * own.depth)}[second]
    axes = (Axis("q0", middle - half, middle + half, CELLS), Axis(second, *ends, CELLS))
    elbow = int(rng.integers(2))
    depth = (ends[0] + ends[1]) / 2 if second == "D" else own.depth
    both = own.last_angles([middle, *known], depth=depth)
    if len(both) < 2 or abs(np.sin((both[0] - both[1]) / 2)) < 0.05:
        return None  # the start would be out of reach, or next to a fold
    pins = {f"q{i + 1}": angle for i, angle in enumerate(known)} | {f"q{i}_dot": w for i, w in enumerate(rates)}
    pins |= {"gap.tip": 0.0, "gap_dot.tip": 0.0} | ({} if second == "slip.tip" else {"slip.tip": slip})
    turns = both[elbow] + sum(known) + middle  # absolute angle of the last link: its sign is the elbow's

    def posture(x: float, y: float) -> Any:
        at = y if second == "D" else own.depth
        found = own.last_angles([x, *known], depth=at)
        if len(found) < 2:
            return None
        below = np.sum(np.array(own.length[:-1]) * np.cos(np.cumsum([x, *known])))
        if 1.0 - abs((at - below) / own.length[-1]) < 1e-4:
            return "fold"  # nearer to the fold than the branch is followed
        return [x, *known, found[elbow]] if _connected(own, known, middle, x, depth, at) else "beyond"

    def problem(x: float, y: float, q: list[float]) -> tuple[np.ndarray, ...]:
        own_slip = y if second == "slip.tip" else slip
        own_mu = y if second == "mu" else mu
        G, c = own.delassus(q, own.velocity(q, rates, own_slip))
        return G, c, np.array([own_slip]), np.array([own_mu])

    values = {} if second == "mu" else {"mu": mu}
    start = {f"q{n - 1}": both[elbow]}
    label = f"chain {own} {axes} pins {pins} parameters {values} branch {start} ({turns:.3f})"
    return Plane(label, dynamics, axes, pins, values, start, posture, problem)


def _connected(own: Chain, known: list[float], middle: float, x: float, depth: float, at: float) -> bool:
    """Whether the tip reaches the floor all the way from the start, along the first axis, then along the second."""
    first = [(s, depth) for s in np.linspace(middle, x, 60)]
    then = [(x, s) for s in np.linspace(depth, at, 30)]
    return all(own.last_angles([s, *known], depth=d) for s, d in (*first, *then))


def _rod_plane(rng: np.random.Generator, dynamics: Any) -> Plane:
    """The uniform rod on an incline (m = l = g = 1 with half length 1), its lower end slipping or at rest."""
    values = {name: float(v) for name, v in dynamics.mechanism.parameter_values().items()}
    mu, epsilon = float(rng.uniform(0.2, 2.5)), float(rng.uniform(-1.0, 1.0))
    slip = float(rng.choice([0.0, -1.0, 1.0]))
    low, high = sorted(rng.uniform(0.05, 3.09, 2))
    axes = (Axis("phi", low, high + 0.01, CELLS), Axis("phi_dot", -3.0, 3.0, CELLS))
    m, length, inertia, g = values["m"], values["l"], values["I"], values["g"]

    def problem(phi: float, w: float, _: Any) -> tuple[np.ndarray, ...]:
        s, c = np.sin(phi), np.cos(phi)
        # gap = y - l sin(phi), tangent = x - l cos(phi) of the centre (x, y)
        W = np.array([[0.0, 1.0, -length * c], [1.0, 0.0, length * s]]).T
        inverse = np.diag([1 / m, 1 / m, 1 / inertia])
        free = W.T @ inverse @ np.array([m * g * epsilon, -m * g, 0.0])
        free = free + np.array([length * s * w * w, length * c * w * w])
        return W.T @ inverse @ W, free, np.array([slip]), np.array([mu])

    pins, parameters = {"slip.tip": slip}, {"mu": mu, "epsilon": epsilon}
    label = f"rod_on_incline {axes} pins {pins} parameters {parameters}"
    return Plane(label, dynamics, axes, pins, parameters, None, lambda x, y: [x], problem)


def _ladder_plane(rng: np.random.Generator, dynamics: Any) -> Plane:
    """The ladder that slides in a corner, both ends closed: half length l, J = kappa m l^2."""
    values = {name: float(v) for name, v in dynamics.mechanism.parameter_values().items()}
    m, g, length = values["m"], values["g"], values["l"]
    kappa, mu, mu_wall = float(rng.uniform(0.15, 0.9)), float(rng.uniform(0.1, 2.5)), float(rng.uniform(0.1, 2.5))
    axes = (Axis("theta", 0.1, 1.5, CELLS), Axis("theta_dot", -6.0, 6.0, CELLS))

    def problem(theta: float, w: float, _: Any) -> tuple[np.ndarray, ...]:
        s, c = length * np.sin(theta), length * np.cos(theta)
        # foot (x + c, y - s) on the floor y = 0, top (x - c, y + s) at the wall x = 0
        normal = np.array([[0.0, 1.0, -c], [1.0, 0.0, s]])
        tangent = np.array([[1.0, 0.0, -s], [0.0, 1.0, c]])
        W = np.concatenate([normal, tangent]).T
        inverse = np.diag([1 / m, 1 / m, 1 / (kappa * m * length**2)])
        drift = np.array([s, c, -c, -s]) * w * w
        free = W.T @ inverse @ np.array([0.0, -m * g, 0.0]) + drift
        slips = np.array([-2 * s * w, 2 * c * w])
        return W.T @ inverse @ W, free, slips, np.array([mu, mu_wall])

    pins = dict.fromkeys(("gap.floor", "gap.wall", "gap_dot.floor", "gap_dot.wall"), 0.0)
    parameters = {"kappa": kappa, "mu": mu, "mu_wall": mu_wall}
    label = f"ladder_in_corner {axes} parameters {parameters}"
    return Plane(label, dynamics, axes, pins, parameters, None, lambda x, y: [x], problem)
