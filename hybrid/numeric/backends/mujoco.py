"""MuJoCo models (MJCF, and URDF that MuJoCo reads): mass matrix, bias, and contacts by geometry.

Contacts are found on a private copy of the model with a raised margin, never chosen by the engine's forces: those of
soft contacts lose states with several solutions.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, FileError, StateError
from hybrid.numeric.backends.includes import check_includes
from hybrid.numeric.backends.mujoco_joints import body_lines, dry_friction, equality_rows, limits, mujoco_engine
from hybrid.numeric.frames import Frame, GeometricContact, Skeleton, merged

__all__ = ["MujocoModel", "load"]

Array = NDArray[np.float64]

_DIFFERENCE = 1e-6  # s: of positions along the motion; the error of central differences is its square
_VANISHING = 1e-9  # of the largest tangential direction: below, a row is zero in a plane model
_UNIT = 1e-6  # by how much the length of a quaternion may differ from one


def load(path: str | Path) -> MujocoModel:
    """Read a model.

    Parameters
    ----------
    path : str or Path
        An MJCF or URDF file, with its meshes and includes in its folder or below.

    Returns
    -------
    MujocoModel

    Raises
    ------
    FileError
        MuJoCo cannot read it, or it includes files outside its folder.
    ComputationError
        MuJoCo is not installed.
    """
    engine, source = mujoco_engine(), str(path)
    if not Path(path).is_file():
        raise FileError("there is no such file", source)
    check_includes(Path(path))
    try:
        model = engine.MjModel.from_xml_path(source)
    except (ValueError, engine.FatalError) as error:
        raise FileError(f"MuJoCo cannot read the model: {str(error).strip()}", source) from None
    return MujocoModel(model, Path(path).stem)


@attrs.frozen(eq=False)
class MujocoModel:
    """A MuJoCo model as a source of numbers.

    Attributes
    ----------
    model : mujoco.MjModel
    name : str
    """

    model: Any = attrs.field(repr=False)
    name: str

    @cached_property
    def _copy(self) -> Any:
        """The model in which contacts are found, and nothing is solved."""
        model = copy.copy(self.model)
        model.geom_gap[:] = 0.0
        return model

    @cached_property
    def _data(self) -> Any:
        return mujoco_engine().MjData(self._copy)

    @cached_property
    def _probe(self) -> Any:
        return mujoco_engine().MjData(self._copy)

    @property
    def columns(self) -> Mapping[str, int]:
        """Width of every column that a log may have."""
        m = self.model
        return {
            "qpos": m.nq,
            "qvel": m.nv,
            "ctrl": m.nu,
            "act": m.na,
            "qfrc_applied": m.nv,
            "xfrc_applied": 6 * m.nbody,
            "mocap_pos": 3 * m.nmocap,
            "mocap_quat": 4 * m.nmocap,
        }

    @property
    def required(self) -> tuple[str, ...]:
        """Columns that a log must have."""
        return ("qpos", "qvel")

    @property
    def actuation(self) -> tuple[str, ...]:
        """Columns that are taken for zeros, with a word, where a log lacks them."""
        return ("ctrl",)

    @property
    def velocity(self) -> str:
        """The column of generalised velocities."""
        return "qvel"

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(str(self.model.joint(k).name) for k in range(self.model.njnt))

    @property
    def timestep(self) -> float | None:
        """Seconds between two steps."""
        return float(self.model.opt.timestep)

    @property
    def extent(self) -> float:
        """Size of the model (m)."""
        return float(self.model.stat.extent)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What of the model is left out or approximated."""
        engine, m, found = mujoco_engine(), self.model, []
        left_out = {engine.mjtGeom.mjGEOM_HFIELD: "height fields", engine.mjtGeom.mjGEOM_SDF: "signed distance fields"}
        found += [f"{word} are left out" for kind, word in left_out.items() if (m.geom_type == kind).any()]
        if m.nflex:
            found.append("flexible bodies are left out")
        if m.ntendon and m.tendon_limited.any():
            found.append("limits of tendons are left out")
        if m.ntendon and m.tendon_frictionloss.any():
            found.append("dry friction of tendons is left out")
        if any(m.jnt_limited[k] and m.jnt_type[k] == engine.mjtJoint.mjJNT_BALL for k in range(m.njnt)):
            found.append("limits of ball joints are left out")
        return tuple(found)

    def surface(self, geom: int) -> str:
        """The name of a geom, or its body's name and its number."""
        name = self.model.geom(geom).name
        return str(name or f"{self.model.body(self.model.geom_bodyid[geom]).name or 'world'}.geom{geom}")

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that have mass."""
        return tuple(self._body_names[k] for k in np.flatnonzero(self.model.body_mass > 0.0))

    @cached_property
    def _body_names(self) -> list[str]:
        return [str(self.model.body(k).name or f"body{k}") for k in range(self.model.nbody)]

    @cached_property
    def velocities(self) -> tuple[str, ...]:
        """Names of the generalised velocities: of their joints, numbered where these have several."""
        m, names = self.model, []
        for k in range(m.njnt):
            last = m.jnt_dofadr[k + 1] if k + 1 < m.njnt else m.nv
            size, name = last - m.jnt_dofadr[k], str(m.joint(k).name or f"joint{k}")
            names += [name] if size == 1 else [f"{name}[{index}]" for index in range(size)]
        return tuple(names)

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
        qpos = np.array(row["qpos"], dtype=float)
        mujoco_engine().mj_integratePos(self.model, qpos, np.asarray(along), 1.0)
        return {**row, "qpos": qpos}

    def frame(self, row: Mapping[str, Any], *, near: float, mass: Mapping[str, float] | None = None) -> Frame:
        """The numbers at one row of a log.

        Parameters
        ----------
        row : mapping of str to array
            Columns ``qpos``, ``qvel``, and others that the model has.
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
            A quaternion is not of length one; tangential coefficients of a contact differ.
        """
        engine, m, d = mujoco_engine(), self._copy, self._data
        self._place(d, row)
        m.body_mass[:], m.body_inertia[:] = self.model.body_mass, self.model.body_inertia
        for name, share in (mass or {}).items():
            body = self._body_names.index(name)
            m.body_mass[body] *= share
            m.body_inertia[body] *= share
        m.geom_margin[:] = near
        m.pair_margin[:] = near
        engine.mj_fwdPosition(m, d)
        engine.mj_fwdVelocity(m, d)
        engine.mj_fwdActuation(m, d)
        engine.mj_fwdAcceleration(m, d)
        M = np.zeros((m.nv, m.nv))
        engine.mj_fullM(m, d, M)
        J, zeta_B = self._equalities(d)
        return Frame(
            M=M,
            h=np.array(d.qfrc_smooth),
            v=np.array(d.qvel),
            contacts=(*merged(self._contacts(d, near)), *limits(self.model, d, near)),
            friction=dry_friction(self.model, d),
            J=J,
            zeta_B=zeta_B,
        )

    def _place(self, d: Any, row: Mapping[str, Any]) -> None:
        engine, m = mujoco_engine(), self.model
        for k in range(m.njnt):
            first = m.jnt_qposadr[k]
            first += 3 if m.jnt_type[k] == engine.mjtJoint.mjJNT_FREE else 0
            if m.jnt_type[k] in (int(engine.mjtJoint.mjJNT_FREE), int(engine.mjtJoint.mjJNT_BALL)):
                length = float(np.linalg.norm(row["qpos"][first : first + 4]))
                if not abs(length - 1.0) <= _UNIT:
                    raise StateError(
                        f"{self.name}: the quaternion of joint {m.joint(k).name!r} has length {length:.6g}, not 1"
                    )
        engine.mj_resetData(self._copy, d)
        for name in self.columns:
            if name in row:
                getattr(d, name).reshape(-1)[:] = np.asarray(row[name], dtype=float).reshape(-1)

    def _contacts(self, d: Any, near: float) -> list[GeometricContact]:
        found, names = [], dict[str, int]()
        for k in range(d.ncon):
            contact = d.contact[k]
            if contact.dist > near or contact.geom1 < 0 or contact.geom2 < 0:
                continue
            pair = (self.surface(contact.geom1), self.surface(contact.geom2))
            name = "/".join(pair)
            names[name] = names.get(name, 0) + 1
            name = name if names[name] == 1 else f"{name}#{names[name]}"
            found.append(self._contact(d, k, name, pair))
        return found

    def _contact(self, d: Any, k: int, name: str, pair: tuple[str, str]) -> GeometricContact:
        contact = d.contact[k]
        if contact.dim > 1 and contact.friction[0] != contact.friction[1]:
            raise StateError(f"{self.name}: contact {name} has unequal tangential coefficients of friction")
        J = self._jacobian(self._copy, d, contact)
        remainder = self._remainder(d, contact)
        by_differences = remainder is None
        if remainder is None:
            remainder = self._by_differences(d, contact)
        rates = J @ d.qvel
        friction = float(contact.friction[0]) if contact.dim > 1 else 0.0
        rough: dict[str, Any] = {}
        if contact.dim > 1 and (turned := _tangents(J[1:], contact.frame.reshape(3, 3)[1:])) is not None:
            rough = {"W_T": (turned @ J[1:]).T, "slip": turned @ rates[1:], "zeta_T": turned @ remainder[1:]}
        return GeometricContact(
            name,
            pair,
            gap=float(contact.dist),
            gap_dot=float(rates[0]),
            zeta_N=float(remainder[0]),
            W_N=J[0],
            friction=friction if rough else 0.0,
            position=np.array(contact.pos),
            by_differences=by_differences,
            **rough,
        )

    def _jacobian(self, m: Any, d: Any, contact: Any) -> Array:
        """Rows (3, nv): velocity of the second surface's material point relative to the first's, normal first.

        Each at its own surface: half way between, where the engine has it, the slip depends on how the gap changes.
        """
        engine = mujoco_engine()
        J, part = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        for geom, sign in ((contact.geom1, -1.0), (contact.geom2, 1.0)):
            engine.mj_jac(m, d, part, None, _surface_point(contact, sign), m.geom_bodyid[geom])
            J += sign * part
        return np.asarray(contact.frame.reshape(3, 3) @ J)

    def _remainder(self, d: Any, contact: Any) -> Array | None:
        """Remainder (3,) of the accelerations of a contact; None unless one surface is a plane that does not move.

        The point of contact of a sphere or of a capsule's end stays below its centre and moves over the surface, while
        a corner or a mesh's vertex is a material point. For both the second derivative of the gap, and the rate of
        the slip, are those of a point at a constant distance from a material one.
        """
        engine, m = mujoco_engine(), self._copy
        still = [m.body_weldid[m.geom_bodyid[geom]] == 0 for geom in (contact.geom1, contact.geom2)]
        plane = [m.geom_type[geom] == engine.mjtGeom.mjGEOM_PLANE for geom in (contact.geom1, contact.geom2)]
        if still[0] and plane[0]:
            moving, sign = contact.geom2, 1.0
        elif still[1] and plane[1]:
            moving, sign = contact.geom1, -1.0
        else:
            return None
        at = _surface_point(contact, sign)
        centre = self._centre(d, moving, at)
        if centre is None:
            return None
        velocity, rotation = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        engine.mj_jacDot(m, d, velocity, rotation, centre, m.geom_bodyid[moving])
        remainder = velocity @ d.qvel + np.cross(rotation @ d.qvel, at - centre)
        return np.asarray(sign * (contact.frame.reshape(3, 3) @ remainder))

    def _centre(self, d: Any, geom: int, point: Array) -> Array | None:
        """The material point from which the point of contact keeps its distance and direction."""
        engine, m = mujoco_engine(), self._copy
        kind, at = m.geom_type[geom], d.geom_xpos[geom]
        if kind == engine.mjtGeom.mjGEOM_SPHERE:
            return np.array(at)
        if kind == engine.mjtGeom.mjGEOM_CAPSULE:
            axis, half = d.geom_xmat[geom].reshape(3, 3)[:, 2], m.geom_size[geom, 1]
            along = float((point - at) @ axis)
            return np.asarray(at + np.sign(along) * half * axis)
        if kind in (int(engine.mjtGeom.mjGEOM_BOX), int(engine.mjtGeom.mjGEOM_MESH)):
            return point
        return None

    def _by_differences(self, d: Any, contact: Any) -> Array:
        """The same (3,) by differences of the contact's velocity along the motion, by the engine's own detection."""
        engine, m, probe = mujoco_engine(), self._copy, self._probe
        found = []
        for sign in (1.0, -1.0):
            probe.qpos[:] = d.qpos
            engine.mj_integratePos(m, probe.qpos, d.qvel, sign * _DIFFERENCE)
            probe.qvel[:] = d.qvel
            engine.mj_fwdPosition(m, probe)
            same = [c for c in probe.contact if {c.geom1, c.geom2} == {contact.geom1, contact.geom2}]
            if not same:
                raise ComputationError(f"{self.name}: a contact vanishes within {_DIFFERENCE:g} s of motion")
            nearest = min(same, key=lambda c: float(np.linalg.norm(c.pos - contact.pos)))
            found.append(self._jacobian(m, probe, nearest) @ d.qvel)
        return np.asarray((found[0] - found[1]) / (2 * _DIFFERENCE))

    def _equalities(self, d: Any) -> tuple[Array | None, Array | None]:
        """Gradients of the equality constraints, and remainders by differences along the motion."""
        J = equality_rows(self._copy, d)
        if not len(J):
            return None, None
        engine, m, probe, found = mujoco_engine(), self._copy, self._probe, []
        for sign in (1.0, -1.0):
            probe.qpos[:] = d.qpos
            engine.mj_integratePos(m, probe.qpos, d.qvel, sign * _DIFFERENCE)
            probe.qvel[:] = d.qvel
            engine.mj_fwdPosition(m, probe)
            found.append(equality_rows(m, probe) @ d.qvel)
        return J, (found[0] - found[1]) / (2 * _DIFFERENCE)

    def skeleton(self, row: Mapping[str, Any], *, near: float) -> Skeleton:
        """The posture at one row of a log: axes of capsules and cylinders, else lines from body to body.

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
        lines = body_lines(self._copy, self._data)
        return Skeleton(tuple(lines), tuple(c.position for c in frame.contacts if c.position is not None))

    def friction_in_force(self, pair: tuple[str, str]) -> tuple[float, float, float]:
        """Friction of two surfaces by MuJoCo's combination (priority, else maximum; a ``<pair>`` overrides).

        Parameters
        ----------
        pair : tuple of str
            Names of surfaces.

        Returns
        -------
        tuple of float
            In force, and what each declares.
        """
        m = self.model
        places = {self.surface(geom): geom for geom in range(m.ngeom)}
        first, second = (places[name] for name in pair)
        own, other = (float(m.geom_friction[geom, 0]) for geom in (first, second))
        for k in range(m.npair):
            if {m.pair_geom1[k], m.pair_geom2[k]} == {first, second}:
                return float(m.pair_friction[k, 0]), own, other
        ranks = [m.geom_priority[geom] for geom in (first, second)]
        if ranks[0] != ranks[1]:
            return own if ranks[0] > ranks[1] else other, own, other
        return max(own, other), own, other


def _surface_point(contact: Any, sign: float) -> Array:
    """The point (3,) of a contact on its first surface (-1) or its second (+1), to which the normal leads."""
    return np.asarray(contact.pos + sign * 0.5 * contact.dist * contact.frame[:3])


def _tangents(J_T: Array, axes: Array) -> Array | None:
    """How the two tangential rows (2, nv) are turned: both kept, or the one of a plane model; None if both vanish.

    A single direction points where its largest component in the world is positive.
    """
    left, size, _ = np.linalg.svd(J_T, full_matrices=False)
    if not size[0] > 0.0:
        return None
    if size[1] > _VANISHING * size[0]:
        return np.eye(2)
    direction = left[:, 0]
    world = direction @ axes
    return np.asarray((direction * np.sign(world[np.argmax(np.abs(world))]))[None])
