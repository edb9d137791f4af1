"""Configuration spaces, their singular points, and stiff springs in place of constraints."""

from hybrid.analysis.configuration.realisation import RealisationRow, RealisationStudy, realisation_study
from hybrid.analysis.configuration.search import ConfigurationCurves, configuration_curves, singular_configurations

__all__ = [
    "ConfigurationCurves",
    "RealisationRow",
    "RealisationStudy",
    "configuration_curves",
    "realisation_study",
    "singular_configurations",
]
