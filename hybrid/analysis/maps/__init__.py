"""Verdicts over two quantities: the plane, its regions and their boundaries."""

from hybrid.analysis.maps.axes import Axis
from hybrid.analysis.maps.boundaries import Boundary
from hybrid.analysis.maps.region_map import RegionMap
from hybrid.analysis.maps.regions import region_map

__all__ = [
    "Axis",
    "Boundary",
    "RegionMap",
    "region_map",
]
