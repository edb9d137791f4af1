"""Whether a mechanism file says what a MuJoCo model does: its equations against the engine's, at some states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics import derive
from hybrid.errors import ComputationError
from hybrid.numeric.backends.mujoco_contacts import mujoco_engine
from hybrid.tolerances import AGREEING

if TYPE_CHECKING:
    from hybrid.declaration import Mechanism
    from hybrid.numeric.backends.mujoco import MujocoModel

__all__ = ["check_agreement", "check_expressible", "refuse_import"]

Array = NDArray[np.float64]

# Of the size of a row. Directions that differ by 1e-9 are taken for one, and files are written with 14 digits; what is
# left out altogether is larger at velocities of 1, or is nothing beside the weight.
_AGREES = AGREEING

# Displacements from the reference posture and velocities, each along another direction: of both signs and sizes, for
# springs and dampers may have polynomials, and what is even or odd in one of them must not stay unseen.
_STATES = ((0.3, 1.0), (0.7, -0.4), (-0.5, 2.0))


def refuse_import(source: MujocoModel, why: str) -> None:
    """Refuse to write a model as a mechanism file.

    Parameters
    ----------
    source : MujocoModel
    why : str

    Returns
    -------
    None

    Raises
    ------
    ComputationError
        Always.
    """
    raise ComputationError(f"{source.name} cannot be imported as a planar mechanism: {why}")


def check_expressible(source: MujocoModel) -> None:
    """Refuse what a mechanism file cannot say of contacts and of material that yields, which no state shows.

    Parameters
    ----------
    source : MujocoModel

    Returns
    -------
    None

    Raises
    ------
    ComputationError
    """
    m = source.model
    said = {
        "it has a <pair>, whose friction and geoms are not taken over; give them to the geoms": m.npair,
        # torsional friction (condim 4) acts about the normal, about which nothing turns here
        "a geom has rolling friction (condim 6); condim 3 is taken over": np.any(m.geom_condim == 6),
        "a geom is adhesive": np.any(getattr(m, "geom_adhesion", 0.0)),  # of MuJoCo 4
        "a spring yields (springyield)": getattr(m, "nplastic", 0),
    }
    for why, is_so in said.items():
        if is_so:
            refuse_import(source, why)


def check_agreement(source: MujocoModel, mechanism: Mechanism) -> None:
    """Refuse a mechanism whose mass matrix or free acceleration is not that of its model.

    Parameters
    ----------
    source : MujocoModel
    mechanism : Mechanism
        With the joints of the model as coordinates, in its order.

    Returns
    -------
    None

    Raises
    ------
    ComputationError
        They differ at a state; the message has the joint whose row differs most, and what the model declares that may
        be the cause.
    """
    engine, m, dynamics = mujoco_engine(), source.model, derive(mechanism)
    d, M = engine.MjData(m), np.zeros((m.nv, m.nv))
    for shift, rate in _STATES:
        d.qpos[:] = m.qpos0 + shift * np.cos(np.arange(m.nq))
        d.qvel[:] = rate * np.sin(1.0 + np.arange(m.nv))
        engine.mj_forward(m, d)
        engine.mj_fullM(m, d, M)
        # without the actuators' forces, for which parameters stand; MuJoCo counts among them what compensates gravity
        h = d.qfrc_passive - d.qfrc_bias + d.qfrc_gravcomp * m.jnt_actgravcomp
        terms = dynamics.terms(d.qpos, d.qvel)
        size = np.sqrt(np.diag(M))
        inertia = np.max(np.abs(terms.M - M) / np.outer(size, size), axis=1)
        # forces with which each joint alone would have the acceleration of the whole model, in the measure of kinetic
        # energy, or would stop it within a second: where nothing accelerates, forces are what rounding leaves
        level = np.sqrt(max(0.0, float(h @ np.linalg.solve(M, h)))) + np.sqrt(float(d.qvel @ M @ d.qvel))
        force = np.abs(terms.h - h) / (size * level)
        for what, off in (("another mass matrix", inertia), ("other forces", force)):
            worst = int(np.argmax(off))
            if not off[worst] <= _AGREES:
                causes = ", ".join(_causes(m)) or "none that is known"
                refuse_import(
                    source,
                    f"a mechanism file of it would have {what} at joint {mechanism.coordinates[worst]!r} (off by "
                    f"{off[worst]:.2g} of their size); what it declares and the file cannot say: {causes}",
                )


def _causes(m: Any) -> list[str]:
    """What a model declares that no mechanism file takes over."""
    flags = mujoco_engine().mjtDisableBit
    disabled = {
        f"the flag {name}": m.opt.disableflags & int(bit)
        for name, bit in (
            ("gravity", flags.mjDSBL_GRAVITY),
            ("spring", flags.mjDSBL_SPRING),
            ("damper", flags.mjDSBL_DAMPER),
        )
    }
    declared = {
        "armature of actuators": np.any(m.actuator_armature),
        "damping of actuators": np.any(m.actuator_damping) or np.any(m.actuator_dampingpoly),
        "polynomial stiffness": np.any(m.jnt_stiffnesspoly),
        "polynomial damping": np.any(m.dof_dampingpoly),
        "gravity compensation": np.any(m.body_gravcomp),
        "a fluid (density, viscosity)": m.opt.density or m.opt.viscosity,
        **disabled,
    }
    return [name for name, is_so in declared.items() if is_so]
