"""Curves of arrows between the shapes of a drawing."""

from __future__ import annotations

import math

import attrs

Point = tuple[float, float]

_GAP = 3.0  # between an arrowhead and its shape


@attrs.frozen
class Shape:
    """A box or a diamond.

    Attributes
    ----------
    centre : Point
    size : Point
        Width and height.
    is_diamond : bool
    """

    centre: Point
    size: Point
    is_diamond: bool = False

    def exit(self, inside: Point, towards: Point) -> Point:
        """Where the line from a point inside towards another point leaves the shape, a little outside of it."""
        dx, dy = towards[0] - inside[0], towards[1] - inside[1]
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            if self._holds((inside[0] + middle * dx, inside[1] + middle * dy)):
                low = middle
            else:
                high = middle
        reach = min(1.0, high + _GAP / (math.hypot(dx, dy) or 1.0))
        return inside[0] + reach * dx, inside[1] + reach * dy

    def _holds(self, point: Point) -> bool:
        across = abs(point[0] - self.centre[0]) / (self.size[0] / 2)
        down = abs(point[1] - self.centre[1]) / (self.size[1] / 2)
        return across + down < 1 if self.is_diamond else max(across, down) < 1


@attrs.frozen
class Curve:
    """A cubic Bezier curve through four points, the middle two its handles."""

    points: tuple[Point, Point, Point, Point]

    @property
    def path(self) -> str:
        """The curve as SVG path data."""
        (x0, y0), *others = self.points
        return f"M{x0:.1f} {y0:.1f}C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in others)

    def at(self, s: float) -> Point:
        """The point at parameter ``s`` between 0 and 1."""
        weights = ((1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s**2 * (1 - s), s**3)
        x, y = (sum(w * point[axis] for w, point in zip(weights, self.points, strict=True)) for axis in (0, 1))
        return x, y


def bow(first: Shape, second: Shape, *, bulge: float) -> Curve:
    """A curve that leaves the straight line by ``bulge`` to the right of the direction of travel (y points down)."""
    dx, dy = (b - a for a, b in zip(first.centre, second.centre, strict=True))
    length = math.hypot(dx, dy) or 1.0
    across = (-dy / length, dx / length)
    shift = math.copysign(min(abs(bulge), 0.25 * min(first.size)), bulge)
    a, b = ((shape.centre[0] + shift * across[0], shape.centre[1] + shift * across[1]) for shape in (first, second))
    rise = (bulge - shift) * 4 / 3  # a curve rises to 3/4 of its handles
    inner = [
        ((1 - s) * a[0] + s * b[0] + rise * across[0], (1 - s) * a[1] + s * b[1] + rise * across[1])
        for s in (0.45, 0.55)
    ]
    return Curve((first.exit(a, inner[0]), inner[0], inner[1], second.exit(b, inner[1])))


def arch(first: Shape, second: Shape, *, height: float) -> Curve:
    """A curve that leaves and arrives vertically; ``height`` is positive upwards, and 4/3 of what it rises."""
    (x0, y0), (x1, y1) = first.centre, second.centre
    handles = ((x0, y0 - height), (x1, y1 - height))
    return Curve((first.exit(first.centre, handles[0]), *handles, second.exit(second.centre, handles[1])))
