"""Motions in files: arrays in an npz archive, the rest as JSON within it, nothing that could execute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.declaration.writing import mechanism_to_toml
from hybrid.errors import FileError, StateError
from hybrid.files import read_arrays, read_file
from hybrid.motion.restoring import FORMAT, MAX_BYTES, kept_laws, restored

if TYPE_CHECKING:
    from hybrid.contact.guards import Guard
    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.contact.modes import Mode
    from hybrid.dynamics.derive import Dynamics
    from hybrid.motion.arguments import Settings
    from hybrid.motion.recorded import Arc, Event
    from hybrid.motion.springs import Springs
    from hybrid.motion.trajectory import Trajectory


@checks_arguments
def save(trajectory: Trajectory, path: str | Path) -> None:
    """Write a motion to a file, with the mechanism's declaration.

    Verdicts, the guards that fired and the details of impacts are kept as words and numbers; forces are computed anew
    from the mechanism. Of the law of impacts its name and numbers are kept; a law of one's own is code, of which only
    the name is. Digests of the arrays and of the rest tell a file that was damaged or changed.

    Parameters
    ----------
    trajectory : Trajectory
    path : str or Path
        Usually with the ending ``.npz``.

    Returns
    -------
    None
        The file has been written; one that was there is replaced.
    """
    from hybrid.seals import sealed

    arrays: dict[str, Any] = {
        "q_start": trajectory.q_start,
        "v_start": trajectory.v_start,
        "q": trajectory.q,
        "v": trajectory.v,
    }
    for index, arc in enumerate(trajectory.arcs):
        arrays[f"arc_{index}_knots"] = arc.knots
        arrays[f"arc_{index}_coefficients"] = arc.coefficients
        for name, values in _means(arc).items():
            arrays[f"arc_{index}_{name}"] = values
    for index, event in enumerate(trajectory.events):
        arrays[f"event_{index}"] = np.array([event.q, event.v_before, event.v_after])
    record = {
        "format": FORMAT,
        "mechanism": mechanism_to_toml(trajectory.dynamics.mechanism),
        "parameters": {
            name: value if isinstance(value, str) else float(value) for name, value in trajectory.parameters.items()
        },
        "arcs": [{"mode": _labels(arc.mode), "sides": dict(arc.force_signs)} for arc in trajectory.arcs],
        "events": [_event_record(event) for event in trajectory.events],
        "termination": trajectory.termination.name,
        "cause": trajectory.cause,
        "method": trajectory.method,
        "law": _law_record(trajectory.law),
        "t_start": trajectory.t_start,
        "t": trajectory.t,
        "warnings": list(trajectory.warnings),
        "energy": dict(trajectory.energy().as_mapping()),
        "handed_over": _springs_record(trajectory.springs),
        "settings": _settings_record(trajectory.settings),
    }
    arrays = {name: np.asarray(values) for name, values in arrays.items()}
    with Path(path).open("wb") as file:
        np.savez_compressed(file, record=np.array(json.dumps(sealed(record, arrays))), **arrays)


@checks_arguments
def load(
    path: str | Path,
    *,
    dynamics: Dynamics | None = None,
    law: AbstractImpactLaw | None = None,
    max_bytes: int = MAX_BYTES,
) -> Trajectory:
    """Read a motion from a file.

    Parameters
    ----------
    path : str or Path
    dynamics : Dynamics, optional
        The derived mechanism, if it is at hand; otherwise the declaration in the file is derived. Parameters are
        those of the motion, whatever was bound to it.
    law : AbstractImpactLaw, optional
        The law that decided the impacts, where it is none of this package's; without it a motion under such a law
        has no law, and no derivatives.
    max_bytes : int, optional
        How large the file may be when it is unpacked: a small file may claim all memory.

    Returns
    -------
    Trajectory

    Raises
    ------
    StateError
        The file cannot be read, is not a motion or a larger one, or not as it was saved; or the motion is one of
        another mechanism, or another law decided its impacts.
    DeclarationError
        The mechanism or the parameters in the file are none.
    """
    try:
        arrays = read_arrays(read_file(path, limit=max_bytes), limit=max_bytes, source=str(path))
    except FileError as error:
        advice = "; for a larger motion: load(path, max_bytes=...)" if "larger" in error.reason else ""
        raise StateError(f"{path} is not a motion saved by this package: {error.reason}{advice}") from error
    return restored(arrays, source=str(path), dynamics=dynamics, law=law)


def _law_record(law: AbstractImpactLaw | None) -> dict[str, Any] | None:
    if law is None:
        return None
    if type(law) not in kept_laws().values():
        return {"name": law.name, "numbers": None}
    return {"name": law.name, "numbers": attrs.asdict(cast("attrs.AttrsInstance", law))}


def _springs_record(springs: Springs | None) -> dict[str, Any] | None:
    if springs is None:
        return None
    declaration = mechanism_to_toml(springs.dynamics.mechanism)
    return {"t": springs.t, "constraints": list(springs.constraints), "mechanism": declaration}


def _settings_record(settings: Settings | None) -> dict[str, Any] | None:
    if settings is None:
        return None
    return attrs.asdict(settings, filter=lambda field, _: field.name != "sizes")  # a simulation finds them anew


def _means(arc: Arc) -> dict[str, Any]:
    return {} if arc.means is None else attrs.asdict(arc.means, recurse=False)


def _labels(mode: Mode | None) -> dict[str, str] | None:
    return None if mode is None else {name: label.value for name, label in mode.items()}


def _event_record(event: Event) -> dict[str, Any]:
    return {
        "t": event.t,
        "kind": event.kind.name,
        "carriers": list(event.elements),
        "mode_before": _labels(event.mode_before),
        "mode_after": _labels(event.mode_after),
        "impact": None if event.impact is None else _impact_record(event.impact),
        "verdict": None if event.verdict is None else event.verdict.name,
        "note": event.note,
        "guards": [_guard_record(guard) for guard in event.guards],
    }


def _guard_record(guard: Guard) -> dict[str, Any]:
    measured = guard.quantity
    quantity = measured and {
        "measure": measured.measure.name,
        "element": measured.part and measured.part.name,
        "sign": measured.sign,
        "axis": measured.axis,
        "side": measured.side,
    }
    return {
        "kind": guard.kind.name,
        "elements": list(guard.elements),
        "quantity": quantity,
        "direction": guard.direction,
    }


def _impact_record(impact: Any) -> dict[str, Any]:
    record = attrs.asdict(impact)
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in record.items()}
