"""The energy balance of a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid.motion.outcome import EnergyBalance, EventKind

if TYPE_CHECKING:
    from hybrid.contact.impacts.impact import Impact
    from hybrid.motion.outcome import Event
    from hybrid.motion.recorded import AbstractMotion, Arc

_GAUSS_POINTS, _GAUSS_WEIGHTS = np.polynomial.legendre.leggauss(12)


def energy_balance(trajectory: AbstractMotion) -> EnergyBalance:
    """Integrate the power of friction and of applied forces along a motion.

    Gauss' rule with twelve points in every step of the integrator; the energies at both ends are exact functions of
    the states there, so the residual measures the error of the motion. In a motion made by time-stepping the rule is
    the scheme's own, one point in the middle of every step, and the work of normal impulses counts as impacts.

    Parameters
    ----------
    trajectory : AbstractMotion

    Returns
    -------
    EnergyBalance
    """
    dynamics = trajectory.dynamics
    initial, _ = dynamics.energy(trajectory.q_start, trajectory.v_start, t=trajectory.t_start)
    ending = trajectory.dynamics_at(trajectory.t)  # springs are unstretched where they take over
    final, _ = ending.energy(trajectory.q, trajectory.v, t=trajectory.t)
    friction = applied = 0.0
    impacts = 0.0
    for event in trajectory.events:
        if event.impact is not None:
            worked = _guides_in_impact(trajectory, event, event.impact)
            applied += worked
            impacts += _energy_change(trajectory, event) - worked
        elif event.kind is EventKind.ACCUMULATION:
            impacts += _energy_change(trajectory, event)
    for arc in trajectory.arcs:
        t, weights = _quadrature(arc)
        if not t.size:
            continue
        rubbed, brought, struck = _powers(trajectory, arc, t)
        friction += float(weights @ rubbed)
        applied += float(weights @ brought)
        impacts += float(weights @ struck)
    return EnergyBalance(float(initial), float(final), applied, friction, float(impacts))


def _energy_change(trajectory: AbstractMotion, event: Event) -> float:
    """Energy after an impact less before, with what brings contacts that stay closed to rest exactly."""
    before, after = (trajectory.dynamics.energy(event.q, v, t=event.t)[0] for v in (event.v_before, event.v_after))
    return float(after - before)


def _guides_in_impact(trajectory: AbstractMotion, event: Event, impact: Impact) -> float:
    """Work of moving guides in an impact: impulses times the velocities of the surfaces."""
    dynamics = trajectory.dynamics
    terms = dynamics.terms(event.q, event.v_after, t=event.t)
    surface_N = event.v_after @ terms.W_N - terms.gap_dot
    surface_T = event.v_after @ terms.W_T - terms.slip
    work = sum(
        impulse * surface_N[dynamics.contacts.index(name)]
        for name, impulse in impact.impulse_N.items()
        if name in dynamics.contacts
    )
    for name, impulses in impact.impulse_T.items():
        if name in dynamics.columns:
            work += float(np.dot(impulses, surface_T[dynamics.columns[name]]))
    return float(work)


def _quadrature(arc: Arc) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    lengths = np.diff(arc.knots)
    if arc.means is not None:
        return (arc.knots[:-1] + arc.knots[1:]) / 2, lengths
    points = arc.knots[:-1, None] + lengths[:, None] * (_GAUSS_POINTS + 1) / 2
    return points.ravel(), (lengths[:, None] * _GAUSS_WEIGHTS / 2).ravel()


def _powers(
    trajectory: AbstractMotion, arc: Arc, t: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Power of friction; of everything applied (forces without potential, moving guides); of impulses over a step."""
    dynamics = trajectory.dynamics_at(arc.start)
    q, v = arc.sample(t)
    observed = trajectory.forces(arc, t)
    terms = dynamics.terms(q, v, t=t)
    lambda_N, lambda_T = observed.lambda_N.T, observed.lambda_T.T
    friction = np.sum(lambda_T * terms.slip, axis=-1)
    guided = np.sum(lambda_N * ((v[:, None, :] @ terms.W_N)[:, 0, :] - terms.gap_dot), axis=-1)
    guided += np.sum(lambda_T * ((v[:, None, :] @ terms.W_T)[:, 0, :] - terms.slip), axis=-1)
    if terms.J.shape[-2]:
        # all that the equations of motion leave to the constraints
        contact = (terms.W_N @ lambda_N[..., None] + terms.W_T @ lambda_T[..., None])[..., 0]
        held = (terms.M @ observed.acceleration.T[..., None])[..., 0] - terms.h - contact
        guided += np.sum(held * v, axis=-1) - np.zeros(len(t))
    _, power = dynamics.energy(q, v, t=t)
    struck = np.zeros(len(t)) if arc.means is None else np.sum(lambda_N * terms.gap_dot, axis=-1)
    return friction, power + guided, struck
