"""Motions of random mechanisms against Moreau's time stepping, with every mode of a step tried (Moreau 1988).

The mechanisms: a mass on a spring between walls, a mass on a sloping floor before a wall, a mass on a straight rail,
a rod that falls on its two tips; gravity, spring, damper, a load in time, friction, restitution, each of them
switched off or 1 at times, and with numbers in place of parameters at times. The oracle has its own mass matrix,
Jacobians and forces. It is of first order in the step and converges through impacts; its error is judged by the
difference of two steps of which one is half the other. Where they differ by more than ``SPREAD`` (a tie, or chaos),
or a step has no mode, the oracle says nothing, and the case is counted as undecided. A motion of the package that
does not come to its end is wrong, and so is one whose energy balance does not close to a millionth of what moved.
"""

from __future__ import annotations

import math
import re

import numpy as np
from numba import njit

from hybrid import Contact, EnergyDynamics, Mechanism, State, Termination, derive, simulate
from hybrid.contact import NewtonImpact
from hybrid.declaration.parts import Constraint
from hybrid.motion import Settings, open_balance
from tests.campaigns.tally import Tally

END = 1.5
STEPS = 4096
SPREAD = 0.02  # of the state's size: differences of the oracle beyond are no convergence
ROOM = (
    4.0  # times the difference of two steps of which one is half the other: its error, were it of first order, is once
)
SCATTER = 20.0  # steps: where impacts fall within a step scatters the error, times the velocities' size
FINER = 6  # times: impacts of a rod may lie some millionths apart, which only steps between them resolve
LOADS = ("0", "F", "F*sin(w*t)", "F*t", "F*exp(-30*(t - 0.6)**2)", "F*(1 + sin(w*t))", "F*(1 + sign(t - 0.6))/2")
BODIES = {
    "spring": (("x",), ()),
    "slope": (("x", "y"), ()),
    "rail": (("x", "y"), ("y - s*x",)),
    "rod": (("x", "y", "phi"), ()),
}
GAPS = {
    "spring": (("x", None), ("1.5 - x", None)),
    "slope": (("y - s*x", "x + s*y"), ("1.5 - x", None)),
    "rail": (("x + 0.5", None), ("1.5 - x", None)),
    "rod": (("y - l*sin(phi)", "x - l*cos(phi)"), ("y + l*sin(phi)", "x + l*cos(phi)")),
}
NAMES = ("m", "I", "l", "g", "k", "d", "F", "w", "mu", "e", "s")


def declared(body: str, load: str, values: dict[str, float], *, literal: bool) -> Mechanism:
    """The mechanism, with parameters or with numbers in their place."""
    coordinates, rails = BODIES[body]

    def text(expression: str) -> str:
        if not literal:
            return expression
        for name in sorted(NAMES, key=len, reverse=True):
            expression = _replaced(expression, name, values[name])
        return expression

    inertia = {"x": "m", "y": "m", "phi": "I"}
    kinetic = " + ".join(f"{inertia[q]}*{q}_dot**2/2" for q in coordinates)
    potential = "k*x**2/2" + (" + m*g*y" if "y" in coordinates else "")
    contacts = [
        Contact(
            name=f"c{i}", gap=text(gap), restitution=text("e"),
            **({} if tangent is None else {"tangent": text(tangent), "friction": text("mu")}),
        )
        for i, (gap, tangent) in enumerate(GAPS[body])
    ]  # fmt: skip
    return Mechanism(
        name=body, coordinates=list(coordinates), parameters={} if literal else dict(values),
        dynamics=EnergyDynamics(kinetic=text(kinetic), potential=text(potential)),
        forces={"x": text(f"{load} - d*x_dot")}, contact=contacts,
        constraint=[Constraint(name=f"rail{i}", equation=text(rail)) for i, rail in enumerate(rails)],
    )  # fmt: skip


def _replaced(expression: str, name: str, value: float) -> str:
    return re.sub(rf"\b{name}\b", f"({value!r})", expression)


# The oracle: bodies by number, 0 spring, 1 slope, 2 rail, 3 rod; p = (m, I, l, g, k, d, F, w, mu, e, s).


