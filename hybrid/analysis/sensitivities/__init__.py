"""Derivatives of motions through their events, and periodic motions."""

from hybrid.analysis.sensitivities.continuation import Continuation, StabilityChange, continue_periodic
from hybrid.analysis.sensitivities.event_derivatives import saltation_matrix
from hybrid.analysis.sensitivities.gradient import EventSensitivity, Sensitivity, sensitivity
from hybrid.analysis.sensitivities.passes import Functional
from hybrid.analysis.sensitivities.periodic import PeriodicMotion, periodic_motion
from hybrid.analysis.sensitivities.refusal import Refusal

__all__ = [
    "Continuation",
    "EventSensitivity",
    "Functional",
    "PeriodicMotion",
    "Refusal",
    "Sensitivity",
    "StabilityChange",
    "continue_periodic",
    "periodic_motion",
    "saltation_matrix",
    "sensitivity",
]
