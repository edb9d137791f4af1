"""Particles held on curves and surfaces: the smallest mechanisms with given configuration spaces."""

from __future__ import annotations

from hybrid import Constraint, Dynamics, EnergyDynamics, Mechanism, derive


def particle(*equations: str, coordinates: str = "xy", potential: str = "0", **parameters: float) -> Dynamics:
    """A particle of unit mass with one coordinate for each letter, on the zeros of all equations."""
    return derive(
        Mechanism(
            name="particle",
            coordinates=list(coordinates),
            parameters=parameters,
            dynamics=EnergyDynamics(kinetic=" + ".join(f"{q}_dot**2/2" for q in coordinates), potential=potential),
            constraint=[Constraint(name=f"c{i}", equation=text) for i, text in enumerate(equations)],
        )
    )
