"""MuJoCo models (MJCF, and URDF that MuJoCo reads): mass matrix, bias, and contacts by geometry.

Contacts are found on a private copy of the model with a raised margin, never chosen by the engine's forces: those of
soft contacts lose states with several solutions.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import ComputationError, FileError, StateError
from hybrid.numeric.backends.includes import check_includes, xml_root
from hybrid.numeric.backends.mujoco_contacts import (
    body_lines,
    change_along_motion,
    equality_rows,
    geometric_contacts,
    is_unsupported,
    joint_ranges,
    limits,
    mujoco_engine,
)
from hybrid.numeric.backends.mujoco_pictures import rendered
from hybrid.numeric.backends.mujoco_urdf import urdf_model
from hybrid.numeric.backends.rows import check_unit, dry_friction
from hybrid.numeric.frames import Frame, GeometricContact, Skeleton, merged

__all__ = ["MujocoModel", "load"]

Array = NDArray[np.float64]


def load(path: str | Path, *, contacts: str | Path | None = None) -> MujocoModel:
    """Read a model.

    Parameters
    ----------
    path : str or Path
        An MJCF or URDF file, with its meshes and includes in its folder or below.
    contacts : str or Path, optional
        Refused: contacts are those of the model's geoms.

    Returns
    -------
    MujocoModel

    Raises
    ------
    FileError
        MuJoCo cannot read it, it includes files outside its folder, a friction is negative, its flags disable contacts
        or override their parameters, a surface has a velocity of its own, or a link of a URDF file moves without mass.
    ComputationError
        MuJoCo is not installed.
    """
    engine, source = mujoco_engine(), str(path)
    if contacts is not None:
        raise FileError("names contacts, but MuJoCo finds those of the model's geoms", str(contacts))
    if not Path(path).is_file():
        raise FileError("there is no such file", source)
    check_includes(Path(path))
    try:
        written = xml_root(Path(path))
        is_urdf = written.tag == "robot"
        model = urdf_model(Path(path), written) if is_urdf else engine.MjModel.from_xml_path(source)
    except FileError:
        raise
    except (ValueError, engine.FatalError) as error:
        raise FileError(f"MuJoCo cannot read the model: {str(error).strip()}", source) from None
    _take_flags(model, source)
    read = MujocoModel(model, Path(path).stem)
    negative = [f"the geom {read.surface(int(k))!r}" for k in np.flatnonzero(model.geom_friction[:, 0] < 0.0)]
    negative += [f"the pair {model.pair(k).name or k!r}" for k in np.flatnonzero(model.pair_friction[:, 0] < 0.0)]
    if negative:
        raise FileError(f"the friction of {', '.join(negative)} is negative", source)
    none = np.zeros((model.ngeom, 6))  # before MuJoCo 4
    if moving := [
        read.surface(int(k)) for k in np.flatnonzero(np.any(getattr(model, "geom_surfacevel", none), axis=1))
    ]:
        raise FileError(
            f"surfaces with a velocity of their own (surfacevel) are not covered: {', '.join(moving)}", source
        )
    return read


def _take_flags(model: Any, source: str) -> None:
    """Take away what the flags of a model disable; refuse those with which no contact is what its geoms say."""
    engine = mujoco_engine()
    disabled, enabled = engine.mjtDisableBit, engine.mjtEnableBit
    for name, bit in (("contact", disabled.mjDSBL_CONTACT), ("constraint", disabled.mjDSBL_CONSTRAINT)):
        if model.opt.disableflags & int(bit):
            raise FileError(f'<flag {name}="disable"/>: no contact would have a force; leave the flag out', source)
    if model.opt.enableflags & int(enabled.mjENBL_OVERRIDE):
        raise FileError(
            '<flag override="enable"/> replaces margin and friction of all contacts; give them to the geoms', source
        )
    if model.opt.disableflags & int(disabled.mjDSBL_LIMIT):
        model.jnt_limited[:], model.tendon_limited[:] = False, False
    if model.opt.disableflags & int(disabled.mjDSBL_FRICTIONLOSS):
        model.dof_frictionloss[:], model.tendon_frictionloss[:] = 0.0, 0.0


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
    def columns(self) -> Mapping[str, int | tuple[int, ...]]:
        """Width of every column that a log may have, or its shape in MuJoCo."""
        m = self.model
        return {
            "qpos": m.nq,
            "qvel": m.nv,
            "ctrl": m.nu,
            "act": m.na,
            "qfrc_applied": m.nv,
            "xfrc_applied": (m.nbody, 6),
            "mocap_pos": (m.nmocap, 3),
            "mocap_quat": (m.nmocap, 4),
        }

    @property
    def required(self) -> tuple[str, ...]:
        """Columns that a log must have."""
        return ("qpos", "qvel")

    @property
    def actuation(self) -> tuple[str, ...]:
        """Columns that are taken for zeros, with a word, where a log lacks them."""
        return ("ctrl", "act")

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
        limited = m.jnt_limited.astype(bool)
        for margins, unit in ((m.geom_margin, "m"), (m.jnt_margin[limited], "m or rad to limits of joints")):
            if np.any(margins > 0.0):
                found.append(
                    f"MuJoCo lets forces act from a gap of {max(margins):.3g} {unit} on (margin); here --gap counts"
                )
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

    @property
    def reference(self) -> Mapping[str, Array]:
        """The posture of the model's file."""
        return {"qpos": np.array(self.model.qpos0)}

    @cached_property
    def ranges(self) -> Array:
        """Displacements (nv, 2) from it that joints allow; infinite for translations without a range."""
        return joint_ranges(self.model)

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
            friction=dry_friction(self.model.dof_frictionloss, d.qvel),
            J=J,
            zeta_B=zeta_B,
            has_unsupported=any(c.dist <= near and is_unsupported(m, c) for c in d.contact[: d.ncon]),
        )

    def _place(self, d: Any, row: Mapping[str, Any]) -> None:
        engine, m = mujoco_engine(), self.model
        for k in range(m.njnt):
            first = m.jnt_qposadr[k]
            first += 3 if m.jnt_type[k] == engine.mjtJoint.mjJNT_FREE else 0
            if m.jnt_type[k] in (int(engine.mjtJoint.mjJNT_FREE), int(engine.mjtJoint.mjJNT_BALL)):
                what = f"{self.name}: qpos: the quaternion of joint {m.joint(k).name!r}"
                check_unit(row["qpos"][first : first + 4], what)
        engine.mj_resetData(self._copy, d)
        for name in self.columns:
            if name in row:
                getattr(d, name).reshape(-1)[:] = np.asarray(row[name], dtype=float).reshape(-1)

    def _contacts(self, d: Any, near: float) -> list[GeometricContact]:
        try:
            return geometric_contacts(self._copy, d, near=near, surface=self.surface, probe=self._probe)
        except (StateError, ComputationError) as error:
            raise type(error)(f"{self.name}: {error}") from None

    def _equalities(self, d: Any) -> tuple[Array | None, Array | None]:
        """Gradients of the equality constraints, and remainders by differences along the motion."""
        J = equality_rows(self._copy, d)
        if not len(J):
            return None, None
        m, probe = self._copy, self._probe
        return J, change_along_motion(m, d, probe, lambda: np.asarray(equality_rows(m, probe) @ d.qvel))

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

    def pictures(self, rows: Sequence[Mapping[str, Any]]) -> list[NDArray[np.uint8]] | None:
        """Postures by MuJoCo's renderer.

        Parameters
        ----------
        rows : sequence of mapping of str to array

        Returns
        -------
        list of array of uint8, (height, width, 3), or None
            None where it does not work, as on a machine without OpenGL.
        """
        return rendered(self.model, [np.asarray(row["qpos"]) for row in rows])

    def friction_in_force(self, pair: tuple[str, str]) -> tuple[float, float, float, str]:
        """Friction of two surfaces by MuJoCo's combination (priority, else maximum; a ``<pair>`` overrides).

        Parameters
        ----------
        pair : tuple of str
            Names of surfaces.

        Returns
        -------
        float, float, float
            In force, and what each declares.
        str
            Where that in force comes from.
        """
        m = self.model
        places = {self.surface(geom): geom for geom in range(m.ngeom)}
        first, second = (places[name] for name in pair)
        own, other = (float(m.geom_friction[geom, 0]) for geom in (first, second))
        for k in range(m.npair):
            if {m.pair_geom1[k], m.pair_geom2[k]} == {first, second}:
                return float(m.pair_friction[k, 0]), own, other, "that of the <pair>"
        ranks = [m.geom_priority[geom] for geom in (first, second)]
        if ranks[0] != ranks[1]:
            chosen = int(ranks[1] > ranks[0])
            return (own, other)[chosen], own, other, f"that of {pair[chosen]}, which has priority"
        larger = max(own, other)
        return larger, own, other, f"the larger one, of {pair[int(other > own)]}"
