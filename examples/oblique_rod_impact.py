"""Impact of an oblique rod on a compliant floor: the course of the fast system, as in Miller and Rubinovich (2017).

python examples/oblique_rod_impact.py docs/images/oblique_rod_impact.png
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import mechanisms
from hybrid import KelvinVoigtLimit, derive, solve_state
from hybrid.contact.compliance.path import CompliantPath
from hybrid.contact.impacts.impact import ImpactProblem, impact_problem

PINS = {
    "psi": 0,
    "theta": "pi/3",
    "psi_dot": 4,
    "theta_dot": 4,
    "slip.tip.1": 0.05,
    "slip.tip.2": -0.05,
    "gap_dot.tip": -0.04,
}
PANELS = (
    "normal force / sqrt(K)",
    "contact velocities",
    "angular velocity psi_dot",
    "angular velocity theta_dot",
    "stretched gap sqrt(K) y",
    "friction impulse along y / k",
)


def course(k: float) -> tuple[ImpactProblem, CompliantPath, np.ndarray]:
    """The impact for one friction coefficient, and the generalised velocities along it."""
    rod = derive(mechanisms.load("oblique_rod"))
    state = solve_state(rod, PINS)
    problem = impact_problem(rod.at({"mu": k}), state)
    path = KelvinVoigtLimit(damping=0.25).path(problem, samples=300)
    assert path.samples is not None
    return problem, path, state.v + path.samples.impulse @ problem.response_W.T


def main(file: str) -> None:
    """Draw both impacts into one figure."""
    figure = Figure(figsize=(9, 9), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(3, 2).ravel()
    for k, style in ((0.5, "--"), (1.7, "-")):
        _, path, v = course(k)
        at = path.samples
        assert at is not None
        curves = [
            (at.s, at.force[:, :1], ("F_N",)),
            (at.s, at.gamma, ("normal", "slip 1", "slip 2")),
            (at.s, v[:, 3:4], ("psi_dot",)),
            (at.s, v[:, 4:5], ("theta_dot",)),
            (at.s, at.Y, ("Y",)),
            (at.impulse[:, 0], at.impulse[:, 2:] / k, ("friction",)),
        ]
        for axis, (x, ys, names) in zip(axes, curves, strict=True):
            for index, name in enumerate(names):
                axis.plot(x, ys[:, index], style, color=f"C{index}", label=f"{name}, k = {k}")
    for axis, title in zip(axes, PANELS, strict=True):
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("normal impulse" if "impulse" in title else "stretched time")
        axis.legend(fontsize=7, framealpha=0.6, loc="upper right" if title == PANELS[1] else "best", ncols=2)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "oblique_rod_impact.png")
