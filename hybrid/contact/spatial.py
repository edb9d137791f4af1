"""One spatial contact at rest: sticking inside the circular cone, and every direction of incipient slip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.candidates import Candidate, CandidateStatus, candidate, mode_combinations, status_of
from hybrid.contact.conditions import Scale, conditions
from hybrid.contact.modes import ActiveElement, ContactMode, ModeConditions, Row, mode_conditions
from hybrid.tolerances import CANCELLED, CLEAR, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hybrid.contact.problem import ContactProblem
    from hybrid.tolerances import Tolerances


DISC = "abs(lambda_T) <= mu lambda_N"
"""The law of the disc, and what stands for it in a polygon."""

N_POLYGON = 16
"""Of the polygon around the disc of friction, whose corners stand out by 2 %."""


def polygon_of(element: ActiveElement, friction: float, n_facets: int) -> Iterator[Row]:
    """Conditions that a force lies inside of a polygon around the disc of friction.

    Parameters
    ----------
    element : ActiveElement
        A spatial contact at rest.
    friction : float
        Coefficient that belongs to the disc.
    n_facets : int

    Yields
    ------
    Row
    """
    normal, first, second = element.rows
    for angle in 2 * np.pi * np.arange(n_facets) / n_facets:
        yield Row(DISC, beta={normal: friction, first: -float(np.cos(angle)), second: -float(np.sin(angle))})


def disc_slack(element: ActiveElement, forces: NDArray[np.float64], scale: Scale) -> tuple[float, float]:
    """By how much a force lies inside of the disc of friction.

    Parameters
    ----------
    element : ActiveElement
        A spatial contact at rest.
    forces : array, (r,)
    scale : Scale

    Returns
    -------
    float, float
        In units of force, and the unit in which it is of order one.
    """
    normal, first, second = element.rows
    value = float(element.static_friction * forces[normal] - np.hypot(forces[first], forces[second]))
    return value, float(scale.size / scale.row[normal]) * max(1.0, float(element.static_friction))


_STEPS = 3  # of Newton's method, from roots that are known to 1e-6
_ON_CIRCLE = CLEAR  # a double root leaves the circle by the square root of rounding, 1.5e-8
_NEAR_CIRCLE = 1e-4
_VANISHING = CANCELLED
_SCAN = 64
_SINGULAR = 1e12
_BLOCKED = ROUNDING  # of what cancelled: a mobility that is rounding
_AGAINST = CLEAR  # of the largest mobility: acceleration against the slip, far above rounding


def resting_spatial_candidates(problem: ContactProblem, scale: Scale, tolerances: Tolerances) -> tuple[Candidate, ...]:
    """Every mode of a problem in which exactly one spatial contact is at rest.

    Sticking is tested against the circular cone. Slip may start in the directions ``u`` with ``lambda_T = -mu lambda_N
    u`` and ``a_T`` parallel to ``u``: the roots on the unit circle of a trigonometric polynomial of degree two, of
    which there are at most four, all found as eigenvalues.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    scale : Scale
    tolerances : Tolerances

    Returns
    -------
    tuple of Candidate
    """
    spatial = next(element for element in problem.elements if element.is_spatial_at_rest)
    found: list[Candidate] = []
    for modes in mode_combinations(problem):
        item = candidate(problem, modes, scale, tolerances)
        label = modes[problem.elements.index(spatial)].label
        if label is ContactMode.STICK and item.status is CandidateStatus.FAMILY:
            item = _family_inside_cone(problem, modes, spatial, scale, tolerances)
        elif label is ContactMode.STICK:
            item = _inside_cone(item, spatial, scale, tolerances)
        found.append(item)
        if label is ContactMode.FREE and not spatial.is_smooth:  # else the mode of no friction says it all
            found.extend(_incipient_slides(problem, modes, spatial, scale, tolerances))
    return tuple(found)


def _with_slack(
    item: Candidate, label: tuple[str, str], value: float, unit: float, tolerances: Tolerances
) -> Candidate:
    """Add an inequality that is not linear in the forces."""
    slacks, weights = (*item.scaled_slacks, value / unit), (*item.weights, unit / item.size)
    status = item.status
    if status in (CandidateStatus.CONSISTENT, CandidateStatus.MARGINAL):
        status = status_of(slacks, max(item.limit, tolerances.sign))
    further = (*item.further, label)
    return attrs.evolve(item, further=further, scaled_slacks=slacks, weights=weights, status=status)


def _inside_cone(item: Candidate, spatial: ActiveElement, scale: Scale, tolerances: Tolerances) -> Candidate:
    return _with_slack(item, (spatial.name, DISC), *disc_slack(spatial, item.forces, scale), tolerances)


def _family_inside_cone(
    problem: ContactProblem,
    modes: Sequence[ModeConditions],
    spatial: ActiveElement,
    scale: Scale,
    tolerances: Tolerances,
) -> Candidate:
    """Undetermined forces of a sticking contact: those inside of the inscribed pyramid, which are inside of the cone.

    Where there are none, and the circumscribed pyramid does not exclude them, the mode is left open.
    """
    inner, outer = (
        candidate(problem, tuple(_within(mode, spatial, share) for mode in modes), scale, tolerances)
        for share in (np.cos(np.pi / N_POLYGON), 1.0)
    )
    if inner.status is CandidateStatus.FAMILY or outer.status is CandidateStatus.REFUTED:
        return inner
    return attrs.evolve(inner, status=CandidateStatus.ESCAPING)


def _within(mode: ModeConditions, spatial: ActiveElement, share: float) -> ModeConditions:
    """A mode of the spatial contact with its forces inside of a pyramid that touches the cone reduced to a share."""
    if mode.element is not spatial:
        return mode
    facets = polygon_of(spatial, share * float(spatial.static_friction), N_POLYGON)
    return attrs.evolve(mode, inequalities=(*mode.inequalities, *facets))


def _incipient_slides(
    problem: ContactProblem,
    modes: Sequence[ModeConditions],
    spatial: ActiveElement,
    scale: Scale,
    tolerances: Tolerances,
) -> list[Candidate]:
    reduced = _reduced_to(problem, modes, spatial, scale)
    if reduced is None:
        return []
    G, c, G_size, c_size = reduced
    mu = float(spatial.friction)
    line = _line_of_motion(G, c, G_size, c_size)
    angles, is_every, is_close = slip_directions(G, c, mu) if line is None else (line, False, [])
    if is_every:
        angles = np.linspace(0.0, 2 * np.pi, _SCAN, endpoint=False)
    slides = [
        _without_spurious(_slide(problem, modes, spatial, angle, scale, tolerances), G, mu, angle) for angle in angles
    ]
    if is_every:
        worst = max(slides, key=lambda item: item.least)
        slides = [
            worst if worst.status is CandidateStatus.REFUTED else attrs.evolve(worst, status=CandidateStatus.ESCAPING)
        ]
    slides += [
        attrs.evolve(item, status=CandidateStatus.ESCAPING)
        for angle in is_close
        if (item := _slide(problem, modes, spatial, angle, scale, tolerances)).status is not CandidateStatus.REFUTED
    ]
    return slides


def _without_spurious(item: Candidate, G: NDArray[np.float64], mu: float, angle: float) -> Candidate:
    """A slip whose equations are singular is refuted where the huge forces that are near would stop it, not begin it.

    Per normal force the acceleration is ``A = G (1, -mu u)``. Where ``A_N = 0`` and ``G`` is positive definite,
    ``-mu u . A_T = (1, -mu u) . A > 0``: whatever the sign of a small ``A_N``, a large force accelerates against the
    slip. All such directions are roots of the polynomial if the mass is alike in all directions of the surface.
    """
    if item.status is not CandidateStatus.ESCAPING:
        return item
    u = np.array([np.cos(angle), np.sin(angle)])
    along = float(u @ (G[1:] @ np.array([1.0, *(-mu * u)])))
    return attrs.evolve(item, status=CandidateStatus.REFUTED) if along < -_AGAINST * np.max(np.abs(G)) else item


def _reduced_to(
    problem: ContactProblem, modes: Sequence[ModeConditions], spatial: ActiveElement, scale: Scale
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float] | None:
    """Delassus operator and free acceleration of one contact, the others following their modes; in physical units.

    With both come the sizes of what was added up for them, against which a zero is judged.
    """
    mode = conditions(problem, modes, scale)
    rows = [row for element in problem.elements if element is not spatial for row in element.rows]
    own = list(spatial.rows)
    G, c = problem.G[np.ix_(own, own)], problem.c[own]
    G_size, c_size = float(np.max(np.abs(G))), np.abs(c)
    if not rows:
        return G, c, G_size, float(np.max(c_size))
    E = mode.E * (scale.row / scale.size)
    E_oo, E_os = E[np.ix_(rows, rows)], E[np.ix_(rows, own)]
    if np.linalg.cond(E_oo * scale.size / scale.row[rows]) > _SINGULAR:
        return None
    follow, offset = -np.linalg.solve(E_oo, E_os), -np.linalg.solve(E_oo, mode.e[rows])
    others = problem.G[np.ix_(own, rows)]
    c_size = c_size + np.abs(others) @ np.abs(offset)
    return G + others @ follow, c + others @ offset, G_size, float(np.max(c_size))


def _line_of_motion(
    G: NDArray[np.float64], c: NDArray[np.float64], G_size: float, c_size: float
) -> NDArray[np.float64] | None:
    """The two angles in which a closed contact can slip that others hold on a line; none where they hold it at rest.

    Elsewhere, None. Forces at the edge of the cone that leave it at rest are among those of sticking, not of a slip.
    """
    ratio = G[1:, 0] / G[0, 0] if G[0, 0] > _BLOCKED * G_size else np.zeros(2)
    mobility, free = G[1:, 1:] - np.outer(ratio, G[0, 1:]), c[1:] - ratio * c[0]
    size = 1.0 + np.max(np.abs(ratio))
    columns = np.column_stack([mobility / (size * G_size or 1.0), free / (size * c_size or 1.0)])
    along, singular, _ = np.linalg.svd(columns)
    if singular[1] > _BLOCKED:
        return None
    if singular[0] <= _BLOCKED:
        return np.zeros(0)
    angle = np.arctan2(along[1, 0], along[0, 0])
    return np.array([angle, angle + np.pi])


_ORDERS = np.arange(2, -3, -1)


@attrs.frozen(eq=False)
class Misalignment:
    """``u x (c + B u)`` of a unit vector ``u``, by its angle: a polynomial of degree 4 in ``exp(i angle)``.

    Attributes
    ----------
    coefficients : array of complex, (5,)
        Of ``exp(2i angle)`` and so on to ``exp(-2i angle)``.
    """

    coefficients: NDArray[np.complex128]

    @classmethod
    def of(cls, c: NDArray[np.float64], B: NDArray[np.float64]) -> Misalignment:
        """For an acceleration ``c + B u``, (2,) and (2, 2)."""
        # u x (c + B u) = c2 cos - c1 sin + m + p cos 2 + q sin 2
        m, p, q = (B[1, 0] - B[0, 1]) / 2, (B[1, 0] + B[0, 1]) / 2, (B[1, 1] - B[0, 0]) / 2
        first, second = (c[1] + 1j * c[0]) / 2, (p - 1j * q) / 2
        return cls(np.array([second, first, m, np.conj(first), np.conj(second)]))

    def value(self, angles: NDArray[np.float64], *, derivative: int = 0) -> NDArray[np.float64]:
        """The cross product at angles, or its derivative."""
        powers = np.exp(1j * np.multiply.outer(angles, _ORDERS))
        return np.asarray((powers @ ((1j * _ORDERS) ** derivative * self.coefficients)).real)

    def roots(self, negligible: float) -> NDArray[np.complex128]:
        """Values of ``exp(i angle)``, of any size, at which it vanishes; negligible coefficients count as 0."""
        return np.asarray(np.roots(np.where(np.abs(self.coefficients) <= negligible, 0.0, self.coefficients)))

    def refined(
        self, angles: NDArray[np.float64], *, steps: int, flat: float = 0.0, exact: float = 0.0
    ) -> NDArray[np.float64]:
        """Angles of zeros by Newton's method, which leaves those that are exact or at which the slope is flat."""
        for _ in range(steps):
            value, slope = self.value(angles), self.value(angles, derivative=1)
            moves = (np.abs(slope) > flat) & (np.abs(value) > exact)
            if not moves.any():
                break
            angles = angles - np.where(moves, value / np.where(slope == 0.0, 1.0, slope), 0.0)
        return angles


