"""The contact problem as one linear complementarity problem, and back; friction cones as pyramids, if stated."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.contact.modes import ElementKind
from hybrid.errors import ComputationError
from hybrid.tolerances import CANCELLED, ROUNDING
from lcp import LCP, Lemke, Status, plain_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hybrid.contact.modes import ActiveElement
    from hybrid.contact.problem import ContactProblem

_LEMKE = Lemke()
N_FACETS = 8
_SINGULAR = ROUNDING  # relative; the pivot on a bilateral normal force must be clear of rounding (1e-16)


@attrs.frozen(eq=False)
class ContactLCP:
    """A contact problem as an LCP ``w = M z + q`` and the contact forces that a solution means.

    Attributes
    ----------
    question : lcp.LCP
    force, force_0 : array, (r, n) and (r,)
        Contact forces are ``force @ z + force_0``.
    note : str
        What was approximated.
    """

    question: LCP
    force: NDArray[np.float64]
    force_0: NDArray[np.float64]
    note: str = ""

    def forces(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Contact forces (r,) of a solution (n,)."""
        return np.asarray(self.force @ np.asarray(z, dtype=float) + self.force_0)


@checks_arguments
def to_lcp(problem: ContactProblem) -> LCP:
    """Write the contact problem at one state as an LCP.

    Unknowns: the normal force of every contact, then for every element at rest ``lambda_R = lambda_T + mu lambda_N``,
    then for the same elements ``a_L``, the negative part of the tangential acceleration (Pfeiffer and Glocker 1996,
    section 5.3). A slipping contact contributes its normal row alone, with ``W_N - s mu W_T``. A bilateral contact with
    friction enters by the two complementary parts of its normal force. Sticking is confined by the kinetic coefficient;
    a larger static one is not an LCP.

    Parameters
    ----------
    problem : ContactProblem
        At one state.

    Returns
    -------
    lcp.LCP

    Raises
    ------
    ComputationError
        A spatial contact is at rest (its cone is not polyhedral), or the pivot of a bilateral contact is singular.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import contact_problem, derive, solve_state, to_lcp
    >>> rod = derive(mechanisms.load("rod_on_incline"))
    >>> state = solve_state(rod, {"phi": "pi/2", "phi_dot": 0, "slip.tip": "+0"})
    >>> to_lcp(contact_problem(rod, state)).M.round(12).tolist()
    [[1.0]]
    """
    return planar_lcp(problem).question


