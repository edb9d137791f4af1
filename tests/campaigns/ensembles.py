"""Motions of random mechanisms followed side by side against single calls: the same events at the same times.

The mechanisms are those of the campaign of motions, without its rail: springs, slopes, walls and rods that fall on two
tips, with loads in time, friction and restitution, each of them switched off at times; dry friction holds the first
coordinate of a half, at times more at rest than in slip. Masses differ from start to start, and with them the moment of
inertia, an expression of the mass. Where a start moved by a billionth has other events, the case lies next to a tie
and counts as undecided; so does a last bounce whose speed is of the order of the tolerance for velocities, which one
of two runs may call a touchdown and the other an impact.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from hybrid import Dynamics, FrictionElement, Mechanism, Settings, State, Trajectory, derive, ensemble, simulate
from hybrid.analysis import Ensemble
from hybrid.contact import EnergeticImpact, NewtonImpact, PoissonImpact
from hybrid.errors import HybridError
from tests.campaigns.motions import BODIES, LOADS, declared, drawn
from tests.campaigns.tally import Tally

END = 1.2
N = 40
COMPARED = 3
SHIFT = 1e-9
LAWS = (NewtonImpact(), PoissonImpact(), EnergeticImpact())
SIDE_BY_SIDE = tuple(body for body, (_, rails) in BODIES.items() if not rails)

Told = tuple[np.ndarray, list[tuple[str, str | None]]]


def _with_inertia_of_the_mass(mechanism: Mechanism, *, is_dry: bool) -> Mechanism:
    given = {name: parameter.value for name, parameter in mechanism.parameters.items()}
    dry = [FrictionElement(name="dry", tangent=mechanism.coordinates[0], limit="1", static_limit="S")] if is_dry else []
    parameters = {**given, "i": 1.0, "I": "i*m*l**2"} | ({"S": 1.0} if is_dry else {})
    return attrs.evolve(mechanism, parameters=parameters, friction=[*mechanism.friction, *dry])


def _events(found: Ensemble, k: int) -> Told:
    log = found.log
    own = np.flatnonzero(log.motion == k).tolist()
    named = [(log.kinds[log.kind[e]], None if log.mode[e] < 0 else log.modes[log.mode[e]]) for e in own]
    return log.t[own], named


def _differs_at_the_tolerance(dynamics: Dynamics, motion: Trajectory, own: list, named: list) -> bool:
    """Whether all that differs is the name of closings with speeds of the order of the tolerance for velocities."""
    if [mode for _, mode in own] != [mode for _, mode in named]:
        return False
    bound = dynamics.at(motion.parameters)
    for event, (kind, _), (other, _) in zip(motion.events, own, named, strict=True):
        if kind == other:
            continue
        if {kind, other} != {"IMPACT", "TOUCHDOWN"}:
            return False
        rates = dict(zip(dynamics.contacts, bound.terms(event.q, event.v_before, t=event.t).gap_dot, strict=True))
        speed = max(abs(rates[name]) for name in event.elements) / Settings().tolerances.velocity
        if not 0.1 <= speed <= 10.0:
            return False
    return True


def run(n: int, *, seed: int) -> Tally:
    """Follow ensembles of a tenth as many mechanisms, each twice, and compare some motions of each."""
    tally, known = Tally(), {}
    for case in range(math.ceil(n / 10)):
        rng = np.random.default_rng([seed, case])
        body, load = SIDE_BY_SIDE[case % len(SIDE_BY_SIDE)], int(rng.integers(len(LOADS)))
        values, q, v = drawn(rng, body)
        is_dry = bool(rng.integers(2))
        if (body, load, is_dry) not in known:
            mechanism = declared(body, LOADS[load], values, literal=False)
            known[body, load, is_dry] = derive(_with_inertia_of_the_mass(mechanism, is_dry=is_dry))
        values["i"] = values.pop("I") / (values["m"] * values["l"] ** 2)
        dynamics, law = known[body, load, is_dry], LAWS[case % len(LAWS)]
        names = (*dynamics.mechanism.coordinates, *dynamics.mechanism.velocities)
        size = len(BODIES[body][0])
        centre = np.concatenate([q[:size], v[:size]])
        spread = rng.uniform(-0.2, 0.2, (2 * size, N))
        spread[:, 0] = 0.0  # the start of the other campaign, which may be at rest
        starts = dict(zip(names, centre[:, None] + spread, strict=True))
        masses = values.pop("m") * rng.uniform(0.8, 1.2, N)
        if is_dry:
            values["S"] = float(rng.choice([1.0, 1.0, 1.5]))

        def followed(by: float) -> Ensemble:
            moved = {name: column + by for name, column in starts.items()} | {"m": masses}  # noqa: B023
            return ensemble(dynamics, starts=moved, parameters=values, t_end=END, law=law, rtol=1e-12)  # noqa: B023

        found, shifted = followed(0.0), followed(SHIFT)
        handed = sum(found.singled_out.values())
        tally.parts.setdefault("handed over", Tally()).tried += handed
        for k in (0, *rng.choice(np.arange(1, N), COMPARED - 1, replace=False).tolist()):
            at = np.array([column[k] for column in starts.values()])
            what = f"{body}{', dry' if is_dry else ''}, load {LOADS[load]}, {law.name}"
            where = f"seed {seed}, case {case} ({what}), start {k}"
            tally.tried += 1
            try:
                own_values = {**values, "m": masses[k]}
                motion = simulate(
                    dynamics,
                    State(at[:size], at[size:]),
                    t_end=END,
                    parameters=own_values,
                    law=law,
                    settings=Settings(),
                )
            except HybridError:
                if found.termination[k] != "NOT_STARTED":
                    tally.wrong.append(f"{where}: refused alone, {found.termination[k]} together")
                continue
            times, named = _events(found, k)
            late, nearby = _events(shifted, k)
            own = [(e.kind.name, None if e.mode_after is None else e.mode_after.label) for e in motion.events]
            if (named, found.termination[k]) != (own, motion.termination.name):
                is_tie = found.termination[k] == motion.termination.name
                is_tie = is_tie and _differs_at_the_tolerance(dynamics, motion, own, named)
                if is_tie or (nearby, shifted.termination[k]) != (named, found.termination[k]):
                    tally.undecided += 1
                else:
                    tally.wrong.append(f"{where}: {own} {motion.termination.name}, {named} {found.termination[k]}")
                continue
            if nearby != named:
                tally.undecided += 1
                continue
            slope = np.abs(late - times) / SHIFT
            expected = np.array([event.t for event in motion.events])
            if (np.abs(times - expected) > 1e-8 * np.maximum(1.0, slope)).any():
                tally.wrong.append(f"{where}: events at {times} instead of {expected}")
    return tally
