"""Derivatives of the energetic law for several contacts at once: the share of restitution that energy allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.sensitivities.impulse_stage import ImpactSite, Stage, before_impact
from hybrid.analysis.sensitivities.jumps import (
    compression_stages,
    contact_places,
    restitution_stages,
    restitutions,
    slopes_at_rest,
)
from hybrid.analysis.sensitivities.refusal import NoDerivative
from hybrid.contact.impacts.restitution import scaled_restitution

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import ImpactProblem
    from hybrid.contact.impacts.laws import EnergeticImpact

__all__ = ["energetic_stages"]

Array = NDArray[np.float64]

_CLOSE = 1e-9  # of the energies: both limits of the law are met at once
_SHARE = 1e-3  # change of the share over which the stages are linear


def energetic_stages(site: ImpactSite, problem: ImpactProblem, law: EnergeticImpact) -> list[Stage]:
    """The end of an impact of several contacts, or of one without friction, under the energetic law.

    Parameters
    ----------
    site : ImpactSite
    problem : ImpactProblem
    law : EnergeticImpact

    Returns
    -------
    list of Stage

    Raises
    ------
    NoDerivative
    """
    e, e_slopes = restitutions(site, problem, law, slopes_at_rest(site))
    ends: list[Stage] = []
    for compressed in compression_stages(site, problem):
        if len(problem.carriers) == 1 or not (e * compressed[1][problem.normals]).any():
            ends += restitution_stages(site, problem, compressed, e, e_slopes)
            continue
        share = _share(problem, compressed[1], e)
        for fixed in restitution_stages(site, problem, compressed, share * e, share * e_slopes):
            ends.append(_with_share(site, problem, compressed, fixed, share, e, e_slopes))
    return ends


def _share(problem: ImpactProblem, compression: Array, e: Array) -> float:
    """The share that the law chose, from the impulses of restitution at a contact that is not pressed further."""
    normals = problem.normals
    values, _ = scaled_restitution(problem, compression, e)
    preload = e * compression[normals]
    given = preload > 0.0
    return float(np.min((values - compression)[normals][given] / preload[given]))


def _with_share(
    site: ImpactSite,
    problem: ImpactProblem,
    compressed: tuple[Stage, Array],
    fixed: Stage,
    share: float,
    e: Array,
    e_slopes: Array,
) -> Stage:
    """Let the share follow from the energy: the derivative of the law's own condition."""
    import attrs

    places = [contact for contact, _ in contact_places(site, problem)]
    stage = compressed[0]
    none = np.zeros_like(e_slopes)
    # impulses and velocities are linear in the share while the same conditions hold
    ends = restitution_stages(site, problem, compressed, (share + _SHARE) * e, none)
    moved = min(ends, key=lambda end: float(np.max(np.abs(end.v - fixed.v))))
    d_v, d_P = (moved.v - fixed.v) / _SHARE, (moved.P_N - fixed.P_N) / _SHARE
    d_gap = (moved.gap_dot - fixed.gap_dot) / _SHARE
    work, slope, rate = _released(places, stage, fixed, d_P, d_gap)
    start = before_impact(site)
    stored, stored_slope = _stored(places, start, stage, e, e_slopes)
    gain, gain_slope, gain_rate = _gained(site, start, fixed, d_v)
    size = max(abs(stored), abs(work), 1e-300)
    is_released, is_gained = abs(work - stored) <= _CLOSE * size, abs(gain) <= _CLOSE * size
    if is_released and not is_gained:
        d_share = (stored_slope - slope) / rate
    elif is_gained and not is_released:
        d_share = -gain_slope / gain_rate
    else:
        what = "two of its limits at once" if is_released else "neither of its limits"
        raise NoDerivative(f"the energetic law of several contacts meets {what}", is_proven=is_released)
    v_slopes = fixed.v_slopes + np.outer(d_v, d_share)
    return attrs.evolve(fixed, v_slopes=v_slopes)


def _released(places: list[int], stage: Stage, fixed: Stage, d_P: Array, d_gap: Array) -> tuple[float, Array, float]:
    """Normal work of restitution, its derivatives at a fixed share, and with respect to the share."""
    work, slope, rate = 0.0, np.zeros(fixed.v_slopes.shape[1]), 0.0
    for i in places:
        mean = float(stage.gap_dot[i] + fixed.gap_dot[i]) / 2
        P = float(fixed.P_N[i])
        work += P * mean
        slope = slope + fixed.P_N_slopes[i] * mean + P * (stage.gap_dot_slopes[i] + fixed.gap_dot_slopes[i]) / 2
        rate += float(d_P[i]) * mean + P * float(d_gap[i]) / 2
    return work, slope, rate


def _stored(places: list[int], start: Stage, stage: Stage, e: Array, e_slopes: Array) -> tuple[float, Array]:
    """Work that may be released, ``sum e^2`` times that of compression where it is positive."""
    total, slope = 0.0, np.zeros(stage.v_slopes.shape[1])
    for place, i in enumerate(places):
        mean = float(start.gap_dot[i] + stage.gap_dot[i]) / 2
        own = -float(stage.P_N[i]) * mean
        if own <= 0.0:
            continue
        change = (
            -stage.P_N_slopes[i] * mean - float(stage.P_N[i]) * (start.gap_dot_slopes[i] + stage.gap_dot_slopes[i]) / 2
        )
        total += float(e[place]) ** 2 * own
        slope = slope + float(e[place]) ** 2 * change + 2 * float(e[place]) * e_slopes[place] * own
    return total, slope


def _gained(site: ImpactSite, start: Stage, fixed: Stage, d_v: Array) -> tuple[float, Array, float]:
    """Change of kinetic energy, its derivatives at a fixed share, and with respect to the share."""
    M = site.terms(site.v).M
    zero = np.zeros(site.size)
    momentum_slopes = []
    n = site.n
    for v in (fixed.v, site.v):
        none = tuple(np.zeros_like(block) for block in (fixed.P_N, fixed.P_T, fixed.P_B))
        varied = site.impulse_slopes(site.v, v, (none[0], none[1], none[2]))
        varied[:, n : 2 * n] = 0.0
        momentum_slopes.append(v @ varied / 2)
    gain = float(fixed.v @ M @ fixed.v - site.v @ M @ site.v) / 2
    slope = zero + momentum_slopes[0] - momentum_slopes[1]
    slope = slope + fixed.v @ M @ fixed.v_slopes - site.v @ M @ start.v_slopes
    return gain, slope, float(fixed.v @ M @ d_v)
