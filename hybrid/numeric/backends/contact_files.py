"""Contacts that are named in a file beside a model without surfaces to touch with."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from hybrid.declaration.document import parse, read_text
from hybrid.errors import FileError
from hybrid.numeric.files import check_keys

__all__ = ["ContactFile", "SphereContact", "read_contacts"]


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
    content = parse(read_text(path), source=source)
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
