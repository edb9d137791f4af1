"""First partial derivatives of every term of a mechanism, and of expressions in its names, compiled from its graph.

Where expressions jump or have a kink, as at the zeros of the arguments of ``sign`` and ``abs``, and at poles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.equations import Reader
from hybrid.expressions import Builder, Kernel, Nodes, compile_kernel, dot, jacobian, switches, sympy_expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hybrid.dynamics.derive import Dynamics
    from hybrid.dynamics.equations import Equations, Terms

__all__ = [
    "CompiledExpression",
    "Forces",
    "Partials",
    "Switches",
    "compile_expression",
    "compile_switches",
    "partial_derivatives",
]


Array = NDArray[np.float64]


@attrs.frozen(eq=False)
class Switches:
    """Quantities at whose zeros expressions jump or have a kink; made by :func:`compile_switches`.

    Attributes
    ----------
    texts : tuple of str, length z
        The quantities: first those of jumps, then those of kinks.
    n_jumps : int
        Number of the former.
    poles : tuple of int
        Which of them are poles.
    """

    texts: tuple[str, ...]
    n_jumps: int
    poles: tuple[int, ...]
    _values: Kernel = attrs.field(repr=False)
    _details: Kernel = attrs.field(repr=False)

    def values(self, t: Array, y: Array, dynamics: Dynamics) -> Array:
        """The quantities at N instants, (N, z)."""
        found = self._values(_arguments(dynamics, t, y))["values"]
        return np.broadcast_to(found, (len(t), len(self.texts)))

    def slopes(self, t: Array, y: Array, dynamics: Dynamics) -> Array:
        """Their derivatives with respect to ``(q, v, t, parameters)``, (N, z, 2n + 1 + c)."""
        found = self._details(_arguments(dynamics, t, y))["slopes"]
        shape = (len(t), len(self.texts), found.shape[-1] // max(len(self.texts), 1))
        return np.broadcast_to(found, (len(t), found.shape[-1])).reshape(shape)

    def weights(self, t: Array, y: Array, dynamics: Dynamics) -> Array:
        """What each would change in the expressions, (N, z): the heights of a jump, the bends of a kink, added up.

        The weight of ``v`` in ``v*abs(v)`` is zero where ``v`` is: there is no kink.
        """
        with np.errstate(all="ignore"):  # infinite where the expression has no derivative beside the kink either
            found = self._details(_arguments(dynamics, t, y))["weights"]
        return np.broadcast_to(found, (len(t), len(self.texts)))

    def quotients(self, t: Array, y: Array, dynamics: Dynamics) -> Array:
        """What has the poles, (N, number of poles): it jumps unless it has one value on either side."""
        with np.errstate(all="ignore"):
            found = self._details(_arguments(dynamics, t, y))["quotients"]
        return np.broadcast_to(found, (len(t), len(self.poles)))


def compile_switches(dynamics: Dynamics, build: Builder, entries: Any, parameters: Sequence[str] = ()) -> Switches:
    """What makes expressions jump or bend, compiled.

    Parameters
    ----------
    dynamics : Dynamics
    build : Builder
        Of its graph and more.
    entries : array of int, (...)
        Nodes of the builder.
    parameters : sequence of str
        Parameters to differentiate with respect to.

    Returns
    -------
    Switches

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> from hybrid.expressions import Builder
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> build = Builder(ball.equations.graph)
    >>> (y,) = ball.equations.coordinates
    >>> beyond = build.call("abs", build.subtract(y, build.number(2)))
    >>> found = compile_switches(ball, build, [beyond, build.multiply(build.number(3), build.call("sign", y))])
    >>> found.texts, found.n_jumps
    (('y', 'y - 2'), 1)
    >>> found.weights(np.zeros(1), np.array([[1.0, 0.0]]), ball).tolist()
    [[6.0, 1.0]]
    """
    equations = dynamics.equations
    present = switches(build, entries, equations.state)
    texts = sympy_expressions(build.graph(), [switch.quantity for switch in present]) if present else []
    found = [(str(text), switch) for text, switch in zip(texts, present, strict=True)]
    found.sort(key=lambda item: (not item[1].is_jump, item[0]))
    quantities = np.array([switch.quantity for _, switch in found], dtype=np.intp)
    weights = np.array([switch.weight for _, switch in found], dtype=np.intp)
    poles = [place for place, (_, switch) in enumerate(found) if switch.quotient is not None]
    quotients = np.array([switch.quotient for _, switch in found if switch.quotient is not None], dtype=np.intp)
    chosen = [*equations.state, *(equations.parameters[name] for name in parameters)]
    slopes = jacobian(build, quantities, chosen).ravel()
    details = {"slopes": slopes, "weights": weights, "quotients": quotients}
    graph = build.graph()
    return Switches(
        texts=tuple(text for text, _ in found),
        n_jumps=sum(switch.is_jump for _, switch in found),
        poles=tuple(poles),
        values=compile_kernel(graph, {"values": quantities}, equations.arguments),
        details=compile_kernel(graph, details, equations.arguments),
    )


_LAWS = ("friction", "static_friction", "restitution", "damping", "stiffness_ratio")
_LIMITS = ("limit", "static_limit", "constraint_friction")
_RATES = ("gap", "gap_dot", "slip", "constraint", "constraint_dot")


@attrs.frozen(eq=False)
class Forces:
    """Accelerations and contact forces at N instants, or changes of velocity and impulses.

    Attributes
    ----------
    a : array, (N, n)
    lambda_N, lambda_T, lambda_B : array, (N, k), (N, p) and (N, m)
    """

    a: Array
    lambda_N: Array
    lambda_T: Array
    lambda_B: Array

    @classmethod
    def of(cls, a: Array, terms: Terms, forces: Mapping[tuple[str, int], Any]) -> Forces:
        """Accelerations with the forces that are not zero, each by its block, "N", "T" or "B", and its column there."""
        sizes = {"N": terms.gap.shape[-1], "T": terms.slip.shape[-1], "B": terms.zeta_B.shape[-1]}
        shape = np.broadcast_shapes(a.shape[:-1], *map(np.shape, forces.values()))
        blocks = {block: np.zeros((*shape, size)) for block, size in sizes.items()}
        for (block, column), force in forces.items():
            blocks[block][..., column] = force
        return cls(a, *blocks.values())

    @property
    def columns(self) -> list[Array]:
        """Every number in the order of the kernel's last arguments, each (N,)."""
        return [
            block[:, index]
            for block in (self.a, self.lambda_N, self.lambda_T, self.lambda_B)
            for index in range(block.shape[1])
        ]


