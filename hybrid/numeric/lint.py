"""Logs of a robot's motion, frame by frame: where rigid contact has no solution or several, and how far off that is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.contact import Verdict, verify_certificate
from hybrid.contact.batches import CellVerdict
from hybrid.contact.selection import COVER_BUDGET
from hybrid.errors import StateError
from hybrid.numeric.classification import classify
from hybrid.numeric.critical import sliding_problem
from hybrid.numeric.lint_report import LARGE_FACTOR, LintReport, ThresholdShares, WorstFrame, factor_gradient
from hybrid.numeric.logs import Log, frame_times
from hybrid.numeric.posing import PosedFrame, Thresholds, posed_frame, states_of, with_friction
from hybrid.numeric.problem import select
from hybrid.numeric.resolving import resolved_frame
from hybrid.progress import OnInterrupt, interruptible, keeps_partial
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hybrid.numeric.frames import AbstractBackend
    from hybrid.numeric.state import NumericState

__all__ = ["lint"]

Array = NDArray[np.float64]

FRICTIONS = (0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0)

_SAMPLED = 10  # frames of a log that stand and are decided; each may take the budget
_TOGETHER = 16384  # frames decided at once: some 100 MB of a humanoid's numbers
_RESTING_TOGETHER = 1024  # those in which contacts rest, mostly decided one by one: two seconds
_BETWEEN_LOOKS = 64  # frames between two words on progress


def _stands(posed: PosedFrame, thresholds: Thresholds) -> bool:
    """Whether several spatial contacts of a frame rest."""
    spatial = [item for item in posed.contacts if item.W_T is not None and item.W_T.shape[1] == 2]
    return sum(float(np.linalg.norm(np.asarray(item.slip))) < thresholds.slip_min for item in spatial) > 1


def _sampled_verdicts(
    backend: AbstractBackend,
    log: Log,
    places: NDArray[np.intp],
    *,
    thresholds: Thresholds,
    budget: float,
    tolerances: Tolerances,
) -> dict[int, Verdict]:
    """Verdicts of some frames that stand, evenly spread over all of them; none with a budget of 0 s."""
    if not len(places) or not budget:
        return {}
    chosen = places[np.unique(np.linspace(0, len(places) - 1, min(_SAMPLED, len(places))).round().astype(int))]
    found = {}
    for k, row in log.chosen(chosen.tolist()).items():
        posed = posed_frame(backend, row, thresholds)
        if not isinstance(posed, str):
            state = states_of([posed], thresholds, backend.name).at(0)
            found[k] = select(state, tolerances=tolerances, cover_budget=budget).verdict
    return found


def lint(
    backend: AbstractBackend,
    log: Log,
    *,
    thresholds: Thresholds | None = None,
    frictions: Sequence[float] = FRICTIONS,
    cover_budget: float = COVER_BUDGET,
    resolve: int | None = None,
    others: Sequence[Thresholds] = (),
    tolerances: Tolerances = Tolerances(),
    progress: Callable[[int, int], None] | None = None,
    on_interrupt: OnInterrupt = "raise",
) -> LintReport:
    """Decide every frame of a log.

    Parameters
    ----------
    backend : AbstractBackend
        The model.
    log : Log
    thresholds : Thresholds, optional
    frictions : sequence of float
        For which the shares are repeated; none to save the time.
    cover_budget : float, default 2
        Seconds for each of a sample of the frames in which several spatial contacts rest; the others are UNDECIDED.
    resolve : int, optional
        A frame from which penalty contacts and time stepping are run on.
    others : sequence of Thresholds
        At which frames are counted again; with the same gap.
    tolerances : Tolerances, optional
    progress : callable, optional
        Takes the number of frames done and of all.
    on_interrupt : {"raise", "keep"}
        ``keep`` reports on the frames before Ctrl-C.

    Returns
    -------
    LintReport

    Raises
    ------
    StateError
        A frame cannot be decided, or that to run on from is not in the log or has not only slipping contacts.
    """
    if resolve is not None and not 0 <= resolve < len(log):
        raise StateError(f"--resolve: the log has the frames 0 to {len(log) - 1}, got {resolve}")
    chosen = Thresholds.of(backend) if thresholds is None else thresholds
    run = _Run(backend, chosen, tuple(frictions), tolerances, len(log))
    again = [_Run(backend, other, (), tolerances, len(log)) for other in others]
    is_complete, keeps = True, keeps_partial(on_interrupt)
    with interruptible(keeps=keeps):
        try:
            for k, row in enumerate(log.rows()):
                _take(k, backend, row, (run, *again))
                if progress is not None and k % _BETWEEN_LOOKS == 0:
                    progress(k, len(log))
            run.decide()
            run.decide_spatial_rest(log, cover_budget)
        except KeyboardInterrupt:
            if not keeps:
                raise
            is_complete = False
        for each in (run, *again):
            each.decide()
        at_thresholds = tuple(ThresholdShares(each.thresholds, each.counts()) for each in again)
        report = attrs.evolve(run.report(log, is_complete=is_complete), at_thresholds=at_thresholds)
        if resolve is None or not is_complete:
            return report
        resolved = resolved_frame(
            backend, log.row(resolve), resolve, thresholds=chosen, largest_factor=LARGE_FACTOR, tolerances=tolerances
        )
        return attrs.evolve(report, resolved=resolved)


def _take(k: int, backend: AbstractBackend, row: Mapping[str, Array], runs: Sequence[_Run]) -> None:
    try:
        frame = backend.frame(row, near=runs[0].thresholds.gap)
        for run in runs:
            run.take(k, posed_frame(backend, row, run.thresholds, frame=frame))
    except StateError as error:
        raise StateError(f"frame {k}: {error}") from None


class _Run:
    """A log while it is looked at: frames wait until enough of the same kind can be decided together."""

    def __init__(
        self,
        backend: AbstractBackend,
        thresholds: Thresholds,
        frictions: tuple[float, ...],
        tolerances: Tolerances,
        frames: int,
    ) -> None:
        self.backend, self.thresholds, self.frictions, self.tolerances = backend, thresholds, frictions, tolerances
        self.waiting: dict[tuple[Any, ...], list[tuple[int, PosedFrame]]] = {}
        self.n_waiting = self.n_resting = self.taken = 0
        self.verdict = np.full(frames, CellVerdict.MISSING, np.uint8)
        self.factor, self.margin = np.full(frames, np.nan), np.full(frames, np.nan)
        self.rests, self.stands = np.zeros(frames, dtype=bool), np.zeros(frames, dtype=bool)
        self.spatial_rest: dict[int, Verdict] = {}
        self.left_out: Counter[str] = Counter()
        self.shares = {friction: [0, 0] for friction in frictions}
        self.pairs: dict[tuple[str, str], None] = {}
        self.deepest, self.by_differences, self.with_torsion, self.held = 0.0, 0, 0, 0

    def take(self, k: int, posed: PosedFrame | str) -> None:
        """Note a frame."""
        self.taken = k + 1
        if isinstance(posed, str):
            self.left_out[posed] += 1
            return
        self.rests[k], self.stands[k] = posed.rests, _stands(posed, self.thresholds)
        self.deepest = max(self.deepest, *(-contact.gap for contact in posed.contacts))
        self.by_differences += any(contact.by_differences for contact in posed.contacts)
        self.with_torsion += any(contact.has_torsion for contact in posed.contacts)
        self.held += any(not element.slip for element in posed.frame.friction)
        self.pairs |= {contact.pair: None for contact in posed.contacts if contact.W_T is not None}
        key = (
            posed.rests,
            tuple((contact.name, None if contact.W_T is None else contact.W_T.shape[1]) for contact in posed.contacts),
            None if posed.frame.J is None else posed.frame.J.shape,
        )
        self.waiting.setdefault(key, []).append((k, posed))
        self.n_waiting += 1
        self.n_resting += posed.rests
        if self.n_waiting >= _TOGETHER or self.n_resting >= _RESTING_TOGETHER:
            self.decide()

    def decide(self) -> None:
        """Decide the frames that wait, those with the same contacts together."""
        for contacts, frames in list(self.waiting.items()):
            # all of a group is counted at its end: after an interrupt it is decided once more
            places = np.array([k for k, _ in frames])
            state = states_of([posed for _, posed in frames], self.thresholds, self.backend.name)
            found = classify(state, tolerances=self.tolerances, cover_budget=0.0)
            frictions = () if frames[0][1].rests else tuple(self.shares)
            swept = [classify(with_friction(state, value), tolerances=self.tolerances).verdict for value in frictions]
            self.verdict[places], self.margin[places] = found.verdict, found.margin
            self.factor[places] = found.critical.factor
            for value, verdict in zip(frictions, swept, strict=True):
                self.shares[value][0] += int(np.sum(verdict == CellVerdict.INCONSISTENT))
                self.shares[value][1] += int(np.sum(verdict == CellVerdict.INDETERMINATE))
            del self.waiting[contacts]
            self.n_waiting -= len(frames)
            self.n_resting -= len(frames) if frames[0][1].rests else 0

    def decide_spatial_rest(self, log: Log, budget: float) -> None:
        """Decide a sample of the frames in which several spatial contacts rest."""
        self.spatial_rest = _sampled_verdicts(
            self.backend,
            log,
            np.flatnonzero(self.stands),
            thresholds=self.thresholds,
            budget=budget,
            tolerances=self.tolerances,
        )
        for k, verdict in self.spatial_rest.items():
            self.verdict[k] = CellVerdict[verdict.name]

    def counts(self) -> dict[str, int]:
        """Frames whose frictional contacts all slip, by verdict."""
        return _names(self.verdict[(self.verdict != CellVerdict.MISSING) & ~self.rests])

    def report(self, log: Log, *, is_complete: bool) -> LintReport:
        """What was found."""
        verdict, rests = self.verdict[: self.taken], self.rests[: self.taken]
        decided = verdict != CellVerdict.MISSING
        slides = decided & ~rests
        counted = int(slides.sum())
        times = frame_times(log, self.backend, self.taken)
        notes = [*self.backend.notes, *log.notes]
        if self.thresholds.project:
            notes.append("normal velocities were taken away in the mass metric: verdicts are of the projected states")
        if self.deepest > 0.0:
            notes.append(f"the deepest penetration that counts as contact is {self.deepest:.3g} m")
        if self.by_differences:
            notes.append(f"remainders of {self.by_differences} frames are differences along the motion")
        if self.with_torsion:
            notes.append(
                f"{self.with_torsion} frames have contacts with torsional or rolling friction (condim 4 or 6): decided "
                "without"
            )
        if self.held:
            notes.append(
                f"in {self.held} frames joints with dry friction rest: what it bears up to its limit counts in the "
                "verdict, not in A, b and the critical factor"
            )
        if self.taken and self.left_out.get("no_contact", 0) == self.taken:
            notes.append("no frame has a contact with friction; a URDF file alone has no floor")
        if self.thresholds.static_friction is not None:
            notes.append("where static friction is given below the friction in force, that counts")
        paradoxical = np.isin(verdict, (CellVerdict.INCONSISTENT, CellVerdict.INDETERMINATE))
        early = int(np.sum(slides & paradoxical & (self.factor[: self.taken] > 1.0)))
        if early:
            notes.append(
                f"{early} frames are paradoxical though their critical factor is above 1: their contacts depend on "
                "each other, and minors that vanish whatever the friction do not count in the factor"
            )
        in_force = tuple((pair, *self.backend.friction_in_force(pair)) for pair in self.pairs)
        notes += _without_effect(in_force)
        self.factor[: self.taken][~slides] = self.margin[: self.taken][~slides] = np.nan
        return LintReport(
            model=self.backend.name,
            frames=self.taken,
            counted=counted,
            resting=_names(verdict[decided & rests]),
            spatial_rest=int(np.sum(self.stands)),
            spatial_rest_sample=dict(Counter(found.name for found in self.spatial_rest.values())),
            left_out=dict(self.left_out),
            verdicts=self.counts(),
            by_friction=tuple(
                (friction, none / counted, several / counted)
                for friction, (none, several) in self.shares.items()
                if counted
            ),
            factor=self.factor[: self.taken],
            margin=self.margin[: self.taken],
            verdict=verdict,
            time=times,
            worst=self._worst(log, slides, times),
            friction_in_force=in_force,
            thresholds=self.thresholds,
            notes=tuple(notes),
            is_complete=is_complete,
        )

    def _worst(self, log: Log, slides: NDArray[np.bool_], times: Array | None) -> tuple[WorstFrame, ...]:
        places = np.flatnonzero(slides)
        order = np.lexsort((self.margin[places], self.factor[places]))
        found = []
        frames = places[order][: self.thresholds.worst].tolist()
        rows = log.chosen(frames)
        for k in frames:
            posed = posed_frame(self.backend, rows[k], self.thresholds)
            if isinstance(posed, str):
                raise StateError(f"{self.backend.name}: frame {k} is read otherwise a second time")
            state = states_of([posed], self.thresholds, self.backend.name).at(0)
            problem = sliding_problem(state, contacts=tuple(range(len(state.contacts))))
            found.append(
                WorstFrame(
                    k,
                    None if times is None else float(times[k]),
                    CellVerdict(self.verdict[k]).name,
                    tuple(contact.name for contact in posed.contacts),
                    problem.A,
                    problem.b,
                    float(self.margin[k]),
                    float(self.factor[k]) if self.factor[k] <= LARGE_FACTOR else float("inf"),
                    _has_proof(state, self.tolerances),
                    # with the velocities that the problem was posed with
                    factor_gradient(
                        self.backend, {**rows[k], self.backend.velocity: posed.frame.v}, posed, self.thresholds
                    ),
                )
            )
        return tuple(found)


def _without_effect(in_force: Sequence[tuple[tuple[str, str], float, float, float, str]]) -> list[str]:
    """Warnings of coefficients that surfaces declare in vain."""
    by_cause: dict[tuple[float, str, float], list[str]] = {}
    for pair, value, first, second, source in in_force:
        for surface, declared in zip(pair, (first, second), strict=True):
            if declared != value:
                by_cause.setdefault((declared, source, value), []).append(surface)
    return [
        f"warning: friction {declared:g} of {', '.join(dict.fromkeys(surfaces))} has no effect: {value:g} is in force, "
        f"{source}"
        for (declared, source, value), surfaces in by_cause.items()
    ]


def _has_proof(state: NumericState, tolerances: Tolerances) -> bool:
    certificate = select(state, tolerances=tolerances).certificate
    return certificate is not None and verify_certificate(certificate)


def _names(verdicts: NDArray[np.uint8]) -> dict[str, int]:
    return {
        CellVerdict(value).name: int(count)
        for value, count in zip(*np.unique(verdicts, return_counts=True), strict=True)
    }
