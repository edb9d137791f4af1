"""URDF and MJCF files as pinocchio models, with the contacts that another file names.

What pinocchio does not read of them is read, refused or said.
"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import Element

import attrs

from hybrid.declaration.document import parse, read_text
from hybrid.errors import FileError, StateError
from hybrid.files import check_keys
from hybrid.numeric.backends.includes import check_includes, xml_root
from hybrid.numeric.backends.pinocchio_mjcf import check_mjcf, gravity_of
from hybrid.numeric.backends.urdf import bounded_joints, check_planar_axes

__all__ = [
    "ContactFile",
    "ModelJoint",
    "SphereContact",
    "model_joints",
    "pinocchio_engine",
    "read_contacts",
    "read_model",
    "unknown_name",
]


@attrs.frozen
class SphereContact:
    """A sphere of a robot that may touch a plane through the origin of the world.

    Attributes
    ----------
    frame : str
        Of the model; the sphere's centre is its origin.
    friction : float
        Coulomb's coefficient.
    radius : float
        Of the sphere (m); 0 for a point.
    normal : tuple of float, length 3
        From the plane to the robot, of length one; up where it is not given.
    """

    frame: str
    friction: float
    radius: float = 0.0
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)


@attrs.frozen
class ContactFile:
    """What a file of contacts says.

    Attributes
    ----------
    source : str
        The name of the file.
    contacts : tuple of SphereContact
        At least one, of different frames.
    root : {"fixed", "free"}
        How the model's first body hangs on the world where the model does not say.
    rotor_inertia : dict of str to float
        Inertia of rotors as the joints feel it (kg m^2, behind the gear; kg for sliding joints), by joint.
    """

    source: str
    contacts: tuple[SphereContact, ...]
    root: Literal["fixed", "free"]
    rotor_inertia: Mapping[str, float]


def read_contacts(path: str | Path) -> ContactFile:
    """Read a file of contacts.

    Parameters
    ----------
    path : str or Path
        A TOML file with tables ``[[contact]]`` of ``frame``, ``friction``, ``radius`` and ``normal``, a table
        ``[rotor_inertia]`` of numbers by joint, and ``root = "fixed"`` or ``"free"``.

    Returns
    -------
    ContactFile

    Raises
    ------
    DeclarationError
        It cannot be read or is no TOML.
    FileError
        A field is unknown, missing, of another kind or out of range; two contacts have the same frame.
    """
    source = str(path)
    content = parse(read_text(path, what="a file of contacts"), source=source)
    check_keys("", content, {"contact", "rotor_inertia", "root"}, {"contact"}, source)
    tables, rotors, root = content["contact"], content.get("rotor_inertia", {}), content.get("root", "fixed")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise FileError("contact must be given as tables [[contact]]", source)
    if not isinstance(rotors, dict):
        raise FileError("rotor_inertia must be a table of numbers by joint", source)
    if root not in ("fixed", "free"):
        raise FileError(f'root must be "fixed" or "free", got {root!r}', source)
    contacts = tuple(_contact(f"contact[{k}]", table, source) for k, table in enumerate(tables))
    frames = [contact.frame for contact in contacts]
    for k, frame in enumerate(frames):
        if frame in frames[:k]:
            raise FileError(f"contact[{k}].frame: {frame!r} has a contact already", source)
    inertia = {joint: _not_negative(f"rotor_inertia.{joint}", value, source) for joint, value in rotors.items()}
    return ContactFile(source, contacts, root, inertia)


def _contact(field: str, table: Mapping[str, Any], source: str) -> SphereContact:
    check_keys(field, table, {item.name for item in attrs.fields(SphereContact)}, {"frame", "friction"}, source)
    given: dict[str, Any] = {
        name: _not_negative(f"{field}.{name}", table[name], source) for name in ("friction", "radius") if name in table
    }
    if not isinstance(table["frame"], str):
        raise FileError(f"{field}.frame must be the name of a frame in quotes, got {table['frame']!r}", source)
    if "normal" in table:
        normal = table["normal"]
        if not isinstance(normal, list) or len(normal) != 3 or not all(map(_is_number, normal)) or not any(normal):
            raise FileError(f"{field}.normal must be three numbers that are not all 0, got {normal!r}", source)
        given["normal"] = tuple(part / math.hypot(*normal) for part in normal)
    return SphereContact(table["frame"], **given)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _not_negative(field: str, value: Any, source: str) -> float:
    if not _is_number(value) or value < 0.0:
        raise FileError(f"{field} must be a number that is not negative, got {value!r}", source)
    return float(value)


def read_model(path: str | Path, asked: ContactFile) -> tuple[Any, tuple[str, ...]]:
    """Read a model, with the root and the rotors that a file of contacts gives it.

    Parameters
    ----------
    path : str or Path
    asked : ContactFile

    Returns
    -------
    pinocchio.Model
    tuple of str
        What of it is unknown or approximated.

    Raises
    ------
    FileError
        Pinocchio cannot read it, or not all of it; it has not the joint of a rotor; there is no room between the limits
        of a joint.
    """
    engine, source, written = pinocchio_engine(), str(path), xml_root(Path(path))
    is_urdf = written.tag == "robot"
    if not is_urdf:
        check_includes(Path(path))
        check_mjcf(written, source)
        if asked.root == "free":
            raise FileError('root = "free" is for URDF: an MJCF file has its <freejoint>', asked.source)
        reader = partial(engine.buildModelFromMJCF, source)
    elif asked.root == "free":
        reader = partial(engine.buildModelFromUrdf, source, engine.JointModelFreeFlyer())
    else:
        reader = partial(engine.buildModelFromUrdf, source)
    try:
        model = reader()
    except (ValueError, RuntimeError, IndexError) as error:
        raise FileError(f"pinocchio cannot read the model: {str(error).strip().splitlines()[-1]}", source) from None
    if is_urdf:
        bounded_joints(written, source)
        check_planar_axes(written, source)
    else:
        model.gravity.linear = gravity_of(written, source)
    _give_rotors(model, asked)
    return model, _notes(written, model, asked) if is_urdf else ()


def _give_rotors(model: Any, asked: ContactFile) -> None:
    for joint, value in asked.rotor_inertia.items():
        if not model.existJointName(joint):
            raise FileError(unknown_name("rotor_inertia", "joint", joint, list(model.names)[1:]), asked.source)
        k = model.getJointId(joint)
        if model.nvs[k] != 1:
            raise FileError(f"rotor_inertia: the joint {joint!r} has {model.nvs[k]} velocities, not one", asked.source)
        model.armature[model.idx_vs[k]] = value


def unknown_name(field: str, kind: str, name: str, known: Sequence[str]) -> str:
    """What to say of a name that a model has not.

    Parameters
    ----------
    field : str
        Where the name stands.
    kind : str
        What it is a name of.
    name : str
    known : sequence of str
        The names that the model has.

    Returns
    -------
    str
    """
    near = difflib.get_close_matches(name, known, n=1)
    return f"{field}: the model has no {kind} {name!r}; " + (
        f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    )


def _notes(written: Element, model: Any, asked: ContactFile) -> tuple[str, ...]:
    found = []
    without = [
        name
        for k, name in enumerate(model.names)
        if k and model.nvs[k] == 1 and name not in asked.rotor_inertia and not model.armature[model.idx_vs[k]]
    ]
    if without:
        found.append(
            f"warning: no rotor inertia is known of {', '.join(without)}: URDF has none, and it decides where rigid "
            f"contact has no solution; give [rotor_inertia] in {asked.source}"
        )
    mimics = [str(node.get("name")) for node in written.iter("joint") if node.find("mimic") is not None]
    if mimics:
        found.append(f"joints that mimic others move freely: {', '.join(mimics)}")
    return tuple(found)


# how many of the first velocities of a joint are translations; none of the others'
_SLIDING = {"FreeFlyer": 3, "Translation": 3, "Planar": 2, "PX": 1, "PY": 1, "PZ": 1, "PrismaticUnaligned": 1}


def pinocchio_engine() -> Any:
    """The module of pinocchio.

    Returns
    -------
    module

    Raises
    ------
    StateError
        It is not installed.
    """
    try:
        import pinocchio
    except ImportError:
        raise StateError("pinocchio is not installed: pip install 'painleve[pinocchio]'") from None
    return pinocchio


@attrs.frozen
class ModelJoint:
    """A joint, or one of those of a body that pinocchio composes into one.

    Attributes
    ----------
    name : str
    q, v, nq, nv : int
        Where its coordinates and velocities begin, and how many there are.
    sliding : int
        How many of its first velocities are translations.
    """

    name: str
    q: int
    v: int
    nq: int
    nv: int
    sliding: int


def model_joints(model: Any) -> Iterator[ModelJoint]:
    """The joints of a model, in the order of its velocities.

    Parameters
    ----------
    model : pinocchio.Model

    Returns
    -------
    iterator of ModelJoint
    """
    for k, name in enumerate(model.names):
        joint = model.joints[k]
        q, v = joint.idx_q, joint.idx_v
        parts = joint.extract().joints if joint.shortname() == "JointModelComposite" else [joint]
        for place, part in enumerate(parts if k else ()):
            called = f"{name}[{place}]" if len(parts) > 1 else str(name)
            kind = part.shortname().removeprefix("JointModel")
            yield ModelJoint(called, q, v, part.nq, part.nv, _SLIDING.get(kind, 0))
            q, v = q + part.nq, v + part.nv