@checks_arguments
def contact_forces(problem: ContactProblem, z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Contact forces of a solution of :func:`to_lcp`'s problem.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    z : array, (n,)
        A solution of the LCP.

    Returns
    -------
    array, (r,)
        Forces in the order of the problem's rows.
    """
    return planar_lcp(problem).forces(z)


def planar_lcp(problem: ContactProblem) -> ContactLCP:
    """The LCP of :func:`to_lcp` together with the forces that its solutions mean.

    Parameters
    ----------
    problem : ContactProblem
        At one state.

    Returns
    -------
    ContactLCP

    Raises
    ------
    ComputationError
        As for :func:`to_lcp`.
    """
    return _reduced_lcp(problem, _written(problem))


def end_of_path(problem: ContactProblem) -> tuple[Status, NDArray[np.float64]] | None:
    """Where Lemke's method ends on :func:`to_lcp`'s problem, with the contact forces (r,) there.

    Parameters
    ----------
    problem : ContactProblem
        At one state.

    Returns
    -------
    (lcp.Status, array), or None
        None where the problem has no unknowns.

    Raises
    ------
    ComputationError
        As for :func:`to_lcp`.
    """
    written = _written(problem)
    if not written.slack:
        return None
    found = plain_path(written.slack, written.slack_0) if len(written.columns) == len(written.slack) else None
    if found is not None:
        forces = written.force_0.copy()
        for column, value in zip(written.columns, found[1], strict=True):
            for row, share in column.items():
                forces[row] += share * value
        return found[0], np.array(forces)
    posed = _reduced_lcp(problem, written)
    solution = _LEMKE.solve(posed.question)
    return solution.status, posed.forces(solution.z)


@attrs.frozen(eq=False)
class _Written:
    """The LCP in plain numbers, before the bilateral contacts are eliminated.

    Attributes
    ----------
    columns : list of dict of int to float
        Contact forces, by row, per unknown: z, then the other complementary part of every bilateral normal force.
    force_0 : list of float, (r,)
    slack, slack_0 : list of list of float, list of float
        Complementary variables of z: ``slack @ unknowns + slack_0``.
    """

    columns: list[dict[int, float]]
    force_0: list[float]
    slack: list[list[float]]
    slack_0: list[float]


def _written(problem: ContactProblem) -> _Written:
    elements = problem.elements
    if any(element.is_spatial_at_rest for element in elements):
        raise ComputationError("a spatial contact at rest has a circular friction cone and is not an LCP")
    normals = [element for element in elements if element.normal is not None]
    resting = [element for element in elements if element.is_resting]
    bilateral = [element for element in normals if element.kind is ElementKind.BILATERAL]
    columns, other, force_0 = [], [], [0.0] * problem.n_rows
    for element in normals:
        directions = zip(element.tangential, element.direction or (1.0,), strict=False)
        friction = {row: -component * float(element.friction) for row, component in directions}
        sign = -1.0 if element in bilateral else 1.0
        columns.append({element.rows[0]: sign, **friction})
        if element in bilateral:
            other.append({element.rows[0]: 1.0, **friction})
    columns += [{element.tangential[0]: 1.0} for element in resting]
    for element in elements:
        if element.normal is None:  # a friction element; its force counts from its limit, at rest or slipping
            (component,) = element.direction or (1.0,)
            force_0[element.tangential[0]] = -component * float(element.friction)
    columns += [{} for _ in resting] + other
    G, c = problem.G.tolist(), problem.c.tolist()

    def acceleration(row: int) -> tuple[list[float], float]:
        line = G[row]
        rates = [sum(line[index] * share for index, share in column.items()) for column in columns]
        return rates, sum(map(operator.mul, line, force_0)) + c[row]

    n_z = len(normals) + 2 * len(resting)
    slack, slack_0 = [], []
    for element in normals:
        if element in bilateral:
            rates, rest = [0.0] * len(columns), 0.0
            rates[n_z + bilateral.index(element)] = 1.0
        else:
            rates, rest = acceleration(element.rows[0])
        slack.append(rates)
        slack_0.append(rest)
    # rows a_R = a_T + a_L and lambda_L = 2 mu lambda_N - lambda_R of every force element at rest
    lefts = []
    for index, element in enumerate(resting, start=len(normals)):
        row, left = element.tangential[0], index + len(resting)
        rates, rest = acceleration(row)
        rates[left] += 1.0
        slack.append(rates)
        slack_0.append(rest)
        # the tangential force is lambda_R - mu abs(lambda_N), so its row holds -mu where abs(lambda_N) grows
        lefts.append([-2 * column.get(row, 0.0) for column in columns])
        lefts[-1][index] = -1.0
    limits = [2 * float(element.friction) if element.normal is None else 0.0 for element in resting]
    return _Written(columns, force_0, slack + lefts, slack_0 + limits)


def is_complementarity_problem(problem: ContactProblem) -> NDArray[np.bool_]:
    """Tell at one state or many whether :func:`to_lcp` states the whole problem.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    array of bool, (...)
        False where a element at rest has another static coefficient, a spatial contact is at rest, or the pivot of the
        bilateral contacts is singular.
    """
    known: NDArray[np.bool_] = np.ones((), dtype=bool)
    for element in problem.elements:
        if element.is_resting:
            is_cone_one = np.asarray(element.static_friction == element.friction)
            known = known & is_cone_one & (not element.is_spatial_at_rest)
    bilateral = [element for element in problem.elements if element.kind is ElementKind.BILATERAL]
    if not bilateral:
        return known
    rows = [element.rows[0] for element in bilateral]
    columns = []
    for element in bilateral:
        column = problem.G[..., rows, element.rows[0]]
        for row, component in zip(element.tangential, element.direction or (1.0,), strict=False):
            column = column - np.asarray(component * element.friction)[..., None] * problem.G[..., rows, row]
        columns.append(column)
    return known & _is_regular(np.stack(np.broadcast_arrays(*columns), axis=-1))


def _is_regular(pivot: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether the forces of bilateral contacts can be eliminated, whatever their units."""
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = pivot / np.linalg.norm(pivot, axis=-1, keepdims=True)
        scaled = scaled / np.linalg.norm(scaled, axis=-2, keepdims=True)
    finite = np.isfinite(scaled).all(axis=(-2, -1))
    return np.asarray(finite & (np.linalg.cond(np.where(finite[..., None, None], scaled, 0.0)) * _SINGULAR <= 1.0))


def _reduced_lcp(problem: ContactProblem, written: _Written) -> ContactLCP:
    """In arrays, with ``a_N = 0`` of the bilateral contacts solved for one part of their normal forces."""
    n_z, n_unknowns = len(written.slack), len(written.columns)
    force = np.zeros((problem.n_rows, n_unknowns))
    for index, column in enumerate(written.columns):
        for row, share in column.items():
            force[row, index] = share
    slack, slack_0 = np.array(written.slack).reshape(n_z, n_unknowns), np.array(written.slack_0)
    force_0 = np.array(written.force_0)
    rows = [c.rows[0] for c in problem.elements if c.kind is ElementKind.BILATERAL]
    if not rows:
        return ContactLCP(LCP(slack, slack_0), force, force_0)
    normal = problem.G[rows] @ force
    normal_0 = problem.G[rows] @ force_0 + problem.c[rows]
    pivot = normal[:, n_z:]
    if not _is_regular(pivot):
        raise ComputationError("the normal forces of the bilateral contacts cannot be eliminated: singular pivot")
    u, u_0 = -np.linalg.solve(pivot, normal[:, :n_z]), -np.linalg.solve(pivot, normal_0)
    return ContactLCP(
        LCP(_reduced(slack[:, :n_z], slack[:, n_z:], u), slack_0 + slack[:, n_z:] @ u_0),
        force[:, :n_z] + force[:, n_z:] @ u,
        force_0 + force[:, n_z:] @ u_0,
    )


def _reduced(kept: NDArray[np.float64], lost: NDArray[np.float64], u: NDArray[Any]) -> NDArray[np.float64]:
    """``kept + lost u``, exactly zero where only rounding is left: rails may block a contact, which no force moves."""
    sizes = np.abs(kept) + np.abs(lost) @ np.abs(u)
    found = kept + lost @ u
    return np.asarray(np.where(np.abs(found) <= CANCELLED * sizes, 0.0, found))


def contact_lcp(problem: ContactProblem, *, axes: Mapping[str, float] | None = None) -> ContactLCP:
    """Write any contact problem as an LCP, friction cones of spatial contacts at rest replaced by pyramids.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    axes : mapping of str to float, optional
        As for :func:`pyramid_lcp`.

    Returns
    -------
    ContactLCP
        With a note where a cone was replaced.

    Raises
    ------
    ComputationError
        A bilateral contact with friction takes part next to a spatial contact at rest, or its pivot is singular.
    """
    if any(element.is_spatial_at_rest for element in problem.elements):
        return pyramid_lcp(problem, axes=axes)
    return planar_lcp(problem)


def pyramid_lcp(
    problem: ContactProblem, *, n_facets: int = N_FACETS, axes: Mapping[str, float] | None = None
) -> ContactLCP:
    """Write a contact problem with spatial contacts at rest as an LCP over friction pyramids.

    For each element at rest, ``lambda_T = D beta`` with ``beta >= 0`` along the facets' directions and a multiplier
    ``sigma`` for ``mu lambda_N - sum(beta) >= 0`` (Stewart and Trinkle 1996, on the acceleration level).

    Parameters
    ----------
    problem : ContactProblem
        At one state; no bilateral contact with friction.
    n_facets : int, default 8
        Directions per spatial contact; the pyramid lies inside the cone and loses ``1 - cos(pi/n_facets)`` of the
        friction force between two directions (7.6 % for 8).
    axes : mapping of str to float, optional
        Angle of the first direction of a contact's pyramid, on which nothing is lost; 0 where it is not given.

    Returns
    -------
    ContactLCP

    Raises
    ------
    ComputationError
        A bilateral contact with friction takes part.
    """
    if any(element.kind is ElementKind.BILATERAL for element in problem.elements):
        raise ComputationError("spatial contacts at rest together with bilateral friction are not supported")
    columns: list[NDArray[np.float64]] = []  # forces per unknown
    rows: list[tuple[str, ActiveElement, int]] = []  # what each unknown's slack is
    force_0 = np.zeros(problem.n_rows)
    for element in problem.elements:
        if element.normal is not None:
            column = np.zeros(problem.n_rows)
            column[element.normal] = 1.0
            if element.direction is not None:
                column[list(element.tangential)] = -np.array(element.direction, dtype=float) * element.friction
            rows.append(("normal", element, len(columns)))
            columns.append(column)
        elif element.direction is not None:
            force_0[element.tangential[0]] = -element.direction[0] * float(element.friction)
        if element.is_resting:
            for direction in facets(len(element.tangential), n_facets, (axes or {}).get(element.name, 0.0)):
                column = np.zeros(problem.n_rows)
                column[list(element.tangential)] = direction
                rows.append(("facet", element, len(columns)))
                columns.append(column)
            rows.append(("limit", element, len(columns)))
            columns.append(np.zeros(problem.n_rows))
    force = np.stack(columns, axis=-1)
    note = f"friction cones approximated by pyramids of {n_facets} facets"
    return ContactLCP(_assemble(problem, rows, force, force_0), force, force_0, note)


def facets(dimension: int, n_facets: int, first: float = 0.0) -> list[NDArray[np.float64]]:
    """Unit vectors towards the facets of a friction pyramid, or to both sides in the plane.

    Parameters
    ----------
    dimension : int
        1 or 2.
    n_facets : int
        In space.
    first : float, default 0
        Angle of the first.

    Returns
    -------
    list of array, (dimension,)
    """
    if dimension == 1:
        return [np.array([1.0]), np.array([-1.0])]
    angles = first + 2 * np.pi * np.arange(n_facets) / n_facets
    return [np.array([np.cos(angle), np.sin(angle)]) for angle in angles]


def _assemble(
    problem: ContactProblem,
    rows: list[tuple[str, ActiveElement, int]],
    force: NDArray[np.float64],
    force_0: NDArray[np.float64],
) -> LCP:
    n = len(rows)
    M, q = np.zeros((n, n)), np.zeros(n)
    response, free = problem.G @ force, problem.G @ force_0 + problem.c
    for kind, element, index in rows:
        if kind == "limit":
            facets = [i for k, c, i in rows if k == "facet" and c is element]
            M[index, facets] = -1.0
            if element.normal is None:
                q[index] = float(element.friction)
            else:
                normal = next(i for k, c, i in rows if k == "normal" and c is element)
                M[index, normal] = float(element.friction)
            continue
        M[index] = force[:, index] @ response if kind == "facet" else response[element.normal]
        q[index] = force[:, index] @ free if kind == "facet" else free[element.normal]
        if kind == "facet":
            limit = next(i for k, c, i in rows if k == "limit" and c is element)
            M[index, limit] = 1.0
    return LCP(M, q)
