"""URDF and MJCF files as pinocchio models: what pinocchio does not read of them is read, refused or said."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from hybrid.errors import FileError
from hybrid.numeric.backends.contact_files import ContactFile
from hybrid.numeric.backends.includes import check_includes, xml_root
from hybrid.numeric.backends.pinocchio_joints import pinocchio_engine

__all__ = ["read_model", "unknown_name"]

Array = NDArray[np.float64]


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
        Pinocchio cannot read it, or not all of it; it has not the joint of a rotor.
    """
    engine, source, written = pinocchio_engine(), str(path), xml_root(Path(path))
    is_urdf = written.tag == "robot"
    if not is_urdf:
        check_includes(Path(path))
        _check_whole(written, source)
        if asked.root == "free":
            raise FileError('root = "free" is for URDF: an MJCF file has its <freejoint>', asked.source)
        reader = partial(engine.buildModelFromMJCF, source)
    elif asked.root == "free":
        reader = partial(engine.buildModelFromUrdf, source, engine.JointModelFreeFlyer())
    else:
        reader = partial(engine.buildModelFromUrdf, source)
    try:
        model = reader()
    except (ValueError, RuntimeError) as error:
        raise FileError(f"pinocchio cannot read the model: {str(error).strip().splitlines()[-1]}", source) from None
    if not is_urdf:
        model.gravity.linear = _gravity(written, source)
    _give_rotors(model, asked)
    return model, _notes(written, model, asked) if is_urdf else ()


def _check_whole(written: Element, source: str) -> None:
    """Refuse what pinocchio passes over in an MJCF file though the dynamics depend on it."""
    found = [f"<{tag}>" for tag in ("include", "equality") if written.find(f".//{tag}") is not None]
    if any(node.get("stiffness") not in (None, "0") for node in written.iter("joint")):
        found.append("springs of joints")
    # its coordinates are MuJoCo's, but their limits are shifted by ref
    if any(node.get("ref") not in (None, "0") and node.get("limited") != "false" for node in written.iter("joint")):
        found.append("limits of joints with ref")
    if found:
        raise FileError(
            f"has {', '.join(found)}, which pinocchio does not read as MuJoCo does; use its backend", source
        )


def _gravity(written: Element, source: str) -> Array:
    """That of an MJCF file (m/s^2), which pinocchio does not read."""
    text = next((node.get("gravity") for node in written.iter("option") if node.get("gravity")), None) or "0 0 -9.81"
    try:
        x, y, z = (float(part) for part in text.split())
    except ValueError:
        raise FileError(f"gravity must be three numbers, got {text!r}", source) from None
    return np.array([x, y, z])


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
