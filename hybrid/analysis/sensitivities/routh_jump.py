"""Derivatives of a planar impact with friction that is followed along its normal impulse (Routh 1860)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.impulse_stage import (
    Condition,
    ImpactSite,
    Stage,
    before_impact,
    idle_conditions,
    run_stage,
)
from hybrid.analysis.sensitivities.jumps import contact_places, restitutions, slopes_at_rest
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.impacts.laws import EnergeticImpact, PoissonImpact
from hybrid.contact.impacts.routh import Leg, end_of_compression, impulse_of_work, normal_work, routh_path

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem

__all__ = ["path_stages"]

Array = NDArray[np.float64]

_CLOSE = 1e-9  # of the whole impulse: two phases that end so close together end at once


@attrs.frozen
class _Segment:
    """A stretch of the path with one kind of slip, and what ends it: ``slip``, ``compression`` or ``restitution``."""

    kind: str
    length: float
    ends_by: str


def path_stages(site: ImpactSite, problem: ImpactProblem, law: PoissonImpact | EnergeticImpact) -> list[Stage]:
    """The end of an impact of one planar contact with friction under Poisson's or the energetic law.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
        Of one contact.
    law : PoissonImpact or EnergeticImpact

    Returns
    -------
    list of Stage
        One.

    Raises
    ------
    NoDerivative
        Two phases end at once, or the slip is zero and driven to either side.
    """
    (e,), (e_slope,) = restitutions(site, problem, law, slopes_at_rest(site))
    ((contact, column),) = contact_places(site, problem)
    if column is None:
        raise NoDerivative("a path of the impact without a tangential direction", is_proven=False)
    legs = routh_path(problem.G, problem.gamma, float(problem.carriers[0].friction))
    compression = end_of_compression(legs)
    if not compression:
        return [before_impact(site)]
    end = (1 + e) * compression
    if isinstance(law, EnergeticImpact):
        end = impulse_of_work(legs, compression, -(e**2) * normal_work(legs, 0.0, compression))
    if problem.gamma[1] == 0.0 and legs[0].kind != "stick":
        raise NoDerivative("an impact without slip in which friction cannot hold: it slips to either side")
    path = _Path(site, contact, column, float(e), e_slope, is_energetic=isinstance(law, EnergeticImpact))
    stages = [before_impact(site)]
    compressed = 0
    for segment in _segments(legs, compression, end):
        stages.append(path.next_stage(stages, compressed, segment))
        if segment.ends_by == "compression":
            compressed = len(stages) - 1
    return [stages[-1]]


def _segments(legs: tuple[Leg, ...], compression: float, end: float) -> list[_Segment]:
    found: list[_Segment] = []
    at = 0.0
    marks = ((compression, "compression"), (end, "restitution"))
    for leg in legs:
        stop = at + leg.length
        for mark, _ in marks:
            if abs(mark - stop) <= _CLOSE * end:
                raise NoDerivative(
                    "slip ends in the impact just where its compression or restitution does", is_proven=False
                )
        for mark, name in marks:
            if at <= mark < stop and not (name == "restitution" and mark < compression):
                found.append(_Segment(leg.kind, mark - at, name))
                at = mark
        if end < stop:
            return found
        found.append(_Segment(leg.kind, stop - at, "slip"))
        at = stop
    return found


@attrs.frozen(eq=False)
class _Path:
    """What the stages of one path share."""

    site: ImpactSite
    contact: int
    column: int
    e: float
    e_slope: Array
    is_energetic: bool

    def next_stage(self, stages: list[Stage], compressed: int, segment: _Segment) -> Stage:
        """Follow a segment; ``compressed`` is the number of the stage at which compression ended."""
        if segment.kind == "stick":
            along = Condition("slip", self.column)
        else:
            along = Condition("coulomb", self.column, 1.0 if segment.kind == "slide+" else -1.0, contact=self.contact)
        if segment.ends_by == "slip":
            normal = Condition("slip", self.column)
        elif segment.ends_by == "compression":
            normal = Condition("gap_dot", self.contact)
        else:
            slope = self._work_slope if self.is_energetic else self._impulse_slope
            normal = Condition(
                "impulse_N", self.contact, segment.length, slope(stages, compressed, segment.length, along)
            )
        others = idle_conditions(self.site, [self.contact], [self.column])
        return run_stage(self.site, stages[-1], [*others, normal, along])

    def _impulse_slope(self, stages: list[Stage], compressed: int, length: float, along: Condition) -> Array:
        """Poisson: all impulses of restitution are ``e`` times those of compression."""
        stored = stages[1 : compressed + 1]
        total = sum(float(stage.P_N[self.contact]) for stage in stored)
        slope = self.e_slope * total
        for stage in stored:
            slope = slope + self.e * stage.P_N_slopes[self.contact]
        for stage in stages[compressed + 1 :]:
            slope = slope - stage.P_N_slopes[self.contact]
        return slope

    def _work_slope(self, stages: list[Stage], compressed: int, length: float, along: Condition) -> Array:
        """Stronge: the work of restitution is ``e^2`` times that of compression."""
        works = [self._work(before, after) for before, after in pairwise(stages)]
        stored = sum(work for work, _ in works[:compressed])
        balance = 2 * self.e * self.e_slope * stored
        for number, (_, slope) in enumerate(works):
            balance = balance + (self.e**2 if number < compressed else 1.0) * slope
        last, idle = stages[-1], idle_conditions(self.site, [self.contact], [self.column])
        fixed = run_stage(self.site, last, [*idle, Condition("impulse_N", self.contact, length), along])
        before, after = float(last.gap_dot[self.contact]), float(fixed.gap_dot[self.contact])
        balance = balance + length / 2 * (last.gap_dot_slopes[self.contact] + fixed.gap_dot_slopes[self.contact])
        if self.e > 0.0:
            return np.asarray(-balance / after)
        # without restitution the length grows with e as that of a free start: rate L^2 / 2 = e^2 |stored|
        probe = run_stage(self.site, last, [*idle, Condition("impulse_N", self.contact, 1.0), along])
        rate = float(probe.gap_dot[self.contact]) - before
        return np.asarray(self.e_slope * np.sqrt(-2.0 * stored / rate))

    def _work(self, before: Stage, after: Stage) -> tuple[float, Array]:
        """Normal work of a stage, on which velocities are linear in the impulse, and its derivative."""
        i = self.contact
        mean = (float(before.gap_dot[i]) + float(after.gap_dot[i])) / 2
        slope = (before.gap_dot_slopes[i] + after.gap_dot_slopes[i]) / 2
        return float(after.P_N[i]) * mean, after.P_N_slopes[i] * mean + float(after.P_N[i]) * slope
