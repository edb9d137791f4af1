"""A pendulum whose configuration space branches, rigid and with a spring instead: as in Burian (2024).

python examples/singular_pendulum.py docs/images

Prints how the spring's motion compares with the rigid one for growing stiffness, and draws the paths over the
configuration space where its branches cross (b = 3) and where they touch (b = 2).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import mechanisms
from hybrid import configuration_curves, derive, realisation_study, save_figure, solve_state
from hybrid.reporting import plot_realisation

LADDERS: Mapping[int, Sequence[float]] = {3: (1e2, 1e4, 1e6), 2: (1e3, 1e5, 1e7, 1e9)}
BOXES = {3: {"u": (-0.6, 0.6), "theta": (-0.36, 0.36)}, 2: {"u": (-0.7, 0.6), "theta": (-0.14, 0.14)}}
TITLES = {3: "branches cross: b = 3", 2: "branches touch: b = 2"}


def main(folder: str, ladders: Mapping[int, Sequence[float]] = LADDERS) -> None:
    """Print a table and write ``singular_pendulum_b3.png`` and ``singular_pendulum_b2.png`` into a folder."""
    pendulum = derive(mechanisms.load("singular_pendulum"))
    for b, ladder in ladders.items():
        parameters = {"b": b}
        start = solve_state(pendulum, {"u": 0.5, "u_dot": 0}, parameters=parameters)
        study = realisation_study(
            pendulum, start, constraints="BC", stiffness=ladder, t_end=1.35, parameters=parameters
        )
        print(f"b = {b}: {study.singular[0].kind.value}; the smooth continuation leaves by {study.smooth_branch}")
        for row in study.rows:
            print(
                f"  stiffness {row.stiffness:.0e}: leaves by {row.branch or 'none'}, "
                f"{row.distance_to_space:.1e} from the configuration space, "
                f"{row.distance_before:.1e} from the rigid motion before, energy drift {row.energy_drift:.0e}, "
                f"{row.n_steps} steps"
            )
        curves = configuration_curves(pendulum, box=BOXES[b], parameters=parameters)
        save_figure(plot_realisation(study, curves, title=TITLES[b]), Path(folder) / f"singular_pendulum_b{b}.png")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
