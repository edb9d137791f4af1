"""Figures that take longer than a page has: computed once, kept with their specification and a hash.

``python docs/gallery/kept.py`` computes them anew, as ``make test-long`` does to compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mechanisms
from hybrid import derive, realisation_study, solve_state

DATA = Path(__file__).parent / "data"
Record = dict[str, Any]


def springs_at_a_tangency(specification: Record) -> list[Record]:
    """Motions with springs of growing stiffness past the posture at which branches touch (Burian 2024)."""
    pendulum = derive(mechanisms.load(specification["mechanism"]))
    parameters = {"b": specification["b"]}
    start = solve_state(pendulum, {"u": specification["u"], "u_dot": 0}, parameters=parameters)
    study = realisation_study(
        pendulum,
        start,
        constraints="BC",
        stiffness=specification["stiffness"],
        t_end=specification["t_end"],
        parameters=parameters,
    )
    found = []
    for row in study.rows:
        q, _ = row.motion.sample(np.linspace(0, specification["t_end"], specification["samples"]))
        found.append(
            {
                "stiffness": row.stiffness,
                "branch": row.branch,
                "distance_to_space": round(row.distance_to_space, 6),
                "u": q[:, 0].round(6).tolist(),
                "theta": q[:, 1].round(6).tolist(),
            }
        )
    return found


FIGURES: dict[str, tuple[Record, Callable[[Record], Any]]] = {
    "burian_tangency": (
        {
            "mechanism": "singular_pendulum",
            "b": 2.0,
            "u": 0.5,
            "t_end": 1.3,
            "samples": 300,
            "stiffness": [1e3, 1e5, 1e7, 5e8, 1e9, 2e9],
        },
        springs_at_a_tangency,
    ),
}


def kept(name: str) -> Any:
    """What was computed for a figure.

    Raises
    ------
    ValueError
        It was computed from another specification, or changed since.
    """
    record = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    if record["specification"] != FIGURES[name][0] or record["hash"] != _hash(record):
        raise ValueError(f"data/{name}.json is not what it says; compute it anew: python docs/gallery/kept.py {name}")
    return record["values"]


def computed(name: str) -> Record:
    """A figure computed anew, as it is kept."""
    specification, compute = FIGURES[name]
    record: Record = {"specification": specification, "values": compute(specification)}
    return {"hash": _hash(record), **record}


def _hash(record: Record) -> str:
    text = json.dumps([record["specification"], record["values"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


if __name__ == "__main__":
    import sys

    for figure in sys.argv[1:] or FIGURES:
        (DATA / f"{figure}.json").write_text(json.dumps(computed(figure)) + "\n", encoding="utf-8")
