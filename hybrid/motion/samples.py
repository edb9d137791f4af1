"""A motion as a labelled table of samples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hybrid.arguments import checks_arguments
from hybrid.errors import ArgumentError
from hybrid.tables import dataset
from hybrid.tolerances import LEAST

if TYPE_CHECKING:
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.recorded import AbstractMotion

__all__ = ["motion_columns", "motion_dataset"]

Array = NDArray[np.float64]

# Of the dimensions and variables, in words.
_MEANINGS = {
    "position": "generalised coordinates",
    "velocity": "their rates of change",
    "lambda_N": "normal contact forces",
    "lambda_T": "tangential contact forces",
    "mode": "mode of every contact, friction element and bilateral contact with friction",
    "arc": "number of the arc; its ends are rows of their own, so that a jump is two rows at one time",
}


def motion_dataset(motion: AbstractMotion, *, points: int) -> Any:
    """Samples of a motion as an xarray Dataset; see :meth:`hybrid.Trajectory.to_xarray`.

    Parameters
    ----------
    motion : AbstractMotion
    points : int
        Samples of the whole motion if they were evenly spaced; every arc has both of its ends besides.

    Returns
    -------
    xarray.Dataset

    Raises
    ------
    ComputationError
        xarray is not installed.
    ArgumentError
        ``points`` is below 2.
    """
    t, arc, q, v, lambda_N, lambda_T = _samples(motion, points)
    elements, modes = _modes(motion, arc)
    variables = {
        "position": (("time", "coordinate"), q),
        "velocity": (("time", "coordinate"), v),
        "lambda_N": (("time", "contact"), lambda_N),
        "lambda_T": (("time", "tangent"), lambda_T),
        "mode": (("time", "element"), modes),
        "arc": (("time",), arc),
    }
    return dataset(
        {name: (dims, values, {"long_name": _MEANINGS[name]}) for name, (dims, values) in variables.items()},
        coords={**_labels(motion, t), "element": list(elements)},
        attrs=_attributes(motion),
    )


def motion_columns(motion: AbstractMotion, *, points: int) -> dict[str, Any]:
    """Samples of a motion as columns; see :meth:`hybrid.Trajectory.to_dataframe`.

    Parameters
    ----------
    motion : AbstractMotion
    points : int
        As of :func:`motion_dataset`.

    Returns
    -------
    dict of str to array, (samples,)

    Raises
    ------
    ArgumentError
        ``points`` is below 2.
    """
    dynamics, mechanism = motion.dynamics, motion.dynamics.mechanism
    t, arc, q, v, lambda_N, lambda_T = _samples(motion, points)
    elements, modes = _modes(motion, arc)
    columns: dict[str, Any] = {"t": t}
    for names, values in (
        (mechanism.coordinates, q),
        (mechanism.velocities, v),
        ([f"lambda_N.{name}" for name in dynamics.contacts], lambda_N),
        ([f"lambda_T.{name}" for name in _tangent_names(dynamics)], lambda_T),
        ([f"mode.{name}" for name in elements], modes),
    ):
        columns |= dict(zip(names, values.T, strict=True))
    return columns | {"arc": arc}


def _modes(motion: AbstractMotion, arc: NDArray[np.intp]) -> tuple[tuple[str, ...], NDArray[np.str_]]:
    """Force elements, and their modes (samples, elements)."""
    dynamics = motion.dynamics
    elements = tuple(motion.arcs[0].mode) if motion.arcs else (*dynamics.contacts, *dynamics.elements)
    modes = np.array([[each.mode[name].value for name in elements] for each in motion.arcs], dtype=str)
    return elements, modes.reshape(len(motion.arcs), len(elements))[arc]


def _labels(motion: AbstractMotion, t: Array) -> dict[str, Any]:
    """The samples' times, the names of everything else, and units."""
    dynamics, mechanism = motion.dynamics, motion.dynamics.mechanism
    units = mechanism.units()
    owners = [name for name in dynamics.columns for _ in dynamics.columns_of(name)]
    return {
        "time": ("time", t, {"units": "s" if any(units.coordinates.values()) else ""}),
        "coordinate": list(mechanism.coordinates),
        "contact": list(dynamics.contacts),
        "tangent": list(_tangent_names(dynamics)),
        "position_units": ("coordinate", [units.coordinates[name] for name in mechanism.coordinates]),
        "velocity_units": ("coordinate", [units.coordinates[name] for name in mechanism.velocities]),
        "lambda_N_units": ("contact", [units.forces.get(name, "") for name in dynamics.contacts]),
        "lambda_T_units": ("tangent", [units.tangential_forces.get(name, "") for name in owners]),
    }


def _attributes(motion: AbstractMotion) -> dict[str, str]:
    """What holds for the whole motion."""
    mechanism = motion.dynamics.mechanism
    values = motion.dynamics.at(motion.parameters).values
    return {
        "mechanism": mechanism.name,
        "title": mechanism.title,
        "method": motion.method,
        "termination": motion.termination.name,
        "cause": motion.cause,
        "parameters": json.dumps({name: float(value) for name, value in values.items()}),
        "events": json.dumps([[event.t, event.kind.value, list(event.elements)] for event in motion.events]),
    }


@checks_arguments
def _samples(motion: AbstractMotion, points: int) -> tuple[Array, NDArray[np.intp], Array, Array, Array, Array]:
    """Times, numbers of arcs, positions, velocities and forces at both ends of every arc and evenly between."""
    if points < 2:
        raise ArgumentError(f"points must be at least 2, not {points}")
    dynamics = motion.dynamics
    n, k, p = dynamics.n, len(dynamics.contacts), len(_tangent_names(dynamics))
    spacing = max((motion.t - motion.t_start) / (points - 1), LEAST)
    tables: list[Array] = [np.zeros((0, 1 + 2 * n + k + p))]
    numbers: list[NDArray[np.intp]] = [np.zeros(0, dtype=np.intp)]
    for number, arc in enumerate(motion.arcs):
        count = max(2, int(np.ceil((arc.end - arc.start) / spacing)) + 1)
        t = np.linspace(arc.start, arc.end, count)
        q, v = arc.sample(t)
        seen = motion.forces(arc, t)
        tables.append(np.column_stack([t, q, v, seen.lambda_N.T, seen.lambda_T.T]))
        numbers.append(np.full(count, number))
    t, q, v, lambda_N, lambda_T = np.split(np.vstack(tables), np.cumsum([1, n, n, k]), axis=1)
    return t[:, 0], np.concatenate(numbers), q, v, lambda_N, lambda_T


def _tangent_names(dynamics: Dynamics) -> tuple[str, ...]:
    """Names of the tangential columns: that of the force element, numbered in space."""
    return tuple(
        name if dynamics.dimension(name) == 1 else f"{name}.{axis + 1}"
        for name in dynamics.columns
        for axis in range(dynamics.dimension(name))
    )
