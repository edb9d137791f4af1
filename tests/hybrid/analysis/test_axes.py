"""Axes: midpoints, text, and what is refused."""

from math import pi

import numpy as np
import pytest

from hybrid.analysis import Axis, critical_friction, region_map
from hybrid.errors import DeclarationError, StateError
from tests.catalogue import dynamics_of


def test_values_are_midpoints_of_equal_cells():
    axis = Axis("phi", -1, 2, 6)
    edges = np.linspace(-1, 2, 7)
    assert axis.values == pytest.approx((edges[1:] + edges[:-1]) / 2, abs=1e-15)
    assert axis.width == 3


def test_text_is_read_with_expressions_for_the_ends():
    assert Axis.parse("phi=0:pi:400") == Axis("phi", 0, pi, 400)
    assert Axis.parse(" phi_dot = -sqrt(g/l) : 2*3 ", values={"g": 4.0, "l": 1.0}) == Axis("phi_dot", -2, 6)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("phi", "expected NAME=LOW:HIGH"),
        ("phi=0", "expected NAME=LOW:HIGH"),
        ("phi=0:1:2:3", "expected NAME=LOW:HIGH"),
        ("=0:1", "expected NAME=LOW:HIGH"),
        ("phi=0:1:", "expected NAME=LOW:HIGH"),
        ("phi=0:1:0", "at least one cell"),
        ("phi=0:1:-5", "must be a positive whole number, not '-5'"),
        ("phi=0:1:many", "whole number"),
        ("phi=0:1:1e3", "whole number"),
        ("phi=1:1", "upwards"),
        ("phi=2:1", "upwards"),
        ("phi=0:1/0", "division by zero"),
        ("phi=0:rho", "rho"),
        ("phi=0:__import__", "__import__"),
    ],
)
def test_bad_text_is_refused_in_words(text, words):
    with pytest.raises((StateError, DeclarationError), match=words):
        Axis.parse(text)


@pytest.mark.parametrize(
    ("axes", "given", "words"),
    [
        (["phi=0:1:2"], {}, "two axes"),
        (["phi=0:1:2", "phi_dto=0:1:2"], {}, r"did you mean 'phi_dot'\? There are x, y, "),
        (["phi=0:1:2", "phi=0:1:2"], {}, "given twice"),
        (["phi=0:1:2", "phi_dot=0:1:2"], {"pins": {"phi": 1}}, "is also given a value; remove one"),
        (["phi=0:1:2", "mu=0:1:2"], {"parameters": {"mu": 1}}, "is also given a value; remove one"),
        (["phi=0:1:2", "phi_dot=0:1"], {"pins": {"slip.tip": 1}}, "number of cells"),
        (["phi=0:1:2", "phi_dot=0:1:2"], {}, "too few velocity pins"),
        (["phi=0:1:2", "mu=-1:1:2"], {"pins": {"phi_dot": 0, "slip.tip": 1}}, "must not be negative"),
    ],
)
def test_map_refuses_axes_that_do_not_make_a_plane(axes, given, words):
    with pytest.raises((StateError, DeclarationError), match=words):
        region_map(dynamics_of("rod_on_incline"), axes=[Axis.parse(text) for text in axes], **given)


def test_ends_are_finite():
    with pytest.raises(StateError, match="high must be a finite number"):
        Axis("phi", 0, float("inf"))


def test_sweep_refuses_what_is_no_sweep():
    rod = dynamics_of("rod_on_incline")
    with pytest.raises(StateError, match="at least one quantity"):
        critical_friction(rod, over=[])
    with pytest.raises(StateError, match="no frictional contact is called 'tpi'"):
        critical_friction(rod, over=[Axis("phi", 0, 1)], contact="tpi")
    with pytest.raises(StateError, match="which contact"):
        critical_friction(dynamics_of("rod_two_ends"), over=[Axis("phi", 0, 1)])
    with pytest.raises(StateError, match="no contact with friction"):
        critical_friction(dynamics_of("bouncing_ball"), over=[Axis("z", 0, 1)])
    with pytest.raises(StateError, match="no posture of two_link_arm"):
        critical_friction(dynamics_of("two_link_arm"), over=[Axis("theta2", 0, 1)], parameters={"H": 3.0})
