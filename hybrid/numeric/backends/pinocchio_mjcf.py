"""What pinocchio reads of an MJCF file as MuJoCo does: all else in a file is refused by name.

Pinocchio passes in silence over what it does not know. The elements and attributes below were compared with MuJoCo's
mass matrix, forces, limits and places; the others may be right, too, but nobody has looked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import FileError

__all__ = ["check_mjcf", "gravity_of"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLACE = "pos quat euler xyaxes zaxis"  # not axisangle: pinocchio takes its axis for a unit vector
_GEOM = (
    "name class type contype conaffinity condim group priority size material rgba friction density solmix solref "
    "solimp margin gap mesh user"
)
_SITE = "name class type group material size rgba user"
_SETTINGS = (
    "timestep apirate impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance gravity magnetic integrator cone "
    "jacobian solver iterations ls_iterations noslip_iterations ccd_iterations sdf_iterations sdf_initpoints"
)
_JOINT = (
    "name class type group axis range limited armature damping frictionloss stiffness springref ref margin solreflimit "
    "solimplimit solreffriction solimpfriction actuatorfrcrange actuatorfrclimited user"
)
# their forces are in the log's tau, but not their armature and damping
_ACTUATOR = (
    "name class group joint jointinparent site refsite cranksite slidersite cranklength gear ctrllimited ctrlrange "
    "forcelimited forcerange actlimited actrange actdim actearly lengthrange inheritrange gaintype biastype dyntype "
    "gainprm biasprm dynprm kp kv dampratio timeconst user"
)
_ACTUATORS = _words("general motor position velocity intvelocity damper cylinder")

# attributes by element
_ATTRIBUTES = {
    "mujoco": _words("model"),
    "compiler": _words(
        "angle eulerseq autolimits coordinate inertiafromgeom meshdir texturedir assetdir strippath usethread"
    ),
    "option": _words(_SETTINGS),
    "flag": _words(
        "clampctrl warmstart filterparent refsafe sensor midphase nativeccd eulerdamp autoreset energy fwdinv "
        "invdiscrete multiccd island sleep"
    ),
    "default": _words("class"),
    "worldbody": frozenset[str](),
    "body": _words(f"name childclass user {_PLACE}"),
    "inertial": _words(f"mass diaginertia fullinertia {_PLACE}"),
    "joint": _words(f"{_JOINT} pos"),
    "freejoint": _words("name group"),
    "geom": _words(f"{_GEOM} mass fromto {_PLACE}"),
    "site": _words(f"{_SITE} fromto {_PLACE}"),
    "asset": frozenset[str](),
    "actuator": frozenset[str](),
    **dict.fromkeys(_ACTUATORS, _words(_ACTUATOR)),
}
# of those of a class pinocchio forgets places and masses
_OF_CLASSES = {**_ATTRIBUTES, "joint": _words(_JOINT), "geom": _words(_GEOM), "site": _words(_SITE)}

# elements whose whole content has no influence on masses, forces, limits and places
_WITHOUT_INFLUENCE = _words(
    "visual statistic size custom sensor keyframe contact texture material mesh light camera pair equality tendon"
)

_CHILDREN = {
    "mujoco": _words(
        "compiler option default worldbody asset actuator visual statistic size custom sensor keyframe contact"
    ),
    "option": _words("flag"),
    "default": _words("default joint geom site texture material mesh light camera pair equality tendon") | _ACTUATORS,
    "worldbody": _words("body geom site light camera"),
    "body": _words("body inertial joint freejoint geom site light camera"),
    "asset": _words("texture material mesh"),
    "actuator": _ACTUATORS,
}

# places as they are where none is given; of a free body, pinocchio would turn what the log's coordinates give, too
_NO_PLACE = {"pos": "0 0 0", "quat": "1 0 0 0", "euler": "0 0 0", "xyaxes": "1 0 0 0 1 0", "zaxis": "0 0 1"}

_SOLIDS = _words("sphere capsule box ellipsoid cylinder plane")  # a plane has no mass


@attrs.frozen
class _Class:
    """Attributes by element that a class of defaults gives, with those of the classes around it."""

    names: tuple[str, ...]
    given: Mapping[str, Mapping[str, str]]

    def inside(self, node: Element, name: str) -> _Class:
        """A class within this one."""
        own = {child.tag: child.attrib for child in node if child.tag != "default"}
        tags = {*self.given, *own}
        return _Class((*self.names, name), {tag: {**self.given.get(tag, {}), **own.get(tag, {})} for tag in tags})


class _File:
    """A file that is looked through."""

    def __init__(self, root: Element, source: str) -> None:
        self.root, self.source = root, source
        self.compiler = dict(next((node.attrib for node in root.iter("compiler")), {}))
        self.main = _Class((), {})
        self.classes: dict[str, _Class] = {}

    def refuse(self, node: Element, why: str) -> None:
        name = f" {node.get('name')!r}" if node.get("name") else ""
        raise FileError(
            f"<{node.tag}>{name}: {why}; pinocchio does not read it as MuJoCo does: leave it out, or lint the model "
            "by MuJoCo (without --contacts)",
            self.source,
        )

    def check(self) -> None:
        self.check_known(self.root, _ATTRIBUTES)
        self.check_order()
        for node in self.root.iter("compiler"):
            self.check_compiler(node)
        for node in self.root.findall("default"):
            self.take_class(node, self.main, node.get("class", "main"))
        for node in self.root.findall("worldbody"):
            self.check_tree(node)
        self.check_names()

    def check_known(self, node: Element, known: Mapping[str, frozenset[str]]) -> None:
        """Refuse attributes and elements that are not known."""
        where = "" if known is _ATTRIBUTES else " in <default>"
        for attribute in node.attrib:
            if attribute not in known[node.tag]:
                self.refuse(node, f"attribute {attribute}{where}")
        for child in node:
            if child.tag not in _CHILDREN.get(node.tag, ()):
                self.refuse(child, f"an element within <{node.tag}>")
            if child.tag not in _WITHOUT_INFLUENCE:
                self.check_known(child, _OF_CLASSES if node.tag == "default" else _ATTRIBUTES)

    def check_order(self) -> None:
        """Pinocchio takes the first of several, and obeys what stands before the bodies."""
        tags = [node.tag for node in self.root]
        for node in self.root:
            if node.tag in ("compiler", "option", "default", "worldbody") and tags.count(node.tag) > 1:
                self.refuse(node, "given twice")
            if node.tag in ("compiler", "default") and "worldbody" in tags[: tags.index(node.tag)]:
                self.refuse(node, "behind <worldbody>")

    def check_compiler(self, node: Element) -> None:
        wanted = {"autolimits": "true", "coordinate": "local", "eulerseq": node.get("eulerseq", "").lower()}
        for attribute, value in wanted.items():
            if node.get(attribute, value) != value:
                self.refuse(node, f'{attribute}="{node.get(attribute)}"')

    def take_class(self, node: Element, parent: _Class, name: str) -> None:
        found = parent.inside(node, name)
        self.classes[name] = found
        if not parent.names:
            self.main = found
        for child in node.findall("default"):
            self.take_class(child, found, child.get("class", ""))

    def resolved(self, node: Element, scope: str | None) -> dict[str, str]:
        """Attributes of an element with those of its class."""
        own = node.get("class")
        name = own or scope
        if name is not None and name not in self.classes:
            self.refuse(node, f"the class {name!r}, which no <default> defines")
        if own is not None and scope is not None and scope not in self.classes[own].names:
            self.refuse(node, f"class {own!r} in a body of childclass {scope!r}, which is not around it")
        chosen = self.main if name is None else self.classes[name]
        return {**chosen.given.get(node.tag, {}), **node.attrib}

    def check_tree(self, world: Element) -> None:
        roots = world.findall("body")
        for extra in roots[1:]:
            self.refuse(extra, "a second body that hangs on the world")
        for root in roots:
            if root.find("joint") is None and root.find("freejoint") is None:
                self.check_place(root, _NO_PLACE, "the first body, which has no joint")
            self.check_body(root, None)

    def check_place(self, node: Element, names: Iterable[str], what: str) -> None:
        """Refuse attributes of place that displace or turn a body."""
        for name in sorted(names):
            if node.get(name, _NO_PLACE[name]).split() != _NO_PLACE[name].split():
                self.refuse(node, f"{name} of {what}")

    def check_body(self, body: Element, scope: str | None) -> None:
        scope = body.get("childclass", scope)
        if not body.get("name"):
            self.refuse(body, "a body without a name")
        joints = [(joint, self.resolved(joint, scope)) for joint in body.findall("joint")]
        for joint, given in joints:
            self.check_joint(joint, given)
        if body.find("freejoint") is not None or any(given.get("type") == "free" for _, given in joints):
            self.check_place(body, _NO_PLACE.keys() - {"pos"}, "a body that moves freely")
        geoms = [(geom, self.resolved(geom, scope)) for geom in body.findall("geom")]
        if body.find("inertial") is None or self.compiler.get("inertiafromgeom") == "true":
            for geom, given in geoms:
                self.check_solid(geom, given)
        for site in body.findall("site"):
            self.resolved(site, scope)
        for child in body.findall("body"):
            self.check_body(child, scope)

    def check_joint(self, joint: Element, given: Mapping[str, str]) -> None:
        kind = given.get("type", "hinge")
        numbers = {
            name: self.number(joint, name, given.get(name, "0"))
            for name in ("armature", "damping", "frictionloss", "stiffness", "ref")
        }
        refused = {"hinge": ("stiffness",), "slide": ("stiffness",), "ball": ("stiffness", "damping", "frictionloss")}
        for name in refused.get(kind, ("stiffness", "damping", "frictionloss", "armature")):
            if numbers[name]:
                self.refuse(joint, f"{name} of a joint of type {kind}")
        if "range" not in given:
            return
        if kind not in ("hinge", "slide"):
            self.refuse(joint, f"range of a joint of type {kind}")
        if given.get("limited") == "false":
            self.refuse(joint, 'range with limited="false"')
        if numbers["ref"]:
            self.refuse(joint, "range with ref")
        if kind == "slide" and self.compiler.get("angle") != "radian":
            self.refuse(joint, 'range of a sliding joint without <compiler angle="radian"/>')

    def number(self, node: Element, name: str, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            self.refuse(node, f'{name}="{text}", where one number is read')
            raise

    def check_solid(self, geom: Element, given: Mapping[str, str]) -> None:
        """Refuse a geom that would give its body another mass than in MuJoCo."""
        if given.get("type", "sphere") not in _SOLIDS or "mesh" in given:
            self.refuse(geom, f"mass of a geom of type {'mesh' if 'mesh' in given else given['type']}")
        name = "mass" if "mass" in given else "density"
        if not self.number(geom, name, given.get(name, "1000")):
            return
        if given.get("contype", "1").strip() == given.get("conaffinity", "1").strip() == "0":
            self.refuse(geom, "mass of a geom that touches nothing (contype and conaffinity 0)")

    def check_names(self) -> None:
        """Of two bodies, joints or sites of one name pinocchio knows one, or either."""
        for tags in (("body",), ("joint", "freejoint"), ("site",)):
            found = [node for world in self.root.findall("worldbody") for node in _all(world, tags) if node.get("name")]
            names = [node.get("name") for node in found]
            for node, name in zip(found, names, strict=True):
                if names.count(name) > 1:
                    self.refuse(node, "a name that is given twice")


def _all(node: Element, tags: Iterable[str]) -> Iterator[Element]:
    for tag in tags:
        yield from node.iter(tag)


def check_mjcf(root: Element, source: str) -> None:
    """Refuse a file of which pinocchio would read something otherwise than MuJoCo does, or nobody knows how.

    Parameters
    ----------
    root : xml.etree.ElementTree.Element
    source : str
        The name of the file.

    Returns
    -------
    None

    Raises
    ------
    FileError
        With element and attribute.
    """
    if root.tag == "mujoco":  # of what is no model, pinocchio says so
        _File(root, source).check()


def gravity_of(root: Element, source: str) -> NDArray[np.float64]:
    """Gravity of an MJCF file, which pinocchio does not read.

    Parameters
    ----------
    root : xml.etree.ElementTree.Element
    source : str
        The name of the file.

    Returns
    -------
    array, (3,)
        In m/s^2.

    Raises
    ------
    FileError
        It is not three numbers.
    """
    text = next((node.get("gravity") for node in root.iter("option") if node.get("gravity")), None) or "0 0 -9.81"
    try:
        x, y, z = (float(part) for part in text.split())
    except ValueError:
        raise FileError(f"gravity must be three numbers, got {text!r}", source) from None
    return np.array([x, y, z])
