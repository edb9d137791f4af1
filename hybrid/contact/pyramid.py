"""Several spatial contacts at rest: the friction cones replaced by pyramids, as a stated approximation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.active_elements import ActiveElement, ElementKind
from hybrid.contact.complementarity import ContactLCP, planar_lcp
from hybrid.errors import ComputationError
from lcp import LCP

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem

N_FACETS = 8


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
            for direction in _facets(len(element.tangential), n_facets, (axes or {}).get(element.name, 0.0)):
                column = np.zeros(problem.n_rows)
                column[list(element.tangential)] = direction
                rows.append(("facet", element, len(columns)))
                columns.append(column)
            rows.append(("limit", element, len(columns)))
            columns.append(np.zeros(problem.n_rows))
    force = np.stack(columns, axis=-1)
    note = f"friction cones approximated by pyramids of {n_facets} facets"
    return ContactLCP(_assemble(problem, rows, force, force_0), force, force_0, note)


def _facets(dimension: int, n_facets: int, first: float) -> list[NDArray[np.float64]]:
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
