"""What happened during a motion and why it ended."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hybrid.contact.guards import Guard
    from hybrid.contact.impacts.impact import Impact
    from hybrid.contact.modes import Mode
    from hybrid.contact.verdict import Verdict


class Termination(Enum):
    """Why a motion ended; the value is the sentence shown to the user."""

    END_TIME = "the end of the time was reached"
    UNTIL = "the condition to stop at was met"
    INCONSISTENT = "no contact mode is consistent"
    INDETERMINATE = "several contact modes are consistent, or one in a continuum of ways, with different accelerations"
    UNDECIDED = "which contact mode is consistent hangs on a sign within the tolerance"
    SINGULAR = "a sliding contact reached the point where its force grows beyond bounds"
    SINGULAR_CONFIGURATION = "the rigid constraints became dependent: a singular configuration"
    NO_IMPACT_LAW = "a contact closed with a velocity, and no impact law was given"
    NOT_COMPUTED = "what comes next could not be computed"
    CROWDED = "events follow each other without progress in time"
    MAX_EVENTS = "the largest number of events was reached"
    UNDEFINED = "an expression of the declaration has no finite value"
    SINGULAR_MASS = "the mass matrix became singular"
    STEP_SIZE = "the step size fell below what floating point resolves"
    INTERRUPTED = "the computation was interrupted"

    @property
    def is_complete(self) -> bool:
        """True if the motion was followed as far as was asked."""
        return self in (Termination.END_TIME, Termination.UNTIL)

    @property
    def is_given_up(self) -> bool:
        """True if the motion goes on and could not be computed further."""
        return self in (Termination.NOT_COMPUTED, Termination.STEP_SIZE, Termination.CROWDED, Termination.MAX_EVENTS)


class EventKind(Enum):
    """What an event is; the value is the word in tables and JSON."""

    IMPACT = "impact"
    PASSAGE = "impact without collision"
    TOUCHDOWN = "touchdown"
    DETACHMENT = "detachment"
    SLIP_START = "slip start"
    SLIP_END = "slip end"
    SINGULAR = "singular"
    SINGULAR_CONFIGURATION = "singular configuration"
    ACCUMULATION = "accumulation of impacts"
    CHOICE = "choice"
    WATCH = "watch"
    UNTIL = "until"


@attrs.frozen(eq=False)
class Event:
    """An instant at which the motion changed or was looked at.

    Attributes
    ----------
    t : float
        Its time, in s.
    kind : EventKind
    elements : tuple of str
        The contacts, elements or constraints whose guards fired; the names of watched functions.
    mode_before, mode_after : Mode or None
        None before the start and after the end of a motion.
    q : array, (n,)
    v_before, v_after : array, (n,)
    impact : Impact or None
    verdict : Verdict or None
        Of the contact problem after the event.
    note : str
        How a choice was made, at which rate a force grows, what an impact law warned of.
    guards : tuple of Guard
        Those of the mode before that fired together; empty where no guard of a mode ended it.
    """

    t: float
    kind: EventKind
    elements: tuple[str, ...]
    mode_before: Mode | None
    mode_after: Mode | None
    q: NDArray[np.float64]
    v_before: NDArray[np.float64]
    v_after: NDArray[np.float64]
    impact: Impact | None = None
    verdict: Verdict | None = None
    note: str = ""
    guards: tuple[Guard, ...] = ()

    def __str__(self) -> str:
        modes = " -> ".join(str(mode) for mode in (self.mode_before, self.mode_after) if mode is not None)
        text = f"t = {self.t:.10g}: {self.kind.value} at {', '.join(self.elements) or 'no contact'} ({modes})"
        return text + (f"; {self.note}" if self.note else "")


@attrs.frozen
class EnergyBalance:
    """Where the energy went; ``initial + applied + friction + impacts - final`` is the residual.

    Attributes
    ----------
    initial, final : float
        Kinetic plus potential energy, or kinetic energy alone where the mechanism is declared by its equations.
    applied : float
        Work of applied forces without a potential, of moving guides, and of explicit dependence on time.
    friction : float
        Work of friction, at most zero.
    impacts : float
        Sum of the energy changes in impacts, less the work of moving guides in them.
    """

    initial: float
    final: float
    applied: float
    friction: float
    impacts: float

    @property
    def residual(self) -> float:
        """What does not add up: the error of integration and quadrature."""
        return self.initial + self.applied + self.friction + self.impacts - self.final

    @property
    def dissipated(self) -> float:
        """Energy lost to friction and impacts."""
        return -(self.friction + self.impacts)

    def as_mapping(self) -> Mapping[str, float]:
        """The numbers by name."""
        return {**attrs.asdict(self), "dissipated": self.dissipated, "residual": self.residual}