@attrs.frozen(eq=False)
class _Jacobians:
    """Jacobians of which only the entries that are not identically zero are computed."""

    places: Mapping[str, tuple[slice, tuple[int, int]]]
    filled: NDArray[np.intp]
    size: int
    kernel: Kernel

    def __call__(self, arguments: Sequence[Any], N: int) -> dict[str, Array]:
        flat = np.zeros((N, self.size))
        flat[:, self.filled] = self.kernel(arguments)["entries"]
        return {name: flat[:, place].reshape(N, *shape) for name, (place, shape) in self.places.items()}


@attrs.frozen(eq=False)
class Partials:
    """Compiled first partial derivatives; made by :func:`partial_derivatives`.

    The derivatives of the equations of motion are those of their residuals at fixed accelerations and forces,
    ``balance = M a - h - W_N lambda_N - W_T lambda_T - J^T lambda_B`` and the contact accelerations
    ``normal = W_N^T a + zeta_N``, ``tangential`` and ``bilateral``, so that the same functions serve every mode.

    Attributes
    ----------
    parameters : tuple of str
        The parameters with respect to which derivatives were compiled.
    switches_while : callable
        ``switches_while(names)`` gives where the equations jump or have a kink while the contacts of these names are
        open, whose accelerations no force has to change.
    """

    parameters: tuple[str, ...]
    switches_while: Callable[[frozenset[str]], Switches]
    _state: _Jacobians = attrs.field(repr=False)
    _parameter: _Jacobians = attrs.field(repr=False)

    def state(self, t: Array, y: Array, forces: Forces, dynamics: Dynamics) -> dict[str, Array]:
        """Derivatives with respect to ``(q, v, t)`` at N instants.

        Parameters
        ----------
        t : array, (N,)
        y : array, (N, 2n)
            Positions and velocities.
        forces : Forces
        dynamics : Dynamics
            At the values of the parameters.

        Returns
        -------
        dict of array, (N, size of the quantity, 2n + 1)
        """
        return self._evaluated(self._state, t, y, forces, dynamics)

    def parameter(self, t: Array, y: Array, forces: Forces, dynamics: Dynamics) -> dict[str, Array]:
        """Derivatives with respect to ``parameters`` at N instants.

        Parameters
        ----------
        t : array, (N,)
            In s.
        y : array, (N, 2n)
            Positions and velocities.
        forces : Forces
        dynamics : Dynamics
            At the values of the parameters.

        Returns
        -------
        dict of array, (N, size of the quantity, number of parameters)
        """
        return self._evaluated(self._parameter, t, y, forces, dynamics)

    def slopes(self, t: Array, y: Array, forces: Forces, dynamics: Dynamics) -> dict[str, Array]:
        """Derivatives with respect to ``(q, v, t, parameters)`` at N instants.

        Parameters
        ----------
        t : array, (N,)
            In s.
        y : array, (N, 2n)
            Positions and velocities.
        forces : Forces
        dynamics : Dynamics
            At the values of the parameters.

        Returns
        -------
        dict of array, (N, size of the quantity, 2n + 1 + number of parameters)
        """
        state, parameter = (of(t, y, forces, dynamics) for of in (self.state, self.parameter))
        return {name: np.concatenate([state[name], parameter[name]], axis=2) for name in state}

    def _evaluated(
        self, jacobians: _Jacobians, t: Array, y: Array, forces: Forces, dynamics: Dynamics
    ) -> dict[str, Array]:
        return jacobians([*_arguments(dynamics, t, y), *forces.columns], len(t))


