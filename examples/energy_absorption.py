"""How much energy an impact absorbs, over posture and direction of approach: restitution is not a material constant.

python examples/energy_absorption.py energy_absorption.png
"""

from __future__ import annotations

import sys

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hybrid.contact.compliance_planar import planar_limit


def absorption(n: int, *, friction: float, damping: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Kinematic restitution and lost share of energy of a uniform rod, m = l = 1, over posture and incidence."""
    theta, incidence = np.linspace(0.05, np.pi / 2 - 0.05, n), np.linspace(-1.4, 1.4, n)
    c, s = np.cos(theta)[:, None], np.sin(theta)[:, None]
    G = np.stack([np.stack([1 + 3 * c * c, 3 * s * c], -1), np.stack([3 * s * c, 1 + 3 * s * s], -1)], -2)
    gamma = np.stack([-np.cos(incidence), np.sin(incidence)], -1)
    found = planar_limit(G, gamma, friction=friction, damping=damping)
    before = np.sum(gamma * np.linalg.solve(G, np.broadcast_to(gamma[..., None], (n, n, 2, 1)))[..., 0], -1) / 2
    change = np.sum(found.impulse * (gamma + found.gamma), -1) / 2
    return theta, incidence, found.gamma[..., 0] / np.cos(incidence), -change / before


def main(file: str) -> None:
    """Draw restitution and absorbed energy for one friction coefficient."""
    theta, incidence, restitution, lost = absorption(300, friction=1.5, damping=0.1)
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    titles = ("restitution $-v_N^+/v_N^-$", "absorbed share of the kinetic energy")
    for axis, values, title in zip(figure.subplots(1, 2), (restitution, lost), titles, strict=True):
        mesh = axis.pcolormesh(np.degrees(incidence), np.degrees(theta), values, cmap="cividis", rasterized=True)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("incidence from the normal, degrees")
        axis.set_ylabel("inclination of the rod, degrees")
        figure.colorbar(mesh)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "energy_absorption.png")
