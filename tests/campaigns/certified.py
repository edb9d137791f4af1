"""Certified maps: states of their boxes, on faces and beside boundaries too, against own equations and enumerations.

The planes are those of the campaign on maps: chains with the tip on the floor, the rod and the ladder, by hand. A
verdict that is proved absent must be that of no state, and no state may have a region that is not listed. States in
which a slip vanishes exactly have other modes, and no volume.
"""

from __future__ import annotations

import attrs
import numpy as np

from hybrid import certified_map
from hybrid.errors import HybridError
from tests.campaigns.maps import Plane, expected_region, planes
from tests.campaigns.tally import Tally

STATES = 60  # of each map
BOXES = 6000
GAP = 5e-3


def run(n: int, *, seed: int) -> Tally:
    """Compare about ``n`` states."""
    rng = np.random.default_rng(seed)
    tally, found = Tally(), planes(rng)
    while tally.tried < n:
        _compare(next(found), rng, tally)
    return tally


def _compare(plane: Plane, rng: np.random.Generator, tally: Tally) -> None:
    axes = [attrs.evolve(axis, n=None) for axis in plane.axes]
    try:
        found = certified_map(
            plane.dynamics,
            axes=axes,
            pins=plane.pins,
            parameters=plane.parameters,
            branch=plane.branch,
            gap=GAP,
            max_boxes=BOXES,
        )
    except HybridError as error:
        tally.wrong.append(f"{plane.label}: {error}")
        return
    names = list(found.regions)
    for place in rng.integers(0, len(found.parts), STATES):
        box = found.parts[place]
        share = rng.random(2)
        if rng.random() < 0.5:
            share[rng.integers(2)] = rng.integers(2)  # on a face
        x, y = (box[:, 0] + share * (box[:, 1] - box[:, 0])).tolist()
        if plane.axes[1].name == "slip.tip" and y == 0.0:
            continue
        expected = expected_region(plane, x, y)
        tally.tried += 1
        if expected is None or "unreachable" in expected:
            continue
        (region,) = expected
        where = f"{plane.label} at {x!r}, {y!r}"
        if found.region[place] < 0:
            tally.undecided += 1
            if region not in names and "undecided" not in names:
                tally.wrong.append(f"{where}: {region} is excluded")
        elif names[found.region[place]] != region:
            tally.wrong.append(f"{where}: {names[found.region[place]]}, not {region}")
        verdict = "INCONSISTENT" if region == "none" else "INDETERMINATE" if "|" in region else "UNIQUE"
        if found.absent.get(verdict):
            tally.wrong.append(f"{where}: {verdict} was proved absent")
