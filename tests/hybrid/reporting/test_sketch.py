"""The picture of a posture: names stand beside links, not on them."""

import numpy as np
import pytest
from matplotlib.text import Annotation

from hybrid import derive, solve_state
from hybrid.reporting.touching import plot_posture, posture
from mechanisms import load


@pytest.mark.parametrize("phi", np.linspace(0.15, 3.0, 9))
def test_no_name_touches_the_rod(phi):
    rod = derive(load("rod_on_incline"))
    state = solve_state(rod, {"phi": phi, "phi_dot": 0, "slip.tip": 0})
    drawn = posture(rod, state, closed=("tip",))
    figure = plot_posture(drawn)
    figure.draw_without_rendering()
    [axes] = figure.axes
    names = [item for item in axes.texts if isinstance(item, Annotation)]
    assert len(names) == len(drawn.points)
    for first, second in drawn.links:
        ends = axes.transData.transform([drawn.points[first], drawn.points[second]])
        along = ends[0] + np.linspace(0, 1, 400)[:, None] * (ends[1] - ends[0])
        for item in names:
            box = item.get_window_extent()
            # the stroke is 3.5 points wide
            pad = 1.75 * figure.dpi / 72
            inside = (along > [box.x0 - pad, box.y0 - pad]) & (along < [box.x1 + pad, box.y1 + pad])
            assert not inside.all(axis=1).any(), item.get_text()
