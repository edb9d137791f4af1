"""Impacts under all laws, and compliant contacts in their limit, of random declared mechanisms.

Masses, directions and velocities are small dyadic numbers, so that Newton's and Poisson's laws can be judged by every
mode in exact rational numbers. Stronge's law and the compliant contact are followed along their course.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid import KelvinVoigtLimit, State
from hybrid.contact import EnergeticImpact, Impact, NewtonImpact, PoissonImpact, resolve_impact
from hybrid.dynamics import Dynamics
from hybrid.errors import ComputationError
from tests.campaigns.impact_cases import Case, declared, drawn, parameters
from tests.campaigns.impact_paths import compliant_velocities, energetic_velocities, spatial_compliant, spatial_path
from tests.campaigns.impulse_modes import impulse_solutions, inverse, product, routh_impulse, times
from tests.campaigns.tally import Tally

__all__ = ["run"]

Array = NDArray[np.float64]
LAWS = {
    "newton": NewtonImpact(),
    "poisson": PoissonImpact(),
    "energetic": EnergeticImpact(),
    "kelvin-voigt": KelvinVoigtLimit(),
}
_EXACT = 1e-8  # of the velocities, against exact numbers and closed forms: conditions stay below 1e5
_FOLLOWED = 1e-6  # against what is integrated in phases, by either side to about 1e-11
_ROUNDING = 1e-13
_PUSH = 1e-11  # of the speed: far below what answers are compared to
_TURNING = 2e-5  # where spatial slip is taken away by an impulse once it is below 1e-7 of the speed
_PLAN = (  # share of the cases, law, coordinates, contacts, tangents of each
    (0.16, "newton", 2, 1, 1),
    (0.14, "newton", 3, 2, 1),
    (0.12, "newton", 4, 2, 1),
    (0.14, "poisson", 3, 1, 1),
    (0.08, "poisson", 3, 2, 1),
    (0.04, "poisson", 4, 2, 1),
    (0.12, "energetic", 2, 1, 1),
    (0.04, "energetic", 4, 2, 1),
    (0.10, "kelvin-voigt", 3, 1, 1),
    (0.02, "kelvin-voigt", 4, 2, 1),
    (0.01, "newton", 4, 1, 2),
    (0.01, "poisson", 4, 1, 2),
    (0.01, "energetic", 4, 1, 2),
    (0.01, "kelvin-voigt", 4, 1, 2),
)


def run(n: int, *, seed: int) -> Tally:
    """About ``n`` impacts; the same ones for the same arguments."""
    rng, tally = np.random.default_rng(seed), Tally()
    shares = np.array([share for share, *_ in _PLAN])
    counts = rng.multinomial(n, shares / shares.sum())
    for (_, law, size, k, tangents), count in zip(_PLAN, counts, strict=True):
        dynamics = declared(size, k, tangents)
        for number in range(count):
            case = drawn(rng, law, size, k, tangents)
            known = _judged(dynamics, case)
            tally.tried += 1
            if known == "undecided":
                tally.undecided += 1
            elif known:
                numbers = attrs.asdict(case, value_serializer=lambda _, __, x: np.asarray(x).tolist())
                tally.wrong.append(f"{law} {size} coordinates, {k} contacts, number {number}: {known}; {numbers}")
    return tally


def _judged(dynamics: Dynamics, case: Case) -> str:
    """What is wrong with the package's answer; ``undecided`` where it refuses one that exists, empty if all is well."""
    tangents = case.W.shape[1] // len(case.mu) - 1
    state = State([0.0] * len(case.M), case.v)
    try:
        impact: Impact | None = resolve_impact(
            dynamics, state, law=LAWS[case.law], parameters=parameters(case, tangents)
        )
    except ComputationError:
        impact = None
    known = "" if impact is None else _bookkeeping(case, impact)
    if known:
        return known
    if impact is not None and np.all(_exact_velocities(case)[:: tangents + 1] > 0):
        return ""  # nothing approaches: there is no impact, though impulses could be another solution of its laws
    if tangents == 2:
        return _spatial(case, impact)
    return _ORACLES[case.law](case, impact)


