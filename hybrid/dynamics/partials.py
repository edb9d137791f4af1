"""First partial derivatives of every term of a mechanism, derived symbolically and compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from hybrid.dynamics.kernel import Kernel, compile_kernel
from hybrid.dynamics.switches import Switches, compile_switches

if TYPE_CHECKING:
    import sympy

    from hybrid.dynamics.derive import Dynamics, Values

__all__ = ["Forces", "Partials", "partial_derivatives"]

Array = NDArray[np.float64]

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
    dynamics : Dynamics
    parameters : tuple of str
        The parameters with respect to which derivatives were compiled.
    switches : Switches
        Where the equations jump or have a kink.
    """

    dynamics: Dynamics
    parameters: tuple[str, ...]
    switches: Switches
    _state: _Jacobians = attrs.field(repr=False)
    _parameter: _Jacobians = attrs.field(repr=False)

    def state(self, t: Array, y: Array, forces: Forces, parameters: Values) -> dict[str, Array]:
        """Derivatives with respect to ``(q, v, t)`` at N instants.

        Parameters
        ----------
        t : array, (N,)
        y : array, (N, 2n)
            Positions and velocities.
        forces : Forces
        parameters : mapping
            Values that replace those of the declaration.

        Returns
        -------
        dict of array, (N, size of the quantity, 2n + 1)
        """
        return self._evaluated(self._state, t, y, forces, parameters)

    def parameter(self, t: Array, y: Array, forces: Forces, parameters: Values) -> dict[str, Array]:
        """Derivatives with respect to ``parameters``, arguments as for :meth:`state`.

        Returns
        -------
        dict of array, (N, size of the quantity, number of parameters)
        """
        return self._evaluated(self._parameter, t, y, forces, parameters)

    def _evaluated(
        self, jacobians: _Jacobians, t: Array, y: Array, forces: Forces, parameters: Values
    ) -> dict[str, Array]:
        return jacobians([*_arguments(self.dynamics, t, y, parameters), *forces.columns], len(t))


def _arguments(dynamics: Dynamics, t: Array, y: Array, parameters: Values) -> list[Any]:
    return [*y.T, np.asarray(t, dtype=float), *dynamics.arguments(parameters)]


def partial_derivatives(dynamics: Dynamics, parameters: Sequence[str] = ()) -> Partials:
    """Derive and compile the first partial derivatives of all terms.

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
    >>> partials.parameter(np.zeros(1), np.array([[3.0, 0, 0, 0]]), none, {})["balance"][0].tolist()
    [[3.0], [0.0]]
    """

    model = dynamics.model
    residuals, unknowns = _residuals(dynamics)
    quantities: dict[str, sympy.Matrix] = dict(residuals)
    declared = {name: getattr(model, name) for name in _RATES}
    declared |= {name: model.coefficients[name] for name in (*_LAWS, *_LIMITS)}
    quantities |= declared
    state = [*model.coordinates, *model.velocities, model.time]
    arguments = [*state, *model.parameters.values()]
    chosen = [model.parameters[name] for name in parameters]
    matrices = (model.M, model.h, model.W_N, model.W_T, model.J, model.zeta_N, model.zeta_T, model.zeta_B)
    entries = [entry for matrix in (*matrices, *declared.values()) for entry in matrix]
    return Partials(
        dynamics=dynamics,
        parameters=tuple(parameters),
        switches=compile_switches(dynamics, entries, parameters),
        state=_jacobians(quantities, state, [*arguments, *unknowns]),
        parameter=_jacobians(quantities, chosen, [*arguments, *unknowns]),
    )


def _residuals(dynamics: Dynamics) -> tuple[dict[str, sympy.Matrix], list[sympy.Symbol]]:
    """Residuals of the equations of motion and of the contact accelerations, linear in the unknowns."""
    import sympy

    model = dynamics.model
    sizes = (dynamics.n, model.W_N.shape[1], model.W_T.shape[1], model.J.shape[0])
    unknowns = [sympy.Dummy(f"u{index}", real=True) for index in range(sum(sizes))]
    blocks: list[sympy.Matrix] = []
    start = 0
    for size in sizes:
        blocks.append(sympy.Matrix(size, 1, unknowns[start : start + size]))
        start += size
    a, lambda_N, lambda_T, lambda_B = blocks
    balance = model.M * a - model.h
    for directions, force in ((model.W_N, lambda_N), (model.W_T, lambda_T), (model.J.T, lambda_B)):
        if len(force):
            balance -= directions * force
    residuals = {"balance": balance}
    for name, rows, remainder in (
        ("normal", model.W_N.T, model.zeta_N),
        ("tangential", model.W_T.T, model.zeta_T),
        ("bilateral", model.J, model.zeta_B),
    ):
        residuals[name] = rows * a + remainder if len(remainder) else sympy.Matrix(0, 1, [])
    return residuals, unknowns


def _jacobians(
    quantities: Mapping[str, sympy.Matrix], symbols: Sequence[sympy.Symbol], arguments: Sequence[sympy.Symbol]
) -> _Jacobians:
    places: dict[str, tuple[slice, tuple[int, int]]] = {}
    entries: list[sympy.Expr] = []
    for name, column in quantities.items():
        start = len(entries)
        entries += [_derivative(entry, symbol) for entry in column for symbol in symbols]
        places[name] = slice(start, len(entries)), (len(column), len(symbols))
    filled = [index for index, entry in enumerate(entries) if entry != 0]
    kernel = compile_kernel({"entries": [entries[index] for index in filled]}, arguments)
    return _Jacobians(places, np.array(filled, dtype=np.intp), len(entries), kernel)


def _derivative(entry: sympy.Expr, symbol: sympy.Symbol) -> sympy.Expr:
    """Derivative without the impulses of jumps: it vanishes wherever it exists."""
    import sympy

    if symbol not in entry.free_symbols:
        return sympy.Integer(0)
    return cast("sympy.Expr", entry.diff(symbol).replace(sympy.DiracDelta, lambda *_: sympy.Integer(0)))
