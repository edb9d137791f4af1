"""Modes in which many motions go on: by the verdict and, where several modes tie, along their own flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.contact.activity import Activity
from hybrid.contact.batches import CellTable, CellVerdict, decide_together
from hybrid.contact.conditions import all_tied
from hybrid.contact.guards import GuardKind
from hybrid.contact.modes import Mode
from hybrid.contact.problem import pose
from hybrid.contact.table import force_elements, has_stiction, not_negative, rows_of
from hybrid.declaration.names import TIME
from hybrid.dynamics.arithmetic import definiteness
from hybrid.dynamics.scales import summands_of
from hybrid.motion.arcs import flight_limits
from hybrid.motion.context import gap_floors, slip_floors
from hybrid.motion.flow import check_exit
from hybrid.motion.recorded import LASTING, Event, EventKind, Termination, named_by_modes
from hybrid.motion.together.fleet import KIND_NUMBERS, KINDS, NOWHERE, Stage, distinct_columns
from hybrid.motion.together.holding import settled
from hybrid.motion.together.stepping import enter
from hybrid.motion.together.ties import ended_modes, modes_of_ties, zeros_at_start
from hybrid.tolerances import RANK

if TYPE_CHECKING:
    from hybrid.contact.problem import ContactProblem
    from hybrid.dynamics.equations import Terms
    from hybrid.motion.together.fleet import Fleet

__all__ = ["decide"]

Array = NDArray[np.float64]
Lanes = NDArray[np.intp]
Flags = NDArray[np.bool_]

_UNSOUND = "static friction above kinetic, a mass or a friction that is negative, or terms without a value"
_DETACHED = KIND_NUMBERS[EventKind.DETACHMENT]
_ENDINGS = {
    CellVerdict.INCONSISTENT: Termination.INCONSISTENT,
    CellVerdict.INDETERMINATE: Termination.INDETERMINATE,
}


def decide(fleet: Fleet, lanes: Lanes) -> None:
    """Choose the modes in which motions go on, or say why they do not.

    Parameters
    ----------
    fleet : Fleet
        Changed in place: its states lie on what their activities hold at zero.
    lanes : array of int, (m,)

    Returns
    -------
    None
    """
    for pattern, own in fleet.patterns(lanes).items():
        _decide_pattern(fleet, pattern, own)


def _decide_pattern(fleet: Fleet, pattern: tuple[Activity, ...], lanes: Lanes) -> None:
    dynamics, tolerances = fleet.at(lanes), fleet.settings.tolerances
    q, v, t = fleet.states(lanes)
    terms = dynamics.terms(q, v, t=t)
    if not (is_sound := _is_sound(fleet, terms, lanes.shape)).all():
        fleet.single_out(lanes[~is_sound], _UNSOUND)
        if is_sound.any():
            _decide_pattern(fleet, pattern, lanes[is_sound])
        return
    summands = summands_of(dynamics, terms, q, v, t=t)
    problem = pose(dynamics, terms, pattern, sides={}, summands=summands)
    if any(element.is_spatial_at_rest for element in problem.elements):
        fleet.single_out(lanes, "contacts at rest in space")
        return
    table, everywhere = CellTable.of((len(lanes),)), np.ones(len(lanes), dtype=bool)
    is_open = decide_together(problem, everywhere, tolerances, table)
    n_labels = sum((holds.astype(int) for holds in table.modes.values()), np.zeros(len(lanes), dtype=int))
    is_unique = ~is_open & (table.verdict == CellVerdict.UNIQUE) & (n_labels == 1)
    names = {element.name for element in problem.elements}
    released = np.where(fleet.pending[lanes] == _DETACHED, fleet.mode[lanes], NOWHERE)
    would_go_on = np.zeros(len(lanes), dtype=bool)
    for label, holds in table.modes.items():
        mode = _mode(fleet, label)
        is_last = released == fleet.number_of(mode)
        would_go_on |= is_unique & holds & is_last
        chosen = is_unique & holds & ~is_last
        if chosen.any():
            _enter(fleet, mode, lanes[chosen], names)
    for verdict, termination in _ENDINGS.items():
        ended = ~is_open & (table.verdict == verdict)
        if ended.any():
            _complete(fleet, lanes[ended], NOWHERE)
            fleet.end(lanes[ended], termination, verdict)
    rests = ~is_open & (table.verdict == CellVerdict.HYPERSTATIC) & (n_labels == 1)
    if rests.any() and TIME not in fleet.dynamics.equations.all_names:
        for label, holds in table.modes.items():
            _stay(fleet, _mode(fleet, label), lanes[rests & holds])
    tied = (fleet.stage[lanes] == Stage.DECIDE) & (is_open | (table.verdict == CellVerdict.UNIQUE)) & ~would_go_on
    _resolve_ties(fleet, problem, lanes, tied, would_go_on)
    left = lanes[fleet.stage[lanes] == Stage.DECIDE]
    fleet.single_out(left, "a verdict that needs more than the signs of one step")


def _is_sound(fleet: Fleet, terms: Terms, shape: tuple[int, ...]) -> Flags:
    """Where masses are positive, forces have values, and static friction is the kinetic one, not negative."""
    is_sound = (definiteness(terms.M) > fleet.settings.tolerances.rank) & np.isfinite(terms.h).all(axis=-1)
    for element in force_elements(fleet.dynamics):
        is_sound = is_sound & ~has_stiction(terms, element)
    for _, values in not_negative(fleet.dynamics, terms):
        is_sound = is_sound & (values >= 0.0).all(axis=-1)
    return np.broadcast_to(is_sound, shape)


def _stay(fleet: Fleet, mode: Mode, lanes: Lanes) -> None:
    """End motions whose contacts leave none, so that nothing changes any more, whatever their forces are."""
    if not len(lanes):
        return
    terms = fleet.at(lanes).terms(*fleet.states(lanes)[:2], t=fleet.t[lanes])
    rows = rows_of(fleet.dynamics, mode, None)
    W = [terms.W_N[..., row.index] for row in rows if row.presses and row.element.is_unilateral]
    W += [terms.W_T[..., column] for row in rows if row.sticks for column in row.columns]
    if len(W) < fleet.n:
        return
    held = np.stack([np.broadcast_to(row, (len(lanes), fleet.n)) for row in W], axis=-1)
    own = lanes[np.linalg.matrix_rank(held, rtol=RANK) == fleet.n]
    _complete(fleet, own, fleet.number_of(mode))
    fleet.mode[own], fleet.t[own] = fleet.number_of(mode), fleet.t_end
    fleet.y[fleet.n :, own] = 0.0
    fleet.end(own, Termination.END_TIME, CellVerdict.HYPERSTATIC)


def _mode(fleet: Fleet, label: str) -> Mode:
    """The mode of a label, in which open contacts are named too."""
    if len(fleet.names) == 1:
        return Mode({fleet.names[0]: label})
    return Mode(dict(part.split("=") for part in label.split(",")) if fleet.names else {})


def _resolve_ties(fleet: Fleet, problem: ContactProblem, lanes: Lanes, tied: Flags, would_go_on: Flags) -> None:
    """Go on in the one mode of those that meet which its own flow keeps consistent.

    A mode whose normal force has just vanished would go on where that force is told from zero by its rounding alone.
    There all modes meet.
    """
    last = ended_modes(fleet, lanes)
    numbers = modes_of_ties(fleet, problem, lanes, tied)
    would_go_on = would_go_on | ((numbers == last) & (fleet.pending[lanes] == _DETACHED))
    numbers[would_go_on] = modes_of_ties(fleet, all_tied(problem), lanes, would_go_on)[would_go_on]
    numbers[numbers == last] = NOWHERE
    names = {element.name for element in problem.elements}
    for number in np.unique(numbers[numbers != NOWHERE]).tolist():
        _enter(fleet, fleet.modes[number], lanes[numbers == number], names)


def _enter(fleet: Fleet, mode: Mode, lanes: Lanes, names: set[str]) -> None:
    """Begin arcs in a mode."""
    number = fleet.number_of(mode)
    _complete(fleet, lanes, number)
    flow = fleet.flow(number)
    if flow is None:
        fleet.single_out(lanes, "a mode whose equations need pivoting")
        return
    is_over = ~(fleet.t[lanes] < fleet.t_end)
    fleet.end(lanes[is_over], Termination.END_TIME)
    lanes = lanes[~is_over]
    if not len(lanes):
        return
    fleet.starts_at_zero[:, lanes] = zeros_at_start(fleet, mode, lanes, names)
    fleet.touches[:, lanes] = False
    q, v, terms = settled(fleet, lanes, flow.parts)
    y, t = np.concatenate([q.T, v.T]), fleet.t[lanes]
    of_gaps, of_slips = gap_floors(fleet.at(lanes), terms, q, v, t), slip_floors(terms, v)
    for part in flow.parts:
        slips = of_slips[..., list(part.columns)].max(axis=-1, initial=0.0)
        fleet.floors[fleet.names.index(part.name), lanes] = of_gaps[..., part.index] if part.is_open else slips
    slope, h = enter(fleet, flow, lanes, y)
    with np.errstate(all="ignore"):
        for part in flow.parts:
            at_zero = fleet.starts_at_zero[fleet.names.index(part.name), lanes]
            if part.is_open and at_zero.any():
                a = np.sum(slope[fleet.n :].T * terms.W_N[..., part.index], axis=-1) + terms.zeta_N[..., part.index]
                limits = flight_limits(terms.gap_dot[..., part.index], a, terms.gap[..., part.index])
                h = np.where(at_zero, np.minimum(h, limits), h)
        if flow.guards and flow.guards[-1].kind is GuardKind.SINGULAR:
            mobility = flow.watched.values(fleet.parameters(lanes), t, y)[-1]
            fleet.singular_sign[lanes] = np.where(mobility < 0.0, -1.0, 1.0)
    fleet.y[:, lanes], fleet.slope[:, lanes], fleet.h[lanes] = y, slope, h
    fleet.is_fresh[lanes], fleet.was_rejected[lanes] = True, False
    fleet.mode[lanes], fleet.stage[lanes] = number, Stage.FOLLOW


def _named(fleet: Fleet, lanes: Lanes, number: int) -> NDArray[np.intp]:
    """Numbers of the kinds of events as modes tell them; where guards have ended a mode, the next one is its exit."""
    kinds = fleet.pending[lanes].copy()
    places = np.flatnonzero(~np.isin(kinds, (NOWHERE, KIND_NUMBERS[EventKind.IMPACT])) & (number != NOWHERE))
    own = lanes[places]
    ends = np.stack([fleet.mode[own], fleet.fired[own]])
    for (mode, fired), here in distinct_columns(ends, max(len(fleet.modes), len(fleet.guard_sets))):
        lane, before, guards = own[here][0], fleet.modes[mode], fleet.guard_sets[fired]
        elements, (q, v) = tuple(dict.fromkeys(guard.element for guard in guards)), np.split(fleet.y[:, lane], 2)
        kind, t = KINDS[fleet.pending[lane]], float(fleet.t[lane])
        known = named_by_modes(Event(t, kind, elements, before, None, q, v, v, guards=guards), fleet.modes[number])
        check_exit(fleet.dynamics, before, guards, fleet.modes[number], t=t)
        kinds[places[here]] = KIND_NUMBERS[known.kind]
    return kinds


def _complete(fleet: Fleet, lanes: Lanes, number: int) -> None:
    """Record the events that led to a mode, but for those that changed nothing."""
    before, kinds = fleet.mode[lanes], _named(fleet, lanes, number)
    lasting = np.isin(kinds, [KIND_NUMBERS[kind] for kind in LASTING])
    recorded = (kinds != NOWHERE) & (lasting | (before != number) | (number == NOWHERE))
    fleet.log.add(lanes[recorded], fleet.t[lanes[recorded]], kinds[recorded], before[recorded], number)
    limits = fleet.limit[lanes]
    ends = np.isfinite(limits)
    fleet.log.add(lanes[ends], limits[ends], KIND_NUMBERS[EventKind.ACCUMULATION], NOWHERE, number)
    fleet.n_events[lanes] += kinds != NOWHERE
    fleet.pending[lanes], fleet.limit[lanes] = NOWHERE, np.nan
