"""How much energy an impact absorbs, over posture and direction of approach: restitution is not a material constant.

python examples/energy_absorption.py energy_absorption.png
"""

from __future__ import annotations

import sys

import mechanisms
from hybrid import derive
from hybrid.analysis import Axis
from hybrid.analysis.comparison.restitution import restitution_map
from hybrid.reporting import save_figure
from hybrid.reporting.restitution import plot_restitution


def main(file: str) -> None:
    """Draw restitution and absorbed energy of a uniform rod; any mechanism with one planar contact will do."""
    rod = derive(mechanisms.load("painleve_rod"))
    swept = restitution_map(rod, over=Axis("theta", 0.05, 1.52, 300), damping=0.1, parameters={"mu": 1.5})
    save_figure(plot_restitution(swept, units={"theta": "rad"}, title="Uniform rod, friction 1.5"), file)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "energy_absorption.png")
