"""Frames of a log as MuJoCo draws them, on machines with a renderer."""

import numpy as np
import pytest

from hybrid.numeric.backends.mujoco import load

pytestmark = pytest.mark.browser

BALL = """
<mujoco><statistic meansize="{unit}"/><worldbody>
  <geom type="plane" size="0 0 1" rgba="0.5 0.5 0.5 1"/>
  <body><joint type="slide" axis="0 0 1"/><geom size="{radius}" rgba="0.8 0.8 0.8 1"/></body>
</worldbody></mujoco>
"""


@pytest.mark.parametrize(("radius", "unit"), [(0.5, 7), (50, 1)])
def test_a_contact_in_a_picture_is_a_line_of_the_same_size_where_it_touches(radius, unit, tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text(BALL.format(radius=radius, unit=unit), encoding="utf-8")
    pictures = load(model).pictures([{"qpos": np.array([radius * (1 - 1e-9)])}])
    assert pictures is not None, "no renderer works on this machine"
    red, green, _ = np.moveaxis(pictures[0].astype(int), -1, 0)
    rows, columns = np.nonzero(red > green + 40)
    # the camera looks at the middle of the ball from 2.6 radii, 10 degrees from above; its focal length is in pixels
    focal, sine, cosine = 120 / np.tan(np.radians(22.5)), np.sin(np.radians(10)), np.cos(np.radians(10))

    def row(height):  # of a point above the one that touches, in radii
        return 120 + focal * (1 - height) * cosine / (2.6 + (1 - height) * sine)

    wide = 5 / 72 * 96  # pixels at the middle of the ball, of which the contact is farther away
    width, seen = 2.6 * wide / focal, wide * 2.6 / (2.6 + sine)
    # the floor hides the lower half; an edge is drawn to a pixel, and either end, seen from above, is an arc
    assert (rows.min(), rows.max() + 1) == pytest.approx((row(6 * width), row(0)), abs=2)
    assert (columns.min(), columns.max() + 1) == pytest.approx((180 - seen / 2, 180 + seen / 2), abs=1)
