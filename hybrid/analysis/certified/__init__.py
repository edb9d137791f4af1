"""Certified maps: what is proved about every state of a box, in interval arithmetic."""

from hybrid.analysis.certified.certified_map import CertifiedMap, Witness, sliced
from hybrid.analysis.certified.friction import CertifiedFriction, certified_friction
from hybrid.analysis.certified.regions import certified_map

__all__ = ["CertifiedFriction", "CertifiedMap", "Witness", "certified_friction", "certified_map", "sliced"]
