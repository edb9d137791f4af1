"""Maps that are kept while they are computed, and gone on with after whatever ended them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Executor
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.analysis.engines import Engine, worked_off
from hybrid.analysis.kept_tasks import KeptTasks
from hybrid.analysis.maps.chunks import Chunk, Draft, Progress, cells_at_once, chunks, classified_chunk
from hybrid.analysis.maps.compiled_cells import CompiledCells, pays
from hybrid.analysis.maps.plane import RegionCodes
from hybrid.contact.classification import Classification
from hybrid.declaration import mechanism_to_toml
from hybrid.declaration.parser import parse_expression

if TYPE_CHECKING:
    from hybrid.analysis.maps.plane import Sweep
    from hybrid.dynamics.derive import Dynamics

__all__ = ["about_mechanism", "about_pins", "decide_kept", "fill_from", "specification"]

# What decides a chunk must hang on the map alone: margins of the two methods agree to rounding, not to the bit.
_MANY = 1 << 20
_CELLS, _COMPILED_CELLS = 1 << 15, 1 << 20


def about_mechanism(dynamics: Dynamics) -> dict[str, Any]:
    """What tells a mechanism and its parameters from others, as JSON values.

    Parameters
    ----------
    dynamics : Dynamics

    Returns
    -------
    dict
        ``painleve`` (its version), ``mechanism, declaration, sha256, parameters, overrides``.
    """
    text = mechanism_to_toml(dynamics.mechanism)
    return {
        "painleve": version("painleve"),
        "mechanism": dynamics.name,
        "declaration": text,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "parameters": {name: np.asarray(value).tolist() for name, value in dynamics.values.items()},
        "overrides": dict(sorted(_overrides(dynamics))),
    }


def _overrides(dynamics: Dynamics) -> Iterator[tuple[str, Any]]:
    """Parameters of which the value alone does not say what they do where another one is swept.

    These are such as follow others, as their text, and such as no longer follow them, as their value.
    """
    declared = dynamics.mechanism.parameters
    for name, given in dynamics.given.items():
        if _follows(given, declared):
            yield name, given
        elif _follows(declared[name].value, declared):
            yield name, np.asarray(dynamics.values[name]).tolist()


def _follows(value: Any, known: Collection[str]) -> bool:
    """Whether a value is an expression of parameters."""
    return isinstance(value, str) and bool(parse_expression(value, known=known).names)


def about_pins(pins: Mapping[str, Any]) -> dict[str, str]:
    """What tells values of pins from others, as JSON values.

    Parameters
    ----------
    pins : mapping of str to float, str or array

    Returns
    -------
    dict of str to str
        Texts as they are; numbers as they are read back, zero without a sign, as ``-0.0`` is a limit of slip only as a
        text.

    Examples
    --------
    >>> about_pins({"phi": 1, "phi_dot": 0.1, "slip.tip": -0.0}), about_pins({"slip.tip": "-0.0"})
    ({'phi': '1', 'phi_dot': '0.1', 'slip.tip': '0'}, {'slip.tip': '-0.0'})
    """
    numbers = {name: np.asarray(value, dtype=float) + 0.0 for name, value in pins.items() if not isinstance(value, str)}
    return {name: repr(numbers[name].tolist()).removesuffix(".0") if name in numbers else pins[name] for name in pins}


def specification(plane: Sweep) -> dict[str, Any]:
    """What a map is of, as JSON values.

    Parameters
    ----------
    plane : Sweep

    Returns
    -------
    dict
    """
    branch = None if plane.branch is None else about_pins(plane.branch.start)
    return {
        "kind": "map",
        **about_mechanism(plane.dynamics),
        "pins": about_pins(plane.pins),
        "axes": [attrs.asdict(axis) for axis in plane.axes],
        "branch": branch,
        "tolerances": attrs.asdict(plane.tolerances),
    }


def decide_kept(
    plane: Sweep,
    kept: KeptTasks,
    engine: Executor | Engine | None,
    *,
    progress: Progress | None,
    failed: Callable[[Chunk, str], None],
) -> None:
    """Work off the tasks of a map that are not kept yet.

    Parameters
    ----------
    plane : Sweep
    kept : KeptTasks
    engine : concurrent.futures.Executor, or callable that makes one, or None
    progress : callable, optional
    failed : callable
        Called with a chunk and the reason where it cannot be decided.

    Returns
    -------
    None
    """
    tasks, is_compiled = _tasks(plane)
    todo = [number for number in range(len(tasks)) if number not in kept.done]
    done, total = sum(_size(tasks[number]) for number in kept.done), sum(map(_size, tasks))
    for index, arrays in worked_off(
        partial(_task, plane, is_compiled),
        [tasks[number] for number in todo],
        engine=engine,
        failed=lambda index, reason: failed(tasks[todo[index]], reason),
    ):
        kept.put(todo[index], arrays)
        done += _size(tasks[todo[index]])
        if progress is not None:
            progress(done, total)


def fill_from(kept: KeptTasks, draft: Draft, plane: Sweep) -> None:
    """Put the tasks that are kept into a map.

    Parameters
    ----------
    kept : KeptTasks
    draft : Draft
    plane : Sweep

    Returns
    -------
    None
    """
    tasks, _ = _tasks(plane)
    for number in sorted(kept.done):
        arrays = kept.get(number)
        draft.n_general += int(arrays["n_general"])
        draft.put(tasks[number], _classification(arrays))


def _tasks(plane: Sweep) -> tuple[tuple[Chunk, ...], bool]:
    """The chunks of a map, and whether they are decided by compiled operations."""
    shape = (plane.axes[0].cells, plane.axes[1].cells)
    cells = cells_at_once(plane, _COMPILED_CELLS)
    is_compiled = shape[0] * shape[1] >= _MANY and pays(cells)  # every task compiles anew
    return chunks(shape, cells if is_compiled else min(cells, _CELLS)), is_compiled


def _size(chunk: Chunk) -> int:
    return (chunk.stop0 - chunk.start0) * (chunk.stop1 - chunk.start1)


def _task(plane: Sweep, is_compiled: bool, chunk: Chunk) -> dict[str, NDArray[Any]]:
    """A chunk with its labels in the order of their names, whoever decides it."""
    if is_compiled:
        rows, columns = chunk.place
        first, second = plane.axes
        cells = CompiledCells(plane)
        found, n_general = cells.classified(first.values[rows], second.values[columns]), cells.n_general
    else:
        found, n_general = classified_chunk(plane, chunk), _size(chunk)
    used = int(np.bitwise_or.reduce(found.modes, axis=None))
    labels = sorted(label for index, label in enumerate(found.labels) if used >> index & 1)
    modes = RegionCodes(list(labels)).translated(found.modes, found.labels)
    return {
        "verdict": np.ascontiguousarray(found.verdict),
        "modes": np.ascontiguousarray(modes),
        "margin": np.ascontiguousarray(found.margin),
        "labels": np.array(labels, dtype=np.str_),
        "n_general": np.array(n_general),
    }


def _classification(arrays: Mapping[str, NDArray[Any]]) -> Classification:
    labels = tuple(str(label) for label in arrays["labels"])
    return Classification(arrays["verdict"], arrays["modes"], labels, arrays["margin"])
