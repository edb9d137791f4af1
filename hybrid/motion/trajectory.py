"""The motion of a mechanism, as it is handed to users."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.displays import AbstractDisplayed, one_line
from hybrid.motion.balance import energy_balance
from hybrid.motion.dataset import motion_columns, motion_dataset
from hybrid.motion.outcome import EnergyBalance
from hybrid.motion.recorded import AbstractMotion
from hybrid.tables import dataframe
from hybrid.tolerances import LEAST

Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Trajectory(AbstractMotion, AbstractDisplayed):
    """A motion that was followed as far as its law allows; made by :func:`hybrid.simulate`.

    Its attributes are those of :class:`hybrid.motion.recorded.AbstractMotion`.
    """

    def __repr__(self) -> str:
        return one_line(
            f"Trajectory {self.dynamics.name}",
            f"t = {self.t_start:.6g} to {self.t:.6g}",
            f"{len(self.arcs)} arcs",
            f"{len(self.events)} events",
            self.termination.name,
        )

    def graph(self, points: int) -> Array:
        """Points ``(t, q, v)`` of the motion's graph with its jumps filled in, for :func:`hybrid.motion.distance`.

        Of a motion made by time-stepping, its own points.
        """
        total = max(self.t - self.t_start, LEAST)
        rows = [np.concatenate([[self.t_start], self.q_start, self.v_start])]
        for arc in self.arcs:
            count = max(2, int(np.ceil(points * (arc.end - arc.start) / total)) + 1)
            t = np.linspace(arc.start, arc.end, count) if arc.means is None else arc.knots
            rows += [*np.column_stack([t, *arc.sample(t)])]
        rows.append(np.concatenate([[self.t], self.q, self.v]))
        return np.array(rows)

    def energy(self) -> EnergyBalance:
        """The energy balance over the whole motion, by quadrature over every step."""
        return energy_balance(self)

    def to_xarray(self, *, points: int = 1000) -> Any:
        """The motion as an ``xarray.Dataset``; needs xarray (the extra ``store``).

        Parameters
        ----------
        points : int
            About so many instants, evenly in time, and both ends of every arc.

        Returns
        -------
        xarray.Dataset
            ``position`` and ``velocity`` over (time, coordinate), ``lambda_N`` over (time, contact), ``lambda_T`` over
            (time, tangent), ``mode`` over (time, element), ``arc`` over time; units as coordinates, the events and
            parameters as JSON in the attributes. Where the velocity jumps, the instant has two rows, of two arcs.

        Raises
        ------
        ComputationError
            xarray is not installed.

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import State, derive, simulate
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> table = simulate(ball, State([1.0], [0.0]), t_end=0.4).to_xarray(points=5)
        >>> table.position.sel(coordinate="y").round(2).values.tolist()
        [1.0, 0.95, 0.8, 0.56, 0.22]
        >>> table.time.units, table.position_units.values.tolist(), table.mode.values[0].tolist()
        ('s', ['m'], ['free'])
        """
        return motion_dataset(self, points=points)

    def to_dataframe(self, *, points: int = 1000) -> Any:
        """The motion as a ``pandas.DataFrame``, a row for every sample.

        Parameters
        ----------
        points : int
            As of :meth:`to_xarray`.

        Returns
        -------
        pandas.DataFrame
            Columns ``t``, the coordinates, the velocities, ``lambda_N.NAME``, ``lambda_T.NAME``, ``mode.NAME`` and
            ``arc``, the number of the arc.

        Raises
        ------
        ComputationError
            pandas is not installed (the extra ``store``).

        Examples
        --------
        >>> import mechanisms
        >>> from hybrid import derive, simulate
        >>> ball = derive(mechanisms.load("bouncing_ball"))
        >>> table = simulate(ball, {"y": 1, "y_dot": 0}, t_end=0.4).to_dataframe(points=5)
        >>> list(table), table.y.round(2).tolist()
        (['t', 'y', 'y_dot', 'lambda_N.floor', 'mode.floor', 'arc'], [1.0, 0.95, 0.8, 0.56, 0.22])
        """
        return dataframe(motion_columns(self, points=points))
