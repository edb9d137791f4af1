"""What a log of a robot's motion shows: counts of verdicts, critical factors, and the worst frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact.batches import CellVerdict
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.numeric.critical import SlidingProblem, least_factor, sliding_problem
from hybrid.numeric.frames import AbstractBackend, Frame
from hybrid.numeric.posing import TOUCHING, PosedFrame, Thresholds, states_of
from hybrid.numeric.resolving import ResolvedFrame
from hybrid.tables import dataframe
from hybrid.tolerances import CENTRAL_STEP

__all__ = ["LARGE_FACTOR", "FactorGradient", "LintReport", "ThresholdShares", "WorstFrame", "factor_gradient"]

Array = NDArray[np.float64]

_STEP = CENTRAL_STEP  # relative, or rad or m: differences lose 1e-10 of a smooth function and some 1e-11 by rounding


@attrs.frozen
class FactorGradient:
    """Derivatives of the critical factor of one frame.

    Attributes
    ----------
    friction : dict of str to float
        By a relative change of the friction of each contact.
    mass : dict of str to float
        By a relative change of mass and inertia of each body.
    posture : dict of str to float
        By a change of each velocity's coordinate, per m or rad; not of those at whose change a contact is lost.
    """

    friction: dict[str, float]
    mass: dict[str, float]
    posture: dict[str, float]


def factor_gradient(
    backend: AbstractBackend, row: Mapping[str, Array], posed: PosedFrame, thresholds: Thresholds
) -> FactorGradient | None:
    """Central differences of the critical factor of a frame whose contacts all slip.

    Parameters
    ----------
    backend : AbstractBackend
    row : mapping of str to array
        Columns of the log at the frame, with the velocities that the problem was posed with.
    posed : PosedFrame
    thresholds : Thresholds

    Returns
    -------
    FactorGradient or None
        None where no minor becomes negative.
    """
    problem = _problem(posed, thresholds, backend.name)
    if not np.isfinite(least_factor(problem.G_NN, problem.pushed)[0]):
        return None
    units = np.eye(len(backend.velocities))
    near = thresholds.gap + TOUCHING

    def rougher(k: int, change: float) -> float:
        pushed = np.array(problem.pushed)
        pushed[:, k] *= 1.0 + change
        return float(least_factor(problem.G_NN, pushed)[0])

    def heavier(body: str, change: float) -> float:
        frame = backend.frame(row, near=thresholds.gap, mass={body: 1.0 + change})
        return _factor(frame, posed, thresholds, backend.name)

    def moved(k: int, change: float) -> float:
        frame = backend.frame(backend.moved(row, change * units[k]), near=near)
        return _factor(frame, posed, thresholds, backend.name)

    rough = [(k, contact.name) for k, contact in enumerate(posed.contacts) if contact.W_T is not None]
    posture = {name: _slope(partial(moved, k)) for k, name in enumerate(backend.velocities)}
    return FactorGradient(
        {name: _slope(partial(rougher, k)) for k, name in rough},
        {body: _slope(partial(heavier, body)) for body in backend.bodies},
        {name: slope for name, slope in posture.items() if np.isfinite(slope)},
    )


def _slope(factor: Callable[[float], float]) -> float:
    """Central difference of the factor at no change."""
    return (factor(_STEP) - factor(-_STEP)) / (2 * _STEP)


def _problem(posed: PosedFrame, thresholds: Thresholds, name: str) -> SlidingProblem:
    return sliding_problem(states_of([posed], thresholds, name).at(0), contacts=tuple(range(len(posed.contacts))))


def _factor(frame: Frame, posed: PosedFrame, thresholds: Thresholds, name: str) -> float:
    """The factor of the same contacts in another frame; NaN where one of them is gone."""
    known = {contact.name: contact for contact in frame.contacts}
    if not all(contact.name in known for contact in posed.contacts):
        return float("nan")
    contacts = tuple(known[contact.name] for contact in posed.contacts)
    problem = _problem(attrs.evolve(posed, frame=frame, contacts=contacts), thresholds, name)
    return float(least_factor(problem.G_NN, problem.pushed)[0])


LARGE_FACTOR = 100.0
"""Critical factors above are none: no material has such friction."""


@attrs.frozen(eq=False)
class WorstFrame:
    """A frame whose critical factor is among the least.

    Attributes
    ----------
    frame : int
    time : float or None
    verdict : str
    contacts : tuple of str
    A, b : array, (k, k) and (k,)
        ``a_N = A lambda_N + b`` of its slipping contacts.
    margin, critical_factor : float
    has_proof : bool
        Whether it is inconsistent with a certificate that exact arithmetic verifies.
    gradient : FactorGradient or None
        What would change the factor.
    """

    frame: int
    time: float | None
    verdict: str
    contacts: tuple[str, ...]
    A: Array
    b: Array
    margin: float
    critical_factor: float
    has_proof: bool
    gradient: FactorGradient | None


@attrs.frozen
class ThresholdShares:
    """Counted frames of a log at other thresholds.

    Attributes
    ----------
    thresholds : Thresholds
    verdicts : dict of str to int
        Counted frames, by verdict.
    """

    thresholds: Thresholds
    verdicts: dict[str, int]

    @property
    def counted(self) -> int:
        """Frames whose frictional contacts all slip."""
        return sum(self.verdicts.values())


@attrs.frozen(eq=False)
class LintReport(AbstractDisplayed):
    """What a log shows.

    Attributes
    ----------
    model : str
    frames : int
        Of the log, or of the part that was looked at.
    counted : int
        Frames with a frictional contact, all of which slip.
    resting : dict of str to int
        Frames with a contact at rest, by verdict.
    spatial_rest : int
        Of these, those in which several spatial contacts rest.
    spatial_rest_sample : dict of str to int
        Of these, those that were decided by a cover of their motions, by verdict; the others count as UNDECIDED.
    left_out : dict of str to int
        By reason.
    verdicts : dict of str to int
        Counted frames, by verdict.
    by_friction : tuple of (float, float, float)
        Friction of all contacts, shares of counted frames without a solution and with several.
    factor, margin : array, (frames,)
        NaN where a frame is not counted.
    verdict : array of uint8, (frames,)
        Values of :class:`CellVerdict`; ``MISSING`` where a frame is left out.
    time : array, (frames,), or None
        Seconds: of the log, or by the engine's steps where its frames follow each other so.
    worst : tuple of WorstFrame
    friction_in_force : tuple of (tuple of str, float, float, float, str)
        Pair of surfaces, friction in force, what each declares, and where that in force comes from.
    thresholds : Thresholds
    notes : tuple of str
    is_complete : bool
        False if it was interrupted.
    resolved : ResolvedFrame or None
        The frame that penalty contacts and time stepping were asked to run on from.
    at_thresholds : tuple of ThresholdShares
        The counts at other thresholds, where they were asked for.
    """

    model: str
    frames: int
    counted: int
    resting: dict[str, int]
    spatial_rest: int
    spatial_rest_sample: dict[str, int]
    left_out: dict[str, int]
    verdicts: dict[str, int]
    by_friction: tuple[tuple[float, float, float], ...]
    factor: Array
    margin: Array
    verdict: NDArray[np.uint8]
    time: Array | None
    worst: tuple[WorstFrame, ...]
    friction_in_force: tuple[tuple[tuple[str, str], float, float, float, str], ...]
    thresholds: Thresholds
    notes: tuple[str, ...]
    is_complete: bool
    resolved: ResolvedFrame | None = None
    at_thresholds: tuple[ThresholdShares, ...] = ()

    def __repr__(self) -> str:
        shares = [f"{name} {count}" for name, count in self.verdicts.items()]
        return one_line(f"LintReport {self.model}", f"{self.frames} frames", f"{self.counted} counted", *shares)

    @property
    def minimum(self) -> float | None:
        """The least critical factor; None where none is below 100."""
        known = self.factor[self.factor <= LARGE_FACTOR]
        return float(known.min()) if known.size else None

    def quantile(self, share: float) -> float | None:
        """The critical factor that a share of the counted frames does not reach; None above 100."""
        known = self.factor[~np.isnan(self.factor)]
        if not known.size:
            return None
        value = float(np.quantile(known, share, method="lower"))
        return value if value <= LARGE_FACTOR else None

    def to_dataframe(self) -> Any:
        """The frames as a ``pandas.DataFrame``, a row for each.

        Returns
        -------
        pandas.DataFrame
            ``frame``, ``time`` where it is known, ``verdict``, the critical ``factor`` and the ``margin``.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).
        """
        times = {} if self.time is None else {"time": self.time}
        verdicts = np.array([CellVerdict(int(code)).name for code in self.verdict])
        measured = {"verdict": verdicts, "factor": self.factor, "margin": self.margin}
        return dataframe({"frame": np.arange(len(verdicts)), **times, **measured})
