"""How one contact answers to its own force, at arrays of states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.analysis.maps.axes import branch_over, placed
from hybrid.contact.activity import moves
from hybrid.contact.reduction import free_motion
from hybrid.contact.sliding import BilateralContactError, bilateral_contacts, without_rounding
from hybrid.contact.table import check_friction
from hybrid.dynamics import solve_states
from hybrid.dynamics.consistency import check_mass
from hybrid.dynamics.scales import scales_of
from hybrid.dynamics.state import n_velocity_pins
from hybrid.errors import StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hybrid.analysis.maps.axes import Axis
    from hybrid.contact.reduction import FreeMotion
    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Terms
    from hybrid.dynamics.posture_branch import PostureBranch

    Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class ContactResponse:
    """Delassus terms and free motion of one contact, the others open, at arrays of states.

    Rigid bilateral constraints are eliminated; their dry friction pushes the contact nowhere along its normal. Friction
    elements act with their known forces where they slip.

    Attributes
    ----------
    G_NN : array, (...)
        Normal mobility; 1/mass.
    G_NT : array, (..., d)
        Coupling to the ``d`` tangential directions.
    friction : array, (...)
        Kinetic coefficient of friction.
    b : array, (...)
        Normal acceleration without contact forces; NaN where a friction element at rest pushes the contact along its
        normal.
    a_free : array, (..., n)
        Generalised acceleration without contact forces; NaN where ``b`` is.
    normal : array, (..., n)
        Generalised acceleration per unit normal force.
    tangential : array, (..., n, d)
        Generalised acceleration per unit tangential force.
    """

    G_NN: NDArray[np.float64]
    G_NT: NDArray[np.float64]
    friction: NDArray[np.float64]
    b: NDArray[np.float64]
    a_free: NDArray[np.float64]
    normal: NDArray[np.float64]
    tangential: NDArray[np.float64]

    def A(self, sign: float) -> NDArray[np.float64]:
        """``A_s = G_NN - s mu G_NT`` of a planar contact that slips with the given sign (Genot and Brogliato 1999)."""
        return np.asarray(self.G_NN - sign * self.friction * self.G_NT[..., 0])


def contact_response(dynamics: Dynamics, q: Any, v: Any, *, contact: str, t: Any = 0.0) -> ContactResponse:
    """Evaluate the response of one contact.

    Parameters
    ----------
    dynamics : Dynamics
    q, v : array_like, (..., n)
    contact : str
    t : array_like, (...)

    Returns
    -------
    ContactResponse
        NaN where the state is.

    Raises
    ------
    BilateralContactError
        The dry friction of a bilateral constraint pushes the contact along its normal at one of the states.
    """
    terms = dynamics.terms(q, v, t=t)
    check_friction(dynamics, terms)
    check_mass(dynamics, terms, rank=Tolerances().rank)
    motion = free_motion(terms, eliminated=tuple(range(len(dynamics.rigid))))
    index = dynamics.contacts.index(contact)
    w_N = terms.W_N[..., :, index]
    if bilateral := bilateral_contacts(dynamics, terms, motion, w_N):
        raise BilateralContactError(dynamics.name, contact, bilateral)
    W_T = terms.W_T[..., :, dynamics.columns.get(contact, slice(0, 0))]
    normal = (motion.response @ w_N[..., None])[..., 0]
    a_free = motion.a_free
    if dynamics.elements:
        slips = scales_of(dynamics, terms, q, v, t=t).slip
        known = _known_friction(dynamics, terms, motion, w_N, normal, slips)
        a_free = a_free + (motion.response @ known[..., None])[..., 0]
    tangential = motion.response @ W_T
    G_NN = np.sum(w_N * normal, axis=-1)
    G_TT = np.sum(W_T * tangential, axis=-2)
    G_NT = without_rounding(np.sum(w_N[..., None] * tangential, axis=-2), G_NN[..., None], G_TT)
    return ContactResponse(
        G_NN=G_NN,
        G_NT=G_NT,
        friction=terms.friction[..., index],
        b=np.sum(w_N * a_free, axis=-1) + terms.zeta_N[..., index],
        a_free=a_free,
        normal=normal,
        tangential=tangential,
    )


def _known_friction(
    dynamics: Dynamics, terms: Terms, motion: FreeMotion, w_N: Array, normal: Array, scales: Array
) -> Array:
    """Generalised forces (..., n) of the friction elements that slip; NaN where one at rest pushes along the normal."""
    force = np.zeros(dynamics.n)
    G_NN = np.sum(w_N * (motion.inverse @ w_N[..., None])[..., 0], axis=-1)[..., None]
    for index, name in enumerate(dynamics.elements):
        columns = dynamics.columns[name]
        slip, W = terms.slip[..., columns], terms.W_T[..., :, columns]
        limit, static = terms.limit[..., index, None], terms.static_limit[..., index, None]
        G_TT = np.sum(W * (motion.inverse @ W), axis=-2)
        coupling = without_rounding(np.sum(normal[..., None] * W, axis=-2), G_NN, G_TT)
        at_rest = np.where(coupling * static != 0.0, np.nan, 0.0)
        slides = moves(slip, scales[..., columns], Tolerances())[..., None]
        speed = np.linalg.norm(slip, axis=-1, keepdims=True)
        along = np.where(slides, -limit * slip / np.where(slides, speed, 1.0), at_rest)
        force = force + (W @ along[..., None])[..., 0]
    return force


def only_contact(dynamics: Dynamics, contact: str | None) -> str:
    """Name of the contact asked for, or of the only frictional one.

    Parameters
    ----------
    dynamics : Dynamics
    contact : str or None
        The name, if one is asked for.

    Returns
    -------
    str

    Raises
    ------
    StateError
        There is no contact with friction, none of that name, or a choice is needed.
    """
    frictional = [name for name in dynamics.contacts if dynamics.dimension(name)]
    if contact is None and len(frictional) == 1:
        return frictional[0]
    if not frictional:
        rough = ", ".join(name for name in dynamics.rigid if name in dynamics.columns)
        hint = f"; for the bilateral {rough} take the verdict at a state, or a map over the friction" if rough else ""
        raise StateError(f"{dynamics.name} has no contact with friction{hint}")
    if contact not in frictional:
        unknown = f"no frictional contact is called {contact!r}"
        problem = "which contact? give its name (--contact)" if contact is None else unknown
        raise StateError(f"{problem}; {dynamics.name} has {', '.join(frictional)}")
    return contact


def postures(
    dynamics: Dynamics,
    pins: Mapping[str, Any],
    *,
    branch: PostureBranch | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Positions that position pins fix; velocities are zero and velocity pins are ignored.

    Parameters
    ----------
    dynamics : Dynamics
    pins : mapping of str to float, str or array
    branch : PostureBranch, optional
        To which they belong.

    Returns
    -------
    q : array, (..., n)
        NaN where no position satisfies the pins.
    t : array, (...)
    """
    # solve_states marks a state whose velocity pins are dependent; its position is found all the same
    states = solve_states(dynamics, at_rest(dynamics, pins), branch=branch)
    return states.q, states.t


