"""Logs of random postures, moved into contact where nothing bounds a translation."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.errors import StateError
from hybrid.numeric.frames import AbstractBackend
from hybrid.numeric.logs import MAX_FRAMES, Log, checked_log
from hybrid.numeric.posing import Thresholds, persistent_velocities
from hybrid.tolerances import ROUNDING

__all__ = ["sampled_log"]

Array = NDArray[np.float64]

_DRAWS = 100  # of a posture, before a model whose parts penetrate each other nearly everywhere is given up
_SHIFTS = 8  # towards the contact: one suffices on a plane
_TOUCHING = ROUNDING  # m: a gap that a shift has closed, some ten roundings of positions of 1 m
_STEEP = 0.1  # of a unit normal: a shift nearly along the surface would carry the posture away


def sampled_log(backend: AbstractBackend, count: int, *, seed: int, thresholds: Thresholds) -> Log:
    """A log of random postures in contact, with random velocities at which the contacts persist.

    Parameters
    ----------
    backend : AbstractBackend
    count : int
        Number of postures.
    seed : int
        Of the random numbers.
    thresholds : Thresholds
        Whose gap bounds how deep parts of a posture may penetrate.

    Returns
    -------
    Log
        Without times; its notes say what was drawn.

    Raises
    ------
    StateError
        ``count`` is out of range, or nearly all postures of the model penetrate.
    """
    if not 1 <= count <= MAX_FRAMES:
        raise StateError(f"--sample must be from 1 to {MAX_FRAMES}, got {count}")
    rng = np.random.default_rng(seed)
    rows, drawn = list[Mapping[str, Array]](), 0
    while len(rows) < count:
        if drawn >= _DRAWS * (1 + len(rows)):
            raise StateError(f"{backend.name}: of {drawn} random postures only {len(rows)} do not penetrate")
        drawn += 1
        row = _touching(backend, backend.moved(backend.reference, _displacement(backend.ranges, rng)))
        frame = backend.frame({**row, backend.velocity: rng.standard_normal(len(backend.ranges))}, near=thresholds.gap)
        if frame.J is not None:
            raise StateError(f"{backend.name}: random postures do not satisfy its constraints; lint a log instead")
        if all(contact.gap >= -thresholds.gap for contact in frame.contacts):
            v = persistent_velocities(frame, frame.contacts) if frame.contacts else frame.v
            rows.append({**row, backend.velocity: v})
    log = checked_log({name: np.array([row[name] for row in rows]) for name in rows[0]}, backend, "--sample")
    moved = (
        "then moved along a translation without a range until they touch"
        if len(_unbounded(backend))
        else "no translation is without a range, so none was moved until it touches"
    )
    notes = (
        f"{count} postures were drawn with seed {seed}: joints uniformly within their ranges, or over a whole turn; "
        f"{moved}",
        "velocities were drawn from the standard normal distribution (m/s, rad/s); the normal ones of contacts were "
        "taken away",
        f"{drawn - count} postures that penetrate by more than {thresholds.gap:g} m were drawn again",
        *(f"{name} is 0" for name in backend.actuation if np.prod(backend.columns[name])),
    )
    return attrs.evolve(log, notes=notes)


def _displacement(ranges: Array, rng: np.random.Generator) -> Array:
    """Uniform along every velocity (n,); none along those without a range."""
    low, high = np.where(np.isfinite(ranges), ranges, 0.0).T
    return np.asarray(rng.uniform(low, high))


def _unbounded(backend: AbstractBackend) -> NDArray[np.intp]:
    """The velocities along which nothing bounds a posture: translations without a range."""
    return np.flatnonzero(~np.isfinite(backend.ranges).all(axis=1))


def _touching(backend: AbstractBackend, row: Mapping[str, Array]) -> Mapping[str, Array]:
    """The row of a posture that is moved along a coordinate without a range until its nearest contact is closed."""
    free = _unbounded(backend)
    for _ in range(_SHIFTS if len(free) else 0):
        near = backend.frame(row, near=2.0 * backend.extent).contacts
        closing = [contact for contact in near if np.max(np.abs(contact.W_N[free])) > _STEEP]
        if not closing:
            break
        nearest = min(closing, key=lambda contact: contact.gap)
        if abs(nearest.gap) <= _TOUCHING:
            break
        k = free[np.argmax(np.abs(nearest.W_N[free]))]
        shift = np.zeros(len(backend.ranges))
        shift[k] = -nearest.gap / nearest.W_N[k]
        row = backend.moved(row, shift)
    return row
