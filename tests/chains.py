"""Planar chains of links that hang from a pivot, their tip on a rough floor: declaration and closed form.

The closed form is in absolute angles (from the downward vertical): nothing of it is derived by the package.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from hybrid import Contact, EnergyDynamics, Mechanism


@attrs.frozen
class Chain:
    """Links of given masses, lengths and central inertias, each with its centre in the middle.

    Coordinates are the angles of each link to the one before it; the floor lies ``depth`` below the pivot.
    """

    mass: tuple[float, ...]
    length: tuple[float, ...]
    inertia: tuple[float, ...]
    depth: float
    g: float = 9.81

    @classmethod
    def uniform(cls, n: int, *, length: float = 0.5, height: float = 0.9) -> Chain:
        """Equal rods of mass 1."""
        return cls((1.0,) * n, (length,) * n, (length**2 / 12,) * n, height * n * length)

    @property
    def n(self) -> int:
        return len(self.mass)

    def mechanism(self) -> Mechanism:
        """The declaration."""
        definitions: dict[str, str] = {}
        kinetic, potential, x, y, u, v = [], [], "0", "0", "0", "0"
        for i, (m, a, J) in enumerate(zip(self.mass, self.length, self.inertia, strict=True)):
            definitions |= {f"a{i}": "+".join(f"q{j}" for j in range(i + 1))}
            definitions |= {f"w{i}": "+".join(f"q{j}_dot" for j in range(i + 1))}
            definitions |= {f"cu{i}": f"{u} + {a / 2!r}*cos(a{i})*w{i}", f"cv{i}": f"{v} + {a / 2!r}*sin(a{i})*w{i}"}
            definitions |= {f"cy{i}": f"{y} - {a / 2!r}*cos(a{i})"}
            definitions |= {f"x{i}": f"{x} + {a!r}*sin(a{i})", f"y{i}": f"{y} - {a!r}*cos(a{i})"}
            definitions |= {f"u{i}": f"{u} + {a!r}*cos(a{i})*w{i}", f"v{i}": f"{v} + {a!r}*sin(a{i})*w{i}"}
            x, y, u, v = f"x{i}", f"y{i}", f"u{i}", f"v{i}"
            kinetic.append(f"{m!r}*(cu{i}**2 + cv{i}**2)/2 + {J!r}*w{i}**2/2")
            potential.append(f"{m!r}*g*cy{i}")
        return Mechanism(
            name="chain",
            coordinates=[f"q{i}" for i in range(self.n)],
            parameters={"mu": 0.5, "D": self.depth, "g": self.g},
            definitions=definitions,
            dynamics=EnergyDynamics(kinetic=" + ".join(kinetic), potential=" + ".join(potential)),
            contact=[Contact(name="tip", gap=f"{y} + D", tangent=x, friction="mu")],
        )

    def last_angles(self, first: Sequence[float], *, depth: float | None = None) -> list[float]:
        """Both values of the last coordinate with the tip on the floor, between -pi and pi; none out of reach."""
        absolute = np.cumsum(first)
        below = (self.depth if depth is None else depth) - float(np.sum(np.array(self.length[:-1]) * np.cos(absolute)))
        cosine = below / self.length[-1]
        if abs(cosine) > 1:
            return []
        turned = float(absolute[-1])
        both = [np.arccos(cosine) - turned, -np.arccos(cosine) - turned]
        return [float((angle + np.pi) % (2 * np.pi) - np.pi) for angle in both]

    def delassus(self, q: Sequence[float], v: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Delassus matrix (2, 2), normal first, and the free contact accelerations (2,)."""
        A, w = np.cumsum(q), np.cumsum(v)
        a, m = np.array(self.length), np.array(self.mass)
        n = self.n
        M, h = np.zeros((n, n)), np.zeros(n)
        for i in range(n):
            beyond = float(np.sum(m[i + 1 :]))
            M[i, i] = self.inertia[i] + m[i] * a[i] ** 2 / 4 + beyond * a[i] ** 2
            h[i] -= self.g * np.sin(A[i]) * a[i] * (m[i] / 2 + beyond)
            for j in range(n):
                if i != j:
                    k = max(i, j)
                    coupled = a[i] * a[j] * (m[k] / 2 + float(np.sum(m[k + 1 :])))
                    M[i, j] = coupled * np.cos(A[i] - A[j])
                    h[i] -= coupled * np.sin(A[i] - A[j]) * w[j] ** 2
        W = np.stack([a * np.sin(A), a * np.cos(A)], axis=1)
        drift = np.array([np.sum(a * np.cos(A) * w**2), -np.sum(a * np.sin(A) * w**2)])
        return W.T @ np.linalg.solve(M, W), W.T @ np.linalg.solve(M, h) + drift

    def velocity(self, q: Sequence[float], first: Sequence[float], slip: float) -> np.ndarray:
        """Velocities (n,) of the coordinates with the first n - 2 given, the tip staying on the floor and slipping."""
        A, a = np.cumsum(q), np.array(self.length)
        rows = np.stack([a * np.sin(A), a * np.cos(A)])
        total = np.tril(np.ones((self.n, self.n)))
        known = np.array([*first, 0.0, 0.0])
        right = np.array([0.0, slip]) - rows @ total @ known
        found = np.linalg.solve((rows @ total)[:, -2:], right)
        return np.array([*first, *found])


def slide_modes(G: np.ndarray, c: np.ndarray, mu: float, slip: float) -> tuple[set[str], float]:
    """Consistent modes of one slipping contact, and the least of its decisive terms relative to its parts."""
    s = np.sign(slip)
    A = G[0, 0] - s * mu * G[0, 1]
    label = "slide+" if s > 0 else "slide-"
    modes = ({"free"} if c[0] > 0 else set()) | ({label} if -c[0] / A > 0 else set())
    margin = min(abs(A) / (G[0, 0] + mu * abs(G[0, 1])), abs(c[0]) / (1.0 + abs(c[0])))
    return modes, float(margin)
