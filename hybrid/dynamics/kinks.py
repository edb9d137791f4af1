"""Kinks of surfaces: where a gap or a rigid constraint is continuous, and its direction is not. Jumps of loads.

A body that a surface guides over a kink meets it with a velocity: an impact, of which smooth equations know nothing.
Where the slip of a surface jumps, as on a belt that is switched on, no force with a limit gives a body its velocity.
Where a load jumps, its value at the jump itself, as ``sign(0) = 0``, is that of neither side.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError
from hybrid.expressions import (
    Builder,
    compile_kernel,
    jacobian,
    roundings,
    switches,
    sympy_expressions,
    vanishes_with,
)

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State
    from hybrid.expressions import Graph, Kernel, Nodes, Switch

__all__ = [
    "LoadJump",
    "LoadJumps",
    "SurfaceKinks",
    "check_surfaces",
    "kink_at",
    "kink_sentence",
    "load_jumps",
    "surface_kinks",
]

Array = NDArray[np.float64]

_ROUNDED = 8 * float(np.finfo(np.float64).eps)  # of the terms of what vanishes at a kink


@attrs.frozen(eq=False)
class SurfaceKinks:
    """Quantities at whose zeros surfaces have kinks, or jump; made by :func:`surface_kinks`.

    Attributes
    ----------
    names : tuple of str, length z
        The force element of each.
    """

    names: tuple[str, ...]
    _kernel: Kernel = attrs.field(repr=False)

    def values(self, dynamics: Dynamics, q: Array, t: Any) -> Array:
        """The quantities at postures.

        Parameters
        ----------
        dynamics : Dynamics
        q : array, (..., n)
        t : array_like, (...)

        Returns
        -------
        array, (..., z)
        """
        return np.asarray(self._evaluated(dynamics, q, t)["values"])

    def are_met(self, dynamics: Dynamics, q: Array, t: Any, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where postures lie on kinks, to rounding, of rigid constraints and of contacts that are closed.

        Parameters
        ----------
        dynamics : Dynamics
        q : array, (..., n)
        t : array_like, (...)
        closed : array of bool, (..., k)

        Returns
        -------
        array of bool, (..., z)
        """
        found, contacts = self._evaluated(dynamics, q, t), dynamics.contacts
        is_zero = np.abs(found["values"]) <= _ROUNDED * found["roundings"]
        are_kept = [closed[..., contacts.index(k)] if k in contacts else np.True_ for k in self.names]
        kept = np.stack(np.broadcast_arrays(*are_kept), axis=-1)
        return np.asarray(is_zero & (found["changes"] != 0.0) & kept)

    def _evaluated(self, dynamics: Dynamics, q: Array, t: Any) -> dict[str, Array]:
        with np.errstate(all="ignore"):
            return self._kernel(dynamics.kernel_arguments(q, np.zeros(dynamics.n), t))


def surface_kinks(dynamics: Dynamics) -> SurfaceKinks | None:
    """Where the gaps and rigid constraints of a mechanism have kinks, and where slips jump.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    SurfaceKinks or None
        None for smooth surfaces. A kink that changes no direction, as of ``x*abs(x)``, is none.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, mechanism_from_toml
    >>> text = mechanisms.path("rod_on_incline").read_text(encoding="utf-8")
    >>> surface_kinks(derive(mechanism_from_toml(text))) is None
    True
    >>> surface_kinks(derive(mechanism_from_toml(text.replace('"tip_y"', '"tip_y - max(tip_x, 0)"')))).names
    ('tip',)
    """
    return dynamics.once(_surface_kinks)


def kink_at(dynamics: Dynamics, q: Array, t: float, closed: NDArray[np.bool_]) -> str | None:
    """The first surface that has a kink at a posture.

    Parameters
    ----------
    dynamics : Dynamics
    q : array, (n,)
    t : float
    closed : array of bool, (k,)
        Contacts that count; rigid constraints do in any case.

    Returns
    -------
    str or None
    """
    kinks = surface_kinks(dynamics)
    if kinks is None:
        return None
    met = np.broadcast_to(kinks.are_met(dynamics, q, t, closed), len(kinks.names)).tolist()
    return next(itertools.compress(kinks.names, met), None)


def kink_sentence(name: str) -> str:
    """Why nothing is decided at a kink.

    Parameters
    ----------
    name : str
        Of the surface.

    Returns
    -------
    str

    Examples
    --------
    >>> kink_sentence("floor")
    "'floor' has a kink there, where its direction or its speed jumps: take a state beside it"
    """
    return f"{name!r} has a kink there, where its direction or its speed jumps: take a state beside it"


def check_surfaces(dynamics: Dynamics, state: State, closed: NDArray[np.bool_]) -> None:
    """Refuse a state at a kink of a surface.

    Parameters
    ----------
    dynamics : Dynamics
    state : State
    closed : array of bool, (k,)
        Contacts that are closed.

    Returns
    -------
    None
        None of these, and no rigid constraint, has a kink there.

    Raises
    ------
    ComputationError
    """
    kinked = kink_at(dynamics, state.q, state.t, closed)
    if kinked is not None:
        raise ComputationError(f"{dynamics.name}: {kink_sentence(kinked)}")


