"""Certified maps: states of their boxes, on faces and beside boundaries too, against own equations and enumerations.

The planes are those of the campaign on maps: chains with the tip on the floor, the rod and the ladder, by hand; and
parts of random planes of the catalogue, decided state by state by the general method of maps. A verdict that is proved
absent must be that of no state, no state may have a region that is not listed, and a witness is what it is said to be.
States in which a slip vanishes exactly have other modes, and no volume.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

import mechanisms
from hybrid import CertifiedMap, certified_map, select, solve_state
from hybrid.analysis.maps.plane import RegionCodes, Sweep, plane_of
from hybrid.contact import CellVerdict
from hybrid.errors import HybridError
from tests.campaigns.maps import Plane, expected_region, planes
from tests.campaigns.tally import Tally
from tests.catalogue import dynamics_of
from tests.hybrid.analysis.test_compiled_maps import random_plane

STATES = 60  # of each map
BOXES = 6000
GAP = 5e-3
CELLS = 100  # of a side, of the planes of the catalogue

Expected = Callable[[float, float], tuple[str, str] | None]
"""Region and verdict of a state; None where the comparison says nothing."""


def run(n: int, *, seed: int) -> Tally:
    """Compare about ``n`` states by hand, and as many of the catalogue."""
    rng = np.random.default_rng(seed)
    parts, found = {"hand": Tally(), "catalogue": Tally()}, planes(rng)
    while parts["hand"].tried < n:
        _compare_by_hand(next(found), rng, parts["hand"])
    while parts["catalogue"].tried < n:
        _compare_of_catalogue(rng, parts["catalogue"])
    tally = parts["hand"] + parts["catalogue"]
    return attrs.evolve(tally, parts=parts)


def _compare_by_hand(plane: Plane, rng: np.random.Generator, tally: Tally) -> None:
    axes = [attrs.evolve(axis, n=None) for axis in plane.axes]
    given = {"pins": plane.pins, "parameters": plane.parameters, "branch": plane.branch}
    try:
        found = certified_map(plane.dynamics, axes=axes, gap=GAP, max_boxes=BOXES, **given)
    except HybridError as error:
        tally.wrong.append(f"{plane.label}: {error}")
        return

    def expected(x: float, y: float) -> tuple[str, str] | None:
        regions = expected_region(plane, x, y)
        if regions is None or "unreachable" in regions or (plane.axes[1].name == "slip.tip" and y == 0.0):
            return None
        (region,) = regions
        return region, "INCONSISTENT" if region == "none" else "INDETERMINATE" if "|" in region else "UNIQUE"

    _compare(found, expected, plane.label, rng, tally, on_faces=0.5)


def _compare_of_catalogue(rng: np.random.Generator, tally: Tally) -> None:
    """A part of a random plane; the branch of postures is that of the part, which may be another one's."""
    dynamics = dynamics_of(str(rng.choice(mechanisms.names())))
    whole = random_plane(dynamics, rng, CELLS)
    if whole is None:
        return
    axes = []
    for axis in whole.axes:
        width = axis.width * 10 ** rng.uniform(-1.5, 0)
        low = axis.low + rng.random() * (axis.width - width)
        axes.append(attrs.evolve(axis, low=low, high=low + width))
    given = {"pins": whole.pins, "parameters": whole.dynamics.given}
    try:
        found = certified_map(
            dynamics, axes=[attrs.evolve(axis, n=None) for axis in axes], gap=GAP, max_boxes=BOXES, **given
        )
    except HybridError:
        return  # refused by name: contacts that are redundant, a parameter out of its range
    plane = attrs.evolve(plane_of(whole.dynamics, axes, pins=whole.pins), decides_ties=False)
    label = f"{dynamics.name} {[(axis.name, axis.low, axis.high) for axis in axes]} {whole.pins}"
    _compare(found, lambda x, y: _sampled(plane, x, y), label, rng, tally, on_faces=0.0)
    for key, witness in found.witness.items():
        values = {name: value for name, value in witness.at.items() if name in dynamics.mechanism.parameters}
        pins = {**whole.pins, **{name: value for name, value in witness.at.items() if name not in values}}
        start = None if found.branch is None else dict(found.branch.start)
        state = solve_state(dynamics, pins, parameters=values, branch=start)
        if select(dynamics, state, parameters=values).verdict.name != key:
            tally.wrong.append(f"{label}: the witness {witness.at} is not {key}")


def _sampled(plane: Sweep, x: float, y: float) -> tuple[str, str] | None:
    found = plane.classified(np.array([x]), np.array([y]))
    dictionary = RegionCodes(list(found.labels))
    region, verdict = dictionary.region(int(dictionary.codes(found)[0])), CellVerdict(int(found.verdict[0])).name
    if verdict in ("UNDECIDED", "UNREACHABLE"):  # a map follows a branch less close to a fold than a proof
        return None
    return region, verdict


def _compare(
    found: CertifiedMap, expected: Expected, label: str, rng: np.random.Generator, tally: Tally, *, on_faces: float
) -> None:
    names = list(found.regions)
    for place in rng.integers(0, len(found.parts), STATES):
        box = found.parts[place]
        share = rng.random(2)
        if rng.random() < on_faces:
            share[rng.integers(2)] = rng.integers(2)
        x, y = (box[:, 0] + share * (box[:, 1] - box[:, 0])).tolist()
        tally.tried += 1
        answer = expected(x, y)
        if answer is None:
            continue
        region, verdict = answer
        where = f"{label} at {x!r}, {y!r}"
        if found.region[place] < 0:
            tally.undecided += 1
            if region not in names and "undecided" not in names:
                tally.wrong.append(f"{where}: {region} is excluded")
        elif names[found.region[place]] != region:
            tally.wrong.append(f"{where}: {names[found.region[place]]}, not {region}")
        if found.absent.get(verdict):
            tally.wrong.append(f"{where}: {verdict} was proved absent")
