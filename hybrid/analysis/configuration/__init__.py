"""Configuration spaces, their singular points, and stiff springs in place of constraints."""

from hybrid.analysis.configuration.curves import ConfigurationCurves, configuration_curves
from hybrid.analysis.configuration.realisation import RealisationRow, RealisationStudy, realisation_study
from hybrid.analysis.configuration.search import singular_configurations

__all__ = [
    "ConfigurationCurves",
    "RealisationRow",
    "RealisationStudy",
    "configuration_curves",
    "realisation_study",
    "singular_configurations",
]