def _arguments(dynamics: Dynamics, t: Array, y: Array) -> list[Any]:
    return [*y.T, np.asarray(t, dtype=float), *dynamics.arguments]


def partial_derivatives(dynamics: Dynamics, parameters: Sequence[str] = ()) -> Partials:
    """The first partial derivatives of all terms, compiled.

    Parameters
    ----------
    dynamics : Dynamics
    parameters : sequence of str
        Parameters of the declaration to differentiate with respect to, each held apart from those computed from it.

    Returns
    -------
    Partials

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> cart = derive(mechanisms.load("two_carts"))
    >>> partials = partial_derivatives(cart, ["k1"])
    >>> none = Forces(np.zeros((1, 2)), np.zeros((1, 1)), np.zeros((1, 0)), np.zeros((1, 0)))
    >>> partials.parameter(np.zeros(1), np.array([[3.0, 0, 0, 0]]), none, cart)["balance"][0].tolist()
    [[3.0], [0.0]]
    """
    equations, build = dynamics.equations, Builder(dynamics.equations.graph)
    residuals, unknowns = _residuals(equations, build)
    declared = {name: getattr(equations, name) for name in _RATES}
    declared |= {name: equations.coefficients[name] for name in (*_LAWS, *_LIMITS)}
    quantities = residuals | declared
    arguments = [*equations.arguments, *unknowns]
    chosen = [equations.parameters[name] for name in parameters]
    terms = [getattr(equations, name) for name in ("M", "h", "W_N", "W_T", "J", "zeta_B")]
    shared = [block.ravel() for block in (*terms, *declared.values())]

    @cache
    def switches_while(open_: frozenset[str]) -> Switches:
        normal = [place for place, name in enumerate(dynamics.contacts) if name not in open_]
        tangential = np.delete(equations.zeta_T, [column for name in open_ for column in dynamics.columns_of(name)])
        entries = np.concatenate([*shared, equations.zeta_N[normal], tangential])
        return compile_switches(dynamics, Builder(equations.graph), entries, parameters)

    return Partials(
        parameters=tuple(parameters),
        switches_while=switches_while,
        state=_jacobians(build, quantities, equations.state, arguments),
        parameter=_jacobians(build, quantities, chosen, arguments),
    )


