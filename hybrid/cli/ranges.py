"""Ranges that commands sweep, as ``phi=0:pi:400`` or without cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hybrid.analysis import Axis

__all__ = ["axes_option", "two_axes", "whole_ranges"]


axes_option = click.option(
    "--axis",
    "axes",
    multiple=True,
    required=True,
    metavar="NAME=LOW:HIGH:CELLS",
    help="A pin or a parameter; give two.",
)
"""The option ``--axis``, to be given twice; the command takes it as ``axes``, a tuple of str."""


def two_axes(texts: Sequence[str], values: Mapping[str, float]) -> list[Axis]:
    """The two axes of a map, as ``--axis`` gives them.

    Parameters
    ----------
    texts : sequence of str
        As ``phi=0:pi:400``.
    values : mapping of str to float
        Of the parameters, which a text may use.

    Returns
    -------
    list of Axis

    Raises
    ------
    click.UsageError
        If there are not two.
    """
    from hybrid.analysis import Axis

    if len(texts) != 2:
        raise click.UsageError(f"a map has two axes, got {len(texts)}: --axis phi=0:pi:400 --axis phi_dot=-3:3:400")
    return [Axis.parse(text, values=values) for text in texts]


def whole_ranges(option: str, texts: Sequence[str], values: Mapping[str, float], *, what: str) -> list[Axis]:
    """Ranges without cells, as an option gives them.

    Parameters
    ----------
    option : str
        As ``--over``.
    texts : sequence of str
        As ``phi=0:pi``.
    values : mapping of str to float
        Of the parameters, which a text may use.
    what : str
        As ``"a sweep"``, for the message.

    Returns
    -------
    list of Axis

    Raises
    ------
    click.UsageError
        If one is divided into cells.
    """
    from hybrid.analysis import Axis

    axes = [Axis.parse(text, values=values) for text in texts]
    with_cells = next((axis.name for axis in axes if axis.n is not None), None)
    if with_cells is not None:
        raise click.UsageError(f"{option} {with_cells}: {what} has no cells; write {with_cells}=LOW:HIGH")
    return axes
