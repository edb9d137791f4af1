"""From a mechanism to its compiled equations of motion and contact kinematics.

Where what is asked of a mechanism meets its derived equations and the values of its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np

from hybrid.arguments import checks_arguments, explains_arguments
from hybrid.declaration.mechanism import unsigned_friction
from hybrid.displays import AbstractDisplayed, one_line
from hybrid.dynamics.equations import Equations, Terms, equations_of
from hybrid.errors import ArgumentError
from hybrid.expressions import Builder, Kernel, compile_kernel, turn_nodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid.declaration.mechanism import Mechanism
    from hybrid.dynamics.model import SymbolicModel

__all__ = ["Dynamics", "Values", "bound", "derive"]


Values = Mapping[str, Any]
Made = TypeVar("Made")


@attrs.frozen(eq=False)
class Dynamics(AbstractDisplayed):
    """A mechanism with its derived and compiled equations; made by :func:`derive`.

    Attributes
    ----------
    mechanism : Mechanism
    equations : Equations
        The same equations as nodes of one graph.
    contacts, elements, rigid : tuple of str
        Names of the unilateral contacts, of the friction elements, and of the rigid bilateral constraints.
    columns : mapping of str to slice
        Tangential columns (of ``slip``, ``W_T``, ``zeta_T``) of each frictional contact, friction element and
        frictional constraint.
    unsigned_friction : mapping of str to tuple of (str, int)
        By force element whose friction may fall below zero: terms, with the sign with which ``mean_T`` is added.
    given : mapping of str to float, array or str
        Values of parameters that replace the declared ones.
    values : mapping of str to float or array
        Of all parameters.
    """

    mechanism: Mechanism
    equations: Equations = attrs.field(repr=False)
    contacts: tuple[str, ...]
    elements: tuple[str, ...]
    rigid: tuple[str, ...]
    columns: Mapping[str, slice]
    unsigned_friction: Mapping[str, tuple[tuple[str, int], ...]] = attrs.field(repr=False)
    _kernel: Kernel = attrs.field(repr=False)
    _kinematics: Kernel = attrs.field(repr=False)
    _energy: Kernel = attrs.field(repr=False)
    _turns: Kernel = attrs.field(repr=False)
    values: Mapping[str, Any] = attrs.field(repr=False)
    given: Mapping[str, Any] = attrs.field(factory=dict)
    _shared: dict[Any, Any] = attrs.field(factory=dict, repr=False)
    _own: dict[Any, Any] = attrs.field(init=False, factory=dict, repr=False)

    def __repr__(self) -> str:
        parts = (*self.contacts, *self.elements, *self.rigid)
        given = [f"{name} {'over an array' if np.ndim(value) else f'= {value}'}" for name, value in self.given.items()]
        return one_line(
            f"Dynamics {self.name}",
            f"coordinates {' '.join(self.mechanism.coordinates)}",
            f"with {' '.join(parts)}" if parts else "",
            *given,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent to another process, it is derived anew there: compiled functions are not sent."""
        return _bound, (self.mechanism, dict(self.given))

    @explains_arguments
    def at(self, parameters: Values | None, *, swept: Collection[str] = ()) -> Dynamics:
        """The same equations at values of the parameters, which everything that is asked of them then takes.

        Parameters
        ----------
        parameters : mapping of str to array_like or str, or None
            Values that replace those of the declaration, or those that were bound before.
        swept : collection of str
            Parameters whose values are still to come: ranges of what follows them are not checked.

        Returns
        -------
        Dynamics
            What was compiled is shared.

        Raises
        ------
        DeclarationError
            As :meth:`Mechanism.parameter_values`.

        Examples
        --------
        >>> import mechanisms
        >>> rod = derive(mechanisms.load("rod_on_incline")).at({"mu": 0.7})
        >>> float(rod.terms([0, 1, 1.5], [0, 0, 0]).friction[0])
        0.7
        """
        if parameters is None or parameters == {}:
            return self
        given = {**self.given, **parameters}
        return attrs.evolve(self, given=given, values=self.mechanism.parameter_values(given, swept))

    def once(self, make: Callable[..., Made], *key: Hashable, depends_on_values: bool = False) -> Made:
        """``make(self, *key)``, computed at the first call and kept.

        Parameters
        ----------
        make : callable
            Of the dynamics and ``key``; defined in a module, not on the spot.
        key : hashable
        depends_on_values : bool, default False
            True if the answer depends on the values of the parameters: it is kept for these alone.

        Returns
        -------
        object
        """
        kept, place = self._own if depends_on_values else self._shared, (make, *key)
        try:
            found: Made = kept[place]
        except KeyError:
            found = kept.setdefault(place, make(self, *key))  # two threads at once take the same answer
        return found

    @property
    def n(self) -> int:
        """Number of generalised coordinates."""
        return len(self.mechanism.coordinates)

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.mechanism.name

    def dimension(self, name: str) -> int:
        """Tangential dimension of a force element.

        Parameters
        ----------
        name : str
            Of a contact, friction element or constraint.

        Returns
        -------
        int
            0 frictionless, 1 planar, 2 spatial.
        """
        return len(self.columns_of(name))

    def columns_of(self, name: str) -> tuple[int, ...]:
        """Tangential columns of a force element.

        Parameters
        ----------
        name : str
            Of a contact, friction element or constraint.

        Returns
        -------
        tuple of int
            Places in ``slip``, ``zeta_T`` and the columns of ``W_T``; none if it is frictionless.
        """
        columns = self.columns.get(name)
        return () if columns is None else tuple(range(columns.start, columns.stop))

    def terms(self, q: Any, v: Any, *, t: Any = 0.0, parameters: Values | None = None) -> Terms:
        """Evaluate all terms at one state or at arrays of states.

        Parameters
        ----------
        q, v : array_like, (..., n)
            Coordinates and velocities; their leading axes broadcast against each other, against ``t`` and against
            array-valued parameters. Complex input gives the complex continuation.
        t : array_like, (...), default 0
            Time.
        parameters : mapping of str to array_like, optional
            Values that replace those of the declaration.

        Returns
        -------
        Terms
        """
        return Terms(**self.at(parameters)._evaluated(self._kernel, q, v, t))

    def kinematics(self, q: Any, v: Any, *, t: Any = 0.0, parameters: Values | None = None) -> dict[str, NDArray[Any]]:
        """Evaluate only what pins need.

        Parameters
        ----------
        q, v : array_like, (..., n)
        t : array_like, (...), default 0
        parameters : mapping of str to array_like, optional
            All as of :meth:`terms`.

        Returns
        -------
        dict of str to array
            ``gap``, ``gap_dot``, ``W_N``, ``slip``, ``W_T``, ``constraint``, ``constraint_dot`` and ``J``, with the
            shapes and units that they have in :class:`Terms`.

        Examples
        --------
        >>> import mechanisms
        >>> rod = derive(mechanisms.load("rod_on_incline"))
        >>> rod.kinematics([0, 1, 0], [0, -2, 0])["gap_dot"].tolist()
        [-2.0]
        """
        return self.at(parameters)._evaluated(self._kinematics, q, v, t)

    def energy(
        self, q: Any, v: Any, *, t: Any = 0.0, parameters: Values | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Energy, and the power of the applied forces that no potential describes.

        Parameters
        ----------
        q, v : array_like, (..., n)
        t : array_like, (...), default 0
        parameters : mapping of str to array_like, optional
            All as of :meth:`terms`.

        Returns
        -------
        energy, power : array, (...)
            Jacobi's energy ``v . T_v - T + V`` (Goldstein, Poole and Safko 2002, sec. 2.7; kinetic plus potential for a
            kinetic energy quadratic in the velocities), or the kinetic energy alone where the mechanism is declared by
            its equations. Contact and constraint forces are not counted in the power. In J and W if the declaration is
            in SI units.

        Examples
        --------
        >>> import mechanisms
        >>> ball = derive(mechanisms.load("bouncing_ball")).at({"m": 1, "g": 9.81})
        >>> [float(value) for value in ball.energy([2.0], [3.0])]
        [24.12, 0.0]
        """
        values = self.at(parameters)._evaluated(self._energy, q, v, t)["energy"]
        return values[..., 0], values[..., 1]

    @property
    def model(self) -> SymbolicModel:
        """The same equations in SymPy, under the names of the declaration: for people to read."""
        return self.once(_symbolic)

    @cached_property
    def radians(self) -> NDArray[np.float64] | None:
        """What turns angles by one radian, (n,), if it is the same everywhere: arguments are sums of coordinates.

        None where it depends on the position or on time, or where parameters are arrays.
        """
        depends_on = frozenset[int]().union(*self._turns.used.values())
        if not depends_on:  # alike for all values of the parameters
            return self.once(_radians_anywhere)
        if min(depends_on) < len(self.equations.state) or any(np.ndim(value) for value in self.values.values()):
            return None
        return _radians_anywhere(self)

    def radians_at(self, q: Any, t: Any) -> NDArray[np.float64]:
        """What turns an angle by one radian, for every coordinate.

        Parameters
        ----------
        q : array_like, (..., n)
        t : array_like, (...)
            Time.

        Returns
        -------
        array, (..., n)
            In the units of the coordinates: the least change of each by which some argument of ``sin`` or the like
            changes by 1. Zero for a coordinate that is in no angle.

        Examples
        --------
        >>> import mechanisms
        >>> derive(mechanisms.load("rod_on_incline")).radians_at([0.0, 0.0, 0.0], 0.0).tolist()
        [0.0, 0.0, 1.0]
        """
        turns = self._turns(self.kernel_arguments(q, np.zeros(self.n), t))
        with np.errstate(all="ignore"):  # an argument may have no finite slope here, as that of sin(sqrt(x)) at 0
            fastest = {int(name): np.max(np.abs(rates), axis=-1) for name, rates in turns.items()}
            sizes = [
                np.where(fastest[index] > 0, 1.0 / fastest[index], 0.0) if index in fastest else np.zeros(())
                for index in range(self.n)
            ]
        return np.asarray(np.nan_to_num(np.stack(np.broadcast_arrays(*sizes), axis=-1)))

    @property
    def arguments(self) -> list[float]:
        """Values of the parameters, in the order of the kernel's last arguments."""
        return [float(self.values[name]) for name in self.equations.parameters]

    def kernel_arguments(self, q: Any, v: Any, t: Any) -> list[Any]:
        """Coordinates, velocities, time and parameters as compiled functions take them.

        Parameters
        ----------
        q, v : array_like, (..., n)
        t : array_like, (...)
            Time.

        Returns
        -------
        list of array, (...) each
            As many as ``equations.arguments``, and in their order.

        Raises
        ------
        ArgumentError
            ``q`` or ``v`` are no numbers, or not n along the last axis.
        """
        q, v = self._per_coordinate("q", q), self._per_coordinate("v", v)
        return [*(x[..., index] for x in (q, v) for index in range(self.n)), t, *self._parameters]

    def _per_coordinate(self, name: str, values: Any) -> NDArray[Any]:
        """Coordinates or velocities, of which there must be n along the last axis."""
        array = np.asarray(values)
        if array.shape[-1:] != (self.n,) or array.dtype.kind in "USOM":
            raise ArgumentError(f"{name} must be numbers of shape (..., {self.n}), not {array.tolist()!r:.60}")
        return array

    def _evaluated(self, kernel: Kernel, q: Any, v: Any, t: Any) -> dict[str, NDArray[Any]]:
        """What a compiled function gives, in plain floats at one state."""
        q, v = np.asarray(q), np.asarray(v)
        plain, is_one = self._plain_parameters, isinstance(t, float) and q.shape == v.shape == (self.n,)
        if plain is not None and is_one and q.dtype == v.dtype == float:
            return kernel.at_one_state([*q.tolist(), *v.tolist(), t, *plain])
        return kernel(self.kernel_arguments(q, v, t))

    @cached_property
    def _plain_parameters(self) -> tuple[float, ...] | None:
        """Values of the parameters as floats; None where one is an array, or complex."""
        values = [self.values[name] for name in self.equations.parameters]
        return tuple(map(float, values)) if {float, np.float64}.issuperset(map(type, values)) else None

    @cached_property
    def _parameters(self) -> tuple[NDArray[Any], ...]:
        """Values of the parameters as the last arguments of compiled functions."""
        return tuple(np.asarray(self.values[name]) for name in self.equations.parameters)