def _bookkeeping(case: Case, impact: Impact) -> str:
    """Impulses, velocities and energies against each other: by the equations of an impact, whatever the law."""
    P = _impulses(impact)
    size = float(np.max(np.abs(case.v)))
    tall = 1e-11 * (size + float(np.max(np.abs(np.linalg.solve(case.M, case.W)) @ np.abs(P), initial=0.0)))
    v = case.v + np.linalg.solve(case.M, case.W @ P)
    energy = float(v @ case.M @ v - case.v @ case.M @ case.v) / 2
    before = float(case.v @ case.M @ case.v) / 2
    normal, friction = _split(P, len(case.mu))
    rise = (case.W.T @ v)[:: case.W.shape[1] // len(case.mu)]
    if np.max(np.abs(v - impact.v_after)) > 100 * tall:
        return "the velocities do not follow from the impulses"
    if abs(energy - impact.energy_change) > 1e-9 * (before + abs(energy)):  # both are sums of squares of this size
        return f"the energy changes by {energy}, not by {impact.energy_change}"
    # no law of restitution in impulses bounds the energy of several contacts with friction: such an answer must warn
    if energy > 1e-9 * before and case.law != "newton" and not (case.law == "poisson" and len(case.mu) > 1):
        return f"energy is created: {energy} on top of {before}"
    if (energy > 1e-9 * before) is not any("created energy" in text for text in impact.warnings):
        return "a warning of energy created, or none"
    if np.min(normal) < 0.0 or np.any(np.linalg.norm(friction, axis=1) > case.mu * normal + 1e-9 * np.max(np.abs(P))):
        return "impulses beyond Coulomb's cone"
    if np.min(rise) < -1e-7 * size * float(np.max(np.abs(case.W))):
        return "a contact approaches after the impact"
    if np.all(_exact_velocities(case)[:: case.W.shape[1] // len(case.mu)] > 0) and P.any():
        return "an impulse though every contact separates"
    return ""


def _impulses(impact: Impact) -> Array:
    return np.array([x for name, N in impact.impulse_N.items() for x in (N, *impact.impulse_T[name])])


def _split(P: Array, k: int) -> tuple[Array, Array]:
    by_contact = P.reshape(k, -1)
    return by_contact[:, 0], by_contact[:, 1:]


def _after(impact: Impact) -> Array:
    pairs = ((impact.gap_dot_after[name], *impact.slip_after[name]) for name in impact.impulse_N)
    return np.array([x for pair in pairs for x in pair])


def _rationals(case: Case) -> tuple[list[list[Fraction]], list[Fraction], list[Fraction], list[Fraction]]:
    """The Delassus operator, contact velocities, coefficients of friction and of restitution, exactly."""
    M, W = ([[Fraction(x) for x in row] for row in A.tolist()] for A in (case.M, case.W))
    columns = [list(column) for column in zip(*W, strict=True)]
    G = product(columns, product(inverse(M), W))
    gamma = times(columns, [Fraction(x) for x in case.v.tolist()])
    gamma = [Fraction(0) if i in case.vanishing else value for i, value in enumerate(gamma)]
    return G, gamma, [Fraction(x) for x in case.mu.tolist()], [Fraction(x) for x in case.e.tolist()]


def _exact_velocities(case: Case) -> Array:
    gamma = case.W.T @ case.v
    gamma[list(case.vanishing)] = 0.0
    return np.asarray(gamma)


def _floats(case: Case) -> tuple[Array, Array]:
    return case.W.T @ np.linalg.solve(case.M, case.W), _exact_velocities(case)


def _compared(impact: Impact | None, expected: list[Array], gamma: Array, share: float) -> str:
    if impact is None:
        return "undecided" if expected else ""
    if not expected:
        return f"an answer {_after(impact).tolist()} where the law has none"
    size = share * float(max(np.max(np.abs(gamma)), *(np.max(np.abs(found)) for found in expected)))
    size = max(size, _ROUNDING)  # of contact velocities which cancel, in sums of numbers of about one
    if min(float(np.max(np.abs(_after(impact) - found))) for found in expected) <= size:
        return ""
    return f"velocities {_after(impact).tolist()}, not {[found.tolist() for found in expected]}"


def _newton(case: Case, impact: Impact | None) -> str:
    G, gamma, mu, e = _rationals(case)
    shifted = list(gamma)
    for i, share in enumerate(e):
        shifted[2 * i] += share * min(gamma[2 * i], Fraction(0))
    found, complete = impulse_solutions(G, shifted, mu)
    expected = _velocities(G, gamma, found)
    known = _compared(impact, expected, _exact_velocities(case), _EXACT)
    if not complete:
        return "undecided" if known else ""
    if known or impact is None:
        return known
    if any("further solutions is not known" in text for text in impact.warnings):
        return "undecided"
    if (len(expected) > 1) is not any("further solution" in text for text in impact.warnings):
        return f"{len(expected)} solutions, and the warnings {impact.warnings}"
    return ""


def _velocities(G: list[list[Fraction]], gamma: list[Fraction], found: list[list[Fraction]]) -> list[Array]:
    distinct: list[list[Fraction]] = []
    for P in found:
        after = [g + x for g, x in zip(gamma, times(G, P), strict=True)]
        if after not in distinct:
            distinct.append(after)
    return [np.array([float(x) for x in after]) for after in distinct]


def _poisson(case: Case, impact: Impact | None) -> str:
    G, gamma, mu, e = _rationals(case)
    if len(mu) == 1:
        expected = _velocities(G, gamma, [routh_impulse(G, gamma, mu[0], e[0])])
        return _compared(impact, expected, _exact_velocities(case), _EXACT)
    totals = []
    compressions, complete = impulse_solutions(G, gamma, mu)
    for compression in compressions:
        between = [g + x for g, x in zip(gamma, times(G, compression), strict=True)]
        preload = [share * P for share, P in zip(e, compression[::2], strict=True)]
        restitutions, is_all = impulse_solutions(G, between, mu, preload)
        complete &= is_all
        totals += [[a + b for a, b in zip(compression, more, strict=True)] for more in restitutions]
    known = _compared(impact, _velocities(G, gamma, totals), _exact_velocities(case), _EXACT)
    return "undecided" if known and not complete else known


def _energetic(case: Case, impact: Impact | None) -> str:
    G, gamma = _floats(case)
    if len(case.mu) == 1:
        expected = energetic_velocities(G, gamma, float(case.mu[0]), float(case.e[0]))
        return _compared(impact, [expected], gamma, _EXACT)
    if impact is None:
        return "undecided"
    exact_G, exact_gamma, mu, _ = _rationals(case)
    compressions, complete = impulse_solutions(exact_G, exact_gamma, mu)
    reasons = [_restituted(case, np.array([float(x) for x in P]), impact) for P in compressions]
    if "" in reasons or (not complete and not compressions):
        return ""
    return "; ".join(reasons) if complete else "undecided"


def _restituted(case: Case, compression: Array, impact: Impact) -> str:
    """Whether impulses are a compression and a restitution in one share, which releases what Stronge's law allows."""
    G, gamma = _floats(case)
    total = _impulses(impact)
    more, between = total - compression, gamma + G @ compression
    after, size = gamma + G @ total, 1e-7 * float(np.max(np.abs(gamma)))
    force = 1e-7 * float(np.max(np.abs(total), initial=0.0))
    given = case.e * compression[::2]
    lifted = (after[::2] > size) & (given > force)
    share = float(np.max(more[::2][lifted] / given[lifted])) if lifted.any() else 0.0
    N, T, slip = more[::2], more[1::2], after[1::2]
    if np.any(np.abs(N - share * given)[after[::2] > size] > 10 * force):
        return "impulses of restitution are not in one share"
    if np.any((share * given if lifted.any() else 0.0) - 10 * force > N):
        return "less than the share of restitution"
    if np.any(np.abs(T) > case.mu * N + 10 * force):
        return "restitution beyond Coulomb's cone"
    against = np.where(np.abs(slip) > size, np.abs(T + np.sign(slip) * case.mu * N), 0.0)
    if np.any(against > 10 * force):
        return "friction of restitution is not against the slip"
    stored = np.maximum(-(compression * (gamma + between))[::2] / 2, 0.0)
    released, gained = float(np.sum((more * (between + after))[::2])) / 2, float(total @ (gamma + after)) / 2
    scale = 1e-9 * float(np.abs(compression) @ np.abs(gamma))
    if released > float(case.e**2 @ stored) + scale or gained > scale:
        return "more work of restitution than the law allows"
    # where there are several solutions, the work may jump over what is allowed
    if released < float(case.e**2 @ stored) - scale and gained < -scale and not impact.warnings:
        return "less work of restitution than the law allows"
    return ""


def _kelvin_voigt(case: Case, impact: Impact | None) -> str:
    G, gamma = _floats(case)
    try:
        expected = compliant_velocities(G, _pushed(G, gamma, case.mu), case.mu, case.d, case.kappa)
    except ArithmeticError as error:
        return f"the own computation failed: {error}"
    return _compared(impact, [expected], gamma, _FOLLOWED)


def _spatial(case: Case, impact: Impact | None) -> str:
    G, gamma = _floats(case)
    mu, e, d = float(case.mu[0]), float(case.e[0]), float(case.d[0])
    if case.law == "newton":
        return "undecided" if impact is None else _on_the_cone(case, _impulses(impact), _after(impact))
    if gamma[0] > 0.0 or (gamma[0] == 0.0 and not _dives(G, gamma, mu)):
        return _compared(impact, [gamma], gamma, _EXACT)
    if case.law == "kelvin-voigt":
        expected = spatial_compliant(G, _pushed(G, gamma, case.mu), mu, d)
    else:
        expected = spatial_path(G, gamma, mu, e, law=case.law)
        if expected is not None and expected[0] < -_TURNING * float(np.max(np.abs(gamma))):
            return _compared(impact, [], gamma, _TURNING)  # the law ends in approach
    return "" if expected is None else _compared(impact, [expected], gamma, _TURNING)


def _pushed(G: Array, gamma: Array, mu: Array) -> Array:
    """Velocities from which a contact that slips and would dive does so; without a push it is in equilibrium."""
    if len(mu) > 1 or gamma[0] != 0.0 or not _dives(G, gamma, float(mu[0])):
        return gamma
    return np.array([-_PUSH * float(np.linalg.norm(gamma)), *gamma[1:]])


def _dives(G: Array, gamma: Array, mu: float) -> bool:
    size = float(np.linalg.norm(gamma[1:]))
    return size > 0.0 and float(G[0] @ [1.0, *(-mu * gamma[1:] / size)]) < 0.0


def _on_the_cone(case: Case, P: Array, after: Array) -> str:
    """Newton's law of one spatial contact: the rebound, and friction at its bound against the slip that is left."""
    gamma = _exact_velocities(case)
    size = float(np.max(np.abs(gamma)) + np.max(np.abs(after)))
    rebound, slip = -float(case.e[0]) * min(gamma[0], 0.0), float(np.linalg.norm(after[1:]))
    if P[0] > 0.0 and abs(after[0] - rebound) > _EXACT * size:
        return f"a rebound with {after[0]}, not {rebound}"
    if P[0] == 0.0 and gamma[0] < 0.0:
        return "no impulse though the contact approaches"
    if slip > 1e-6 * size and np.max(np.abs(P[1:] + case.mu[0] * P[0] * after[1:] / slip)) > 1e-6 * np.max(np.abs(P)):
        return "friction is not at its bound against the slip"
    return ""


_ORACLES: dict[str, Callable[[Case, Any], str]] = {
    "newton": _newton,
    "poisson": _poisson,
    "energetic": _energetic,
    "kelvin-voigt": _kelvin_voigt,
}