def slip_directions(
    G: NDArray[np.float64], c: NDArray[np.float64], mu: float
) -> tuple[NDArray[np.float64], bool, list[float]]:
    """Angles of aligned slip of one contact: ``a_T`` parallel to ``u``, ``lambda_T = -mu lambda_N u``, ``a_N = 0``.

    Parameters
    ----------
    G : array, (3, 3)
        Delassus operator, the normal row first.
    c : array, (3,)
        Free acceleration.
    mu : float

    Returns
    -------
    angles : array, (k,)
        Of at most four directions (rad).
    is_every : bool
        Whether every direction is aligned.
    is_close : list of float
        Angles where a root is nearly double.
    """
    # times the sliding inertia: A a_T with lambda_N = -c_N / A and A = G_NN - mu u . G_NT
    turned = Misalignment.of(G[0, 0] * c[1:] - c[0] * G[1:, 0], mu * (c[0] * G[1:, 1:] - np.outer(c[1:], G[0, 1:])))
    size = (1.0 + mu) * np.max(np.abs(G)) * np.max(np.abs(c), initial=0.0)
    largest = np.max(np.abs(turned.coefficients))
    if largest <= _VANISHING * size:
        return np.zeros(0), True, []
    roots = turned.roots(_VANISHING * largest)
    off = np.abs(np.abs(roots) - 1.0)
    angles = turned.refined(np.angle(roots[off <= _ON_CIRCLE]), steps=_STEPS, flat=CLEAR * size)
    close = np.angle(roots[(off > _ON_CIRCLE) & (off <= _NEAR_CIRCLE)])
    return angles, False, [float(angle) for angle in close]


def _slide(
    problem: ContactProblem,
    modes: Sequence[ModeConditions],
    spatial: ActiveElement,
    angle: float,
    scale: Scale,
    tolerances: Tolerances,
) -> Candidate:
    u = (float(np.cos(angle)), float(np.sin(angle)))
    moving = attrs.evolve(spatial, direction=u)
    slide = next(mode for mode in mode_conditions(moving) if mode.label is ContactMode.SLIDE)
    combination = tuple(slide if mode.element is spatial else mode for mode in modes)
    item = candidate(problem, combination, scale, tolerances)
    if not np.isfinite(item.forces).all():
        return item
    rows = list(spatial.tangential)
    a_T = problem.G[rows] @ item.forces + problem.c[rows]
    unit = float(scale.size * np.max(scale.row[rows]))
    label = (spatial.name, "a_T in the direction of slip")
    return _with_slack(item, label, float(a_T @ np.array(u)), unit, tolerances)