_KINEMATIC = ("gap", "gap_dot", "W_N", "slip", "W_T", "constraint", "constraint_dot", "J")


@checks_arguments
def derive(mechanism: Mechanism) -> Dynamics:
    """The equations of a mechanism, derived and compiled once.

    Parameters
    ----------
    mechanism : Mechanism
        A declaration, from a file or made in Python.

    Returns
    -------
    Dynamics
        Evaluates ``M v' = h + W_N lambda_N + W_T lambda_T + J^T lambda_B`` and the contact kinematics (Pfeiffer and
        Glocker 1996, ch. 5) at one state or vectorised over arrays of states.

    Examples
    --------
    >>> from hybrid import Contact, EnergyDynamics, Mechanism, derive
    >>> ball = Mechanism(
    ...     name="ball",
    ...     coordinates=["z"],
    ...     parameters={"m": 2, "g": 9.81},
    ...     dynamics=EnergyDynamics(kinetic="m*z_dot**2/2", potential="m*g*z"),
    ...     contact=[Contact(name="floor", gap="z")],
    ... )
    >>> terms = derive(ball).terms([0.0], [0.0])
    >>> float(terms.M[0, 0]), float(terms.h[0])
    (2.0, -19.62)
    """
    equations = equations_of(mechanism)
    graph, arguments, quantities = equations.graph, equations.arguments, equations.terms()
    return Dynamics(
        mechanism=mechanism,
        equations=equations,
        contacts=tuple(contact.name for contact in mechanism.contact),
        elements=tuple(element.name for element in mechanism.friction),
        rigid=tuple(item.name for item in mechanism.constraint if item.stiffness is None),
        columns=equations.columns,
        unsigned_friction=unsigned_friction(mechanism),
        kernel=compile_kernel(graph, quantities, arguments),
        kinematics=compile_kernel(graph, {name: quantities[name] for name in _KINEMATIC}, arguments),
        energy=compile_kernel(graph, {"energy": equations.energy}, arguments),
        turns=_compile_turns(equations),
        values=mechanism.parameter_values(),
    )


