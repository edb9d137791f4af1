"""Models of engines, by installed backends, and what one gives at a frame: numbers, and every contact that is near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.errors import ComputationError, StateError
from hybrid.numeric.state import NumericContact, NumericFriction, NumericState
from hybrid.tolerances import NOTHING

__all__ = ["AbstractBackend", "Frame", "GeometricContact", "Loader", "Skeleton", "load_model", "merged"]

Array = NDArray[np.float64]

_SAME = NOTHING  # of one and the size of a number of a contact: it is that of another one


@attrs.frozen(eq=False)
class GeometricContact:
    """A contact by geometry: two surfaces that touch or nearly do.

    Attributes
    ----------
    name : str
        Unique in its frame.
    pair : tuple of str
        Names of the two surfaces; of a joint limit, the joint and the side.
    gap, gap_dot, zeta_N : float
        Distance (m), its rate, and the remainder of its second derivative.
    W_N : array, (n,)
    friction : float
        Coulomb's coefficient in force; 0 without tangential directions.
    W_T : array, (n, p), or None
    slip, zeta_T : array, (p,), or None
    position : array, (3,), or None
        In the world.
    by_differences : bool
        The remainders are differences along the motion, not formulas.
    has_torsion : bool
        The engine gives it torsional or rolling friction, without which it is decided.
    body : str
        The rigid body on which it acts, if the other surface does not move.
    """

    name: str
    pair: tuple[str, str]
    gap: float
    gap_dot: float
    zeta_N: float
    W_N: Array
    friction: float = 0.0
    W_T: Array | None = None
    slip: Array | None = None
    zeta_T: Array | None = None
    position: Array | None = None
    by_differences: bool = False
    has_torsion: bool = False
    body: str = ""

    def closed(self, *, at_rest: bool) -> NumericContact:
        """The contact of a problem in which it is closed and persists; ``at_rest`` sets its slip to zero.

        Parameters
        ----------
        at_rest : bool

        Returns
        -------
        NumericContact
        """
        slip = None if self.slip is None else np.zeros_like(self.slip) if at_rest else self.slip
        return NumericContact(
            self.name,
            W_N=self.W_N,
            zeta_N=self.zeta_N,
            W_T=self.W_T,
            slip=slip,
            zeta_T=self.zeta_T,
            friction=self.friction,
            body=self.body,
        )


@attrs.frozen(eq=False)
class Skeleton:
    """A posture as lines, for a stick figure.

    Attributes
    ----------
    lines : tuple of array, (2, 3)
        In the world (m), the last coordinate up.
    contacts : tuple of array, (3,)
    """

    lines: tuple[Array, ...]
    contacts: tuple[Array, ...]


@attrs.frozen(eq=False)
class Frame:
    """The numbers of a model at one frame of a log.

    Attributes
    ----------
    M, h, v : array, (n, n), (n,) and (n,)
        Mass matrix with the inertia of rotors, all forces but those of contacts, dry friction and constraints,
        velocities.
    contacts : tuple of GeometricContact
        Those whose surfaces touch or nearly do.
    friction : tuple of NumericFriction
        Dry friction of joints.
    J, zeta_B : array, (m, n) and (m,), or None
        Rigid constraints.
    has_unsupported : bool
        A surface touches whose contacts are left out, as a height field.
    """

    M: Array
    h: Array
    v: Array
    contacts: tuple[GeometricContact, ...]
    friction: tuple[NumericFriction, ...] = ()
    J: Array | None = None
    zeta_B: Array | None = None
    has_unsupported: bool = False

    def state(self, contacts: Sequence[NumericContact], *, name: str, v: Array | None = None) -> NumericState:
        """The state with some of the contacts.

        Parameters
        ----------
        contacts : sequence of NumericContact
        name : str
        v : array, (n,), optional
            Other velocities.

        Returns
        -------
        NumericState
        """
        return NumericState(
            self.M,
            self.h,
            contacts,
            friction=self.friction,
            J=self.J,
            zeta_B=self.zeta_B,
            v=self.v if v is None else v,
            name=name,
        )


class AbstractBackend(Protocol):
    """A model of an engine that gives its numbers at the frames of a log."""

    @property
    def name(self) -> str:
        """What reports call the model."""

    @property
    def columns(self) -> Mapping[str, int | tuple[int, ...]]:
        """Width of every column that a log of this model may have, or its shape where the engine has several axes."""

    @property
    def required(self) -> tuple[str, ...]:
        """Columns that a log must have."""

    @property
    def actuation(self) -> tuple[str, ...]:
        """Columns that are taken for zeros, with a word, where a log lacks them."""

    @property
    def velocity(self) -> str:
        """The column of generalised velocities."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, by which a log of another model is known."""

    @property
    def extent(self) -> float:
        """Size of the model (m)."""

    @property
    def timestep(self) -> float | None:
        """Seconds between two frames of the engine; None if it has none."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the model is left out or approximated, in sentences."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that have mass."""

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the generalised velocities."""

    @property
    def reference(self) -> Mapping[str, Array]:
        """The columns of the model's reference posture, each of the shape that a row of the log has."""

    @property
    def ranges(self) -> Array:
        """Displacements (n, 2) from the reference posture that joints allow along each velocity.

        Infinite for translations without a range; a whole turn for rotations without one.
        """

    def frame(self, row: Mapping[str, Any], *, near: float, mass: Mapping[str, float] | None = None) -> Frame:
        """The numbers at one row of a log.

        Parameters
        ----------
        row : mapping of str to array
            Columns of the log at one instant.
        near : float
            All contacts whose gap is at most so large are listed; in m.
        mass : mapping of str to float, optional
            Factors of the mass and inertia of bodies.

        Returns
        -------
        Frame
        """

    def moved(self, row: Mapping[str, Any], along: Array) -> Mapping[str, Any]:
        """The row of a displaced posture.

        Parameters
        ----------
        row : mapping of str to array
        along : array, (n,)
            Displacement along the generalised velocities, in m or rad.

        Returns
        -------
        mapping of str to array
        """

    def skeleton(self, row: Mapping[str, Any], *, near: float) -> Skeleton:
        """The posture at one row of a log.

        Parameters
        ----------
        row : mapping of str to array
        near : float
            Contacts whose gap is at most so large are listed; in m.

        Returns
        -------
        Skeleton
        """

    def pictures(self, rows: Sequence[Mapping[str, Any]]) -> list[NDArray[np.uint8]] | None:
        """Postures drawn by the engine's renderer.

        Parameters
        ----------
        rows : sequence of mapping of str to array

        Returns
        -------
        list of array, (height, width, 3), or None
            None where the engine has no renderer, or it does not work.
        """

    def friction_in_force(self, pair: tuple[str, str]) -> tuple[float, float, float, str]:
        """Friction of two surfaces in contact.

        Parameters
        ----------
        pair : tuple of str
            Names of the surfaces.

        Returns
        -------
        value, first, second : float
            In force, and as each surface declares it.
        source : str
            Where the value in force comes from.
        """