@njit(cache=True)
def _force(body, load, t, q, v, p, out):  # type: ignore[no-untyped-def]
    F, w = p[6], p[7]
    pushed = 0.0
    if load == 1:
        pushed = F
    elif load == 2:
        pushed = F * math.sin(w * t)
    elif load == 3:
        pushed = F * t
    elif load == 4:
        pushed = F * math.exp(-30.0 * (t - 0.6) ** 2)
    elif load == 5:
        pushed = F * (1.0 + math.sin(w * t))
    elif load == 6 and t > 0.6:
        pushed = F
    out[0] = pushed - p[5] * v[0] - p[4] * q[0]
    if body > 0:
        out[1] = -p[0] * p[3]
    if body == 3:
        out[2] = 0.0


@njit(cache=True)
def _contact(body, i, q, p, w_n, w_t):  # type: ignore[no-untyped-def]
    """The gap; whether it has friction is for the body to tell."""
    w_n[:] = 0.0
    w_t[:] = 0.0
    s, half = p[10], p[2]
    if body == 3:
        side = -1.0 if i == 0 else 1.0
        w_n[1], w_n[2] = 1.0, side * half * math.cos(q[2])
        w_t[0], w_t[2] = 1.0, -side * half * math.sin(q[2])
        return q[1] + side * half * math.sin(q[2])
    if i == 1:
        w_n[0] = -1.0
        return 1.5 - q[0]
    if body == 1:
        w_n[0], w_n[1], w_t[0], w_t[1] = -s, 1.0, 1.0, s
        return q[1] - s * q[0]
    w_n[0] = 1.0
    return q[0] + (0.5 if body == 2 else 0.0)


@njit(cache=True)
def _solved(A, b, n):  # type: ignore[no-untyped-def]
    """Gauss with pivots, in place; False if a pivot is rounding."""
    for c in range(n):
        best = c
        for r in range(c + 1, n):
            if abs(A[r, c]) > abs(A[best, c]):
                best = r
        if abs(A[best, c]) < 1e-11:
            return False
        for k in range(n):
            A[c, k], A[best, k] = A[best, k], A[c, k]
        b[c], b[best] = b[best], b[c]
        for r in range(n):
            if r != c and A[r, c] != 0.0:
                f = A[r, c] / A[c, c]
                for k in range(c, n):
                    A[r, k] -= f * A[c, k]
                b[r] -= f * b[c]
    for c in range(n):
        b[c] /= A[c, c]
    return True