def _bound(mechanism: Mechanism, given: Values) -> Dynamics:
    return derive(mechanism).at(given)


def _symbolic(dynamics: Dynamics) -> SymbolicModel:
    from hybrid.dynamics.model import symbolic_model

    return symbolic_model(dynamics.equations)


def _radians_anywhere(dynamics: Dynamics) -> NDArray[np.float64]:
    return dynamics.radians_at(np.zeros(dynamics.n), 0.0)


def _compile_turns(equations: Equations) -> Kernel:
    """Compile :func:`hybrid.expressions.turn_nodes`."""
    build = Builder(equations.graph)
    found = turn_nodes(build, equations.roots, equations.coordinates)
    return compile_kernel(build.graph(), found, equations.arguments)


def bound(dynamics: Dynamics, parameters: Values | None, *, swept: Collection[str] = ()) -> Dynamics:
    """The equations at values of the parameters, as :meth:`Dynamics.at`; what is not derived is refused.

    Parameters
    ----------
    dynamics : Dynamics
    parameters, swept
        As for :meth:`Dynamics.at`.

    Returns
    -------
    Dynamics

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> bound(derive(mechanisms.load("rod_on_incline")), {"mu": 0.7}).values["mu"]
    0.7
    """
    return dynamics.at(parameters, swept=swept)
