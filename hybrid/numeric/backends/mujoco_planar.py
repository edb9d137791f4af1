"""Planar chains of MuJoCo models as declared mechanisms: coordinates, energies, contacts of spheres and capsules.

All that moves turns about one direction ``n`` and is displaced across it. A point of a body is then
``o + R(phi) (c, s)``: the place of the last joint before it, and constants turned by the angle of that joint. Its
velocity is the sum of the displacements by every joint on the way, ``q_dot`` times the offset turned by a right angle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.declaration import Contact, Drawing, EnergyDynamics, FrictionElement, Mechanism, Parameter
from hybrid.numeric.backends.mujoco_agreement import check_agreement, check_expressible, refuse_import
from hybrid.numeric.backends.mujoco_contacts import mujoco_engine
from hybrid.numeric.backends.planar_expressions import identifier, number, product, sum_of, times
from hybrid.tolerances import NOTHING, ROUNDING

if TYPE_CHECKING:
    from hybrid.numeric.backends.mujoco import MujocoModel

__all__ = ["planar_mechanism"]

Array = NDArray[np.float64]

_PARALLEL = NOTHING  # sine of an angle between directions that are meant to be one: models are written with some digits
_ZERO = ROUNDING  # m: components of constant offsets that rounding leaves


@attrs.frozen(eq=False)
class _Joint:
    """A joint of a planar chain.

    Attributes
    ----------
    name : str
        Of the coordinate.
    parent : _Joint or None
    turns : float
        ``+1`` or ``-1`` for a hinge, by the sense in which it turns; 0 for a slide.
    at, along : array, (2,)
        Its place and the direction of a slide in the reference posture.
    zero : float
        Its coordinate there.
    """

    name: str
    parent: _Joint | None
    turns: float
    at: Array
    along: Array
    zero: float

    def chain(self) -> list[_Joint]:
        """This joint and those before it, from the root on."""
        return [*(self.parent.chain() if self.parent else []), self]

    @property
    def angle(self) -> str:
        """The angle by which what follows is turned, as an expression."""
        terms = [times(joint.turns, joint.shift) for joint in self.chain() if joint.turns]
        return sum_of(terms)

    @property
    def shift(self) -> str:
        """The displacement from the reference posture."""
        return self.name if self.zero == 0.0 else f"({self.name} - ({number(self.zero)}))"


def planar_mechanism(source: MujocoModel) -> tuple[Mechanism, tuple[str, ...]]:
    """A planar model as a mechanism.

    Parameters
    ----------
    source : MujocoModel
        With hinges about one direction and slides across it.

    Returns
    -------
    mechanism : Mechanism
        With a parameter for every mass, moment of inertia, coefficient of friction, and torque or force of an actuator
        (zero). Gravity points against the second axis.
    notes : tuple of str
        What of the model is left out.

    Raises
    ------
    ComputationError
        The model is not planar, has ball or free joints, or closed loops; a mechanism file cannot say how it moves.
    """
    check_expressible(source)
    mechanism, notes = _Planar(source).mechanism()
    check_agreement(source, mechanism)
    return mechanism, notes


class _Planar:
    def __init__(self, source: MujocoModel) -> None:
        engine, m = mujoco_engine(), source.model
        self.source, self.m, self.engine = source, m, engine
        self.data = engine.MjData(m)
        engine.mj_forward(m, self.data)
        self._check_joints()
        self.axes = self._plane()
        self.notes: list[str] = list(source.notes)
        for body in np.flatnonzero(m.body_mocapid >= 0).tolist():
            self.notes.append(f"the body {m.body(body).name or body}, moved from outside (mocap), is fixed where it is")
        self.parameters: dict[str, Any] = {}
        self.definitions: dict[str, str] = {}
        self.points: dict[str, tuple[str, ...]] = {}
        self.joint_names = [identifier(m.joint(k).name or f"q{k + 1}") for k in range(m.njnt)]
        if len(set(self.joint_names)) < m.njnt:
            self._refuse("joints have one name once signs that no name may have are replaced")
        self.last = self._joints()
        self.shared: list[Array] = []

    def _refuse(self, why: str) -> None:
        refuse_import(self.source, why)

    def _check_joints(self) -> None:
        kinds = self.engine.mjtJoint
        for k in range(self.m.njnt):
            if self.m.jnt_type[k] in (int(kinds.mjJNT_FREE), int(kinds.mjJNT_BALL)):
                self._refuse(
                    f"joint {self.m.joint(k).name!r} is a free or a ball joint; in a plane it is two slides and a hinge"
                )
        if not self.m.njnt:
            self._refuse("it has no joints")
        if self.m.neq:
            self._refuse("it has equality constraints (closed loops)")
        if self.m.ntendon:
            self._refuse("it has tendons")

    def _is_hinge(self, k: int) -> bool:
        return bool(self.m.jnt_type[k] == int(self.engine.mjtJoint.mjJNT_HINGE))

    def _plane(self) -> Array:
        """Two unit vectors (2, 3): to the right, and upwards."""
        g = np.array(self.m.opt.gravity)
        hinges = [self.data.xaxis[k] for k in range(self.m.njnt) if self._is_hinge(k)]
        slides = [self.data.xaxis[k] for k in range(self.m.njnt) if not self._is_hinge(k)]
        across = [slide for slide in (*slides, g) if np.linalg.norm(slide) > 0]
        if hinges:
            normal = np.array(hinges[0])
        else:
            _, values, right = np.linalg.svd(np.array(across))
            if len(values) < 2 or values[1] <= _PARALLEL * values[0]:
                self._refuse("one direction does not tell its plane")
            normal = right[2] if right.shape[0] > 2 else np.cross(right[0], right[1])
        for axis in hinges:
            if np.linalg.norm(np.cross(axis, normal)) > _PARALLEL:
                self._refuse("its hinges are not parallel")
        if any(abs(slide @ normal) > _PARALLEL * np.linalg.norm(slide) for slide in across):
            self._refuse("a slide or gravity is not across its hinges")
        size = np.linalg.norm(g)
        up = -g / size if size else np.array([0.0, 0.0, 1.0]) - normal[2] * normal
        if np.linalg.norm(up) <= _PARALLEL:
            up = np.array([0.0, 1.0, 0.0]) - normal[1] * normal
        up = up / np.linalg.norm(up)
        right_ = np.cross(normal, up)
        right_ = right_ * np.sign(right_[np.argmax(np.abs(right_))])
        return np.array([right_, up])

    def _in_plane(self, vector: Any) -> Array:
        return np.asarray(self.axes @ np.asarray(vector))

    def _joints(self) -> list[_Joint | None]:
        """Of every body the last joint on the way to it."""
        m, normal = self.m, np.cross(*self.axes)
        last: list[_Joint | None] = [None] * m.nbody
        for body in range(1, m.nbody):
            current = last[m.body_parentid[body]]
            for k in range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body]):
                turns = float(np.sign(self.data.xaxis[k] @ normal)) if self._is_hinge(k) else 0.0
                at, along = self._in_plane(self.data.xanchor[k]), self._in_plane(self.data.xaxis[k])
                current = _Joint(self.joint_names[k], current, turns, at, along, float(m.qpos0[m.jnt_qposadr[k]]))
                self._place(current)
            last[body] = current
        return last

    def _place(self, joint: _Joint) -> None:
        """Definitions of where a joint is and how far it is turned."""
        x, y = self._point(joint.parent, joint.at)
        if not joint.turns:
            dx, dy = self._turned(joint.parent, joint.along)
            x, y = sum_of([x, product(joint.shift, dx)]), sum_of([y, product(joint.shift, dy)])
        self._define(f"{joint.name}_x", x)
        self._define(f"{joint.name}_y", y)
        self._check_new(f"{joint.name}_angle")
        self.definitions[f"{joint.name}_angle"] = joint.angle
        self.points[joint.name] = (f"{joint.name}_x", f"{joint.name}_y")

    def _define(self, name: str, text: str) -> None:
        """A length by name: a definition, or a parameter if it is a number, which then has a unit."""
        if re.fullmatch(r"\(?-?[0-9.e+-]+\)?", text) and float(text.strip("()")):
            self._parameter(name, float(text.strip("()")), "m", "fixed by the joints")
        else:
            self._check_new(name)
            self.definitions[name] = text

    def _parameter(self, name: str, value: float, unit: str, doc: str) -> None:
        self._check_new(name)
        self.parameters[name] = Parameter(value=value, unit=unit, doc=doc)

    def _check_new(self, name: str) -> None:
        """Refuse a name that another body, joint or contact has given already: one of the two would be lost."""
        if name in self.parameters or name in self.definitions:
            self._refuse(f"{name!r} would stand for two things; its bodies, joints or geoms have names too much alike")

    def _turned(self, joint: _Joint | None, vector: Array) -> tuple[str, str]:
        """A vector of the reference posture turned with what follows a joint."""
        a, b = (0.0 if abs(value) <= _ZERO else float(value) for value in vector)
        if joint is None or joint.angle == "0":
            return number(a), number(b)
        angle = f"{joint.name}_angle"
        return (
            sum_of([times(a, f"cos({angle})"), times(-b, f"sin({angle})")]),
            sum_of([times(a, f"sin({angle})"), times(b, f"cos({angle})")]),
        )

    def _point(self, joint: _Joint | None, at: Array) -> tuple[str, str]:
        """A point of the reference posture where it is carried by what follows a joint."""
        if joint is None:
            return number(at[0]), number(at[1])
        x, y = self._turned(joint, at - joint.at)
        return sum_of([f"{joint.name}_x", x]), sum_of([f"{joint.name}_y", y])

    def _velocity(self, joint: _Joint, at: tuple[str, str]) -> tuple[str, str]:
        """The velocity of a point that is carried by what follows a joint."""
        x, y = [], []
        for item in joint.chain():
            rate = f"{item.name}_dot"
            if item.turns:
                x.append(times(-item.turns, f"{rate}*({at[1]} - {item.name}_y)"))
                y.append(times(item.turns, f"{rate}*({at[0]} - {item.name}_x)"))
            else:
                dx, dy = self._turned(item.parent, item.along)
                x.append(product(rate, dx))
                y.append(product(rate, dy))
        return sum_of(x), sum_of(y)

    def mechanism(self) -> tuple[Mechanism, tuple[str, ...]]:
        m, g = self.m, float(np.linalg.norm(self.m.opt.gravity))
        self._parameter("g", g, "m/s^2", "gravity")
        kinetic, potential, links = [], [], []
        for body in range(1, m.nbody):
            joint = self.last[body]
            if joint is None:
                continue
            name = identifier(m.body(body).name or f"body{body}")
            if m.body_parentid[body] and self.last[m.body_parentid[body]] is not joint:
                before = self.last[m.body_parentid[body]]
                links += [(before.name, joint.name)] if before else []
            if m.body_mass[body] <= 0.0:
                continue
            turn = np.array(self.data.ximat[body]).reshape(3, 3)
            normal = np.cross(*self.axes)
            inertia = float(normal @ turn @ np.diag(m.body_inertia[body]) @ turn.T @ normal)
            self._parameter(f"m_{name}", float(m.body_mass[body]), "kg", f"mass of {name}")
            self._parameter(f"J_{name}", inertia, "kg m^2", f"central moment of inertia of {name}")
            x, y = self._point(joint, self._in_plane(self.data.xipos[body]))
            self._define(f"{name}_cx", x)
            self._define(f"{name}_cy", y)
            vx, vy = self._velocity(joint, (f"{name}_cx", f"{name}_cy"))
            kinetic.append(f"m_{name}*(({vx})**2 + ({vy})**2)/2")
            spin = sum_of([times(item.turns, f"{item.name}_dot") for item in joint.chain() if item.turns])
            kinetic += [f"J_{name}*({spin})**2/2"] if spin != "0" else []
            potential.append(f"m_{name}*g*{name}_cy")
        forces = dict(self._forces(kinetic, potential))
        limits = list(self._limits())
        contacts: Any = [*self._contacts(links), *limits]
        friction: Any = self._dry_friction()
        mechanism = Mechanism(
            name=identifier(self.source.name),
            coordinates=self.joint_names,
            parameters=self.parameters,
            definitions=self.definitions,
            dynamics=EnergyDynamics(kinetic=sum_of(kinetic), potential=sum_of(potential)),
            forces=forces,
            contact=contacts,
            friction=friction,
            drawing=Drawing(points=self.points, links=links, stops=[limit.name for limit in limits]),
        )
        return mechanism, tuple(dict.fromkeys(self.notes))

    def _forces(self, kinetic: list[str], potential: list[str]) -> Iterator[tuple[str, str]]:
        """Forces of joints; rotor inertia and springs are added to the energies."""
        m = self.m
        kinds = self.engine.mjtTrn
        at_joints = np.isin(m.actuator_trntype, (int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)))
        driven = set(m.actuator_trnid[at_joints, 0].tolist())
        for place in np.flatnonzero(~at_joints):
            self.notes.append(f"the actuator {m.actuator(int(place)).name or place} is left out: it acts on no joint")
        servos = np.any(m.actuator_biasprm, axis=1) & at_joints
        for joint in (self.joint_names[m.actuator_trnid[place, 0]] for place in np.flatnonzero(servos)):
            self.notes.append(f"tau_{joint} stands for the whole force of a servo, which depends on the state")
        for k, name in enumerate(self.joint_names):
            dof = m.jnt_dofadr[k]
            if m.dof_armature[dof]:
                kinetic.append(f"{number(m.dof_armature[dof])}*{name}_dot**2/2")
            if m.jnt_stiffness[k]:
                rest = float(m.qpos_spring[m.jnt_qposadr[k]])
                potential.append(f"{number(m.jnt_stiffness[k])}*({name} - ({number(rest)}))**2/2")
            terms = [f"-{number(m.dof_damping[dof])}*{name}_dot"] if m.dof_damping[dof] else []
            if k in driven:
                unit = "N m" if self._is_hinge(k) else "N"
                self._parameter(f"tau_{name}", 0.0, unit, f"actuation of {name}")
                terms.append(f"tau_{name}")
            if terms:
                yield name, sum_of(terms)

    def _contacts(self, links: list[tuple[str, str]]) -> Iterator[Contact]:
        """Contacts of spheres and ends of capsules with planes of the world."""
        m, kinds = self.m, self.engine.mjtGeom
        fixed = [geom for geom in range(m.ngeom) if self.last[m.geom_bodyid[geom]] is None]
        planes = [geom for geom in fixed if m.geom_type[geom] == int(kinds.mjGEOM_PLANE)]
        if len(planes) < len([geom for geom in fixed if m.geom_contype[geom] or m.geom_conaffinity[geom]]):
            self.notes.append("fixed surfaces that are no planes are left out")
        if not planes:
            self.notes.append("the model has no plane: contacts are with the level through the origin, with friction 1")
        for geom in range(m.ngeom):
            if self.last[m.geom_bodyid[geom]] is None or not (m.geom_contype[geom] or m.geom_conaffinity[geom]):
                continue
            ends = self._ends(geom)
            if not ends:
                self.notes.append(
                    f"geom {self.source.surface(geom)} is left out: only spheres and capsules have points"
                )
                continue
            for plane in planes or [-1]:
                if plane < 0 or self._may_touch(geom, plane):
                    yield from self._touching(geom, plane, ends, links, several=len(planes) > 1)

    def _may_touch(self, geom: int, plane: int) -> bool:
        m, bodies = self.m, sorted(int(self.m.geom_bodyid[k]) for k in (geom, plane))
        if (bodies[0] << 16) + bodies[1] in m.exclude_signature:
            return False
        return bool(
            m.geom_contype[geom] & m.geom_conaffinity[plane] or m.geom_contype[plane] & m.geom_conaffinity[geom]
        )

    def _is_rough(self, geom: int, plane: int) -> bool:
        """Whether a contact has friction: condim 1 has none, that of priority counts, else the larger one."""
        ranks, dims = (field[[geom, plane]] for field in (self.m.geom_priority, self.m.geom_condim))
        return bool(np.max(dims[ranks == np.max(ranks)]) > 1)

    def _ends(self, geom: int) -> list[Array]:
        """Centres (3,) of the spheres that a geom is made of, each once in the plane of motion."""
        m, kinds = self.m, self.engine.mjtGeom
        centre = np.array(self.data.geom_xpos[geom])
        if m.geom_type[geom] == int(kinds.mjGEOM_SPHERE):
            return [centre]
        if m.geom_type[geom] != int(kinds.mjGEOM_CAPSULE):
            return []
        along = self.data.geom_xmat[geom].reshape(3, 3)[:, 2] * m.geom_size[geom, 1]
        return [centre] if np.linalg.norm(self._in_plane(along)) <= _ZERO else [centre - along, centre + along]

    def _touching(
        self, geom: int, plane: int, ends: list[Array], links: list[tuple[str, str]], *, several: bool
    ) -> Iterator[Contact]:
        joint, name = self.last[self.m.geom_bodyid[geom]], identifier(self.source.surface(geom))
        up, height, friction = np.array([0.0, 1.0]), 0.0, 1.0
        if plane >= 0:
            normal = self.data.geom_xmat[plane].reshape(3, 3)[:, 2]
            if np.linalg.norm(self.axes.T @ (self.axes @ normal) - normal) > _PARALLEL:
                self._refuse(f"the plane {self.source.surface(plane)} is not across its hinges")
            up = self._in_plane(normal)
            height = float(up @ self._in_plane(self.data.geom_xpos[plane]))
            pair = (self.source.surface(plane), self.source.surface(geom))
            friction = self.source.friction_in_force(pair)[0] if self._is_rough(geom, plane) else 0.0
        if joint is None:
            return
        for k, end in enumerate(ends):
            if self._is_shared(geom, plane, end):
                self.notes.append(f"an end of {self.source.surface(geom)} is that of another geom: one contact")
                continue
            label = (
                name
                + (f"_{'ab'[k]}" if len(ends) > 1 else "")
                + (f"_{identifier(self.source.surface(plane))}" if several else "")
            )
            label = f"{label}_geom" if label in self.joint_names else label
            if self._keeps_place(geom, end, up):
                self.notes.append(f"geom {self.source.surface(geom)} is left out: it keeps its height")
                continue
            cx, cy = f"{label}_x", f"{label}_y"
            for name_of, place in zip((cx, cy), self._point(joint, self._in_plane(end)), strict=True):
                self._define(name_of, place)
            radius = float(self.m.geom_size[geom, 0])
            below = (sum_of([place, number(-radius * part)]) for place, part in zip((cx, cy), up, strict=True))
            self.points |= {f"{label} centre": (cx, cy), label: tuple(below)}
            links += [(joint.name, f"{label} centre"), (f"{label} centre", label)]
            gap = sum_of([times(float(up[0]), cx), times(float(up[1]), cy)])
            along = sum_of([times(float(up[1]), cx), times(-float(up[0]), cy)])
            rolled = [times(radius, f"{joint.name}_angle")] if joint.angle != "0" else []
            slides = bool(rolled) or not self._keeps_place(geom, end, np.array([up[1], -up[0]]))
            if slides:
                self._parameter(f"mu_{label}", friction, "1", f"friction of {label}")
            else:
                self.notes.append(f"geom {self.source.surface(geom)} has no friction: it does not move along its plane")
            yield Contact(
                name=label,
                gap=f"{gap} - ({number(height + radius)})",
                tangent=sum_of([along, *rolled]) if slides else (),
                friction=f"mu_{label}" if slides else "0",
            )

    def _is_shared(self, geom: int, plane: int, end: Array) -> bool:
        """Whether another geom's end is there at all postures: capsules that share a joint."""
        found = np.concatenate([[float(plane), float(self.m.geom_size[geom, 0])], *self._elsewhere(geom, end)])
        if any(np.max(np.abs(found - other)) <= _PARALLEL for other in self.shared):
            return True
        self.shared.append(found)
        return False

    def _keeps_place(self, geom: int, end: Array, direction: Array) -> bool:
        """Whether an end of a geom is as far along a direction, as high over a plane, at all postures."""
        places = [float(direction @ place) for place in self._elsewhere(geom, end)]
        return max(places) - min(places) <= _PARALLEL

    def _elsewhere(self, geom: int, end: Array) -> list[Array]:
        """Where an end of a geom is at two postures that are special in no mechanism."""
        m, data = self.m, self.engine.MjData(self.m)
        local = self.data.geom_xmat[geom].reshape(3, 3).T @ (end - self.data.geom_xpos[geom])
        places = []
        for shift in (0.3, 0.7):
            data.qpos[:] = m.qpos0 + shift * np.cos(np.arange(m.nq))
            self.engine.mj_kinematics(m, data)
            places.append(self._in_plane(data.geom_xpos[geom] + data.geom_xmat[geom].reshape(3, 3) @ local))
        return places

    def _limits(self) -> Iterator[Contact]:
        for k, name in enumerate(self.joint_names):
            if self.m.jnt_limited[k]:
                low, high = (float(value) for value in self.m.jnt_range[k])
                yield Contact(name=f"lower_{name}", gap=f"{name} - ({number(low)})")
                yield Contact(name=f"upper_{name}", gap=f"({number(high)}) - {name}")

    def _dry_friction(self) -> list[FrictionElement]:
        found = []
        for k, name in enumerate(self.joint_names):
            limit = float(self.m.dof_frictionloss[self.m.jnt_dofadr[k]])
            if limit:
                found.append(FrictionElement(name=f"friction_{name}", limit=number(limit), tangent=name))
        return found