@njit(cache=True)
def _impulses(G, free, before, mu, e, rough, active, modes, P):  # type: ignore[no-untyped-def]
    """Whether the modes (0 free, 1 stick, 2 and 3 slide, per contact) have impulses (N0, T0, N1, T1) that fit them.

    With both contacts sticking the tangential impulse of the second is not determined: an interval of it is left.
    """
    tol = 1e-9 * (1e-6 + abs(free[0]) + abs(free[1]) + abs(free[2]) + abs(free[3]))
    rows = np.zeros(4, np.int64)
    n = 0
    both = modes[0] == 1 and modes[1] == 1 and rough[0] and rough[1]
    for i in range(2):
        if modes[i]:
            rows[n] = 2 * i
            n += 1
            if modes[i] == 1 and rough[i] and not (both and i == 1):
                rows[n] = 2 * i + 1
                n += 1
    A, b, c = np.zeros((4, 4)), np.zeros(4), np.zeros(4)
    for r in range(n):
        row = rows[r]
        b[r] = -free[row] - (e * before[row] if row % 2 == 0 else 0.0)
        c[r] = -G[row, 3]
        for k in range(n):
            column = rows[k]
            i = column // 2
            A[r, k] = G[row, column]
            if column % 2 == 0 and modes[i] >= 2:
                A[r, k] += G[row, column + 1] * (-mu if modes[i] == 2 else mu)
    A2 = A.copy()
    if not _solved(A, b, n):
        return False
    P[:] = 0.0
    for r in range(n):
        P[rows[r]] = b[r]
    if both:
        _solved(A2, c, n)
        low, high = -1e30, 1e30
        # P = b + s c on (N0, T0, N1) and s on T1: all of mu N - T, mu N + T are to be at least 0
        for i in range(2):
            for sign in (-1.0, 1.0):
                at = mu * b[0 if i == 0 else 2] + (sign * b[1] if i == 0 else 0.0)
                slope = mu * c[0 if i == 0 else 2] + (sign * c[1] if i == 0 else sign)
                if abs(slope) < 1e-13:
                    if at < -tol:
                        return False
                elif slope > 0:
                    low = max(low, -(at + tol) / slope)
                else:
                    high = min(high, -(at + tol) / slope)
        if low > high:
            return False
        s = min(max(0.0, low), high)
        for r in range(n):
            P[rows[r]] += s * c[r]
        P[3] = s
    for i in range(2):
        if modes[i] >= 2:
            P[2 * i + 1] = (-mu if modes[i] == 2 else mu) * P[2 * i]
    for i in range(2):
        if not active[i]:
            continue
        u_n, u_t = free[2 * i] + e * before[2 * i], free[2 * i + 1]
        for k in range(4):
            u_n += G[2 * i, k] * P[k]
            u_t += G[2 * i + 1, k] * P[k]
        if modes[i] == 0:
            if u_n < -tol:
                return False
        elif P[2 * i] < -tol:
            return False
        elif modes[i] == 1 and rough[i]:
            if abs(P[2 * i + 1]) > mu * P[2 * i] + tol or abs(u_t) > 1e3 * tol:
                return False
        elif (modes[i] == 2 and u_t < -tol) or (modes[i] == 3 and u_t > tol):
            return False
    return True


@njit(cache=True)
def _stepped(body, load, q0, v0, p, end, steps):  # type: ignore[no-untyped-def]
    """The state at the end, and whether every step had impulses."""
    n = 1 if body == 0 else (3 if body == 3 else 2)
    q, v, h = q0.copy(), v0.copy(), end / steps
    f, inverse = np.zeros(3), np.zeros((3, 3))
    inverse[0, 0] = 1.0 / p[0]
    if n > 1:
        inverse[1, 1] = 1.0 / p[0]
    if n > 2:
        inverse[2, 2] = 1.0 / p[1]
    if body == 2:  # on the rail the mass moves along (1, s) only
        s = p[10]
        for i in range(2):
            for j in range(2):
                inverse[i, j] = (s if i else 1.0) * (s if j else 1.0) / (p[0] * (1.0 + s * s))
    W, active, modes, P = np.zeros((4, 3)), np.zeros(2, np.bool_), np.zeros(2, np.int64), np.zeros(4)
    rough = np.zeros(2, np.bool_)
    rough[0], rough[1] = body == 1 or body == 3, body == 3
    for step in range(steps):
        t = (step + 0.5) * h
        for i in range(n):
            q[i] += h / 2 * v[i]
        _force(body, load, t, q, v, p, f)
        any_active = False
        for i in range(2):
            active[i] = _contact(body, i, q, p, W[2 * i], W[2 * i + 1]) <= 0.0
            any_active |= active[i]
        u = v + h * (inverse @ f)
        if any_active:
            G, free, before = W @ inverse @ W.T, W @ u, W @ v
            last, found = 4 * modes[0] + modes[1], False
            for trial in range(17):
                code = last if trial == 0 else trial - 1
                modes[0], modes[1] = code // 4, code % 4
                fits = True
                for i in range(2):
                    if (modes[i] and not active[i]) or (modes[i] >= 2 and not rough[i]):
                        fits = False
                if fits and _impulses(G, free, before, p[8], p[9], rough, active, modes, P):
                    found = True
                    break
            if not found:
                return q, v, False
            u = u + inverse @ (W.T @ P)
        v = u
        for i in range(n):
            q[i] += h / 2 * v[i]
    return q, v, True