def swept_branch(
    dynamics: Dynamics,
    axes: Sequence[Axis],
    *,
    pins: Mapping[str, Any],
    start: Mapping[str, Any] | None,
) -> PostureBranch | None:
    """The branch of postures over axes; velocity pins are ignored.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis
        Pins or parameters.
    pins : mapping of str to value
        What is fixed besides.
    start : mapping of str to value, or None
        A posture of the branch, for a choice among several.

    Returns
    -------
    PostureBranch or None
        None where the pins fix the posture by linear equations.
    """
    fixed = rest_pins(dynamics, axes, pins=pins)
    return branch_over(dynamics, axes, pins=fixed, start=start)


def rest_pins(dynamics: Dynamics, axes: Sequence[Axis], *, pins: Mapping[str, Any]) -> dict[str, Any]:
    """Pins of states at rest over axes, those of the axes left out.

    Parameters
    ----------
    dynamics : Dynamics
    axes : sequence of Axis
        Pins or parameters.
    pins : mapping of str to value
        What is fixed besides.

    Returns
    -------
    dict of str to value
    """
    own_pins, middle = placed(dynamics, axes, [(axis.low + axis.high) / 2 for axis in axes], pins=pins)
    swept = {axis.name for axis in axes}
    return {name: value for name, value in at_rest(middle, own_pins).items() if name not in swept}


def at_rest(dynamics: Dynamics, pins: Mapping[str, Any]) -> dict[str, Any]:
    """Pins of a posture at rest: the position pins given, and as many velocities pinned to 0 as they need.

    Parameters
    ----------
    dynamics : Dynamics
    pins : mapping of str to value
        Those of velocities are left out.

    Returns
    -------
    dict of str to value
    """
    positions = {*dynamics.mechanism.coordinates, *(f"gap.{name}" for name in dynamics.contacts), "t"}
    kept = {name: value for name, value in pins.items() if not _is_velocity_pin(dynamics, name, positions)}
    n_free = n_velocity_pins(dynamics, kept)
    return {**kept, **dict.fromkeys(dynamics.mechanism.velocities[:n_free], 0.0)}


def _is_velocity_pin(dynamics: Dynamics, name: str, positions: set[str]) -> bool:
    return name not in positions and (name in dynamics.mechanism.velocities or name.startswith(("gap_dot.", "slip.")))
