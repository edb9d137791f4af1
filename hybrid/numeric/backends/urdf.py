"""Joints of URDF files: what one engine or the other ignores is read here, or refused by name."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from hybrid.errors import FileError

__all__ = ["bounded_joints", "check_planar_axes"]


def bounded_joints(written: Element, source: str) -> list[str]:
    """Names of the revolute and prismatic joints with limits, of which URDF takes those that are not given for 0.

    Parameters
    ----------
    written : Element
        The root of the file, which an engine has read.
    source : str
        The name of the file.

    Returns
    -------
    list of str

    Raises
    ------
    FileError
        There is no room between the limits of a joint: MuJoCo would ignore them in silence.
    """
    found = []
    for node in written.iter("joint"):
        limit = node.find("limit")
        if limit is None or node.get("type") not in ("revolute", "prismatic"):
            continue
        name = str(node.get("name"))
        low, high = (limit.get(side) or "0" for side in ("lower", "upper"))
        if not float(low) < float(high):
            raise FileError(
                f"the joint {name!r} has limits from {low} to {high}, between which it cannot move (one that is not "
                "given is 0); give lower < upper, or make it fixed or continuous",
                source,
            )
        found.append(name)
    return found


def check_planar_axes(written: Element, source: str) -> None:
    """Refuse planar joints across another axis than z, which pinocchio takes whatever the file says.

    Parameters
    ----------
    written : Element
        The root of the file, which an engine has read.
    source : str
        The name of the file.

    Returns
    -------
    None

    Raises
    ------
    FileError
    """
    for node in written.iter("joint"):
        if node.get("type") != "planar":
            continue
        axis = node.find("axis")
        given = "1 0 0" if axis is None else axis.get("xyz", "1 0 0")  # that of URDF
        x, y, z = (float(part) for part in given.split())
        if x or y or z <= 0.0:
            raise FileError(
                f"the planar joint {node.get('name')!r} has the axis {given}, but pinocchio moves it across 0 0 1; "
                "turn its <origin>",
                source,
            )
