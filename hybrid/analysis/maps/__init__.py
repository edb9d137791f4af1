"""Verdicts over two quantities: the plane, its regions, their boundaries and areas."""

from hybrid.analysis.maps.areas import RefinedFractions, refined_fractions
from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.boundaries import Boundary
from hybrid.analysis.maps.region_map import RegionMap
from hybrid.analysis.maps.regions import region_map

__all__ = [
    "Axis",
    "Boundary",
    "RefinedFractions",
    "RegionMap",
    "refined_fractions",
    "region_map",
]
