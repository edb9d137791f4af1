"""Questions about families of states and motions: critical friction, region maps, comparison, sensitivities."""

from hybrid.analysis.comparison.agreement import ComparisonMap, compare_map
from hybrid.analysis.comparison.restitution import RestitutionMap, restitution_map
from hybrid.analysis.comparison.table import Comparison, ComparisonRow, compare
from hybrid.analysis.configuration.curves import ConfigurationCurves, configuration_curves
from hybrid.analysis.configuration.realisation import RealisationRow, RealisationStudy, realisation_study
from hybrid.analysis.configuration.search import singular_configurations
from hybrid.analysis.criticality.friction import CriticalFriction, critical_friction
from hybrid.analysis.criticality.singularities import ForceAtPoint, GenotBrogliatoPoint, genot_brogliato_points
from hybrid.analysis.maps.areas import RefinedFractions, refined_fractions
from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.boundaries import Boundary
from hybrid.analysis.maps.regions import RegionMap, region_map
from hybrid.analysis.sensitivities.continuation import Continuation, StabilityChange, continue_periodic
from hybrid.analysis.sensitivities.functional import Functional
from hybrid.analysis.sensitivities.gradient import EventSensitivity, Sensitivity, sensitivity
from hybrid.analysis.sensitivities.periodic import PeriodicMotion, periodic_motion
from hybrid.analysis.sensitivities.refusal import Refusal
from hybrid.analysis.sensitivities.saltation import saltation_matrix

__all__ = [
    "Axis",
    "Boundary",
    "Comparison",
    "ComparisonMap",
    "ComparisonRow",
    "ConfigurationCurves",
    "Continuation",
    "CriticalFriction",
    "EventSensitivity",
    "ForceAtPoint",
    "Functional",
    "GenotBrogliatoPoint",
    "PeriodicMotion",
    "RealisationRow",
    "RealisationStudy",
    "RefinedFractions",
    "Refusal",
    "RegionMap",
    "RestitutionMap",
    "Sensitivity",
    "StabilityChange",
    "compare",
    "compare_map",
    "configuration_curves",
    "continue_periodic",
    "critical_friction",
    "genot_brogliato_points",
    "periodic_motion",
    "realisation_study",
    "refined_fractions",
    "region_map",
    "restitution_map",
    "saltation_matrix",
    "sensitivity",
    "singular_configurations",
]