@attrs.frozen(eq=False)
class LoadJump:
    """A load that jumps at a state.

    Attributes
    ----------
    coordinate : str
        Whose generalized force it is.
    quantity : str
        What vanishes there, as a text.
    slope : array, (2n,)
        Its derivative with respect to ``(q, v)``.
    rate : float
        Its derivative with respect to time.
    """

    coordinate: str
    quantity: str
    slope: Array
    rate: float

    @property
    def sentence(self) -> str:
        """What a verdict there rests on."""
        return (
            f"the load of {self.coordinate} jumps where {self.quantity} = 0, as here: it is taken at the jump itself, "
            "and beside it other modes may hold"
        )


@attrs.frozen(eq=False)
class LoadJumps:
    """Quantities at whose zeros loads jump; made by :func:`load_jumps`.

    Attributes
    ----------
    coordinates : tuple of str, length z
        Whose generalized force jumps.
    """

    coordinates: tuple[str, ...]
    _graph: Graph = attrs.field(repr=False)
    _quantities: Nodes = attrs.field(repr=False)
    _kernel: Kernel = attrs.field(repr=False)

    def met(self, dynamics: Dynamics, q: Array, v: Array, t: float, errors: Array | float = 0.0) -> list[LoadJump]:
        """The loads that jump at a state.

        Parameters
        ----------
        dynamics : Dynamics
        q, v : array, (n,)
        t : float
        errors : array, (2n,), optional
            How far off the state may be; its rounding counts in any case.

        Returns
        -------
        list of LoadJump
        """
        with np.errstate(all="ignore"):
            found = self._kernel(dynamics.kernel_arguments(q, v, t))
        slopes = found["slopes"].reshape(len(self.coordinates), -1)
        near = _ROUNDED * found["roundings"] + np.abs(slopes[:, :-1]) @ np.broadcast_to(errors, 2 * len(q))
        places = np.flatnonzero((np.abs(found["values"]) <= near) & (found["changes"] != 0.0)).tolist()
        texts = sympy_expressions(self._graph, self._quantities[places].tolist()) if places else []
        return [
            LoadJump(self.coordinates[place], str(text), slopes[place, :-1], float(slopes[place, -1]))
            for place, text in zip(places, texts, strict=True)
        ]


def load_jumps(dynamics: Dynamics) -> LoadJumps | None:
    """Where the loads of a mechanism jump.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    LoadJumps or None
        None where no load jumps, as none of ``v*abs(v)`` does.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, mechanism_from_toml
    >>> text = mechanisms.path("bouncing_ball").read_text(encoding="utf-8")
    >>> load_jumps(derive(mechanism_from_toml(text + '[forces]\\ny = "-y_dot*abs(y_dot)"'))) is None
    True
    >>> ball = derive(mechanism_from_toml(text + '[forces]\\ny = "2 - sign(y_dot)"'))
    >>> [jump.quantity for jump in load_jumps(ball).met(ball, np.ones(1), np.zeros(1), 0.0)]
    ['y_dot']
    """
    return dynamics.once(_load_jumps)


def _load_jumps(dynamics: Dynamics) -> LoadJumps | None:
    build, equations = Builder(dynamics.equations.graph), dynamics.equations
    loads = zip(dynamics.mechanism.coordinates, equations.h.tolist(), strict=True)
    found = [(name, item) for name, load in loads for item in switches(build, [load]) if item.is_jump]
    coordinates, asked = _changing(build, found)
    if not coordinates:
        return None
    asked["slopes"] = jacobian(build, asked["values"], equations.state).ravel()
    graph = build.graph()
    return LoadJumps(coordinates, graph, asked["values"], compile_kernel(graph, asked, equations.arguments))


def _surface_kinks(dynamics: Dynamics) -> SurfaceKinks | None:
    build, equations = Builder(dynamics.equations.graph), dynamics.equations
    named = [
        *zip(dynamics.contacts, equations.gap, strict=True),
        *zip(dynamics.rigid, equations.constraint, strict=True),
    ]
    found = [(name, item) for name, surface in named for item in switches(build, [surface], equations.state)]
    for name, columns in dynamics.columns.items():  # a slip is a rate: where it bends no velocity jumps
        slip = [*equations.slip[columns], *equations.W_T[:, columns].flat]  # at rest, too, where its rate is zero
        found += [(name, item) for item in switches(build, slip, equations.state) if item.is_jump]
    graph, moving = build.graph(), {*dynamics.mechanism.coordinates, "t"}
    names, asked = _changing(build, [item for item in found if graph.names([item[1].quantity]) & moving])
    return SurfaceKinks(names, compile_kernel(build.graph(), asked, equations.arguments)) if names else None


def _changing(build: Builder, named: list[tuple[str, Switch]]) -> tuple[tuple[str, ...], dict[str, Nodes]]:
    """Whose switches change something where their quantities vanish, and the nodes that tell where that is."""
    changes = [build.replaced(item.weight, {item.quantity: build.number(0)}) for _, item in named]
    kept = [place for place, (_, item) in enumerate(named) if not vanishes_with(build, item.weight, item.quantity)]
    quantities = np.array([named[place][1].quantity for place in kept], dtype=int)
    asked = {"values": quantities, "changes": np.array(changes, dtype=int)[kept]}
    return tuple(named[place][0] for place in kept), {**asked, "roundings": roundings(build, quantities)}
