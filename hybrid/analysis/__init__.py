"""Questions about families of states and motions: critical friction, region maps, comparison, sensitivities."""

from hybrid.analysis.areas import RefinedFractions, refined_fractions
from hybrid.analysis.axes import Axis
from hybrid.analysis.boundaries import Boundary
from hybrid.analysis.comparison import Comparison, ComparisonRow, compare
from hybrid.analysis.comparison_map import ComparisonMap, compare_map
from hybrid.analysis.configuration_curves import ConfigurationCurves, configuration_curves
from hybrid.analysis.configurations import singular_configurations
from hybrid.analysis.continuation import Continuation, StabilityChange, continue_periodic
from hybrid.analysis.criticality import CriticalFriction, critical_friction
from hybrid.analysis.functional import Functional
from hybrid.analysis.periodic import PeriodicMotion, periodic_motion
from hybrid.analysis.realisation import RealisationRow, RealisationStudy, realisation_study
from hybrid.analysis.refusal import Refusal
from hybrid.analysis.regions import RegionMap, region_map
from hybrid.analysis.restitution import RestitutionMap, restitution_map
from hybrid.analysis.saltation import saltation_matrix
from hybrid.analysis.sensitivity import EventSensitivity, Sensitivity, sensitivity
from hybrid.analysis.singularities import ForceAtPoint, GenotBrogliatoPoint, genot_brogliato_points

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
