"""Motions in files: arrays in an npz archive, the rest as JSON within it, nothing that could execute."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np

from hybrid.contact.modes import Mode
from hybrid.declaration.specification import mechanism_from_toml
from hybrid.declaration.writing import mechanism_to_toml
from hybrid.dynamics.derive import derive
from hybrid.errors import DeclarationError, StateError
from hybrid.motion.flow import Observation
from hybrid.motion.outcome import Event, EventKind, Termination
from hybrid.motion.springs import HandedOver
from hybrid.motion.trajectory import Arc, Trajectory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.contact.impacts.impact import AbstractImpactLaw
    from hybrid.dynamics.derive import Dynamics

FORMAT = "painleve motion 1"


def save(trajectory: Trajectory, path: str | Path) -> None:
    """Write a motion to a file, with the mechanism's declaration.

    Verdicts and the details of impacts are kept as words and energies; forces are computed anew from the mechanism.
    Of the law of impacts its name and numbers are kept; a law of one's own is code, of which only the name is.

    Parameters
    ----------
    trajectory : Trajectory
    path : str or Path
        Usually with the ending ``.npz``.
    """
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
        "parameters": {name: value if isinstance(value, str) else float(value) for name, value in _items(trajectory)},
        "arcs": [{"mode": _labels(arc.mode), "sides": dict(arc.sides)} for arc in trajectory.arcs],
        "events": [_event_record(event) for event in trajectory.events],
        "termination": trajectory.termination.name,
        "cause": trajectory.cause,
        "method": trajectory.method,
        "law": _law_record(trajectory.law),
        "t_start": trajectory.t_start,
        "t": trajectory.t,
        "warnings": list(trajectory.warnings),
        "energy": dict(trajectory.energy().as_mapping()),
        "handed_over": _handed_over_record(trajectory.handed_over),
    }
    with Path(path).open("wb") as file:
        np.savez_compressed(file, record=np.array(json.dumps(record)), **arrays)


def load(path: str | Path, *, dynamics: Dynamics | None = None, law: AbstractImpactLaw | None = None) -> Trajectory:
    """Read a motion from a file.

    Parameters
    ----------
    path : str or Path
    dynamics : Dynamics, optional
        The derived mechanism, if it is at hand; otherwise the declaration in the file is derived.
    law : AbstractImpactLaw, optional
        The law that decided the impacts, where it is none of this package's; without it a motion under such a law
        has no law, and no derivatives.

    Returns
    -------
    Trajectory

    Raises
    ------
    StateError
        The file is not a motion, or another law decided its impacts.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        record = json.loads(str(arrays.pop("record")))
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise StateError(f"{path} is not a motion saved by this package: {error}") from error
    if record.get("format") != FORMAT:
        raise StateError(f"{path} has the format {record.get('format')!r}; this version reads {FORMAT!r}")
    for array in arrays.values():
        array.setflags(write=False)
    try:
        if dynamics is None:
            dynamics = derive(mechanism_from_toml(record["mechanism"], source=str(path)))
        return _trajectory(record, arrays, dynamics, _law(record.get("law"), law, path))
    except DeclarationError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StateError(f"{path} is not a whole motion: {error!r}") from error


def _law_record(law: AbstractImpactLaw | None) -> dict[str, Any] | None:
    if law is None:
        return None
    if type(law) not in _kept_laws().values():
        return {"name": law.name, "numbers": None}
    return {"name": law.name, "numbers": attrs.asdict(cast("attrs.AttrsInstance", law))}


def _law(item: Mapping[str, Any] | None, given: AbstractImpactLaw | None, path: str | Path) -> AbstractImpactLaw | None:
    """The law of a record, or the one that was given in its place."""
    kept = None
    if item is not None and item["numbers"] is not None:
        kept = _kept_laws()[item["name"]](**item["numbers"])
    if given is None:
        return kept
    if item is None or given.name != item["name"] or (kept is not None and kept != given):
        recorded = "without a law" if item is None else f"with the law {kept if kept is not None else item['name']!r}"
        raise StateError(f"the motion in {path} was computed {recorded}, not with {given!r}")
    return given


