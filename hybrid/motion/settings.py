"""How finely a motion is computed, and where it is given up."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs

from hybrid.tolerances import STEP_ERROR, SUMMED, Tolerances


def _is_positive(_: object, attribute: attrs.Attribute[Any], value: float) -> None:
    if not value > 0.0 or math.isnan(value):
        raise ValueError(f"{attribute.name} must be positive, not {value!r}")


@attrs.frozen(kw_only=True)
class Settings:
    """Accuracy and bounds of a simulation.

    Attributes
    ----------
    stepper : {"DOP853", "Radau"}
        Explicit Runge-Kutta method of order 8, which goes over to the other one where an arc turns out to be stiff and
        comes back where that takes shorter steps, or an implicit one of order 5 from the start. Radau's error estimate
        is of order 3: a relative error of 1e-9 already gives event times to about 1e-12, and 1e-12 takes five times as
        many steps. Its series within a step is a cubic, with about the error asked for.
    rtol, atol : float
        Error per step, as a share of each coordinate and velocity itself and of its size in the motion (`sizes`).
        Event times inherit it: 1e-12 gives them to about 1e-11 over a few time units.
    max_step : float
        Largest step, in units of time. A load pulse shorter than it may be missed.
    max_events : int
        A motion with more events ends there and says so; those that changed nothing count too.
    crowd : int
        So many events without progress in time end a motion as well.
    burst : int
        So many instants with events within a ten-thousandth of the time asked for end it too, unless they are impacts
        that converge to a limit foretold by the first of them.
    zeno_rest : float
        An accumulation of impacts is completed when what remains of it takes less than this share of it.
    tolerances : Tolerances
        Of the decisions on modes, as :func:`hybrid.select` takes them.
    sizes : float or array, (2n,)
        Of the coordinates and velocities; a simulation finds those of its own motion.
    """

    stepper: Literal["DOP853", "Radau"] = attrs.field(
        default="DOP853", validator=attrs.validators.in_(("DOP853", "Radau"))
    )
    rtol: float = attrs.field(default=STEP_ERROR, converter=float, validator=_is_positive)
    atol: float = attrs.field(default=SUMMED, converter=float, validator=_is_positive)
    max_step: float = attrs.field(default=math.inf, converter=float, validator=_is_positive)
    max_events: int = attrs.field(default=100_000, converter=int, validator=_is_positive)
    crowd: int = attrs.field(default=50, converter=int, validator=_is_positive)
    burst: int = attrs.field(default=1000, converter=int, validator=_is_positive)
    zeno_rest: float = attrs.field(default=1e-7, converter=float, validator=_is_positive)
    tolerances: Tolerances = Tolerances()
    sizes: Any = attrs.field(default=1.0, eq=False)
