"""Joints of a pinocchio model: where their coordinates and velocities are, and which of these are translations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from hybrid.errors import StateError

__all__ = ["ModelJoint", "model_joints", "pinocchio_engine"]

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
