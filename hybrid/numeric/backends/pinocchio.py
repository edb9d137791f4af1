"""URDF and MJCF models by pinocchio: mass matrix, bias, and the spheres that a file of contacts names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import FileError
from hybrid.numeric.backends.pinocchio_files import (
    ModelJoint,
    SphereContact,
    model_joints,
    pinocchio_engine,
    read_contacts,
    read_model,
    unknown_name,
)
from hybrid.numeric.backends.rows import check_unit, dry_friction, limit_contacts, surface_contact
from hybrid.numeric.frames import Frame, GeometricContact, Skeleton, merged

__all__ = ["PinocchioModel", "load"]

Array = NDArray[np.float64]

_PLANE = "plane"
_UNLIMITED = 1e100  # pinocchio writes the largest number, or infinity, where a joint has no limit


def load(path: str | Path, *, contacts: str | Path | None = None) -> PinocchioModel:
    """Read a model and its contacts.

    Parameters
    ----------
    path : str or Path
        A URDF or MJCF file.
    contacts : str or Path
        The file that names them.

    Returns
    -------
    PinocchioModel

    Raises
    ------
    FileError
        Pinocchio cannot read the model, or not all of it; there is no file of contacts, or it names a frame or a joint
        that the model has not.
    ComputationError
        Pinocchio is not installed.
    """
    pinocchio_engine()
    source = str(path)
    if not Path(path).is_file():
        raise FileError("there is no such file", source)
    if contacts is None:
        raise FileError("pinocchio finds no contacts of surfaces: name them by --contacts FILE", source)
    asked = read_contacts(contacts)
    model, notes = read_model(path, asked)
    frames = [frame.name for frame in model.frames]
    for k, contact in enumerate(asked.contacts):
        if contact.frame not in frames:
            raise FileError(unknown_name(f"contact[{k}].frame", "frame", contact.frame, frames), asked.source)
        if frames.count(contact.frame) > 1:
            kinds = [str(frame.type).lower() for frame in model.frames if frame.name == contact.frame]
            raise FileError(
                f"contact[{k}].frame: {contact.frame!r} names {len(kinds)} frames of the model ({', '.join(kinds)}), "
                "which may lie apart; rename them",
                asked.source,
            )
    return PinocchioModel(model, Path(path).stem, asked.contacts, notes)


@attrs.frozen(eq=False)
class _Sphere:
    """What of a contact does not change along a log.

    Attributes
    ----------
    contact : SphereContact
    place : int
        Of its frame in the model.
    axes : array, (3, 3)
        The normal of its plane and two directions across.
    material : array, (3, 6)
        From velocity and turning at the centre to the velocity of the material point nearest to the plane.
    """

    contact: SphereContact
    place: int
    axes: Array
    material: Array

    @classmethod
    def of(cls, contact: SphereContact, place: int) -> _Sphere:
        """That of a contact at a frame."""
        normal = np.array(contact.normal)
        first = np.eye(3)[np.argmin(np.abs(normal))]
        first = first - (first @ normal) * normal
        first /= np.linalg.norm(first)
        rotation = np.cross(np.eye(3), -contact.radius * normal).T
        return cls(contact, place, np.array([normal, first, np.cross(normal, first)]), np.hstack([np.eye(3), rotation]))


@attrs.frozen(eq=False)
class PinocchioModel:
    """A pinocchio model with spheres that touch planes, as a source of numbers.

    Attributes
    ----------
    model : pinocchio.Model
    name : str
    contacts : tuple of SphereContact
    notes : tuple of str
        What of the model is unknown or approximated.
    """

    model: Any = attrs.field(repr=False)
    name: str
    contacts: tuple[SphereContact, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def _data(self) -> Any:
        return self.model.createData()

    @cached_property
    def _joints(self) -> tuple[ModelJoint, ...]:
        return tuple(model_joints(self.model))

    @cached_property
    def _spheres(self) -> tuple[_Sphere, ...]:
        return tuple(_Sphere.of(contact, self.model.getFrameId(contact.frame)) for contact in self.contacts)

    @cached_property
    def _limits(self) -> tuple[tuple[ModelJoint, float, float], ...]:
        """Joints of one coordinate with their lower and upper limits."""
        m = self.model
        found = np.stack([m.lowerPositionLimit, m.upperPositionLimit], axis=1)
        found[np.abs(found) > _UNLIMITED] = np.inf
        found[:, 0][np.isinf(found[:, 0])] = -np.inf
        single = (joint for joint in self._joints if joint.nq == joint.nv == 1)
        return tuple((joint, float(found[joint.q, 0]), float(found[joint.q, 1])) for joint in single)

    @property
    def columns(self) -> Mapping[str, int]:
        """Width of every column that a log may have."""
        return {"q": self.model.nq, "v": self.model.nv, "tau": self.model.nv}

    @property
    def required(self) -> tuple[str, ...]:
        """Columns that a log must have."""
        return ("q", "v")

    @property
    def actuation(self) -> tuple[str, ...]:
        """Columns that are taken for zeros, with a word, where a log lacks them."""
        return ("tau",)

    @property
    def velocity(self) -> str:
        """The column of generalised velocities."""
        return "v"

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(self.model.names)[1:]

    @property
    def timestep(self) -> float | None:
        """None: pinocchio steps no time."""
        return None

    @cached_property
    def extent(self) -> float:
        """Diagonal of the box around all frames in the reference posture, and the largest sphere (m)."""
        engine, d = pinocchio_engine(), self.model.createData()
        engine.framesForwardKinematics(self.model, d, engine.neutral(self.model))
        box = np.ptp([placement.translation for placement in d.oMf], axis=0)
        return float(np.linalg.norm(box)) + 2.0 * max(contact.radius for contact in self.contacts)

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that have mass; what is fixed to each counts to it."""
        return tuple(self._inertias)

    @cached_property
    def _inertias(self) -> dict[str, int]:
        """Joints that move mass, by the first body that each moves."""
        m, found = self.model, dict[str, int]()
        for k in range(1, m.njoints):
            if m.inertias[k].mass > 0.0:
                body = next((frame.name for frame in m.frames if self._is_body(frame, k)), m.names[k])
                found[str(body)] = k
        return found

    @staticmethod
    def _is_body(frame: Any, joint: int) -> bool:
        return bool(frame.parentJoint == joint and frame.type == pinocchio_engine().FrameType.BODY)

    @cached_property
    def velocities(self) -> tuple[str, ...]:
        """Names of the generalised velocities: of their joints, numbered where these have several."""
        names: list[str] = []
        for joint in self._joints:
            names += [joint.name] if joint.nv == 1 else [f"{joint.name}[{k}]" for k in range(joint.nv)]
        return tuple(names)

    @cached_property
    def reference(self) -> Mapping[str, Array]:
        """The neutral posture."""
        return {"q": np.array(pinocchio_engine().neutral(self.model))}

    @cached_property
    def ranges(self) -> Array:
        """Displacements (nv, 2) from it that joints allow; infinite for translations without a range."""
        found = np.full((self.model.nv, 2), (-np.pi, np.pi))
        for joint in self._joints:
            found[joint.v : joint.v + joint.sliding] = (-np.inf, np.inf)
        for joint, *limits in self._limits:
            own = np.array(limits) - self.reference["q"][joint.q]
            found[joint.v] = np.where(np.isfinite(own), own, found[joint.v])
        return found

    def moved(self, row: Mapping[str, Any], along: Array) -> Mapping[str, Any]:
        """The row of a posture that is displaced along the velocities.

        Parameters
        ----------
        row : mapping of str to array
        along : array, (nv,)

        Returns
        -------
        mapping of str to array
        """
        q = pinocchio_engine().integrate(self.model, np.asarray(row["q"], dtype=float), np.asarray(along, dtype=float))
        return {**row, "q": np.array(q)}

    def frame(self, row: Mapping[str, Any], *, near: float, mass: Mapping[str, float] | None = None) -> Frame:
        """The numbers at one row of a log.

        Parameters
        ----------
        row : mapping of str to array
            Columns ``q``, and ``v`` and ``tau`` unless they are zero.
        near : float
            Gap (m, rad) up to which contacts are listed.
        mass : mapping of str to float, optional
            By what mass and inertia of bodies are multiplied.

        Returns
        -------
        Frame

        Raises
        ------
        StateError
            A quaternion, or a cosine and a sine, are not of length one.
        """
        engine, m, d = pinocchio_engine(), self.model, self._data
        if mass:
            m = self._scaled(mass)
            d = m.createData()
        q, v = np.array(row["q"], dtype=float), np.array(row.get("v", np.zeros(m.nv)), dtype=float)
        for joint in self._joints:
            if joint.nq != joint.nv:
                unit = q[joint.q + joint.sliding : joint.q + joint.nq]
                kind = "quaternion" if len(unit) == 4 else "cosine and sine"
                check_unit(unit, f"{self.name}: q: the {kind} of joint {joint.name!r}")
        M = np.reshape(engine.crba(m, d, q), (m.nv, m.nv))
        bias = np.array(engine.nonLinearEffects(m, d, q, v))
        engine.forwardKinematics(m, d, q, v, np.zeros(m.nv))
        engine.computeJointJacobians(m, d, q)
        engine.updateFramePlacements(m, d)
        limits = [
            contact
            for joint, *ends in self._limits
            for contact in limit_contacts(joint.name, float(q[joint.q]), ends, v, dof=joint.v, near=near)
        ]
        return Frame(
            M=M,
            h=np.asarray(row.get("tau", 0.0), dtype=float) - bias - m.damping * v,
            v=v,
            contacts=(*merged(self._contacts(m, d, v, near)), *limits),
            friction=dry_friction(np.array(m.upperDryFrictionLimit), v),
        )

    def _scaled(self, mass: Mapping[str, float]) -> Any:
        engine, m = pinocchio_engine(), self.model.copy()
        for name, share in mass.items():
            k = self._inertias[name]
            own = self.model.inertias[k]
            m.inertias[k] = engine.Inertia(share * own.mass, own.lever, share * own.inertia)
        return m

    def _contacts(self, m: Any, d: Any, v: Array, near: float) -> list[GeometricContact]:
        engine, found = pinocchio_engine(), []
        world = engine.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for sphere in self._spheres:
            contact, place, normal = sphere.contact, sphere.place, sphere.axes[0]
            centre = np.array(d.oMf[place].translation)
            gap = float(normal @ centre) - contact.radius
            if gap > near:
                continue
            # the lowest point keeps its place below the centre, but not in the body: its velocity is that of the
            # material point there, and the rate of it that of the centre and of the rotation of the body
            of_frame = np.reshape(engine.getFrameJacobian(m, d, place, world), (6, m.nv))  # a vector if nv is 1
            J = sphere.axes @ (sphere.material @ of_frame)
            rate = engine.getFrameClassicalAcceleration(m, d, place, world)
            zeta = sphere.axes @ (sphere.material @ rate.vector)
            found.append(
                surface_contact(
                    contact.frame,
                    (_PLANE, contact.frame),
                    J,
                    zeta,
                    v,
                    sphere.axes[1:],
                    friction=contact.friction,
                    gap=gap,
                    position=centre - contact.radius * normal,
                    body=str(m.names[m.frames[place].parentJoint]),
                )
            )
        return found

    def skeleton(self, row: Mapping[str, Any], *, near: float) -> Skeleton:
        """The posture at one row of a log as lines from joint to joint, and to the contacts.

        Parameters
        ----------
        row : mapping of str to array
        near : float
            Gap (m) up to which contacts are shown.

        Returns
        -------
        Skeleton
        """
        frame = self.frame(row, near=near)
        m, d = self.model, self._data
        ends = [(m.parents[k], d.oMi[k].translation) for k in range(1, m.njoints)]
        ends += [(m.frames[sphere.place].parentJoint, d.oMf[sphere.place].translation) for sphere in self._spheres]
        lines = [np.array([d.oMi[joint].translation, end]) for joint, end in ends if joint]
        return Skeleton(tuple(lines), tuple(c.position for c in frame.contacts if c.position is not None))

    def pictures(self, rows: Sequence[Mapping[str, Any]]) -> list[NDArray[np.uint8]] | None:
        """None: there is no renderer.

        Parameters
        ----------
        rows : sequence of mapping of str to array

        Returns
        -------
        None
        """
        return None

    def friction_in_force(self, pair: tuple[str, str]) -> tuple[float, float, float, str]:
        """Friction of a sphere on its plane.

        Parameters
        ----------
        pair : tuple of str
            The plane, and the frame of the sphere.

        Returns
        -------
        float, float, float
            In force, and twice the same, as the file of contacts declares it for both.
        str
            Where that in force comes from.
        """
        (value,) = (contact.friction for contact in self.contacts if contact.frame == pair[1])
        return value, value, value, "that of the file of contacts"
