"""Kinks of surfaces: where a gap or a rigid constraint is continuous, and its direction is not.

A body that a surface guides over a kink meets it with a velocity: an impact, of which smooth equations know nothing.
Where the slip of a surface jumps, as on a belt that is switched on, no force with a limit gives a body its velocity.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError
from hybrid.expressions import Builder, compile_kernel, roundings, switches

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.state import State
    from hybrid.expressions import Kernel

__all__ = ["SurfaceKinks", "check_surfaces", "kink_at", "kink_sentence", "surface_kinks"]

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


def _surface_kinks(dynamics: Dynamics) -> SurfaceKinks | None:
    build, equations = Builder(dynamics.equations.graph), dynamics.equations
    names, quantities, changes = list[str](), list[int](), list[int]()
    named = [
        *zip(dynamics.contacts, equations.gap, strict=True),
        *zip(dynamics.rigid, equations.constraint, strict=True),
    ]
    surfaces = [(name, switches(build, [surface], equations.state)) for name, surface in named]
    for name, columns in dynamics.columns.items():  # a slip is a rate: where it bends no velocity jumps
        slip = [*equations.slip[columns], *equations.W_T[:, columns].flat]  # at rest, too, where its rate is zero
        surfaces.append((name, tuple(item for item in switches(build, slip, equations.state) if item.is_jump)))
    for name, found in surfaces:
        for switch in found:
            change = build.replaced(switch.weight, {switch.quantity: build.number(0)})
            if build.value(change) != 0 and build.graph().names([switch.quantity]) & {
                *dynamics.mechanism.coordinates,
                "t",
            }:
                names.append(name)
                quantities.append(switch.quantity)
                changes.append(change)
    if not names:
        return None
    asked = {"values": quantities, "changes": changes, "roundings": roundings(build, quantities)}
    return SurfaceKinks(
        tuple(names),
        compile_kernel(build.graph(), {name: np.array(nodes) for name, nodes in asked.items()}, equations.arguments),
    )
