"""Certified maps: what is proved about every state of a box, in interval arithmetic."""

from hybrid.analysis.certified.regions import CertifiedMap, Witness, certified_map

__all__ = ["CertifiedMap", "Witness", "certified_map"]