def merged(contacts: Sequence[GeometricContact]) -> list[GeometricContact]:
    """Contacts without those that another one hides.

    Where two capsules share an end their gaps differ by a constant, that of their radii: only the deeper one can bear.
    Of two that are as deep either may bear; they are one only if they agree in all that a verdict asks of them.

    Parameters
    ----------
    contacts : sequence of GeometricContact

    Returns
    -------
    list of GeometricContact
        By name.
    """
    kept: list[GeometricContact] = []
    for contact in sorted(contacts, key=lambda contact: (contact.gap, contact.name)):
        if not any(_hides(other, contact) for other in kept):
            kept.append(contact)
    return sorted(kept, key=lambda contact: contact.name)


def _hides(deeper: GeometricContact, other: GeometricContact) -> bool:
    """Whether the first of two contacts, whose gap is not the larger one, leaves nothing for the other to do."""
    if not _agree(deeper.W_N, other.W_N):
        return False
    if not _agree(deeper.gap, other.gap):
        return True
    return all(_agree(getattr(deeper, name), getattr(other, name)) for name in _DECISIVE)


_DECISIVE = ("zeta_N", "friction", "W_T", "slip", "zeta_T")


def _agree(one: Array | float | None, other: Array | float | None) -> bool:
    if one is None or other is None:
        return one is other
    size = _SAME * (1.0 + float(np.max(np.abs(one))))
    return np.shape(one) == np.shape(other) and float(np.max(np.abs(one - other))) <= size


GROUP = "painleve.backends"


class Loader(Protocol):
    """What an entry point of the group ``painleve.backends`` names."""

    def __call__(self, path: str, *, contacts: str | None) -> AbstractBackend:
        """The model of a file, with the contacts that another one names; an error of this package if there is none."""


@checks_arguments
def load_model(path: str | Path, *, backend: str | None = None, contacts: str | Path | None = None) -> AbstractBackend:
    """Read a model.

    Parameters
    ----------
    path : str or Path
    backend : str, optional
        The name of an entry point. By default that which is called as the file ends (``sdf`` for ``robot.sdf``), where
        there is one; else ``pinocchio`` for a model with a file of contacts and ``mujoco`` for one without.
    contacts : str or Path, optional
        A file that names contacts.

    Returns
    -------
    AbstractBackend

    Raises
    ------
    StateError
        No backend has the name.
    ComputationError
        The backend, or its engine, cannot be imported.
    FileError
        It cannot read the files.
    """
    known = {entry.name: entry for entry in entry_points(group=GROUP)}
    ending, usual = Path(path).suffix.removeprefix("."), "mujoco" if contacts is None else "pinocchio"
    name = backend if backend is not None else ending if ending in known else usual
    if name not in known:
        there = f"there are {', '.join(sorted(known))}" if known else "none is installed: run `pip install painleve`"
        raise StateError(f"no backend is called {name!r}; {there}")
    try:
        loader = cast("Loader", known[name].load())
    except (ImportError, AttributeError) as error:
        raise ComputationError(f"the backend {name!r} ({known[name].value}) cannot be loaded: {error}") from None
    return loader(str(path), contacts=None if contacts is None else str(contacts))
