"""Frames of a log as contact problems: which contacts are closed, which of them rest, which frames are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import StateError
from hybrid.numeric.frames import AbstractBackend, Frame, GeometricContact
from hybrid.numeric.state import NumericContact, NumericFriction, NumericState

__all__ = ["TOUCHING", "PosedFrame", "Thresholds", "persistent_velocities", "posed_frame", "states_of", "with_friction"]

Array = NDArray[np.float64]

TOUCHING = 1e-3
"""Gap (m) of a closed contact where none is given, at most: collision geometry and calibration are no better."""


@attrs.frozen
class Thresholds:
    """What counts as a contact, as an impact and as rest; the defaults are part of the JSON contract.

    Attributes
    ----------
    gap : float
        Largest gap (m) of a contact that counts as closed; any penetration does.
    persistent : float
        Normal velocity (m/s) up to which a contact persists; faster ones separate, or are an impact.
    slip_min : float
        Slip (m/s) below which a contact rests.
    project : bool
        Take normal velocities of persistent and approaching contacts away, in the mass metric, instead of leaving
        impacts out.
    static_friction : float or None
        Static friction of all contacts; by default their friction.
    worst : int
        Frames that are listed.
    """

    gap: float
    persistent: float = 0.1
    slip_min: float = 0.05
    project: bool = False
    static_friction: float | None = None
    worst: int = 10

    def others(self) -> tuple[Thresholds, ...]:
        """Other choices of what rests and what persists, at which a page repeats the shares."""
        slips = tuple(attrs.evolve(self, slip_min=value) for value in (0.02, 0.05, 0.1))
        return slips + tuple(attrs.evolve(self, persistent=value) for value in (0.05, 0.1, 0.5))

    @classmethod
    def of(cls, backend: AbstractBackend, *, gap: float | None = None, **more: Any) -> Thresholds:
        """The thresholds for a model, whose size bounds the gap; StateError for one out of range."""
        chosen = TOUCHING * min(1.0, backend.extent) if gap is None else gap
        found = cls(gap=chosen, **more)
        for name in ("gap", "persistent", "slip_min", "static_friction"):
            value = getattr(found, name)
            if value is not None and not 0.0 <= value < np.inf:
                raise StateError(f"{name} must be zero or a positive number, got {value:g}")
        return found


@attrs.frozen(eq=False)
class PosedFrame:
    """A frame that is decided: its numbers, its contacts, and whether one of them rests."""

    frame: Frame
    contacts: tuple[GeometricContact, ...]
    rests: bool


def posed_frame(
    backend: AbstractBackend, row: Mapping[str, Array], thresholds: Thresholds, *, frame: Frame | None = None
) -> PosedFrame | str:
    """A frame with the contacts that take part, or the reason why it is left out.

    Parameters
    ----------
    backend : AbstractBackend
    row : mapping of str to array
        Columns of the log at the frame.
    thresholds : Thresholds
    frame : Frame, optional
        The numbers at the row, where they are known.

    Returns
    -------
    object or str
        ``"no_contact"``, ``"impact"``, ``"unsupported"``, or the frame.
    """
    frame = backend.frame(row, near=thresholds.gap) if frame is None else frame
    if frame.has_unsupported:
        return "unsupported"
    persistent = thresholds.persistent
    if thresholds.project:
        frame = _projected(backend, row, thresholds, frame)
    elif any(contact.gap_dot < -persistent for contact in frame.contacts):
        return "impact"
    contacts = tuple(contact for contact in frame.contacts if contact.gap_dot <= persistent)
    rough = [contact for contact in contacts if contact.W_T is not None]
    if not rough:
        return "no_contact"
    rests = any(float(np.linalg.norm(np.asarray(contact.slip))) < thresholds.slip_min for contact in rough)
    return PosedFrame(frame, contacts, rests)


def _projected(backend: AbstractBackend, row: Mapping[str, Array], thresholds: Thresholds, frame: Frame) -> Frame:
    """A frame without the normal velocities of contacts that persist or approach.

    What is taken away may push a contact on another one that separated: that one is projected, too.
    """
    start, names = frame, set[str]()
    while True:
        met = {contact.name for contact in frame.contacts if contact.gap_dot <= thresholds.persistent} - names
        if not met:
            return frame
        names |= met
        v = persistent_velocities(start, [contact for contact in start.contacts if contact.name in names])
        if np.array_equal(v, start.v):
            return start
        frame = backend.frame({**row, backend.velocity: v}, near=thresholds.gap)


def persistent_velocities(frame: Frame, contacts: Sequence[GeometricContact]) -> Array:
    """Velocities at which some contacts neither approach nor separate, nearest in the mass metric.

    Parameters
    ----------
    frame : Frame
    contacts : sequence of GeometricContact
        At least one.

    Returns
    -------
    array, (n,)
    """
    W = np.stack([contact.W_N for contact in contacts], axis=1)
    response = np.linalg.solve(frame.M, W)
    rates = np.array([contact.gap_dot for contact in contacts])
    return np.asarray(frame.v - response @ np.linalg.lstsq(W.T @ response, rates, rcond=None)[0])


def states_of(frames: Sequence[PosedFrame], thresholds: Thresholds, name: str) -> NumericState:
    """Frames with the same contacts as one array of states.

    Parameters
    ----------
    frames : sequence of PosedFrame, length N
    thresholds : Thresholds
        ``slip_min`` is the slip below which a contact rests, ``static_friction`` replaces the frames' friction at rest.
    name : str
        Of the model.

    Returns
    -------
    NumericState
        Of shape (N,).
    """
    contacts = []
    for k, first in enumerate(frames[0].contacts):
        parts = [posed.contacts[k].closed(at_rest=False) for posed in frames]
        rough: dict[str, Any] = {}
        if first.W_T is not None:
            slips = np.array([part.slip for part in parts])
            resting = np.linalg.norm(slips, axis=1, keepdims=True) < thresholds.slip_min
            friction = np.array([part.friction for part in parts])
            static = friction if thresholds.static_friction is None else thresholds.static_friction
            rough = {
                "W_T": np.array([part.W_T for part in parts]),
                "slip": np.where(resting, 0.0, slips),
                "zeta_T": np.array([part.zeta_T for part in parts]),
                "friction": friction,
                "static_friction": np.maximum(static, friction),
            }
        contacts.append(
            NumericContact(
                first.name,
                W_N=np.array([part.W_N for part in parts]),
                zeta_N=np.array([part.zeta_N for part in parts]),
                body=first.body,
                **rough,
            )
        )
    elements = [
        NumericFriction(
            element.name,
            W_T=element.W_T,
            slip=np.array([posed.frame.friction[k].slip for posed in frames]),
            limit=element.limit,
        )
        for k, element in enumerate(frames[0].frame.friction)
    ]
    rigid: dict[str, Any] = {}
    if frames[0].frame.J is not None:
        rigid = {field: np.array([getattr(posed.frame, field) for posed in frames]) for field in ("J", "zeta_B")}
    return NumericState(
        np.array([posed.frame.M for posed in frames]),
        np.array([posed.frame.h for posed in frames]),
        contacts,
        friction=elements,
        v=np.array([posed.frame.v for posed in frames]),
        name=name,
        **rigid,
    )


def with_friction(state: NumericState, friction: float) -> NumericState:
    """The same states with another friction of all contacts that have any.

    Parameters
    ----------
    state : NumericState
    friction : float
        Kinetic and static coefficient.

    Returns
    -------
    NumericState
    """
    contacts = [
        contact if contact.W_T is None else attrs.evolve(contact, friction=friction, static_friction=friction)
        for contact in state.contacts
    ]
    return attrs.evolve(state, contacts=contacts)
