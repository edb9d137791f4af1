"""Derivatives of motions through their events, and periodic motions."""

from hybrid.analysis.sensitivities.continuation import Continuation, StabilityChange, continue_periodic
from hybrid.analysis.sensitivities.functional import Functional
from hybrid.analysis.sensitivities.gradient import EventSensitivity, Sensitivity, sensitivity
from hybrid.analysis.sensitivities.periodic import PeriodicMotion, periodic_motion
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.saltation import saltation_matrix

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