def _residuals(equations: Equations, build: Builder) -> tuple[dict[str, Nodes], list[int]]:
    """Residuals of the equations of motion and of the contact accelerations, linear in the unknowns."""
    sizes = (len(equations.h), len(equations.gap), len(equations.slip), len(equations.constraint))
    unknowns = [build.name(f" {index}") for index in range(sum(sizes))]  # no name of a declaration has a space
    a, *forces = np.split(np.array(unknowns, dtype=np.intp), np.cumsum(sizes)[:-1])
    directions = (equations.W_N, equations.W_T, equations.J.T)
    balance = [dot(build, row, a) for row in equations.M]
    balance = [build.subtract(inertia, force) for inertia, force in zip(balance, equations.h, strict=True)]
    for W, force in zip(directions, forces, strict=True):
        balance = [build.subtract(left, dot(build, row, force)) for left, row in zip(balance, W, strict=True)]
    residuals = {"balance": np.array(balance, dtype=np.intp)}
    remainders = (equations.zeta_N, equations.zeta_T, equations.zeta_B)
    for name, W, zeta in zip(("normal", "tangential", "bilateral"), directions, remainders, strict=True):
        rows = [dot(build, row, a, rest) for row, rest in zip(W.T, zeta, strict=True)]
        residuals[name] = np.array(rows, dtype=np.intp)
    return residuals, unknowns


def _jacobians(
    build: Builder, quantities: Mapping[str, Nodes], names: Sequence[int], arguments: Sequence[int]
) -> _Jacobians:
    places: dict[str, tuple[slice, tuple[int, int]]] = {}
    start = 0
    for name, column in quantities.items():
        places[name] = slice(start, start + len(column) * len(names)), (len(column), len(names))
        start = places[name][0].stop
    entries = jacobian(build, np.concatenate(list(quantities.values())), names).ravel()
    filled = np.flatnonzero(entries != build.number(0))
    kernel = compile_kernel(build.graph(), {"entries": entries[filled]}, arguments)
    return _Jacobians(places, filled, len(entries), kernel)


@attrs.frozen(eq=False)
class CompiledExpression:
    """An expression with its first derivatives, compiled; made by :func:`compile_expression`.

    Attributes
    ----------
    switches : Switches
        Where it jumps or has a kink.
    """

    switches: Switches
    _kernel: Kernel = attrs.field(repr=False)

    def value(self, t: Array, y: Array, dynamics: Dynamics) -> Array:
        """Values (N,) at times (N,) and states (N, 2n)."""
        found = self._evaluated(t, y, dynamics)["value"]
        return np.broadcast_to(found[..., 0], len(t))

    def slope(self, t: Array, y: Array, dynamics: Dynamics) -> Array:
        """Derivatives with respect to ``(q, v, t, parameters)``, (N, 2n + 1 + c)."""
        found = self._evaluated(t, y, dynamics)["slope"]
        return np.broadcast_to(found, (len(t), found.shape[-1]))

    def _evaluated(self, t: Array, y: Array, dynamics: Dynamics) -> dict[str, Array]:
        return self._kernel(_arguments(dynamics, t, y))


def compile_expression(
    dynamics: Dynamics, text: str, *, parameters: Sequence[str] = (), field: str = "functional"
) -> CompiledExpression:
    """Read an expression in a mechanism's names and compile it with its derivatives.

    Parameters
    ----------
    dynamics : Dynamics
    text : str
    parameters : sequence of str
        Parameters to differentiate with respect to.
    field : str
        What the expression is called in messages.

    Returns
    -------
    CompiledExpression

    Raises
    ------
    hybrid.errors.DeclarationError
        Unknown names, with the nearest known one, or text that is no expression.

    Examples
    --------
    >>> import mechanisms
    >>> from hybrid import derive
    >>> ball = derive(mechanisms.load("bouncing_ball"))
    >>> speed = compile_expression(ball, "m*y_dot**2/2", parameters=["m"])
    >>> speed.slope(np.zeros(1), np.array([[0.0, 3.0]]), ball).tolist()
    [[0.0, 3.0, 0.0, 4.5]]
    """
    equations = dynamics.equations
    reader = Reader(Builder(equations.graph), dynamics.mechanism)
    node, build = reader.expression(text, field=field), reader.build
    chosen = [*equations.state, *(equations.parameters[name] for name in parameters)]
    quantities = {"value": [node], "slope": jacobian(build, [node], chosen)[0]}
    kernel = compile_kernel(build.graph(), quantities, equations.arguments)
    return CompiledExpression(compile_switches(dynamics, build, [node], parameters), kernel)
