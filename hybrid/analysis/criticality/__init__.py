"""Critical friction and the singular points of sliding."""

from hybrid.analysis.criticality.friction import CriticalFriction, critical_friction
from hybrid.analysis.criticality.singularities import ForceAtPoint, GenotBrogliatoPoint, genot_brogliato_points

__all__ = [
    "CriticalFriction",
    "ForceAtPoint",
    "GenotBrogliatoPoint",
    "critical_friction",
    "genot_brogliato_points",
]
