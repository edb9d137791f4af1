"""A motion as a page with a picture that moves."""

from __future__ import annotations

import html
import json
from importlib import resources
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from hybrid.arguments import checks_arguments
from hybrid.motion.recorded import EventKind
from hybrid.reporting.page import Html, loader
from hybrid.reporting.samples import ink_on, mode_fill, timeline
from hybrid.reporting.scene import Scene, build_scene, require_drawing
from hybrid.tolerances import LEAST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.motion import Event, Trajectory

__all__ = ["Animation", "animate", "animation_data", "render_animation"]

_FINEST = 1_000_000  # steps of the grid of positions over the size of the picture
_FORCE_STEPS = 1_000  # of the grid of forces over the reference force
_NUMBERS = 60_000  # in all frames, or twice as many with the ends of arcs; a number takes 7 characters
_EVENTS = 500


@attrs.frozen
class Animation:
    """A motion that a notebook plays, in a frame of its own: several live side by side.

    Attributes
    ----------
    page : str
        HTML as of :func:`render_animation`; it can be written to a file as it is.
    name : str
        Of the mechanism.
    """

    page: str = attrs.field(repr=False)
    name: str = ""

    def _repr_html_(self) -> str:
        # without the right to be of the notebook's origin, the frame reads nothing of the notebook
        return (
            f'<iframe title="Motion of {html.escape(self.name)}" sandbox="allow-scripts" '
            'style="width: 100%; max-width: 54rem; height: 47rem; border: 0" '
            f'srcdoc="{html.escape(self.page)}"></iframe>'
        )


@checks_arguments
def animate(motion: Trajectory, *, title: str = "") -> Animation:
    """A motion to be played where it is shown, in a notebook.

    Parameters
    ----------
    motion : Trajectory
        Of a mechanism that declares a drawing.
    title : str, optional
        Instead of that of the mechanism.

    Returns
    -------
    Animation

    Raises
    ------
    DeclarationError, ComputationError
        As of :func:`render_animation`.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, animate, derive, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> animate(simulate(ball, State([1.0], [0.0]), t_end=0.4))
    Animation(name='bouncing_ball')
    """
    return Animation(render_animation(motion, title=title), motion.dynamics.mechanism.name)


@checks_arguments
def render_animation(motion: Trajectory, *, title: str = "") -> str:
    """A motion as one HTML page that plays it and needs nothing else.

    Parameters
    ----------
    motion : Trajectory
        Of a mechanism that declares a drawing.
    title : str, optional
        Instead of that of the mechanism.

    Returns
    -------
    str
        Less than a megabyte. Text of the declaration is escaped.

    Raises
    ------
    DeclarationError
        The mechanism declares no points to draw.
    ComputationError
        A point has no place at some instant.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import State, derive, render_animation, simulate
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> page = render_animation(simulate(ball, State([1.0], [0.0]), t_end=0.4))
    >>> page.startswith("<!DOCTYPE html>"), len(page) < 1_000_000
    (True, True)
    """
    import jinja2

    mechanism = motion.dynamics.mechanism
    require_drawing(mechanism)
    axes = len(next(iter(mechanism.drawing.points.values())))
    acting = len(mechanism.contact) + len(mechanism.friction) + len(mechanism.constraint)
    per_frame = axes * (len(mechanism.drawing.points) + 3 * acting)
    scene = build_scene(motion, frames=min(1200, max(100, _NUMBERS // per_frame)))
    data = animation_data(motion, scene)
    # In a script element only "<" could end it; the escape means the same to a reader of JSON.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False).replace("<", "\\u003c")
    templates = resources.files("hybrid.reporting") / "templates"
    return (
        jinja2.Environment(
            loader=loader(), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        .get_template("animation.html")
        .render(
            title=title or mechanism.title or mechanism.name,
            mechanism=mechanism.name,
            cause=motion.cause,
            method=motion.method,
            without_force=scene.without_force,
            is_spatial=axes == 3,
            modes=sorted({piece[2] for row in data["timeline"] for piece in row["pieces"]}),
            fills=data["fills"],
            events=data["events"],
            hidden_events=max(0, len(motion.events) - _EVENTS),
            version=version("painleve"),
            data=Html(text),
            css=Html((templates / "animation.css").read_text(encoding="utf-8")),
            script=Html((templates / "animation.js").read_text(encoding="utf-8")),
        )
    )


def animation_data(motion: Trajectory, scene: Scene) -> dict[str, Any]:
    """A scene as the script of a page draws it: places and forces in whole steps of their grids.

    Parameters
    ----------
    motion : Trajectory
    scene : Scene
        Of this motion.

    Returns
    -------
    dict
        Plain values: ``t``, ``points``, ``links``, ``surfaces``, ``forces``, ``timeline``, ``events`` and the grids.
    """
    places = np.stack(list(scene.points.values()), axis=1)
    low = places.min(axis=(0, 1))
    grid = scene.size / _FINEST
    names = list(scene.points)
    return {
        "start": motion.t_start,
        "end": motion.t,
        "span": max(motion.t - motion.t_start, LEAST),
        "axes": places.shape[2],
        "t": [float(f"{value:.10g}") for value in scene.t],
        "origin": low.tolist(),
        "grid": grid,
        "size": scene.size,
        "points": _whole((places - low) / grid),
        "links": [[names.index(end) for end in link] for link in scene.links],
        "names": names,
        "surfaces": [
            {
                "contact": surface.contact,
                "at": _whole((surface.at - low) / grid),
                "normal": [float(f"{value:.6f}") for value in surface.normal.ravel()],
                "still": surface.is_still,
                "guide": surface.is_guide,
            }
            for surface in scene.surfaces
        ],
        "curves": [
            {
                "places": _whole((curve.places - low) / grid),
                "normals": [float(f"{value:.4f}") for value in curve.normals.ravel()] if curve.normals.any() else None,
            }
            for curve in scene.curves
        ],
        **_forces_data(motion, scene, names),
        **_timeline_data(motion),
        "events": [
            [event.t, _event_text(event), list(event.elements) if event.kind is EventKind.IMPACT else []]
            for event in motion.events[:_EVENTS]
        ],
    }


def _forces_data(motion: Trajectory, scene: Scene, names: list[str]) -> dict[str, Any]:
    forces = [force for force in scene.forces if np.any(force.vector)]
    units = motion.dynamics.mechanism.units()
    unit = {*units.forces.values(), *units.tangential_forces.values()}
    return {
        "forces": [
            {
                "name": force.name,
                "point": names.index(force.point),
                "vector": _whole(force.vector * (_FORCE_STEPS / scene.reference)),
            }
            for force in forces
        ],
        "touching": [{"name": force.name, "point": names.index(force.point)} for force in scene.forces],
        "forceSteps": _FORCE_STEPS,
        "reference": scene.reference,
        "unit": unit.pop() if len(unit) == 1 else "",
    }


def _timeline_data(motion: Trajectory) -> dict[str, Any]:
    pieces = timeline(motion)
    labels = sorted({piece.label for row in pieces.values() for piece in row})
    return {
        "timeline": [
            {"name": name, "pieces": [[piece.start, piece.end, piece.label] for piece in row]}
            for name, row in pieces.items()
        ],
        "fills": {label: [mode_fill(label), ink_on(mode_fill(label))] for label in labels},
    }


def _event_text(event: Event) -> str:
    return f"{event.kind.value} at {', '.join(event.elements)}" if event.elements else event.kind.value


def _whole(values: NDArray[np.float64]) -> list[int]:
    return [int(value) for value in np.rint(np.clip(values, -1e12, 1e12)).ravel()]
