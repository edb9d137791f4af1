"""Random planar contact problems, made without a mechanism."""

from __future__ import annotations

import numpy as np

from hybrid.contact.modes import ActiveElement, ElementKind
from hybrid.contact.problem import ContactProblem
from hybrid.dynamics.equations import Terms


def random_problem(rng: np.random.Generator, *, n_contacts: int | None = None) -> ContactProblem:
    """One to three planar contacts, friction up to 3, any mixture of slip and rest; G positive definite."""
    count = int(rng.integers(1, 4)) if n_contacts is None else n_contacts
    r = 2 * count
    directions = rng.normal(size=(r + 1, r))
    G = directions.T @ directions
    elements = []
    for index in range(count):
        side = rng.choice([-1.0, 0.0, 1.0])
        mu = float(rng.uniform(0, 3))
        elements.append(
            ActiveElement(
                f"c{index}", ElementKind.CONTACT, 2 * index, (2 * index + 1,), (side,) if side else None, mu, mu
            )
        )
    return problem_from(G, rng.normal(size=r), elements)


def problem_from(G: np.ndarray, c: np.ndarray, elements: list[ActiveElement]) -> ContactProblem:
    """A contact problem with given Delassus operator and free accelerations.

    It belongs to a mechanism with ``M = 1``, so that ``W W^T = G`` with ``W`` the square root of ``G``.
    """
    r = len(c)
    values, vectors = np.linalg.eigh(np.asarray(G, dtype=float))
    # an eigenvalue that is rounding is that of directions that depend on each other: its root would tell them apart
    known = np.where(values > len(c) * np.finfo(float).eps * values[-1], values, 0.0)
    W = (vectors * np.sqrt(known)) @ vectors.T
    return ContactProblem(
        mechanism="random",
        elements=tuple(elements),
        names=tuple(element.name for element in elements),
        G=np.asarray(G, dtype=float),
        c=np.asarray(c, dtype=float),
        rounding=np.zeros(r),
        W=W,
        a_free=np.zeros(r),
        response_W=W,
        columns={element.name: slice(index, index + 1) for index, element in enumerate(elements)},
        redundancy=0,
        inconsistency=0.0,
        terms=_terms(W, np.asarray(c, dtype=float), elements),
    )


def _terms(W: np.ndarray, c: np.ndarray, elements: list[ActiveElement]) -> Terms:
    normals = [element.normal for element in elements if element.normal is not None]
    tangents = [row for element in elements for row in element.tangential]
    n, k = len(c), len(normals)
    empty = np.zeros(0)
    return Terms(
        M=np.eye(n),
        h=np.zeros(n),
        gap=np.zeros(k),
        gap_dot=np.zeros(k),
        zeta_N=c[normals],
        W_N=W[:, normals],
        slip=np.zeros(len(tangents)),
        zeta_T=c[tangents],
        W_T=W[:, tangents],
        constraint=empty,
        constraint_dot=empty,
        zeta_B=empty,
        J=np.zeros((0, n)),
        friction=np.array([float(element.friction) for element in elements]),
        static_friction=np.array([float(element.static_friction) for element in elements]),
        restitution=np.zeros(k),
        damping=np.zeros(k),
        stiffness_ratio=np.ones(k),
        limit=empty,
        static_limit=empty,
        constraint_friction=empty,
        mean_T=np.zeros(len(tangents)),
    )
