"""Compliant contacts: Kelvin and Voigt's element, its motion at finite stiffness, and its limit."""

from hybrid.contact.compliance.law import KelvinVoigt, KelvinVoigtLimit
from hybrid.contact.compliance.resolution import Outcome, Resolution, resolve

__all__ = [
    "KelvinVoigt",
    "KelvinVoigtLimit",
    "Outcome",
    "Resolution",
    "resolve",
]
