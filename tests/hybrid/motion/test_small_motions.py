"""Motions from rest at zero are as precise as others, however small they are: against closed forms."""

import math

import numpy as np
import pytest

from hybrid import State, derive, ensemble, mechanism_from_toml, simulate
from hybrid.motion import Termination

T_END = 5.0
DRIVES = {
    "A*cos(t)": 1 - math.cos(T_END),
    "A*sin(t)": T_END - math.sin(T_END),
    "A*sin(t) - x": (math.sin(T_END) - T_END * math.cos(T_END)) / 2,  # in resonance
}


def driven(force):
    text = f"""
        name = "driven"
        coordinates = ["x"]
        parameters = {{A = 1}}
        [dynamics]
        mass_matrix = [[1]]
        forces = ["{force}"]
    """
    return derive(mechanism_from_toml(text))


@pytest.mark.parametrize("size", [1e-25, 1e-12, 1e-6, 1.0, 1e12])
@pytest.mark.parametrize("force", DRIVES)
def test_a_motion_from_zero_is_as_precise_at_any_size(force, size):
    motion = simulate(driven(force), State([0.0], [0.0]), t_end=T_END, parameters={"A": size})
    # 1e-12 a step of the largest that the motion has, which is not far above its end
    assert motion.q[0] / size == pytest.approx(DRIVES[force], rel=1e-11)


def test_many_motions_from_zero_are_as_precise():
    sizes = np.geomspace(1e-12, 1e-6, 40)
    found = ensemble(driven("A*cos(t)"), starts={"A": sizes.tolist()}, pins={"x": 0, "x_dot": 0}, t_end=T_END)
    ends = found.end[:, found.columns.index("x")]
    assert ends / sizes == pytest.approx(np.full(40, DRIVES["A*cos(t)"]), rel=1e-11)


def test_an_interrupted_motion_is_not_followed_again():
    def interrupt(t, t_end):
        raise KeyboardInterrupt

    found = simulate(
        driven("A*cos(t)"),
        State([0.0], [0.0]),
        t_end=T_END,
        parameters={"A": 1e-9},
        progress=interrupt,
        on_interrupt="keep",
    )
    assert found.termination is Termination.INTERRUPTED and found.t < T_END