def _kept_laws() -> dict[str, type[AbstractImpactLaw]]:
    """The laws that a name and numbers describe."""
    from hybrid.contact.compliance.law import KelvinVoigtLimit
    from hybrid.contact.impacts.laws import EnergeticImpact, NewtonImpact, PoissonImpact

    return {
        "newton": NewtonImpact,
        "poisson": PoissonImpact,
        "energetic": EnergeticImpact,
        "kelvin-voigt": KelvinVoigtLimit,
    }


def _trajectory(
    record: Mapping[str, Any], arrays: Mapping[str, Any], dynamics: Dynamics, law: AbstractImpactLaw | None
) -> Trajectory:
    return Trajectory(
        dynamics=dynamics,
        parameters=record["parameters"],
        arcs=tuple(_arc(item, f"arc_{i}", arrays) for i, item in enumerate(record["arcs"])),
        events=tuple(_event(item, arrays[f"event_{i}"]) for i, item in enumerate(record["events"])),
        termination=Termination[record["termination"]],
        cause=record["cause"],
        law=law,
        method=record["method"],
        t_start=record["t_start"],
        q_start=arrays["q_start"],
        v_start=arrays["v_start"],
        t=record["t"],
        q=arrays["q"],
        v=arrays["v"],
        warnings=tuple(record["warnings"]),
        handed_over=_handed_over(record.get("handed_over")),
    )


def _handed_over_record(springs: HandedOver | None) -> dict[str, Any] | None:
    if springs is None:
        return None
    declaration = mechanism_to_toml(springs.dynamics.mechanism)
    return {"t": springs.t, "constraints": list(springs.constraints), "mechanism": declaration}


def _handed_over(item: Mapping[str, Any] | None) -> HandedOver | None:
    if item is None:
        return None
    return HandedOver(item["t"], tuple(item["constraints"]), derive(mechanism_from_toml(item["mechanism"])))


def _arc(item: Mapping[str, Any], place: str, arrays: Mapping[str, Any]) -> Arc:
    names = [field.name for field in attrs.fields(Observation)]
    means = {name: arrays[f"{place}_{name}"] for name in names if f"{place}_{name}" in arrays}
    knots, coefficients = arrays[f"{place}_knots"], arrays[f"{place}_coefficients"]
    return Arc(Mode(item["mode"]), knots, coefficients, item["sides"], Observation(**means) if means else None)


def _means(arc: Arc) -> dict[str, Any]:
    return {} if arc.means is None else attrs.asdict(arc.means, recurse=False)


def _items(trajectory: Trajectory) -> list[tuple[str, Any]]:
    return list(trajectory.parameters.items())


def _labels(mode: Mode | None) -> dict[str, str] | None:
    return None if mode is None else {name: label.value for name, label in mode.items()}


def _event_record(event: Event) -> dict[str, Any]:
    return {
        "t": event.t,
        "kind": event.kind.name,
        "carriers": list(event.carriers),
        "mode_before": _labels(event.mode_before),
        "mode_after": _labels(event.mode_after),
        "impact": None if event.impact is None else _impact_record(event.impact),
        "verdict": None if event.verdict is None else event.verdict.name,
        "note": event.note,
    }


def _impact_record(impact: Any) -> dict[str, Any]:
    record = attrs.asdict(impact)
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in record.items()}


def _event(item: Mapping[str, Any], states: Any) -> Event:
    from hybrid.contact.impacts.impact import Impact, Phase
    from hybrid.contact.selection import Verdict

    modes = {name: None if item[name] is None else Mode(item[name]) for name in ("mode_before", "mode_after")}
    impact = item["impact"]
    if impact is not None:
        vectors = {name: np.array(impact[name]) for name in ("v_before", "v_after")}
        tuples = {
            name: {key: tuple(value) for key, value in impact[name].items()} for name in ("impulse_T", "slip_after")
        }
        phases = tuple(Phase(**phase) for phase in impact["phases"])
        impact = Impact(**{**impact, **vectors, **tuples, "phases": phases, "warnings": tuple(impact["warnings"])})
    return Event(
        t=item["t"],
        kind=EventKind[item["kind"]],
        carriers=tuple(item["carriers"]),
        mode_before=modes["mode_before"],
        mode_after=modes["mode_after"],
        q=states[0],
        v_before=states[1],
        v_after=states[2],
        impact=impact,
        verdict=None if item["verdict"] is None else Verdict[item["verdict"]],
        note=item["note"],
    )