def drawn(rng: np.random.Generator, body: str) -> tuple[dict[str, float], np.ndarray, np.ndarray]:
    """Parameters, each switched off or 1 at times, and a start in the air or at a contact."""

    def some(low: float, high: float, *special: float) -> float:
        return float(rng.choice(special)) if special and rng.random() < 0.3 else float(rng.uniform(low, high))

    m, half = some(0.5, 2.0, 1.0), some(0.3, 1.0, 1.0)
    values = {
        "m": m, "l": half, "I": m * half**2 / 3 * some(0.8, 1.5, 1.0), "g": some(2.0, 10.0, 1.0),
        "k": some(0.0, 20.0, 0.0, 1.0), "d": some(0.0, 2.0, 0.0, 1.0), "F": some(-8.0, 8.0, 0.0, 1.0, -1.0),
        "w": some(1.0, 12.0, 0.0, 1.0), "mu": some(0.05, 0.9, 0.0), "e": some(0.1, 0.8, 0.0),
        "s": some(-0.8, 0.8, 0.0),
    }  # fmt: skip
    q, v = rng.uniform(-0.4, 1.2, 3), rng.uniform(-1.5, 1.5, 3)
    if body == "spring":
        q[0] = abs(q[0]) + 0.01
    elif body == "slope":
        q[1] = values["s"] * q[0] + rng.uniform(0.01, 0.5)
    elif body == "rail":
        q[1], v[1] = values["s"] * q[0], values["s"] * v[0]
    else:
        q[2] = rng.uniform(-1.2, 1.2)
        q[1] = half * abs(math.sin(q[2])) + rng.uniform(0.01, 0.4)
    n = len(BODIES[body][0])
    q[n:], v[n:] = 0.0, 0.0
    return values, q, v


def _judged(body: str, load: int, q: np.ndarray, v: np.ndarray, values: dict[str, float], motion) -> str:  # type: ignore[no-untyped-def]
    """ "right", "undecided", or what is wrong."""
    if motion.termination is not Termination.END_TIME:
        return motion.cause
    if said := open_balance(motion, motion.energy()):
        return said[0]
    p, code, n = np.array([values[name] for name in NAMES]), list(BODIES).index(body), len(motion.q)
    found = np.concatenate([motion.q, motion.v])
    steps = STEPS
    for _ in range(FINER):
        ends = []
        for count in (steps, 2 * steps):
            at, speed, is_solved = _stepped(code, load, q, v, p, END, count)
            if not is_solved:
                return "undecided"
            ends.append(np.concatenate([at[:n], speed[:n]]))
        spread = float(np.abs(ends[1] - ends[0]).max())
        distance = float(np.abs(ends[1] - found).max())
        size = 1.0 + float(np.abs(ends[1]).max())
        if distance <= ROOM * spread + SCATTER * END / steps * size and spread <= SPREAD * size:
            return "right"
        steps *= 4
    if spread > SPREAD * size or distance <= ROOM * spread:
        return "undecided"
    return f"off by {distance:.3g}, steps differ by {spread:.3g}"


def run(n: int, *, seed: int) -> Tally:
    """Follow n motions, a quarter of them of every body; every twentieth has numbers for parameters."""
    tally, known = Tally(), {}
    for case in range(n):
        rng = np.random.default_rng([seed, case])
        body, load = list(BODIES)[case % 4], int(rng.integers(len(LOADS)))
        values, q, v = drawn(rng, body)
        literal = case % 20 == 10 + case // 20 % 4
        if literal:
            dynamics = derive(declared(body, LOADS[load], values, literal=True))
        else:
            if (body, load) not in known:
                known[body, load] = derive(declared(body, LOADS[load], values, literal=False))
            dynamics = known[body, load]
        size = len(BODIES[body][0])
        motion = simulate(
            dynamics, State(q[:size], v[:size]), t_end=END, parameters=None if literal else values,
            law=NewtonImpact(), settings=Settings(max_step=0.1),
        )  # fmt: skip
        judged = _judged(body, load, q, v, values, motion)
        tally.tried += 1
        if judged == "undecided":
            tally.undecided += 1
        elif judged != "right":
            tally.wrong.append(f"seed {seed}, case {case} ({body}, load {LOADS[load]}): {judged}")
    return tally
