"""Force elements at rest whose friction is exactly zero: their force is known, their label is what they begin to do.

Sticking and both slides are then one force, so that no equation tells them apart. The label comes from the tangential
acceleration instead: a slide in its direction, ``stick`` where it is zero. ``closed`` is left to contacts that were
declared without a tangent and without a slip.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.contact.modes import ContactMode, Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from hybrid.contact.conditions import Scale
    from hybrid.contact.modes import ActiveElement, ModeConditions
    from hybrid.contact.problem import ContactProblem

__all__ = ["also_called", "label_at_rest", "named", "unnamed_labels"]


def label_at_rest(acceleration: NDArray[np.float64], limit: float) -> ContactMode:
    """What a force element at rest without friction begins to do.

    Parameters
    ----------
    acceleration : array, (1,) or (2,)
        Tangential.
    limit : float
        Magnitude up to which it has no sign.

    Returns
    -------
    ContactMode

    Examples
    --------
    >>> label_at_rest(np.array([-2.0]), 1e-10).value, label_at_rest(np.array([0.0]), 1e-10).value
    ('slide-', 'stick')
    """
    moves = np.linalg.norm(acceleration) > limit
    return ContactMode.of_slip(acceleration.tolist() if moves else None, len(acceleration))


def named(
    problem: ContactProblem, modes: tuple[ModeConditions, ...], x: ArrayLike, scale: Scale, limit: float
) -> tuple[ModeConditions, ...]:
    """The modes of one solution with the labels of force elements at rest without friction.

    Parameters
    ----------
    problem : ContactProblem
        At one state.
    modes : tuple of ModeConditions
    x : array_like, (r,)
        Scaled forces; NaN if the modes have none, whose labels then say ``stick``.
    scale : Scale
    limit : float
        Scaled acceleration below which rounding decides.

    Returns
    -------
    tuple of ModeConditions
    """
    a = (problem.G @ (np.asarray(x) * scale.size / scale.row) + problem.c) / (scale.row * scale.size)
    return tuple(
        attrs.evolve(mode, label=label_at_rest(a[list(mode.element.tangential)], limit)) if mode.is_unnamed else mode
        for mode in modes
    )


def unnamed_labels(
    modes: tuple[ModeConditions, ...], accelerations: Mapping[int, NDArray[np.float64]], limit: NDArray[np.float64]
) -> Iterator[tuple[dict[str, ContactMode], Any]]:
    """Labels of a mode at many states, and where each holds.

    Parameters
    ----------
    modes : tuple of ModeConditions
        No spatial force element at rest.
    accelerations : mapping of int to array, (...)
        Scaled accelerations of the tangential rows of force elements at rest without friction.
    limit : array, (...)
        Scaled acceleration up to which it has no sign.

    Returns
    -------
    iterator of (dict of str to ContactMode, array of bool, (...))
        One pair for every combination of labels.
    """
    labels = {mode.element.name: mode.label for mode in modes}
    unnamed = [mode.element for mode in modes if mode.is_unnamed]
    choices = []
    for element in unnamed:
        a = accelerations[element.tangential[0]]
        plus, minus = a > limit, a < -limit
        choices.append(
            ((ContactMode.STICK, ~(plus | minus)), (ContactMode.SLIDE_PLUS, plus), (ContactMode.SLIDE_MINUS, minus))
        )
    for chosen in itertools.product(*choices):
        where: Any = np.ones((), dtype=bool)
        for element, (label, holds) in zip(unnamed, chosen, strict=True):
            labels[element.name] = label
            where = where & holds
        yield dict(labels), where


def also_called(mode: Mode, elements: tuple[ActiveElement, ...]) -> tuple[Mode, ...]:
    """The labels that a mode might have a moment later, the present ones first.

    A element at rest without friction and without tangential acceleration sticks for the moment only: what pulls at it
    next makes it slide, with the same force.

    Parameters
    ----------
    mode : Mode
    elements : tuple of ActiveElement
        Those that take part.

    Returns
    -------
    tuple of Mode

    Examples
    --------
    >>> from hybrid.contact.modes import ActiveElement, ElementKind
    >>> block = ActiveElement("floor", ElementKind.CONTACT, 0, (1,), None, 0.0, 0.0)
    >>> [item.label for item in also_called(Mode({"floor": "stick"}), (block,))]
    ['stick', 'slide+', 'slide-']
    """
    resting = [c for c in elements if c.is_smooth and mode[c.name] is ContactMode.STICK]
    slides = (ContactMode.SLIDE_PLUS, ContactMode.SLIDE_MINUS)
    choices = [(ContactMode.STICK, *((ContactMode.SLIDE,) if c.is_spatial_at_rest else slides)) for c in resting]
    return tuple(
        Mode({**mode, **{c.name: label for c, label in zip(resting, labels, strict=True)}})
        for labels in itertools.product(*choices)
    )
