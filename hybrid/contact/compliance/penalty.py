"""A compliant contact of finite stiffness: the motion of the mechanism from touch to release."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs
import numpy as np

from hybrid.contact.activity import closed_contacts
from hybrid.contact.compliance.coefficients import check_damping, check_stiffness
from hybrid.contact.compliance.kinematics import MovingFlow
from hybrid.contact.compliance.motion import CompliantRun, PhaseMachine
from hybrid.contact.compliance.path import Array, CompliantMotion
from hybrid.contact.compliance.status import STOPPED, ContactStatus
from hybrid.dynamics.state import State
from hybrid.errors import StateError
from hybrid.tolerances import Tolerances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.contact.compliance.status import CompliantForces
    from hybrid.dynamics.derive import Dynamics, Values

_HORIZON = 400.0  # of a contact of unit mass: more than a hundred times as long as it takes to rebound
_EFFORT = 12_000  # an undamped oscillation to the horizon takes 10 000, an impact a few hundred


@attrs.frozen
class KelvinVoigt:
    """Compliant contact ``F_N = max(0, -K y - 2 d sqrt(K) y')`` with Coulomb's law, set-valued and not smoothed.

    Friction elements and rigid constraints with friction take part, with all loads. The law is that of Miller and
    Rubinovich (2017), with ``2 d`` for their ``delta``.

    Attributes
    ----------
    stiffness : float
        ``K`` in N/m, of a contact with ``stiffness_ratio = 1``.
    damping : float, optional
        ``d`` in sqrt(kg); replaces the declared one of every contact.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive, solve_state
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> state = solve_state(ball, {"gap_dot.floor": -1})
    >>> motion = KelvinVoigt(stiffness=1e10, damping=0.0).pass_through(ball, state)
    >>> motion.has_separated, round(motion.gap_dot_after["floor"], 6)
    (True, 1.0)
    """

    stiffness: float = attrs.field(validator=check_stiffness)
    damping: float | None = attrs.field(default=None, validator=check_damping)

    def pass_through(
        self,
        dynamics: Dynamics,
        state: State,
        *,
        parameters: Values | None = None,
        tolerances: Tolerances = Tolerances(),
        horizon: float | None = None,
        effort: int = _EFFORT,
        samples: int = 0,
    ) -> CompliantMotion:
        """Follow the motion from a state with closed contacts until they let go.

        Parameters
        ----------
        dynamics : Dynamics
        state : State
        parameters : mapping, optional
        tolerances : Tolerances, optional
        horizon : float, optional
            Fast time after which a motion that keeps contact is ended; by default 400 times that of the slowest
            contact, ``1 / sqrt(G_NN)`` with its stiffness ratio.
        effort : int
            Evaluations of the equations of motion after which it is ended, wherever it is: a soft contact may press
            for longer than the mechanism takes to swing to and fro many times.
        samples : int, default 0
            Samples per phase to keep.

        Returns
        -------
        CompliantMotion

        Raises
        ------
        StateError
            No contact is closed, or those that are separate already; a horizon not above 0.
        ComputationError
            Friction of a rigid bilateral constraint leaves its force without a value, or with several; or the
            integration fails.
        """
        dynamics = dynamics.at(parameters)
        closed = closed_contacts(dynamics, state, wanted="compliant motion", tolerances=tolerances)
        terms = dynamics.terms(state.q, state.v, t=state.t)
        damping = None if self.damping is None else np.full(len(dynamics.contacts), self.damping)
        flow = MovingFlow(self.stiffness * terms.stiffness_ratio, 1.0, 0.0, dynamics, damping)
        if horizon is not None and not horizon > 0.0:
            raise StateError(f"the horizon of a compliant motion is a fast time above 0, got {horizon:g}")
        y = flow.start(np.concatenate([state.q, state.v]), state.t)
        at = flow.evaluate(y, ContactStatus.open(len(flow.names)))
        if horizon is None:
            rates = np.diag(at.G)[: len(closed)][closed] * terms.stiffness_ratio[closed]
            horizon = _HORIZON / math.sqrt(float(np.min(rates)))
        flow = _scaled(flow, at, state.q, terms.W_N, closed)
        still = tolerances.velocity
        passage = PhaseMachine(flow, self.stiffness, horizon, effort, still, state.sides, samples)
        return _named(flow, state, passage.run(y, closed))


def _scaled(flow: MovingFlow, at: CompliantForces, q: Array, W_N: Array, closed: NDArray[np.bool_]) -> MovingFlow:
    """The flow with the sizes of its velocities.

    They are those at the start or, where these are zero or rounding, what free acceleration makes before the contact
    answers: accelerations over its frequency. None is told from what a position in its last digit does.
    """
    squares = (flow.stiffness * np.diag(at.G)[: len(closed)])[closed]
    fast, slow = (math.sqrt(float(pick(squares))) for pick in (np.max, np.min))
    rounding = float(np.finfo(float).eps * np.max(np.abs(W_N[:, closed]).T @ np.abs(q)) * fast)
    velocities = np.concatenate([at.gap_dot, at.slip, at.free / slow])
    speed = max(float(np.max(np.abs(velocities))), rounding / STOPPED)
    return attrs.evolve(flow, speed=speed or 1.0, rounding=rounding)


def _named(flow: MovingFlow, start: State, run: CompliantRun) -> CompliantMotion:
    """Name what the unknowns say at the end of a motion."""
    n, dynamics, y, at = flow.dynamics.n, flow.dynamics, run.end, run.at
    M = dynamics.terms(start.q, start.v, t=start.t).M
    M_end = dynamics.terms(y[:n], y[n : 2 * n], t=float(y[-2])).M
    energy = float(y[n : 2 * n] @ M_end @ y[n : 2 * n] - start.v @ M @ start.v) / 2
    impulses, k, rough = y[2 * n : -3], len(dynamics.contacts), flow.rough
    forces = [*at.forces, *at.bilateral.normal(at.forces)]
    rows = {name: tangential for name, (_, tangential) in zip(flow.names, flow.rows, strict=True)}
    normals = {name: i for i, name in enumerate(dynamics.contacts)}
    pressed = normals | {name: len(at.forces) + j for j, name in enumerate(rough)}
    return CompliantMotion(
        state=State(y[:n], y[n : 2 * n], float(y[-2])),
        has_separated=run.has_separated,
        is_cut=run.is_cut,
        posture_change=run.posture_change,
        label=run.label,
        phases=tuple((label, sum(phase.duration for phase in parts)) for label, parts in run.named_phases),
        force_N={name: float(forces[row]) for name, row in pressed.items()},
        impulse_N={name: float(impulses[row]) for name, row in pressed.items()},
        impulse_T={name: tuple(float(impulses[row]) for row in rows[name]) for name in pressed},
        gap_dot_after={name: float(at.gap_dot[row]) for name, row in normals.items()},
        slip_after={name: tuple(float(at.slip[row - k]) for row in rows[name]) for name in pressed},
        energy_change=energy,
        work_T=float(y[-3]),
        samples=run.samples,
    )
